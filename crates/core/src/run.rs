//! Recorded runs: what an agent returned for one case, and all that graders may look at (`grading.md`; `formats.md`, Recorded runs).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What one agent run left behind. Every evaluator is a function of an effective case and one of these.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecordedRun {
    /// The case it answers.
    pub case_id: String,
    /// From 1; 1 when the record does not say.
    #[serde(default = "first_trial")]
    pub trial: u32,
    /// The agent's name as recorded.
    #[serde(default)]
    pub agent: Option<String>,
    /// The final answer's text.
    #[serde(default)]
    pub answer: Option<String>,
    /// A structured answer.
    #[serde(default)]
    pub output: Option<Value>,
    /// The ATIF document as received.
    #[serde(default)]
    pub trajectory: Option<Value>,
    /// Calls of harnesses that have no trajectory.
    #[serde(default)]
    pub tool_calls: Option<Vec<RecordedCall>>,
    /// Per-turn records, kept as given.
    #[serde(default)]
    pub turns: Vec<Value>,
    /// Approvals, kept as given.
    #[serde(default)]
    pub approvals: Vec<Value>,
    /// Tokens and cost.
    #[serde(default)]
    pub usage: Option<Usage>,
    /// Milliseconds from the first byte sent to the last byte read.
    #[serde(default)]
    pub latency_ms: Option<u64>,
    /// Whether the agent answered.
    #[serde(default)]
    pub status: RunStatus,
    /// Set when `status` is `error`.
    #[serde(default)]
    pub error: Option<RunError>,
    /// What the harness declares; absent = what is present.
    #[serde(default)]
    pub capabilities: Option<Vec<Capability>>,
}

fn first_trial() -> u32 {
    1
}

/// One recorded tool call of a harness without trajectories.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct RecordedCall {
    /// The tool's name as recorded.
    pub name: String,
    /// Arguments as given.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// What came back.
    #[serde(default)]
    pub result: Option<Value>,
    /// Whether it failed.
    #[serde(default)]
    pub is_error: bool,
}

/// Tokens and cost of a run; each part may be unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct Usage {
    /// All input tokens, cached ones included.
    #[serde(default)]
    pub input_tokens: Option<u64>,
    /// Output tokens.
    #[serde(default)]
    pub output_tokens: Option<u64>,
    /// US dollars.
    #[serde(default)]
    pub cost_usd: Option<f64>,
}

/// Whether a recorded run holds an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// The agent answered.
    #[default]
    Ok,
    /// It did not; `error` says how.
    Error,
}

/// How an agent call failed. A plain string in a file reads as `agent_reported` with that message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(from = "RunErrorForm")]
pub struct RunError {
    /// One of the closed list.
    pub class: AgentErrorClass,
    /// What happened, scrubbed of credentials, at most 2,000 characters.
    pub message: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RunErrorForm {
    Text(String),
    Full {
        class: AgentErrorClass,
        message: String,
    },
}

impl From<RunErrorForm> for RunError {
    fn from(form: RunErrorForm) -> Self {
        match form {
            RunErrorForm::Text(message) => Self {
                class: AgentErrorClass::AgentReported,
                message,
            },
            RunErrorForm::Full { class, message } => Self { class, message },
        }
    }
}

/// Agent error classes, a closed list (`runs.md`, Agents).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "the names are the specification's own and say it all"
)]
pub enum AgentErrorClass {
    Refused,
    Dns,
    Tls,
    Timeout,
    #[serde(rename = "http_4xx")]
    Http4xx,
    #[serde(rename = "http_5xx")]
    Http5xx,
    RateLimited,
    Redirect,
    NotJson,
    TooLarge,
    Cut,
    InvalidAtif,
    ToolNotRun,
    AgentReported,
    EgressDenied,
    FixtureNotCarried,
}

impl AgentErrorClass {
    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Dns => "dns",
            Self::Tls => "tls",
            Self::Timeout => "timeout",
            Self::Http4xx => "http_4xx",
            Self::Http5xx => "http_5xx",
            Self::RateLimited => "rate_limited",
            Self::Redirect => "redirect",
            Self::NotJson => "not_json",
            Self::TooLarge => "too_large",
            Self::Cut => "cut",
            Self::InvalidAtif => "invalid_atif",
            Self::ToolNotRun => "tool_not_run",
            Self::AgentReported => "agent_reported",
            Self::EgressDenied => "egress_denied",
            Self::FixtureNotCarried => "fixture_not_carried",
        }
    }
}

/// What a harness declares it records.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    utoipa::ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Capability {
    /// A trajectory in ATIF.
    Trajectory,
    /// Tool calls.
    ToolCalls,
    /// Approvals.
    Approvals,
    /// A structured output.
    Output,
}

impl RecordedRun {
    /// What the harness declares, or, when it declares nothing, what is present.
    pub fn declares(&self, capability: Capability) -> bool {
        match &self.capabilities {
            Some(declared) => declared.contains(&capability),
            None => match capability {
                Capability::Trajectory => self.trajectory.is_some(),
                Capability::ToolCalls => self.trajectory.is_some() || self.tool_calls.is_some(),
                Capability::Approvals => !self.approvals.is_empty(),
                Capability::Output => self.output.is_some(),
            },
        }
    }
}
