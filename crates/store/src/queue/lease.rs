//! Leases: renewed while a worker lives, taken back when it does not.

use evalkit_core::experiment::TrialState;

use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::experiment::{Frozen, event};
use crate::queue::{Fence, engine_only, finish};
use crate::store::Store;

/// What the reaper did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Trials that are queued again.
    pub requeued: u64,
    /// Trials that were interrupted as often as the agent allows, and ended in an error.
    pub ended: u64,
    /// Recorded trials whose grading waits for a worker again.
    pub regrade: u64,
}

impl Store {
    /// Prolongs the leases of `worker` until `until`, in microseconds by the clock of `ctx`, and gives the fences it no
    /// longer holds.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn renew_leases(
        &self,
        ctx: &Ctx,
        worker: &str,
        fences: Vec<Fence>,
        until: i64,
    ) -> Result<Vec<Fence>, StoreError> {
        engine_only(ctx)?;
        if fences.is_empty() {
            return Ok(fences);
        }
        let input = (worker.to_owned(), fences, until - ctx.now);
        self.write(ctx, input, |tx, ctx, (worker, fences, lease)| {
            Box::pin(async move {
                let until = tx.lease_now(ctx).await? + lease;
                renew(tx, worker, fences, until).await
            })
        })
        .await
    }

    /// Takes back what dead workers hold: running trials are queued again or, after their last attempt, end in an
    /// error; recorded ones wait for grading. Costs one look-up when there is nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn reap(&self, ctx: &Ctx) -> Result<Reaped, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        let now = tx.lease_now(ctx).await?;
        let expired = tx
            .optional(
                "SELECT id FROM trial WHERE state IN ('running', 'recorded', 'grading') AND lease_until <= $1 LIMIT 1",
                args![now],
            )
            .await?;
        drop(tx);
        if expired.is_none() {
            return Ok(Reaped::default());
        }
        self.write(ctx, (), |tx, ctx, ()| Box::pin(reap(tx, ctx)))
            .await
    }

    /// Ends the leases of `worker`, or of every worker, at once: at shutdown, and at the start of the one process that
    /// holds an embedded database, when whoever held them is gone.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn release_leases_unchecked(&self, worker: Option<&str>) -> Result<u64, StoreError> {
        let input = worker.unwrap_or_default().to_owned();
        self.write(&self.system_ctx(), input, |tx, ctx, worker| {
            Box::pin(async move {
                let now = tx.lease_now(ctx).await?;
                // Whoever lives takes them at once.
                tx.wake_queue();
                tx.execute(
                    "UPDATE trial SET lease_until = $2 WHERE state IN ('running', 'recorded', 'grading') \
                     AND ($1 = '' OR lease_owner = $1) AND lease_until > $2",
                    args![worker, now],
                )
                .await
            })
        })
        .await
    }
}

async fn renew(
    tx: &mut Tx,
    worker: &str,
    fences: &[Fence],
    until: i64,
) -> Result<Vec<Fence>, StoreError> {
    let mut held = std::collections::HashSet::new();
    for chunk in fences.chunks(500) {
        let mut values = args![worker, until];
        values.extend(chunk.iter().map(|fence| Arg::from(&fence.trial_id)));
        let sql = format!(
            "UPDATE trial SET lease_until = $2 WHERE lease_owner = $1 AND state IN ('running', 'recorded', 'grading') \
             AND id IN ({}) RETURNING id, epoch",
            places(3, chunk.len())
        );
        for row in tx.all(sql, values).await? {
            held.insert((row.text("id")?, row.int("epoch")?));
        }
    }
    Ok(fences
        .iter()
        .filter(|fence| !held.contains(&(fence.trial_id.clone(), fence.epoch)))
        .cloned()
        .collect())
}

async fn reap(tx: &mut Tx, ctx: &Ctx) -> Result<Reaped, StoreError> {
    let now = tx.lease_now(ctx).await?;
    tx.wake_queue();
    let mut reaped = Reaped {
        regrade: tx
            .execute(
                "UPDATE trial SET epoch = epoch + 1, lease_owner = NULL, lease_until = NULL \
                 WHERE state IN ('recorded', 'grading') AND lease_until <= $1",
                args![now],
            )
            .await?,
        ..Reaped::default()
    };
    let rows = tx
        .all(
            "SELECT t.id, t.epoch, t.attempts, t.workspace_id, t.experiment_id, t.case_id, t.trial, e.frozen \
             FROM trial t JOIN experiment e ON e.id = t.experiment_id \
             WHERE t.state = 'running' AND t.lease_until <= $1 ORDER BY t.lease_until LIMIT 1000",
            args![now],
        )
        .await?;
    for row in rows {
        let (id, epoch) = (row.text("id")?, row.int("epoch")?);
        let frozen: Frozen = row.json("frozen")?;
        let attempts = row.number("attempts")?;
        if attempts >= frozen.agent.max_attempts {
            let message = format!(
                "The server stopped in the middle of the call, {attempts} times; no answer was recorded."
            );
            finish::give_up(tx, ctx, &id, epoch, &message).await?;
            reaped.ended += 1;
            continue;
        }
        tx.execute(
            "UPDATE trial SET state = 'queued', epoch = epoch + 1, lease_owner = NULL, lease_until = NULL, \
             stage = 'agent call', error_class = 'cut', error_message = $4 \
             WHERE id = $1 AND epoch = $2 AND workspace_id = $3 AND state = 'running'",
            args![
                &id,
                epoch,
                row.text("workspace_id")?,
                "The server stopped in the middle of the call; it is made again with the same idempotency key."
            ],
        )
        .await?;
        let cell = event::open_cell(
            &row.text("case_id")?,
            row.number("trial")?,
            TrialState::Queued,
        );
        event::trial(
            tx,
            &row.text("workspace_id")?,
            &row.text("experiment_id")?,
            cell,
            ctx.now,
        )
        .await?;
        reaped.requeued += 1;
    }
    Ok(reaped)
}
