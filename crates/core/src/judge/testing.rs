//! Tasks for tests of this folder.

use super::{JudgeTask, Judged, TaskEntry};
use crate::case::{Input, RubricType};
use crate::score::Bars;

/// A task about `n` answer rubrics, every third with a source.
pub(crate) fn task(n: usize, answer: &str) -> JudgeTask {
    JudgeTask {
        case_id: "case".to_owned(),
        trial: 1,
        evaluator: Judged::AnswerRubrics,
        input: Input {
            question: Some("What is it?".to_owned()),
            ..Input::default()
        },
        entries: (1..=n)
            .map(|i| TaskEntry {
                text: format!("States rubric {i}."),
                kind: Some(RubricType::FactualRetrieval),
                source: (i % 3 == 0).then(|| "the 10-K".to_owned()),
                rule: None,
            })
            .collect(),
        texts: vec![answer.to_owned()],
        trajectory: None,
        bars: Bars::new(),
    }
}
