//! Workspace (`web.md`): datasets with colours per agent, sparkline, members, what happened lately.

use serde::{Deserialize, Serialize};

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workspace {
    /// The slug.
    pub name: String,
    /// One user's own.
    pub personal: bool,
    /// Agents that have run here or are registered here, pinned order.
    pub agents: Vec<String>,
    /// By name.
    pub datasets: Vec<DatasetRow>,
    /// With roles.
    pub members: Vec<Member>,
    /// Newest first, at most ten.
    pub lately: Vec<Happening>,
    /// Pooled score per agent over time.
    pub series: Vec<ScoreSeries>,
    /// What this viewer may do here.
    pub may_run: bool,
    /// Create datasets, edit.
    pub may_edit: bool,
}

/// One dataset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetRow {
    /// The slug.
    pub slug: String,
    /// Active cases.
    pub cases: u64,
    /// Last sync, microseconds.
    pub synced_at: Option<i64>,
    /// Who synced.
    pub synced_by: Option<String>,
    /// Pooled answer rubric score of the last runs, oldest first.
    pub sparkline: Vec<f64>,
    /// One entry an agent of [`Workspace::agents`]; absent = not run.
    pub colours: Vec<Option<AgentColours>>,
}

/// Cases by latest colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentColours {
    /// Green.
    pub green: u64,
    /// Red.
    pub red: u64,
    /// Flaky.
    pub flaky: u64,
    /// Unscored, errors, cancelled, skipped.
    pub neither: u64,
}

/// A member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// The slug.
    pub name: String,
    /// As they write it.
    pub display_name: String,
    /// As spelled.
    pub roles: Vec<String>,
    /// The viewer themself.
    pub you: bool,
}

/// One line of "lately".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happening {
    /// Who.
    pub who: String,
    /// The verb phrase, e.g. "synced world-facts: 4 changed".
    pub what: String,
    /// Where it leads, a path of this site.
    pub href: Option<String>,
    /// Microseconds.
    pub at: i64,
}

/// One agent's pooled score over time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoreSeries {
    /// The agent.
    pub agent: String,
    /// Oldest first.
    pub points: Vec<ScorePoint>,
}

/// One run's pooled score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScorePoint {
    /// The run's number.
    pub run: i64,
    /// End of the run, microseconds.
    pub at: i64,
    /// 0 to 1.
    pub value: f64,
    /// Interval.
    pub low: Option<f64>,
    /// Interval.
    pub high: Option<f64>,
}
