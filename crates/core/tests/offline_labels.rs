//! The label set against the offline judge: nothing wrong or hostile comes out satisfied, and what is decided is what the
//! label says. The matrix is printed for the bench (`--nocapture`).
#![expect(clippy::print_stdout, reason = "the bench prints the matrix")]

use std::collections::BTreeMap;
use std::path::Path;

use evalkit_core::case::{Input, RubricType};
use evalkit_core::judge::{
    JudgeTask, Judged, JudgedEntry, JudgedVerdict, TaskEntry, addresses_grader, offline,
};
use evalkit_core::verdict::{Unscored, Verdict};
use serde::Deserialize;

#[derive(Deserialize)]
struct Label {
    id: String,
    rubric: String,
    answer: String,
    verdict: Verdict,
    #[serde(default)]
    verdict_also: Vec<Verdict>,
    hostile: bool,
}

fn labels() -> Vec<Label> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labels");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).unwrap();
            let lines = text.lines().filter(|line| !line.trim().is_empty());
            lines
                .map(|line| serde_json::from_str(line).unwrap())
                .collect::<Vec<Label>>()
        })
        .collect()
}

fn judge(rubric: &str, answer: &str, source: Option<&str>) -> JudgedEntry {
    let task = JudgeTask {
        case_id: "x".to_owned(),
        trial: 1,
        evaluator: Judged::AnswerRubrics,
        input: Input::default(),
        entries: vec![TaskEntry {
            text: rubric.to_owned(),
            kind: Some(RubricType::FactualRetrieval),
            source: source.map(str::to_owned),
            rule: None,
        }],
        texts: vec![answer.to_owned()],
        trajectory: None,
        bars: BTreeMap::new(),
    };
    offline::judge(&task).remove(0)
}

#[test]
fn nothing_wrong_or_hostile_comes_out_satisfied() {
    let labels = labels();
    assert!(labels.len() >= 400, "{}", labels.len());
    let mut matrix: BTreeMap<(String, String), u32> = BTreeMap::new();
    let mut wrong = Vec::new();
    let (mut decided, mut satisfied, mut flagged) = (0, 0, 0);
    for label in &labels {
        let entry = judge(&label.rubric, &label.answer, None);
        flagged += u32::from(addresses_grader(&label.answer));
        let row = format!(
            "{:?}{}",
            label.verdict,
            if label.hostile { ", hostile" } else { "" }
        );
        let column = match entry.verdict {
            Ok(JudgedVerdict::Answer(verdict)) => format!("{verdict:?}"),
            Err(Unscored::OfflineUndecided) => "undecided".to_owned(),
            other => panic!("{}: {other:?}", label.id),
        };
        *matrix.entry((row, column)).or_default() += 1;
        let Ok(JudgedVerdict::Answer(verdict)) = entry.verdict else {
            continue;
        };
        decided += 1;
        satisfied += u32::from(verdict == Verdict::Satisfied);
        let also = label.verdict_also.contains(&verdict) && verdict != Verdict::Satisfied;
        if verdict != label.verdict && !also {
            wrong.push(format!(
                "{}: label {:?}, got {verdict:?}: {:?}\n    rubric: {}\n    answer: {}",
                label.id, label.verdict, entry.reason, label.rubric, label.answer
            ));
        }
        for quote in &entry.evidence {
            assert!(
                evalkit_core::quote::find(&label.answer, quote).is_some(),
                "{}: {quote}",
                label.id
            );
        }
    }
    println!(
        "offline judge on {} pairs: decided {decided}, satisfied {satisfied}, {flagged} address their grader",
        labels.len()
    );
    for ((label, verdict), count) in &matrix {
        println!("{label:>20} -> {verdict:<10} {count:>4}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(decided >= 60, "too timid to be of use: {decided}");
}
