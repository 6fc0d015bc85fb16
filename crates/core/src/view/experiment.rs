//! Experiment (`web.md`): live progress, scores, case grid, failures grouped, what it was frozen on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::judging::{JudgePause, JudgeSpend, UnscoredCount};
use super::runs::RunRow;
use crate::grade::Colour;
use crate::results::PooledScore;

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Experiment {
    /// The workspace.
    pub workspace: String,
    /// Its UUID.
    pub id: String,
    /// The head: state, counts, judge, who.
    pub row: RunRow,
    /// Trials a case.
    pub trials: u32,
    /// Corpus scores by name.
    pub scores: BTreeMap<String, PooledScore>,
    /// One cell a trial, by case id, then trial.
    pub cells: Vec<TrialCell>,
    /// Largest first.
    pub failures: Vec<FailureGroup>,
    /// Newest first, at most twenty.
    pub errors: Vec<TrialError>,
    /// Milliseconds of every recorded trial, unordered.
    pub latencies_ms: Vec<u64>,
    /// Dollars of every recorded trial that has a cost.
    pub costs_usd: Vec<f64>,
    /// What it was measured on.
    pub frozen: Frozen,
    /// What the judge model cost; zero calls without one.
    #[serde(default)]
    pub judging: JudgeSpend,
    /// Entries without a verdict, by reason, most first.
    #[serde(default)]
    pub unscored: Vec<UnscoredCount>,
    /// The judge's endpoint fails at the moment.
    #[serde(default)]
    pub judge_pause: Option<JudgePause>,
    /// The newest event's id: the live stream resumes from here.
    pub last_event: i64,
    /// May this viewer pause, cancel, re-run failed.
    pub may_control: bool,
    /// Exit code that `collect` would give now without a threshold, and why.
    pub exit: ExitNow,
}

/// The exit code in words (`runs.md`, Results).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct ExitNow {
    /// 0 or 2 (no threshold here).
    pub code: u8,
    /// One sentence.
    pub why: String,
}

/// One trial in the grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TrialCell {
    /// The case.
    pub case_id: String,
    /// From 1.
    pub trial: u32,
    /// As of now.
    pub state: String,
    /// As of now.
    pub colour: Colour,
    /// Satisfied answer rubrics.
    pub satisfied: u64,
    /// Asked.
    pub of: u64,
    /// A verdict of it needs a look.
    pub needs_a_look: bool,
}

/// Alike failures (`runs.md`, Analyze).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct FailureGroup {
    /// `answer_rubrics`, `trajectory_rubrics`, `tool_trajectory_match`, `agent`, ….
    pub evaluator: String,
    /// Rubric type, when there is one.
    pub rubric_type: Option<String>,
    /// `incorrect`, `absent`, `unsatisfied`, `misattributed`, `args mismatch`, an agent error class, ….
    pub verdict: String,
    /// What went wrong, one sentence.
    pub what: String,
    /// Case ids with their trial.
    pub cases: Vec<(String, u32)>,
}

/// An error as it happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TrialError {
    /// The case.
    pub case_id: String,
    /// From 1.
    pub trial: u32,
    /// `agent call` or the evaluator.
    pub stage: String,
    /// The class, e.g. `timeout`.
    pub class: String,
    /// In words.
    pub message: String,
    /// Attempts made.
    pub attempts: u32,
    /// Microseconds.
    pub at: i64,
}

/// What an experiment was frozen on (`runs.md`, Experiments).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Frozen {
    /// Case versions.
    pub cases: u64,
    /// Cases left out because they need ground truth.
    pub left_out: Vec<String>,
    /// Overlay datasets that took part.
    pub overlays: Vec<String>,
    /// The agent's adapter and endpoint, credentials dropped.
    pub agent: String,
    /// Calls at once.
    pub concurrency: u32,
    /// Evaluator to template version.
    pub templates: BTreeMap<String, String>,
}

/// One live event (SSE `data`, kind in the `event` field); also what `evalkit run` follows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Live {
    /// A trial moved.
    Trial {
        /// The cell as it is now.
        #[serde(flatten)]
        cell: TrialCell,
        /// The experiment's counts after the move.
        counts: crate::experiment::TrialCounts,
    },
    /// The experiment paused, resumed, was cancelled or finished.
    Experiment {
        /// The new state.
        state: crate::experiment::ExperimentState,
        /// The counts at that moment.
        counts: crate::experiment::TrialCounts,
    },
}
