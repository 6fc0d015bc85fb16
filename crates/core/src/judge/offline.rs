//! The `offline` judge: deterministic, no model (`grading.md`, The judge). It decides by arithmetic and by containment so
//! plain that a person would not argue, and leaves everything else unscored.
//!
//! A figure that matches is not enough. The sentence that holds it must say what the rubric says: the rubric's own words in
//! their order, its periods, and beside them nothing but words that cannot turn a meaning. What the list of those words
//! does not hold, be it a hedge, a negation, another name or a qualifier, leaves the rubric undecided. The rest of the
//! answer must hold nothing that could take the sentence back.

mod plain;
mod source;
mod words;

use super::{JudgeTask, Judged, JudgedEntry, JudgedVerdict, TaskEntry};
use crate::grade::JudgeStamp;
use crate::verdict::{CheckVerdict, PresentationRule, Unscored, Verdict};

/// The verdicts on a task; `offline_undecided` wherever plainness ends.
pub fn judge(task: &JudgeTask) -> Vec<JudgedEntry> {
    let silent = !task
        .texts
        .iter()
        .any(|text| text.chars().any(char::is_alphanumeric));
    task.entries
        .iter()
        .map(|entry| match task.evaluator {
            Judged::AnswerRubrics if silent => says_nothing(JudgedVerdict::Answer(Verdict::Absent)),
            Judged::PresentationJudge if silent => {
                says_nothing(JudgedVerdict::Check(match entry.rule {
                    Some(PresentationRule::Forbid) => CheckVerdict::Satisfied,
                    _ => CheckVerdict::Unsatisfied,
                }))
            }
            // A structured output says things by its shape, which words do not show.
            Judged::AnswerRubrics => match task.texts.as_slice() {
                [answer] => rubric(entry, answer),
                _ => undecided("A structured output is not read offline."),
            },
            Judged::PresentationJudge => undecided("How an answer looks is not read offline."),
            Judged::TrajectoryRubrics => {
                undecided("How an answer was derived is not read offline.")
            }
        })
        .collect()
}

/// How grades name this judge.
pub fn stamp() -> JudgeStamp {
    JudgeStamp {
        provider: "offline".to_owned(),
        model: None,
        template: "1".to_owned(),
        quality_signal: false,
    }
}

fn undecided(why: impl Into<String>) -> JudgedEntry {
    JudgedEntry::unscored(Unscored::OfflineUndecided, why)
}

fn says_nothing(verdict: JudgedVerdict) -> JudgedEntry {
    JudgedEntry {
        reason: Some("The answer says nothing.".to_owned()),
        ..JudgedEntry::bare(verdict)
    }
}

fn rubric(entry: &TaskEntry, answer: &str) -> JudgedEntry {
    match plain::decide(&entry.text, answer, entry.source.as_deref()) {
        plain::Decision::Undecided(why) => undecided(why),
        plain::Decision::Absent(why) => JudgedEntry {
            reason: Some(why.to_owned()),
            ..JudgedEntry::bare(JudgedVerdict::Answer(Verdict::Absent))
        },
        plain::Decision::Stated {
            said,
            why,
            sentence,
        } => {
            let (source, cited) = match &entry.source {
                Some(expected) => source::verdict(expected, sentence, answer),
                None => (None, None),
            };
            let verdict = match said {
                Some(_) => Verdict::Incorrect,
                None => Verdict::Satisfied,
            };
            JudgedEntry {
                evidence: vec![sentence.trim().to_owned()],
                reason: Some(why),
                said,
                source,
                cited,
                ..JudgedEntry::bare(JudgedVerdict::Answer(verdict))
            }
        }
    }
}
