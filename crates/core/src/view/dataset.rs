//! Dataset (`web.md`): the case table, paged and searched on the server.

use serde::{Deserialize, Serialize};

use crate::grade::Colour;

/// What the address asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DatasetQuery {
    /// Words of id and question, all must occur.
    #[serde(default)]
    pub q: String,
    /// One split.
    #[serde(default)]
    pub tag: Option<String>,
    /// Only cases with this colour against `agent` (or any agent): `green`, `red`, `flaky`, `neither`, `not-run`.
    #[serde(default)]
    pub colour: Option<String>,
    /// For `colour`.
    #[serde(default)]
    pub agent: Option<String>,
    /// `changed` (default, newest first), `id`, `id-desc`, `changed-asc`.
    #[serde(default)]
    pub sort: Option<String>,
    /// Also archived cases.
    #[serde(default)]
    pub archived: bool,
    /// From 1.
    #[serde(default)]
    pub page: u32,
}

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dataset {
    /// Its workspace.
    pub workspace: String,
    /// The slug.
    pub slug: String,
    /// All active cases.
    pub total: u64,
    /// Archived ones.
    pub archived: u64,
    /// Cases that fit the query.
    pub found: u64,
    /// From 1.
    pub page: u32,
    /// Rows a page.
    pub per_page: u32,
    /// Tag to active cases, most first.
    pub tags: Vec<(String, u64)>,
    /// Column heads.
    pub agents: Vec<String>,
    /// The rows.
    pub rows: Vec<CaseRow>,
    /// Last sync, microseconds.
    pub synced_at: Option<i64>,
    /// Who synced.
    pub synced_by: Option<String>,
    /// May this viewer run it.
    pub may_run: bool,
    /// Agents this viewer can pick for a run.
    pub runnable_agents: Vec<String>,
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRow {
    /// Its id.
    pub id: String,
    /// The question's text.
    pub question: String,
    /// In the author's order.
    pub tags: Vec<String>,
    /// Rubrics by type: facts, worked out, reading.
    pub rubrics: [u32; 3],
    /// The newest version.
    pub version: u32,
    /// No longer in the files.
    pub archived: bool,
    /// One entry an agent of [`Dataset::agents`]; absent = not run.
    pub cells: Vec<Option<AgentCell>>,
    /// Microseconds.
    pub changed_at: i64,
}

/// The latest colour of a case against one agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentCell {
    /// Of the case, over its trials.
    pub colour: Colour,
    /// Satisfied answer rubrics of the shown trial.
    pub satisfied: u64,
    /// Asked; 0 when it has none.
    pub of: u64,
    /// The run's number.
    pub run: i64,
    /// Microseconds.
    pub at: i64,
}
