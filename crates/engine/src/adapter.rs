//! Adapters: what runs an agent (`runs.md`, Agents).
//!
//! An adapter gets an [`AgentTask`], which has no field for a rubric, an expected value or a tool check, so none can reach
//! an agent (D21). It gives back a recorded run or a failure of the closed list; it never grades.

mod demo;
mod evalkit_http;
mod failure;
mod fixture_link;
mod recorded;
mod reply;
mod sse;
mod wire;

use evalkit_core::case::{Case, Role};
use evalkit_core::run::RecordedRun;
use futures::future::BoxFuture;
use std::time::Duration;

pub use demo::{DEMO_AGENTS, Demo, DemoAgent};
pub use evalkit_http::{EvalkitHttp, REPLY_CAP};
pub use failure::{Again, AgentFailure};
pub use fixture_link::{FixtureLinks, LinkRefused};
pub use recorded::{Recorded, RecordedError, read_runs};

/// What runs an agent. Cheap to share; one value serves every call to one agent.
pub trait Adapter: Send + Sync {
    /// Carries out one task.
    fn call<'a>(&'a self, task: &'a AgentTask) -> BoxFuture<'a, Result<AgentReply, AgentFailure>>;
}

/// All that an agent is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentTask {
    /// The experiment's id.
    pub run_id: String,
    /// The case's id.
    pub case_id: String,
    /// From 1. Not sent: an agent is to answer each trial alike.
    pub trial: u32,
    /// The author's question, when the case has one.
    pub question: Option<String>,
    /// User turns in order, for a case with several.
    pub messages: Vec<String>,
    /// What the agent should read: the fixtures' contexts, a blank line, the question.
    pub prompt: String,
    /// The files that come with it.
    pub fixtures: Vec<AgentFixture>,
    /// Equal for every attempt of one trial.
    pub idempotency_key: String,
    /// Time for the whole call.
    pub allowed: Duration,
}

/// A file for the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFixture {
    /// The flat file name.
    pub key: String,
    /// 64 lower-case hex digits.
    pub sha256: String,
    /// What the file is, for the prompt.
    pub context: String,
    /// Where the agent can fetch it for a while.
    pub url: String,
}

/// What an agent returned.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentReply {
    /// The run, with the trajectory as a value for graders.
    pub run: RecordedRun,
    /// The trajectory's bytes as received.
    pub trajectory: Option<Vec<u8>>,
}

impl AgentTask {
    /// The task that `case` sets. `link` gives the address of a fixture by key and hash.
    pub fn of(
        case: &Case,
        run_id: &str,
        trial: u32,
        idempotency_key: &str,
        allowed: Duration,
        link: impl Fn(&str, &str) -> String,
    ) -> Self {
        let messages = case
            .input
            .messages
            .iter()
            .filter(|message| message.role == Role::User)
            .map(|message| message.content.clone())
            .collect();
        let fixtures = case
            .fixtures
            .iter()
            .filter_map(|fixture| {
                let sha256 = fixture.sha256.clone()?;
                Some(AgentFixture {
                    url: link(&fixture.key, &sha256),
                    key: fixture.key.clone(),
                    context: fixture.context.clone().unwrap_or_default(),
                    sha256,
                })
            })
            .collect();
        Self {
            run_id: run_id.to_owned(),
            case_id: case.id.clone(),
            trial,
            question: case.input.question.clone(),
            messages,
            prompt: case.prompt(),
            fixtures,
            idempotency_key: idempotency_key.to_owned(),
            allowed,
        }
    }
}
