//! Agents (`web.md`): endpoints, capabilities, checks.

use serde::{Deserialize, Serialize};

/// The page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Agents {
    /// The workspace.
    pub workspace: String,
    /// Own first, then those of `config.yaml`, then built in.
    pub rows: Vec<AgentRow>,
    /// May this viewer register one.
    pub may_register: bool,
}

/// One agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentRow {
    /// The name.
    pub name: String,
    /// `evalkit-http`, `recorded`, `demo`, ….
    pub adapter: String,
    /// The address, credentials dropped; "built in" or a path for others.
    pub endpoint: String,
    /// As spelled.
    pub capabilities: Vec<String>,
    /// `workspace`, `config.yaml` or `built in`.
    pub from: String,
    /// Calls at once.
    pub concurrency: u32,
    /// Seconds a trial.
    pub timeout_s: u64,
    /// A secret is stored.
    pub has_secret: bool,
    /// Experiments in this workspace.
    pub runs: u64,
    /// The last probe.
    pub last_check: Option<AgentCheck>,
}

/// What one probe found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentCheck {
    /// It answered, and the reply was understood.
    pub ok: bool,
    /// The error class, when not.
    pub class: Option<String>,
    /// In words; for `egress_denied` with the exact lines to add.
    pub message: String,
    /// Each step of the probe: name, ok, remark.
    pub steps: Vec<(String, bool, String)>,
    /// The start of what came back, at most 2,000 characters.
    pub reply: String,
    /// Milliseconds.
    pub latency_ms: u64,
    /// Microseconds.
    pub at: i64,
}
