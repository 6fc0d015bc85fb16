//! Every score against a naive reading of `grading.md`, colours by table, and the results file built from trials.

use std::collections::BTreeMap;

use evalkit_core::case::{Case, RubricType};
use evalkit_core::experiment::TrialState;
use evalkit_core::grade::{Colour, Grade, Outcome, ScoreValue, Share};
use evalkit_core::results::{self, ResultsHead, TrialInput};
use evalkit_core::score::{self, Bars, Counts};
use evalkit_core::verdict::{
    CheckVerdict, EntryVerdict, RubricVerdict, SourceVerdict, Unscored, Verdict,
};
use proptest::prelude::*;
use serde_json::json;

fn rubric(
    kind: RubricType,
    verdict: Option<Verdict>,
    source: Option<Option<Verdict>>,
) -> RubricVerdict {
    RubricVerdict {
        rubric: "r".to_owned(),
        kind,
        verdict,
        unscored: verdict.is_none().then_some(Unscored::Timeout),
        evidence: Vec::new(),
        said: None,
        reason: None,
        source: source.map(|verdict| SourceVerdict {
            expected: "s".to_owned(),
            verdict,
            cited: None,
        }),
        second_opinion: None,
        needs_a_look: false,
        overridden: None,
        how: Default::default(),
    }
}

fn any_verdict() -> impl Strategy<Value = Verdict> {
    prop::sample::select(vec![
        Verdict::Satisfied,
        Verdict::Incorrect,
        Verdict::Absent,
    ])
}

fn any_rubric() -> impl Strategy<Value = RubricVerdict> {
    let kind = prop::sample::select(RubricType::ALL.to_vec());
    (kind, any_verdict(), prop::option::of(any_verdict())).prop_map(|(kind, verdict, source)| {
        let source = source.filter(|_| kind == RubricType::FactualRetrieval);
        rubric(
            kind,
            Some(verdict),
            source.map(|s| Some(s).filter(|_| verdict != Verdict::Absent)),
        )
    })
}

/// A share that a table row defines, or none where it skips.
fn defined(num: usize, den: usize) -> Option<ScoreValue> {
    (den > 0).then_some(ScoreValue::Share(Share {
        num: num as u64,
        den: den as u64,
    }))
}

proptest! {
    #[test]
    fn every_row_of_the_table(verdicts in prop::collection::vec(any_rubric(), 1..9)) {
        let scored = score::answer_rubrics(&verdicts, &Bars::new());
        let count = |wanted: &dyn Fn(&RubricVerdict) -> bool| verdicts.iter().filter(|v| wanted(v)).count();
        let n = verdicts.len();
        let s = count(&|v| v.verdict == Some(Verdict::Satisfied));
        let i = count(&|v| v.verdict == Some(Verdict::Incorrect));
        let mut rows = vec![
            ("answer_rubric_score", defined(s, n)),
            ("answer_rubric_coverage", defined(s + i, n)),
            ("answer_rubric_accuracy", defined(s, s + i)),
            ("answer_rubric_citation", defined(
                count(&|v| v.verdict != Some(Verdict::Absent) && v.source.as_ref().is_some_and(|s| s.verdict == Some(Verdict::Satisfied))),
                count(&|v| v.verdict != Some(Verdict::Absent) && v.source.is_some()),
            )),
        ];
        for (name, kind) in [
            ("answer_rubric_factual_retrieval", RubricType::FactualRetrieval),
            ("answer_rubric_derived_computation", RubricType::DerivedComputation),
            ("answer_rubric_analysis_interpretation", RubricType::AnalysisInterpretation),
        ] {
            rows.push((name, defined(count(&|v| v.kind == kind && v.verdict == Some(Verdict::Satisfied)), count(&|v| v.kind == kind))));
        }
        for (name, expected) in rows {
            prop_assert_eq!(scored.scores.get(name).copied(), expected, "{}", name);
            prop_assert_eq!(scored.skipped.contains_key(name), expected.is_none(), "{}", name);
        }
        prop_assert_eq!(scored.scores.len() + scored.skipped.len(), 7);
        prop_assert_eq!(&scored.outcome, &Outcome::Scored { met: s == n });
        let counts: Counts = serde_json::from_value(scored.explanation["counts"].clone()).unwrap();
        prop_assert_eq!(counts.satisfied + counts.incorrect + counts.absent, counts.total);
        prop_assert_eq!(counts.total, n as u64);
    }

    #[test]
    fn one_entry_without_a_verdict_takes_every_score(verdicts in prop::collection::vec(any_rubric(), 0..6), at in 0usize..6) {
        let mut verdicts = verdicts;
        let at = at.min(verdicts.len());
        verdicts.insert(at, rubric(RubricType::DerivedComputation, None, None));
        let scored = score::answer_rubrics(&verdicts, &Bars::new());
        let of = u32::try_from(verdicts.len()).unwrap();
        prop_assert_eq!(scored.outcome, Outcome::Unscored { reason: Unscored::Timeout, entries: 1, of });
        prop_assert!(scored.scores.is_empty() && scored.skipped.is_empty());
        prop_assert_eq!(scored.explanation["counts"]["total"].as_u64(), Some(u64::from(of)));
    }

    #[test]
    fn checks_are_satisfied_over_asked(list in prop::collection::vec(any::<bool>(), 1..9), bar in 0u32..=10) {
        let verdicts: Vec<EntryVerdict> = list.iter().map(|held| EntryVerdict {
            rubric: "p".to_owned(), rule: None, unscored: None, evidence: Vec::new(), reason: None, citations: Vec::new(),
            verdict: Some(if *held { CheckVerdict::Satisfied } else { CheckVerdict::Unsatisfied }),
        }).collect();
        let held = list.iter().filter(|h| **h).count();
        let bars = Bars::from([("trajectory_rubrics".to_owned(), f64::from(bar) / 10.0)]);
        let scored = score::entries("trajectory_rubrics", &verdicts, &bars);
        prop_assert_eq!(scored.scores.get("trajectory_rubrics").copied(), defined(held, list.len()));
        // In whole numbers, so that no rounding is involved.
        let met = held as u64 * 10 >= u64::from(bar) * list.len() as u64;
        prop_assert_eq!(scored.outcome, Outcome::Scored { met });
    }
}

fn grade(outcome: Outcome) -> Grade {
    Grade {
        evaluator: "trajectory_rubrics".to_owned(),
        outcome,
        scores: BTreeMap::new(),
        skipped: BTreeMap::new(),
        explanation: json!({}),
        judge: None,
    }
}

#[test]
fn the_colour_of_a_trial() {
    let met = || Outcome::Scored { met: true };
    let missed = || Outcome::Scored { met: false };
    let skipped = || Outcome::Skipped {
        reason: "r".to_owned(),
    };
    let error = || Outcome::Error {
        message: "m".to_owned(),
    };
    let unscored = || Outcome::Unscored {
        reason: Unscored::Timeout,
        entries: 1,
        of: 2,
    };
    for (outcomes, colour) in [
        (vec![met(), skipped()], Colour::Green),
        (vec![met(), missed()], Colour::Red),
        (vec![missed(), unscored()], Colour::Unscored),
        (vec![met(), unscored(), error()], Colour::Error),
        (vec![skipped(), skipped()], Colour::Skipped),
        (vec![], Colour::Skipped),
    ] {
        let grades: Vec<Grade> = outcomes.into_iter().map(grade).collect();
        assert_eq!(
            score::trial_colour(TrialState::Done, &grades),
            colour,
            "{grades:?}"
        );
    }
    let green = [grade(met())];
    for (state, colour) in [
        (TrialState::Error, Colour::Error),
        (TrialState::Cancelled, Colour::Cancelled),
        (TrialState::Budget, Colour::Cancelled),
        (TrialState::Queued, Colour::Open),
        (TrialState::Running, Colour::Open),
        (TrialState::Recorded, Colour::Open),
        (TrialState::Grading, Colour::Open),
    ] {
        assert_eq!(score::trial_colour(state, &green), colour, "{state:?}");
    }
}

#[test]
fn the_colour_of_a_case() {
    use Colour as C;
    for (trials, colour) in [
        (vec![C::Green, C::Green], C::Green),
        (vec![C::Red, C::Red], C::Red),
        (vec![C::Green, C::Red], C::Flaky),
        (vec![C::Green, C::Error], C::Flaky),
        (vec![C::Red, C::Error], C::Red),
        (vec![C::Unscored, C::Error], C::Error),
        (vec![C::Unscored, C::Skipped], C::Unscored),
        (vec![C::Cancelled], C::Cancelled),
        (vec![C::Skipped], C::Skipped),
        (vec![C::Green, C::Open], C::Open),
        (vec![], C::Skipped),
    ] {
        assert_eq!(score::case_colour(&trials), colour, "{trials:?}");
    }
}

fn case() -> Case {
    serde_json::from_value(json!({"id": "a", "input": {"question": "?"}, "evaluators": {"output": {"answer_rubrics": {"rubrics": [
        {"rubric": "x", "type": "factual_retrieval", "source": "s"}, {"rubric": "y", "type": "derived_computation"}]}}}}))
    .unwrap()
}

fn trial(id: &str, state: TrialState, verdicts: Option<&[RubricVerdict]>) -> TrialInput {
    TrialInput {
        case_id: id.to_owned(),
        version: Some(1),
        trial: 1,
        state,
        names: score::names(&case()),
        grades: verdicts
            .map(|verdicts| {
                let scored = score::answer_rubrics(verdicts, &Bars::new());
                vec![Grade {
                    evaluator: "answer_rubrics".to_owned(),
                    outcome: scored.outcome,
                    scores: scored.scores,
                    skipped: scored.skipped,
                    explanation: scored.explanation,
                    judge: None,
                }]
            })
            .unwrap_or_default(),
        latency_ms: Some(5),
        usage: None,
        error: None,
    }
}

#[test]
fn results_count_every_trial_and_pool_only_what_is_scored() {
    let fact = |verdict, source| rubric(RubricType::FactualRetrieval, verdict, Some(source));
    let figure = |verdict| rubric(RubricType::DerivedComputation, verdict, None);
    let (yes, no, gone) = (
        Some(Verdict::Satisfied),
        Some(Verdict::Incorrect),
        Some(Verdict::Absent),
    );
    let trials = [
        trial("a", TrialState::Done, Some(&[fact(yes, yes), figure(yes)])),
        trial("b", TrialState::Done, Some(&[fact(gone, None), figure(no)])),
        trial(
            "c",
            TrialState::Done,
            Some(&[fact(yes, gone), figure(None)]),
        ),
        trial("d", TrialState::Error, None),
        trial("e", TrialState::Queued, None),
        trial("f", TrialState::Cancelled, None),
        trial("g", TrialState::Budget, None),
    ];
    let head = ResultsHead {
        dataset: "d@w".to_owned(),
        ..ResultsHead::default()
    };
    let results = results::build(head, &trials);
    assert_eq!(results.schema, "evalkit.results/1");
    let counts = results.counts;
    assert_eq!(
        (
            counts.planned,
            counts.done,
            counts.error,
            counts.cancelled,
            counts.budget,
            counts.open
        ),
        (7, 3, 1, 1, 1, 1)
    );
    assert_eq!((counts.unscored, counts.green, counts.red), (1, 1, 1));

    let score = &results.scores["answer_rubric_score"];
    assert_eq!(
        (score.num, score.den, score.cases, score.of_cases),
        (2.0, 4.0, 2, 7)
    );
    assert!((score.value - 0.5).abs() < 1e-12);
    assert!(score.low.unwrap() <= 0.5 && score.high.unwrap() >= 0.5);
    let accuracy = &results.scores["answer_rubric_accuracy"];
    assert_eq!((accuracy.num, accuracy.den), (2.0, 3.0));
    let citation = &results.scores["answer_rubric_citation"];
    assert_eq!(
        (citation.num, citation.den, citation.cases, citation.low),
        (1.0, 1.0, 1, None)
    );
    assert!(
        !results
            .scores
            .contains_key("answer_rubric_analysis_interpretation")
    );

    assert_eq!(results.cases.len(), 7);
    assert_eq!(results.cases[0].green, Some(true));
    assert_eq!(results.cases[1].green, Some(false));
    assert_eq!(results.cases[1].scores["answer_rubric_citation"], None);
    assert_eq!(
        results.cases[1].skipped["answer_rubric_citation"],
        "no sourced rubric was stated"
    );
    assert_eq!(results.cases[2].green, None);
    assert_eq!(results.cases[2].scores["answer_rubric_score"], None);
    assert_eq!(results.cases[3].status, "error");
    assert!(results.cases[3].scores.is_empty());

    // The format's names, as they are written.
    let text = serde_json::to_value(&results).unwrap();
    let block = &text["cases"][0]["evaluators"]["answer_rubrics"];
    assert_eq!(
        block["counts"],
        json!({"satisfied": 2, "incorrect": 0, "absent": 0, "total": 2})
    );
    let verdict = block["verdicts"][0].as_object().unwrap();
    for key in [
        "rubric",
        "type",
        "verdict",
        "evidence",
        "said",
        "reason",
        "source",
        "second_opinion",
        "needs_a_look",
        "override",
    ] {
        assert!(verdict.contains_key(key), "{key}");
    }
}

proptest! {
    #[test]
    fn pools_add_counts_and_nothing_else(list in prop::collection::vec((0usize..4, any::<bool>(), prop::collection::vec(any_rubric(), 1..5)), 1..8)) {
        let trials: Vec<TrialInput> = list.iter().map(|(case, done, verdicts)| {
            let state = if *done { TrialState::Done } else { TrialState::Error };
            trial(&format!("c{case}"), state, Some(verdicts))
        }).collect();
        let pooled = results::pooled(&trials);
        let (mut s, mut n, mut count) = (0usize, 0usize, 0u64);
        for (_, done, verdicts) in &list {
            if *done {
                s += verdicts.iter().filter(|v| v.verdict == Some(Verdict::Satisfied)).count();
                n += verdicts.len();
                count += 1;
            }
        }
        match pooled.get("answer_rubric_score") {
            None => prop_assert_eq!(n, 0),
            Some(score) => {
                prop_assert_eq!((score.num, score.den), (s as f64, n as f64));
                prop_assert_eq!((score.cases, score.of_cases), (count, list.len() as u64));
            }
        }
    }
}
