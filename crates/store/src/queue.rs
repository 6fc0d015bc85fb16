//! The durable queue: rows of trials, each held by at most one worker at a time (`runs.md`, The engine).
//!
//! A claim raises the trial's epoch and gives it a lease; every later write of the worker names trial, epoch and state.
//! A write that fits no row comes from a worker that lost its trial: it is dropped and counted. Each move writes its
//! live event in the same transaction. Many small moves share one commit (`write.rs`).

mod claim;
mod finish;
mod lease;
mod outcome;
mod plan;
mod record;

use std::sync::atomic::Ordering;

use evalkit_core::error::Code;
use evalkit_core::policy::Actor;
use serde::{Deserialize, Serialize};

use crate::ctx::Ctx;
use crate::error::StoreError;
use crate::store::Store;

pub(crate) use claim::effective_cases;

pub use claim::Claim;
pub use lease::Reaped;
pub use plan::ExperimentPlan;
pub use record::{Recording, Wanted};

/// What a worker must name to write: the trial and the epoch of its claim.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Fence {
    /// The trial.
    pub trial_id: String,
    /// Raised at every claim.
    pub epoch: i64,
}

/// Whether a worker's write was taken. `false`: it no longer holds the trial; whatever it did is dropped.
pub type Taken = bool;

/// The queue is the engine's alone.
pub(crate) fn engine_only(ctx: &Ctx) -> Result<(), StoreError> {
    match ctx.actor {
        Actor::System => Ok(()),
        Actor::Anonymous | Actor::Person { .. } => Err(StoreError::fault(
            Code::Forbidden,
            "Only the engine moves trials.",
            "Use pause, cancel or re-run on the run itself.",
        )),
    }
}

impl Store {
    /// Counts a write that was dropped.
    fn count_stale(&self, taken: Taken) -> Taken {
        if !taken {
            self.inner.stale_writes.fetch_add(1, Ordering::Relaxed);
        }
        taken
    }
}
