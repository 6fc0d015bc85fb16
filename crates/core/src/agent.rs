//! Agents: a named endpoint under evaluation (`runs.md`, Agents).

use serde::{Deserialize, Serialize};

use crate::run::Capability;

/// What an agent speaks (`runs.md`, the table of adapters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Adapter {
    /// The Agent Run API.
    EvalkitHttp,
    /// The `/chat` server-sent-event API.
    ChatSse,
    /// Any OpenAI-compatible chat endpoint that runs its own tools.
    OpenaiChat,
    /// No agent: trajectories from files.
    Recorded,
    /// Built in, deterministic.
    Demo,
}

impl Adapter {
    /// All adapters, in the order pages list them.
    pub const ALL: [Self; 5] = [
        Self::EvalkitHttp,
        Self::ChatSse,
        Self::OpenaiChat,
        Self::Recorded,
        Self::Demo,
    ];

    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::EvalkitHttp => "evalkit-http",
            Self::ChatSse => "chat-sse",
            Self::OpenaiChat => "openai-chat",
            Self::Recorded => "recorded",
            Self::Demo => "demo",
        }
    }

    /// Reads the stored form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|a| a.as_str() == text)
    }

    /// Whether its endpoint is an address to call.
    pub const fn is_http(self) -> bool {
        matches!(self, Self::EvalkitHttp | Self::ChatSse | Self::OpenaiChat)
    }
}

/// An agent's configuration. Its secret is never in here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct AgentConfig {
    /// A slug, unique in its workspace.
    pub name: String,
    /// What it speaks.
    pub adapter: Adapter,
    /// An address for HTTP adapters, a path for `recorded`, empty for `demo`.
    #[serde(default)]
    pub endpoint: String,
    /// What it declares to record; absent = what a reply holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<Capability>>,
    /// The header that carries the secret; absent = `Authorization: Bearer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_header: Option<String>,
    /// The model to name, for `openai-chat`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Calls at once, at least 1.
    #[serde(default = "default_concurrency")]
    pub concurrency: u32,
    /// Calls a second; absent = no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<f64>,
    /// Seconds a trial, at least 1.
    #[serde(default = "default_timeout_s")]
    pub timeout_s: u64,
    /// Calls a trial may cost, the first included.
    #[serde(default = "default_attempts")]
    pub max_attempts: u32,
}

const fn default_concurrency() -> u32 {
    8
}

const fn default_timeout_s() -> u64 {
    300
}

const fn default_attempts() -> u32 {
    3
}

impl AgentConfig {
    /// An agent with the defaults of `runs.md`.
    pub fn new(name: impl Into<String>, adapter: Adapter, endpoint: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            adapter,
            endpoint: endpoint.into(),
            capabilities: None,
            secret_header: None,
            model: None,
            concurrency: default_concurrency(),
            rate_per_s: None,
            timeout_s: default_timeout_s(),
            max_attempts: default_attempts(),
        }
    }
}

/// Where an agent is defined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentHome {
    /// A workspace, by slug.
    Workspace(String),
    /// `config.yaml`.
    Config,
    /// Part of the program.
    BuiltIn,
}
