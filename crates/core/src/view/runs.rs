//! Runs (`web.md`): the experiments of a workspace.

use serde::{Deserialize, Serialize};

use crate::experiment::{ExperimentState, TrialCounts};
use crate::results::{PooledScore, ResultsJudge};

/// What the address asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RunsQuery {
    /// One dataset.
    #[serde(default)]
    pub dataset: Option<String>,
    /// One agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// From 1.
    #[serde(default)]
    pub page: u32,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Runs {
    /// The workspace.
    pub workspace: String,
    /// Runs that fit the query.
    pub found: u64,
    /// From 1.
    pub page: u32,
    /// Rows a page.
    pub per_page: u32,
    /// For the filter.
    pub datasets: Vec<String>,
    /// For the filter.
    pub agents: Vec<String>,
    /// Newest first.
    pub rows: Vec<RunRow>,
    /// May this viewer start one.
    pub may_run: bool,
}

/// One experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunRow {
    /// Its number in the workspace.
    pub run: i64,
    /// Dataset, or dataset and split or case ids.
    pub dataset: String,
    /// The split, when one was chosen.
    pub split: Option<String>,
    /// The agent.
    pub agent: String,
    /// How it stands.
    pub state: ExperimentState,
    /// By state.
    pub counts: TrialCounts,
    /// Cases by colour: green, red, flaky, neither.
    pub colours: [u64; 4],
    /// Trials with something unscored.
    pub unscored: u64,
    /// Pooled answer rubric score; absent when nothing fed it.
    pub score: Option<PooledScore>,
    /// Who judged.
    pub judge: ResultsJudge,
    /// Who started it.
    pub by: String,
    /// Microseconds.
    pub started_at: i64,
    /// Microseconds.
    pub finished_at: Option<i64>,
}
