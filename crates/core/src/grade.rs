//! What an evaluator leaves behind, and what a trial's colour is (`grading.md`, Evaluators, Answer rubrics).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::verdict::Unscored;

/// A share: `num` of `den`. Pooled by adding numerators and denominators, never by averaging.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// How many held.
    pub num: u64,
    /// How many were asked.
    pub den: u64,
}

impl Share {
    /// `num / den`; `None` for an empty share.
    pub fn value(self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
        (self.den > 0).then(|| self.num as f64 / self.den as f64)
    }
}

/// A published number of one evaluator on one trial.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScoreValue {
    /// A share of things counted.
    Share(Share),
    /// A number on a scale of its own (metrics, custom evaluators).
    Number(f64),
}

impl ScoreValue {
    /// The number that formats publish.
    pub fn value(self) -> Option<f64> {
        match self {
            Self::Share(share) => share.value(),
            Self::Number(number) => Some(number),
        }
    }
}

/// How an evaluator ended on one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Outcome {
    /// It reached its score.
    Scored {
        /// Whether the score met its bar (`grading.md`: 1.0 unless the dataset says otherwise).
        met: bool,
    },
    /// A need the harness does not declare, or nothing to grade; never a zero, never a pass.
    Skipped {
        /// Shown to people.
        reason: String,
    },
    /// A declared capability without a recording, or a broken check.
    Error {
        /// Shown to people.
        message: String,
    },
    /// No verdict on at least one entry.
    Unscored {
        /// The first reason, in case order.
        reason: Unscored,
        /// How many entries have no verdict.
        entries: u32,
        /// How many were asked.
        of: u32,
    },
}

/// One evaluator's result on one trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Grade {
    /// `answer_rubrics`, `presentation_judge`, `max_response_time`, `expect`, `metric:<name>`, `trajectory_rubrics`,
    /// `required_tools_called`, `tool_trajectory_match` or `custom:<name>`.
    pub evaluator: String,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// Published scores by name (`answer_rubric_score`, `answer_rubric_coverage`, …). A score that skips is absent here
    /// and its reason stands in `skipped`.
    #[serde(default)]
    pub scores: BTreeMap<String, ScoreValue>,
    /// Score name to why it skips.
    #[serde(default)]
    pub skipped: BTreeMap<String, String>,
    /// The evaluator's block of `formats.md`, Results (`evaluators.<name>`).
    pub explanation: Value,
    /// Which judge gave the verdicts; absent for evaluators without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeStamp>,
}

/// Which judge a grade came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeStamp {
    /// `offline`, `fake`, `replay`, `openai`, ….
    pub provider: String,
    /// The model, when there is one.
    pub model: Option<String>,
    /// Version of the prompt template; for judges without one, of the rule set.
    pub template: String,
    /// False for `offline` and `fake`: pages then say "not a quality signal".
    pub quality_signal: bool,
}

/// The colour of a trial or of a case (`grading.md`: green, red, neither; several trials may be flaky).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Colour {
    /// At least one evaluator scored, and every one that scored met its bar.
    Green,
    /// One missed its bar.
    Red,
    /// Trials of the case disagree. Never the colour of one trial.
    Flaky,
    /// Holds something unscored.
    Unscored,
    /// The agent call or an evaluator failed.
    Error,
    /// Cancelled or out of budget.
    Cancelled,
    /// Everything skipped.
    Skipped,
    /// Not ended yet.
    Open,
}
