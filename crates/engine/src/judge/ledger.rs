//! Where calls and verdicts are kept: in the store, for a trial; in memory, for the command.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use evalkit_core::judge::JudgedEntry;
use evalkit_core::view::judging::{JudgeCall, JudgePause};
use evalkit_store::{Settled, Store, StoreError};

/// The ledger of one trial or of one command.
#[derive(Debug, Clone)]
pub enum Ledger {
    /// For a trial of the store.
    Store {
        /// The store.
        store: Store,
        /// The trial.
        trial_id: String,
        /// Only verdicts bought for this trial may be used again (`--no-cache`).
        own_only: bool,
    },
    /// For a command: calls are collected and nothing is used again.
    Memory(Arc<Mutex<Vec<JudgeCall>>>),
}

impl Ledger {
    /// A ledger in memory.
    pub fn memory() -> Self {
        Self::Memory(Arc::default())
    }

    /// The calls of a ledger in memory, oldest first; a ledger of the store has them there.
    pub fn calls(&self) -> Vec<JudgeCall> {
        match self {
            Self::Store { .. } => Vec::new(),
            Self::Memory(calls) => calls.lock().unwrap_or_else(PoisonError::into_inner).clone(),
        }
    }

    /// Verdicts settled under `key`; those bought for another trial are marked.
    pub(super) async fn before(&self, key: &str) -> Option<Vec<(usize, JudgedEntry)>> {
        let Self::Store {
            store,
            trial_id,
            own_only,
        } = self
        else {
            return None;
        };
        let found = store
            .judged_before(&store.system_ctx(), trial_id, key, *own_only)
            .await
            .unwrap_or_else(|error| {
                tracing::warn!(trial = %trial_id, %error, "settled verdicts cannot be read; the judge is asked");
                None
            });
        let (mut entries, others) = found?;
        for (_, entry) in &mut entries {
            entry.cached |= others;
        }
        Some(entries)
    }

    /// Keeps a call, and with the last one what it settled. What was paid for is not lost to a busy database.
    pub(super) async fn keep(&self, call: JudgeCall, settled: Option<Settled>) {
        match self {
            Self::Memory(calls) => {
                calls
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(call);
            }
            Self::Store {
                store, trial_id, ..
            } => {
                let mut pause = Duration::from_millis(50);
                loop {
                    let kept = store
                        .keep_judging(
                            &store.system_ctx(),
                            trial_id,
                            Some(call.clone()),
                            settled.clone(),
                        )
                        .await;
                    match kept {
                        Ok(()) => return,
                        Err(error @ (StoreError::Fault(_) | StoreError::Closed)) => {
                            tracing::warn!(trial = %trial_id, %error, "a judge's call could not be kept");
                            return;
                        }
                        Err(error) => {
                            tracing::warn!(trial = %trial_id, %error, "a judge's call could not be kept; trying again");
                            tokio::time::sleep(pause).await;
                            pause = (pause * 2).min(Duration::from_secs(2));
                        }
                    }
                }
            }
        }
    }

    /// Says for the pages that an endpoint is left alone, or answers again.
    pub(super) async fn mark(
        &self,
        provider: &str,
        model: &str,
        opened: Option<(String, Duration)>,
    ) {
        let Self::Store { store, .. } = self else {
            return;
        };
        let ctx = store.system_ctx();
        let pause = opened.map(|(why, rest)| JudgePause {
            provider: provider.to_owned(),
            model: model.to_owned(),
            why,
            opened_at: ctx.now,
            until: ctx.now + i64::try_from(rest.as_micros()).unwrap_or(i64::MAX / 4),
        });
        if let Err(error) = store.mark_judge_pause(&ctx, provider, model, pause).await {
            tracing::warn!(%error, "the state of a judge's endpoint could not be noted");
        }
    }
}
