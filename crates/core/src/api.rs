//! The server's HTTP API as data: what the `evalkit` command sends and what comes back (`docs/http-api.md`).
//!
//! | Route | Body | Reply |
//! |---|---|---|
//! | `GET /api/whoami` | | [`Whoami`] |
//! | `DELETE /api/token` | | nothing: the token of the request is revoked |
//! | `GET /api/w/{ws}/agents` | | [`Agents`](crate::view::agents::Agents) |
//! | `PUT /api/w/{ws}/agents/{name}` | [`AgentPut`] | nothing |
//! | `DELETE /api/w/{ws}/agents/{name}` | | nothing |
//! | `POST /api/w/{ws}/agents/{name}/check` | | [`AgentCheck`](crate::view::agents::AgentCheck) |
//! | `GET /api/w/{ws}/d/{ds}/facts` | | lint facts (`formats.md`, `evalkit.facts/1`) |
//! | `POST /api/w/{ws}/fixtures/missing` | [`Hashes`] | [`Hashes`]: those without bytes in the workspace |
//! | `PUT /api/w/{ws}/fixtures/{sha256}` | the bytes | nothing |
//! | `POST /api/w/{ws}/d/{ds}/sync` | [`SyncPost`] | [`SyncDone`] |
//! | `GET /api/w/{ws}/fixtures/{sha256}?name=` | | the bytes |
//! | `POST /api/w/{ws}/runs` | [`RunPost`] | [`RunBegun`] |
//! | `GET /api/w/{ws}/runs` | | [`Runs`](crate::view::runs::Runs) |
//! | `GET /api/w/{ws}/runs/{number}` | | [`Experiment`](crate::view::experiment::Experiment) |
//! | `GET /api/w/{ws}/runs/{number}/events` | | server-sent events, [`Live`](crate::view::experiment::Live) each, resumed by `Last-Event-ID` |
//! | `POST /api/w/{ws}/runs/{number}/cancel`, `pause`, `resume` | | nothing |
//! | `POST /api/w/{ws}/runs/{number}/rerun` | | [`Rerun`] |
//! | `GET /api/w/{ws}/runs/{number}/results` | | [`Results`](crate::results::Results) |
//! | `GET /api/w/{ws}/runs/{number}/recorded` | | recorded runs, one [`RecordedRun`](crate::run::RecordedRun) a line |
//! | `GET /api/w/{ws}/runs/{number}/c/{case}/{trial}/answer`, `trajectory` | | the bytes as received |
//!
//! "Nothing" is status 204. An error is a [`Fault`](crate::error::Fault) with the status of its code. Requests carry
//! `Authorization: Bearer evk_…`.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::AgentConfig;
use crate::results::ResultsJudge;

/// Whose token it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Whoami {
    /// The slug, also the personal workspace.
    pub name: String,
    /// As they write it.
    pub display_name: String,
    /// The server's owner.
    pub owner: bool,
    /// The token's scopes as spelled.
    pub scopes: Vec<String>,
    /// Workspaces that they see, personal first.
    pub workspaces: Vec<String>,
    /// The server's version.
    pub version: String,
}

/// An agent to register, or to change when the name is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentPut {
    /// Its configuration; the name is the one of the address.
    pub config: AgentConfig,
    /// Its secret. Absent leaves a stored one as it is, unless the endpoint changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

/// A list of SHA-256 hashes in lower-case hex.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Hashes {
    /// 64 hex digits each.
    pub sha256: Vec<String>,
}

/// A directory to sync (`cases.md`, Sync).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SyncPost {
    /// All files, in path order.
    pub files: Vec<SyncFile>,
    /// Cases that are not in the files stay.
    #[serde(default)]
    pub keep_missing: bool,
    /// Archiving many cases is meant.
    #[serde(default)]
    pub archive: bool,
    /// Only tell what would change.
    #[serde(default)]
    pub dry_run: bool,
    /// `jargon` of the project file.
    #[serde(default)]
    pub jargon: Vec<String>,
    /// `subject_terms` of the project file.
    #[serde(default)]
    pub subject_terms: Vec<String>,
}

/// A file of a sync. Lint refuses what is not UTF-8 before anything is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SyncFile {
    /// Relative to the directory, `/` between folders.
    pub path: String,
    /// Its text.
    pub text: String,
}

/// What a sync changed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct SyncDone {
    /// New or back again.
    pub added: Vec<String>,
    /// A new version each.
    pub changed: Vec<String>,
    /// How many stayed as they are.
    pub unchanged: u64,
    /// No longer in the files.
    pub archived: Vec<String>,
    /// Cases that are not in the files and were left.
    pub kept: Vec<String>,
    /// Overlays after the sync.
    pub overlays: u64,
    /// Whether the overlays are other than before.
    pub overlays_changed: bool,
    /// Fixtures in the registry after the sync.
    pub fixtures: u64,
    /// Whether the registry is other than before.
    pub fixtures_changed: bool,
    /// Warnings of the server's lint (`formats.md`, Lint: `diagnostics`).
    pub warnings: Vec<Value>,
    /// Nothing was written.
    pub dry_run: bool,
}

/// An experiment to begin (`runs.md`, Experiments).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunPost {
    /// The dataset's slug.
    pub dataset: String,
    /// `name` or `name@workspace`.
    pub agent: String,
    /// Only cases with this tag.
    #[serde(default)]
    pub split: Option<String>,
    /// Only these cases; empty = all.
    #[serde(default)]
    pub case_ids: Vec<String>,
    /// Trials a case; 0 counts as 1.
    #[serde(default)]
    pub trials: u32,
    /// Calls at once; absent = the agent's own limit.
    #[serde(default)]
    pub concurrency: Option<u32>,
    /// Also cases tagged `needs-ground-truth`.
    #[serde(default)]
    pub include_needs_ground_truth: bool,
    /// Ask for every verdict anew.
    #[serde(default)]
    pub no_cache: bool,
}

/// An experiment that has begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RunBegun {
    /// Its id.
    pub id: String,
    /// Its number in the workspace; its page is `/w/{ws}/runs/{number}`.
    pub number: i64,
    /// Trials planned.
    pub planned: u64,
    /// Cases left out because they need ground truth.
    pub left_out: Vec<String>,
    /// The agent as results name it.
    pub agent: String,
    /// The judge as results name it.
    pub judge: ResultsJudge,
}

/// Trials that were queued again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Rerun {
    /// How many.
    pub trials: u64,
}

/// The path of an answer or a trajectory: `what` is `answer` or `trajectory`.
pub fn recorded_path(workspace: &str, run: i64, case_id: &str, trial: u32, what: &str) -> String {
    format!("/api/w/{workspace}/runs/{run}/c/{case_id}/{trial}/{what}")
}

/// The path of a fixture's bytes; `escaped_name` is its key, percent-encoded, for the name of the download.
pub fn fixture_path(workspace: &str, sha256: &str, escaped_name: &str) -> String {
    format!("/api/w/{workspace}/fixtures/{sha256}?name={escaped_name}")
}

/// The path of a run's live events after the event `after`.
pub fn events_path(workspace: &str, run: i64, after: i64) -> String {
    format!("/api/w/{workspace}/runs/{run}/events?after={after}")
}
