//! The `fake` judge: every rubric satisfied. It shows that the plumbing works and says nothing about quality
//! (`grading.md`, The judge).

use super::{JudgeTask, Judged, JudgedEntry, JudgedVerdict};
use crate::grade::JudgeStamp;
use crate::verdict::{CheckVerdict, Verdict};

/// Everything is satisfied, sources too.
pub fn judge(task: &JudgeTask) -> Vec<JudgedEntry> {
    task.entries
        .iter()
        .map(|entry| JudgedEntry {
            reason: Some("The fake judge is satisfied with everything.".to_owned()),
            source: entry.source.as_ref().map(|_| Verdict::Satisfied),
            ..JudgedEntry::bare(match task.evaluator {
                Judged::AnswerRubrics => JudgedVerdict::Answer(Verdict::Satisfied),
                Judged::PresentationJudge | Judged::TrajectoryRubrics => {
                    JudgedVerdict::Check(CheckVerdict::Satisfied)
                }
            })
        })
        .collect()
}

/// How grades name this judge.
pub fn stamp() -> JudgeStamp {
    JudgeStamp {
        provider: "fake".to_owned(),
        model: None,
        template: "1".to_owned(),
        quality_signal: false,
    }
}
