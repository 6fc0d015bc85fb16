//! What the worker keeps of one open experiment: its adapter, its judge and the room it has.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evalkit_core::agent::AgentHome;
use evalkit_core::score::Bars;
use evalkit_store::ExperimentPlan;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::Worker;
use super::gate::Gate;
use crate::adapter::{Adapter, AgentFailure};
use crate::harness::{self, AgentOf};
use crate::judge::Judge;

/// Answers that may wait for grading beside the calls in flight. Beyond that no further agent is called: a slow judge
/// must not fill the memory.
const WAITING: usize = 64;

/// One open experiment.
pub(crate) struct Lane {
    pub(crate) plan: ExperimentPlan,
    /// The failure that every call would end in, when there is no adapter.
    pub(crate) adapter: Result<Arc<dyn Adapter>, AgentFailure>,
    pub(crate) judge: Judge,
    pub(crate) bars: Arc<Bars>,
    pub(crate) gate: Arc<Gate>,
    /// Time for one call.
    pub(crate) allowed: Duration,
    /// Paused: nothing new is taken.
    pub(crate) rests: AtomicBool,
    /// The last claim got less than it wanted; asking again before news is useless.
    pub(crate) drained: AtomicBool,
    calls: Arc<Semaphore>,
    backlog: Arc<Semaphore>,
}

/// The room one trial takes.
#[derive(Debug)]
pub(crate) struct Permits {
    /// Given back once the answer is stored.
    pub(crate) call: Option<OwnedSemaphorePermit>,
    /// Given back at the trial's end.
    _place: OwnedSemaphorePermit,
}

impl Lane {
    pub(crate) async fn open(worker: &Worker, plan: &ExperimentPlan) -> Self {
        let frozen = &plan.frozen;
        let config = &frozen.agent;
        let at_once = worker.at_once.load(Ordering::Relaxed);
        let adapter = harness::adapter(
            &worker.store,
            &worker.egress,
            &worker.settings,
            AgentOf {
                config,
                home: &frozen.agent_home,
                secret: frozen.secret.as_ref(),
                at_once,
            },
        )
        .await;
        if let Err(failure) = &adapter {
            tracing::warn!(
                run = plan.run,
                class = failure.error.class.as_str(),
                "the agent of a run cannot be called"
            );
        }
        let judge = Judge::frozen(&frozen.judge_settings, &worker.settings, &worker.endpoints);
        let home = match &frozen.agent_home {
            AgentHome::Workspace(slug) => slug.as_str(),
            AgentHome::Config => "config.yaml",
            AgentHome::BuiltIn => "built in",
        };
        // Limits are part of the key: a changed agent has a gate of its own.
        let key = format!(
            "{home}\n{}\n{}\n{}\n{:?}",
            config.name, config.endpoint, config.concurrency, config.rate_per_s
        );
        let (concurrency, rate) = (config.concurrency, config.rate_per_s);
        let gate = worker.gate_of(key, || Gate::new(concurrency, rate, Instant::now()));
        let room = plan.concurrency.max(1) as usize;
        Self {
            adapter,
            judge,
            gate,
            bars: Arc::new(frozen.bars.clone()),
            allowed: Duration::from_secs(config.timeout_s.max(1)),
            rests: AtomicBool::new(false),
            drained: AtomicBool::new(false),
            calls: Arc::new(Semaphore::new(room)),
            backlog: Arc::new(Semaphore::new(room + WAITING)),
            plan: plan.clone(),
        }
    }

    /// Room for as many trials as could be called now; empty when paused, full, or known to have nothing queued.
    pub(crate) fn free_permits(&self) -> Vec<Permits> {
        let mut permits = Vec::new();
        if self.rests.load(Ordering::Relaxed) || self.drained.load(Ordering::Relaxed) {
            return permits;
        }
        let agent_has = self.gate.calls.available_permits();
        while permits.len() < agent_has {
            let (Ok(call), Ok(backlog)) = (
                Arc::clone(&self.calls).try_acquire_owned(),
                Arc::clone(&self.backlog).try_acquire_owned(),
            ) else {
                break;
            };
            permits.push(Permits {
                call: Some(call),
                _place: backlog,
            });
        }
        permits
    }
}

impl Lane {
    /// Room for one more trial after one whose answer is being stored; none when paused, full, or known to have nothing
    /// queued.
    pub(crate) fn next_place(&self) -> Option<OwnedSemaphorePermit> {
        if self.rests.load(Ordering::Relaxed) || self.drained.load(Ordering::Relaxed) {
            return None;
        }
        Arc::clone(&self.backlog).try_acquire_owned().ok()
    }
}

impl Permits {
    /// The room of a trial that follows another one in its call.
    pub(crate) fn following(
        call: Option<OwnedSemaphorePermit>,
        place: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            call,
            _place: place,
        }
    }

    /// The room of a trial that only needs grading.
    pub(crate) fn grading(place: OwnedSemaphorePermit) -> Self {
        Self {
            call: None,
            _place: place,
        }
    }
}
