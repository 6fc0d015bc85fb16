//! Home (`web.md`): what waits, what runs, your workspaces, the first-run guide.

use serde::{Deserialize, Serialize};

use super::workspace::AgentColours;
use crate::experiment::TrialCounts;

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Home {
    /// Cases of yours that are red in their latest experiment, newest first.
    pub red: Vec<RedCase>,
    /// Experiments with open trials.
    pub running: Vec<RunningExperiment>,
    /// Experiments that ended lately, newest first.
    pub finished: Vec<FinishedExperiment>,
    /// Yours first, then shared ones.
    pub workspaces: Vec<WorkspaceCard>,
    /// The first-run guide; absent once both steps were done and something else exists.
    pub guide: Option<Guide>,
}

/// A red case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RedCase {
    /// Where it lives.
    pub workspace: String,
    /// Its dataset.
    pub dataset: String,
    /// Its id.
    pub case_id: String,
    /// Against which agent.
    pub agent: String,
    /// The run's number in the workspace.
    pub run: i64,
    /// Satisfied rubrics.
    pub satisfied: u64,
    /// Rubrics asked.
    pub of: u64,
    /// One line on what fell, e.g. "R2 and R5 incorrect; one verdict needs a look".
    pub what: String,
    /// Microseconds.
    pub at: i64,
}

/// An experiment that is under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunningExperiment {
    /// Where.
    pub workspace: String,
    /// The run's number.
    pub run: i64,
    /// Of which dataset.
    pub dataset: String,
    /// Against which agent.
    pub agent: String,
    /// By state.
    pub counts: TrialCounts,
    /// Start, microseconds.
    pub started_at: i64,
}

/// An experiment that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FinishedExperiment {
    /// Where.
    pub workspace: String,
    /// The run's number.
    pub run: i64,
    /// Of which dataset.
    pub dataset: String,
    /// Against which agent.
    pub agent: String,
    /// Cases green.
    pub green: u64,
    /// Cases red.
    pub red: u64,
    /// Cases neither.
    pub neither: u64,
    /// End, microseconds.
    pub at: i64,
}

/// A workspace in short.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkspaceCard {
    /// The slug.
    pub name: String,
    /// One's own.
    pub personal: bool,
    /// How many.
    pub datasets: u64,
    /// How many, archived ones apart.
    pub cases: u64,
    /// Pooled score of the last runs, oldest first, 0 to 1.
    pub sparkline: Vec<f64>,
    /// Latest colours over all agents.
    pub colours: AgentColours,
}

/// The two clicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guide {
    /// The demo dataset is in the personal workspace.
    pub synced: bool,
    /// The demo agent ran on it.
    pub ran: bool,
    /// Cases of the bundled dataset.
    pub cases: u64,
}
