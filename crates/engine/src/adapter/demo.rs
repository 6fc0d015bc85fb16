//! `demo`: two built-in agents that play recorded runs of the bundled dataset back (`runs.md`, Agents).
//!
//! Deterministic: the same case always gets the same answer, the same steps and the same recorded time. Only the wait is
//! shorter than the recording, so that a run can be watched and does not have to be sat out.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use evalkit_core::agent::{Adapter as AdapterKind, AgentConfig};
use evalkit_core::run::{AgentErrorClass, Capability, RecordedRun, RunError, RunStatus};
use futures::future::BoxFuture;

use super::{Adapter, AgentFailure, AgentReply, AgentTask};

/// The recordings and the judge's replies to them, as they stand in `examples/demo`.
const CAREFUL_RUNS: &str = include_str!("../../../../examples/demo/runs-demo-careful.jsonl");
const HASTY_RUNS: &str = include_str!("../../../../examples/demo/runs-demo-hasty.jsonl");
const CAREFUL_REPLIES: &str = include_str!("../../../../examples/demo/replies-demo-careful.jsonl");
const HASTY_REPLIES: &str = include_str!("../../../../examples/demo/replies-demo-hasty.jsonl");

/// A recorded second is waited for this many times shorter.
const FASTER: u64 = 10;
/// Bounds on the wait.
const SHORTEST: Duration = Duration::from_millis(120);
const LONGEST: Duration = Duration::from_millis(1_800);

/// One of the built-in agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DemoAgent {
    /// Looks things up, works them out and names its sources.
    Careful,
    /// Quick and unreliable.
    Hasty,
}

/// Both, in the order pages list them.
pub const DEMO_AGENTS: [DemoAgent; 2] = [DemoAgent::Careful, DemoAgent::Hasty];

impl DemoAgent {
    /// `demo-careful` or `demo-hasty`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Careful => "demo-careful",
            Self::Hasty => "demo-hasty",
        }
    }

    /// Finds one by name.
    pub fn named(name: &str) -> Option<Self> {
        DEMO_AGENTS.into_iter().find(|agent| agent.name() == name)
    }

    /// As every list of agents shows it.
    pub fn config(self) -> AgentConfig {
        AgentConfig {
            capabilities: Some(vec![Capability::Trajectory, Capability::ToolCalls]),
            ..AgentConfig::new(self.name(), AdapterKind::Demo, "")
        }
    }

    /// The recording, one run a line (`formats.md`, Recorded runs).
    pub const fn runs_text(self) -> &'static str {
        match self {
            Self::Careful => CAREFUL_RUNS,
            Self::Hasty => HASTY_RUNS,
        }
    }

    /// The judge's replies to it, one a line (`formats.md`, Judge replies for replay).
    pub const fn replies_text(self) -> &'static str {
        match self {
            Self::Careful => CAREFUL_REPLIES,
            Self::Hasty => HASTY_REPLIES,
        }
    }

    /// The recorded runs by case id.
    pub fn runs(self) -> Arc<HashMap<String, RecordedRun>> {
        static CAREFUL: LazyLock<Arc<HashMap<String, RecordedRun>>> =
            LazyLock::new(|| Arc::new(parse(CAREFUL_RUNS)));
        static HASTY: LazyLock<Arc<HashMap<String, RecordedRun>>> =
            LazyLock::new(|| Arc::new(parse(HASTY_RUNS)));
        Arc::clone(match self {
            Self::Careful => &CAREFUL,
            Self::Hasty => &HASTY,
        })
    }
}

/// A line that cannot be read is left out; a test holds the bundled files to having none.
fn parse(text: &str) -> HashMap<String, RecordedRun> {
    text.lines()
        .filter_map(|line| serde_json::from_str::<RecordedRun>(line).ok())
        .map(|run| (run.case_id.clone(), run))
        .collect()
}

/// The adapter of one built-in agent.
#[derive(Debug, Clone)]
pub struct Demo {
    agent: DemoAgent,
    runs: Arc<HashMap<String, RecordedRun>>,
    waits: bool,
}

impl Demo {
    /// The adapter of `agent`.
    pub fn new(agent: DemoAgent) -> Self {
        Self {
            agent,
            runs: agent.runs(),
            waits: true,
        }
    }

    /// The same without the wait: for making finished runs.
    pub fn at_once(agent: DemoAgent) -> Self {
        Self {
            waits: false,
            ..Self::new(agent)
        }
    }

    async fn play(&self, task: &AgentTask) -> Result<AgentReply, AgentFailure> {
        let Some(recorded) = self.runs.get(&task.case_id) else {
            return Err(AgentFailure::of(
                AgentErrorClass::AgentReported,
                format!(
                    "The built-in agent {} knows only the cases of the bundled demo dataset, and `{}` is none of them. \
                     Register an agent of your own to run other cases.",
                    self.agent.name(),
                    task.case_id
                ),
            ));
        };
        if self.waits {
            tokio::time::sleep(wait(recorded.latency_ms).min(task.allowed)).await;
        }
        match (recorded.status, &recorded.error) {
            (RunStatus::Ok, _) => Ok(AgentReply {
                trajectory: recorded
                    .trajectory
                    .as_ref()
                    .map(|value| value.to_string().into_bytes()),
                run: RecordedRun {
                    trial: task.trial,
                    ..recorded.clone()
                },
            }),
            (RunStatus::Error, error) => Err(AgentFailure {
                error: error.clone().unwrap_or_else(|| RunError {
                    class: AgentErrorClass::AgentReported,
                    message: "The recorded run failed.".to_owned(),
                }),
                again: super::Again::Never,
                latency_ms: recorded.latency_ms,
            }),
        }
    }
}

/// How long to wait in place of `recorded_ms`.
fn wait(recorded_ms: Option<u64>) -> Duration {
    Duration::from_millis(recorded_ms.unwrap_or(0) / FASTER).clamp(SHORTEST, LONGEST)
}

impl Adapter for Demo {
    fn call<'a>(&'a self, task: &'a AgentTask) -> BoxFuture<'a, Result<AgentReply, AgentFailure>> {
        Box::pin(self.play(task))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(case_id: &str) -> AgentTask {
        AgentTask {
            run_id: "r".to_owned(),
            case_id: case_id.to_owned(),
            trial: 3,
            question: None,
            messages: Vec::new(),
            prompt: String::new(),
            fixtures: Vec::new(),
            idempotency_key: "k".to_owned(),
            allowed: Duration::from_secs(30),
        }
    }

    #[test]
    fn every_line_of_the_recordings_is_a_run() {
        for agent in DEMO_AGENTS {
            let lines = agent.runs_text().lines().count();
            assert!(lines >= 24, "{}", agent.name());
            assert_eq!(agent.runs().len(), lines);
            assert!(
                agent
                    .runs()
                    .values()
                    .all(|run| run.agent.as_deref() == Some(agent.name()))
            );
            assert_eq!(DemoAgent::named(agent.name()), Some(agent));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_the_recorded_ones_and_quicker() {
        let demo = Demo::new(DemoAgent::Hasty);
        let began = tokio::time::Instant::now();
        let reply = demo.call(&task("suez-and-panama-canals")).await.unwrap();
        assert_eq!(began.elapsed(), LONGEST);
        assert_eq!(reply.run.trial, 3);
        assert_eq!(reply.run.latency_ms, Some(41_300));
        assert!(reply.trajectory.is_some());
        let failure = demo
            .call(&task("kepler-third-law-jupiter"))
            .await
            .unwrap_err();
        assert_eq!(failure.error.class, AgentErrorClass::Timeout);
        assert_eq!(failure.again, super::super::Again::Never);
    }

    #[tokio::test]
    async fn an_unknown_case_is_said_plainly() {
        let failure = Demo::new(DemoAgent::Careful)
            .call(&task("mine"))
            .await
            .unwrap_err();
        assert_eq!(failure.error.class, AgentErrorClass::AgentReported);
        assert!(failure.error.message.contains("`mine`"));
        assert!(failure.error.message.contains("agent of your own"));
    }
}
