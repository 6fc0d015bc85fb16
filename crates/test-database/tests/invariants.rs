//! Each rule of the checker falls on a history that breaks it.

use evalkit_test_database::history::{History, Score, Trial};
use evalkit_test_database::invariants::{Call, Plan, blobs_broken, broken, lost_and_twice};

const PLAN: Plan = Plan {
    trials: 1,
    evaluators: 2,
    at_once: 1,
    disturbances: 1,
};

fn sound() -> (History, Vec<Call>) {
    let of = |text: &str| text.to_owned();
    let moved = |state: &str| (of("e"), of("c"), of("1"), of(state));
    let score = Score {
        trial: of("t"),
        name: of("answer_rubric_score"),
        num: 1.0,
        den: 2.0,
    };
    let history = History {
        trials: vec![Trial {
            id: of("t"),
            experiment: of("e"),
            case: of("c"),
            trial: of("1"),
            state: of("done"),
            attempts: 2,
            key: of("k"),
            lease_left: None,
            answer: Some(of("second")),
            recorded: true,
        }],
        grades: vec![(of("t"), of("a")), (of("t"), of("b"))],
        graded: vec![score.clone()],
        scores: vec![score],
        moves: vec![
            moved("running"),
            moved("running"),
            moved("recorded"),
            moved("done"),
        ],
        blobs: Vec::new(),
        experiments: vec![of("e")],
        begun: 1,
    };
    let call = |answer: &str| Call {
        key: of("k"),
        answer: of(answer),
    };
    (history, vec![call("first"), call("second")])
}

/// A sound history, changed; what is broken then.
fn after(change: impl FnOnce(&mut History, &mut Vec<Call>)) -> Vec<String> {
    let (mut history, mut calls) = sound();
    change(&mut history, &mut calls);
    broken(&history, &calls, PLAN)
}

#[test]
fn each_invariant_falls_when_it_is_broken() {
    assert_eq!(after(|_, _| {}), Vec::<String>::new());
    type Change = fn(&mut History, &mut Vec<Call>);
    let table: [(&str, Change); 14] = [
        ("I1", |h, _| h.trials[0].state = "running".to_owned()),
        ("I1", |h, _| h.trials.clear()),
        ("I1", |h, _| h.trials[0].recorded = false),
        ("I2", |h, _| drop(h.grades.pop())),
        ("I2", |h, _| h.grades[1].1 = "a".to_owned()),
        ("I3", |h, _| h.trials.push(h.trials[0].clone())),
        ("I3", |h, _| h.moves.push(h.moves[2].clone())),
        ("I3", |h, _| h.moves.push(h.moves[3].clone())),
        ("I4", |h, _| {
            h.trials[0].state = "running".to_owned();
            h.trials[0].lease_left = Some(-1);
        }),
        ("I5", |h, _| h.scores[0].num = 0.0),
        ("I6", |h, _| h.begun = 0),
        ("I8", |h, _| h.trials[0].attempts = 1),
        ("I8", |_, calls| calls[1].answer = "another".to_owned()),
        ("I8", |_, calls| calls[0].key = "unknown".to_owned()),
    ];
    for (n, (name, change)) in table.into_iter().enumerate() {
        let found = after(change);
        assert!(
            found.iter().any(|line| line.starts_with(name)),
            "{n}: {name}: {found:?}"
        );
    }
}

#[test]
fn an_answer_that_goes_or_changes_is_seen() {
    let (before, _) = sound();
    assert_eq!(lost_and_twice(&before, &before), (0, 0));
    let mut gone = before.clone();
    gone.trials[0].recorded = false;
    assert_eq!(lost_and_twice(&before, &gone), (1, 0));
    let mut other = before.clone();
    other.trials[0].answer = Some("first".to_owned());
    assert_eq!(lost_and_twice(&before, &other), (0, 1));
}

#[test]
fn a_file_that_is_missing_or_damaged_is_seen() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = b"a trajectory";
    let sha256 = evalkit_core::canonical::hash_bytes(bytes);
    let history = History {
        blobs: vec![sha256.clone()],
        ..History::default()
    };
    assert_eq!(blobs_broken(&history, folder.path()).len(), 1);
    let home = folder
        .path()
        .join("blobs")
        .join(&sha256[..2])
        .join(&sha256[2..4]);
    std::fs::create_dir_all(&home).unwrap();
    std::fs::write(home.join(&sha256), bytes).unwrap();
    assert_eq!(blobs_broken(&history, folder.path()), Vec::<String>::new());
    std::fs::write(home.join(&sha256), b"a trajectorY").unwrap();
    assert_eq!(blobs_broken(&history, folder.path()).len(), 1);
}
