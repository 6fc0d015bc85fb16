//! `results.json`, schema `evalkit.results/1` (`formats.md`, Results).

mod build;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::run::{RunError, Usage};

pub use build::{ResultsHead, TrialInput, build, counts, pooled};

/// The whole file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Results {
    /// Always `evalkit.results/1`.
    pub schema: String,
    /// `slug@workspace`, or the path's name offline.
    pub dataset: String,
    /// The agent graded.
    pub agent: Option<String>,
    /// The experiment's id; absent for `grade`.
    pub experiment: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: Option<String>,
    /// RFC 3339, UTC; absent while trials are open.
    pub finished_at: Option<String>,
    /// Who judged.
    pub judge: ResultsJudge,
    /// Trials by end, and by colour.
    pub counts: ResultsCounts,
    /// Corpus scores, pooled; a score that nothing fed is left out.
    pub scores: BTreeMap<String, PooledScore>,
    /// One entry a trial.
    pub cases: Vec<CaseResult>,
}

/// The judge that results came from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ResultsJudge {
    /// `offline`, `fake`, `replay`, `openai`, ….
    pub provider: String,
    /// The model, when there is one.
    pub model: Option<String>,
    /// Evaluator to template version.
    pub templates: BTreeMap<String, String>,
    /// False for `offline` and `fake`.
    pub quality_signal: bool,
}

/// Trials by end, and by colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[expect(
    missing_docs,
    reason = "the names are the format's own (`formats.md`, Results)"
)]
pub struct ResultsCounts {
    pub planned: u64,
    pub done: u64,
    pub error: u64,
    pub cancelled: u64,
    pub budget: u64,
    pub open: u64,
    pub unscored: u64,
    pub green: u64,
    pub red: u64,
}

/// A corpus score pooled over its counts (`grading.md`: Σs ÷ Σn), with a 95 % interval by cluster bootstrap over cases.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PooledScore {
    /// `num / den`.
    pub value: f64,
    /// What held.
    pub num: f64,
    /// What was pooled over.
    pub den: f64,
    /// Lower end; absent with fewer than two cases.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Trials in the pool.
    pub cases: u64,
    /// Planned trials of cases that have such a score.
    pub of_cases: u64,
}

/// One trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct CaseResult {
    /// The case id.
    pub id: String,
    /// The case version graded; absent offline.
    pub version: Option<u32>,
    /// From 1.
    pub trial: u32,
    /// `done`, `error`, `cancelled`, `budget` or an open state.
    pub status: String,
    /// True green, false red, null neither.
    pub green: Option<bool>,
    /// Score name to number; null where it skips.
    pub scores: BTreeMap<String, Option<f64>>,
    /// Score or evaluator name to why it skipped.
    pub skipped: BTreeMap<String, String>,
    /// Evaluator name to its block.
    pub evaluators: BTreeMap<String, Value>,
    /// Milliseconds.
    pub latency_ms: Option<u64>,
    /// Tokens and cost.
    pub usage: Option<Usage>,
    /// Why the trial ended in an error.
    pub error: Option<RunError>,
}
