//! Judges: what one is asked, what it gives back, and the check that stands between a reply and a verdict
//! (`grading.md`, The judge). The judges that need no network live here; those that do live in the engine and pass the
//! same check.

mod addressing;
pub mod asking;
pub mod fake;
pub mod fence;
pub mod ladder;
pub mod offline;
pub mod prompt;
pub mod replay;
pub mod reply;
pub mod validate;
pub mod votes;

#[cfg(test)]
pub(crate) mod testing;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::atif::Document;
use crate::case::{Input, RubricType};
use crate::score::Bars;
use crate::verdict::{CheckVerdict, PresentationRule, Unscored, Verdict};

pub use addressing::addresses_grader;

/// The evaluators that ask a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Judged {
    /// What the answer says.
    AnswerRubrics,
    /// How the answer displays it.
    PresentationJudge,
    /// How it was derived.
    TrajectoryRubrics,
}

impl Judged {
    /// All three.
    pub const ALL: [Self; 3] = [
        Self::AnswerRubrics,
        Self::PresentationJudge,
        Self::TrajectoryRubrics,
    ];

    /// The evaluator's name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AnswerRubrics => "answer_rubrics",
            Self::PresentationJudge => "presentation_judge",
            Self::TrajectoryRubrics => "trajectory_rubrics",
        }
    }

    /// Reads the evaluator's name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|judged| judged.as_str() == name)
    }
}

/// What a judge is asked about one trial: everything it may see, and nothing else.
#[derive(Debug, Clone)]
pub struct JudgeTask {
    /// The case.
    pub case_id: String,
    /// From 1.
    pub trial: u32,
    /// Which evaluator asks.
    pub evaluator: Judged,
    /// The question, or the turns.
    pub input: Input,
    /// In case order; presentation: `require`, then `forbid`.
    pub entries: Vec<TaskEntry>,
    /// What is judged and may be quoted: the answer, then the structured output as compact JSON with sorted keys.
    pub texts: Vec<String>,
    /// The recorded trajectory, for `trajectory_rubrics`.
    pub trajectory: Option<Arc<Document>>,
    /// Bars of the dataset's settings.
    pub bars: Bars,
}

/// One sentence to be judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskEntry {
    /// The sentence.
    pub text: String,
    /// Set for answer rubrics.
    pub kind: Option<RubricType>,
    /// The attribution asked for.
    pub source: Option<String>,
    /// Set for presentation entries.
    pub rule: Option<PresentationRule>,
}

/// A judge's verdict on one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JudgedVerdict {
    /// On an answer rubric.
    Answer(Verdict),
    /// On a trajectory rubric or presentation entry.
    Check(CheckVerdict),
}

/// A checked verdict, or why there is none. Built by [`validate`] and by judges that cannot err in form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedEntry {
    /// The verdict, or why there is none.
    pub verdict: Result<JudgedVerdict, Unscored>,
    /// Quotes from what was judged.
    pub evidence: Vec<String>,
    /// Why; for an entry without a verdict, what went wrong.
    pub reason: Option<String>,
    /// What the answer said instead.
    pub said: Option<String>,
    /// The verdict on the source.
    pub source: Option<Verdict>,
    /// What the answer credits the fact to.
    pub cited: Option<String>,
    /// Steps that show it.
    pub citations: Vec<String>,
    /// The judge's name, when it is not the one that the grade names: the second judge's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Every vote in words, when there was more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<String>,
    /// Given earlier on the same text, and not asked for again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl JudgedEntry {
    /// A verdict without anything beside it.
    pub fn bare(verdict: JudgedVerdict) -> Self {
        Self {
            verdict: Ok(verdict),
            evidence: Vec::new(),
            reason: None,
            said: None,
            source: None,
            cited: None,
            citations: Vec::new(),
            by: None,
            votes: Vec::new(),
            cached: false,
        }
    }

    /// No verdict, and what went wrong.
    pub fn unscored(why: Unscored, reason: impl Into<String>) -> Self {
        Self {
            verdict: Err(why),
            reason: Some(reason.into()),
            ..Self::bare(JudgedVerdict::Check(CheckVerdict::Unsatisfied))
        }
    }
}

impl JudgeTask {
    /// The same outcome for every entry: the judge as a whole failed.
    pub fn all_unscored(&self, why: Unscored, reason: &str) -> Vec<JudgedEntry> {
        self.entries
            .iter()
            .map(|_| JudgedEntry::unscored(why, reason))
            .collect()
    }

    /// What is judged as one text, for arithmetic and flags.
    pub fn judged_text(&self) -> String {
        self.texts.join("\n\n")
    }

    /// How pages label an entry: `R2`, `P1`, `T3`; from 0.
    pub fn label(&self, index: usize) -> String {
        let letter = match self.evaluator {
            Judged::AnswerRubrics => 'R',
            Judged::PresentationJudge => 'P',
            Judged::TrajectoryRubrics => 'T',
        };
        format!("{letter}{}", index + 1)
    }
}
