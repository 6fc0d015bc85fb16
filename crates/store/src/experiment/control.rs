//! Pause, resume, cancel, and run the failed trials again (`runs.md`, The engine).

use evalkit_core::error::Code;
use evalkit_core::experiment::ExperimentState;
use evalkit_core::policy::{Action, Actor};

use crate::audit::{self, Record};
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::event;
use crate::store::Store;
use crate::workspace::Workspace;

/// An experiment that the caller may act on.
struct Held {
    workspace: Workspace,
    id: String,
    state: String,
    finished: bool,
    own: bool,
}

async fn hold(tx: &mut Tx, ctx: &Ctx, slug: &str, run: i64) -> Result<Held, StoreError> {
    let workspace = tx.enter(ctx, slug, Action::Run).await?;
    let row = tx
        .optional(
            "SELECT id, state, finished_at, created_by_id FROM experiment WHERE workspace_id = $1 AND number = $2",
            args![&workspace.id, run],
        )
        .await?
        .ok_or_else(StoreError::not_found)?;
    let own = matches!(ctx.actor, Actor::System)
        || row.maybe_text("created_by_id")?.as_deref() == ctx.person_id();
    Ok(Held {
        id: row.text("id")?,
        state: row.text("state")?,
        finished: row.maybe_int("finished_at")?.is_some(),
        own,
        workspace,
    })
}

fn not_now(run: i64, why: &str, next: &str) -> StoreError {
    StoreError::fault(Code::Conflict, format!("Run {run} {why}."), next)
}

impl Store {
    /// Ends an experiment: open trials become cancelled, what was done stays. Calls in flight lose their trial.
    ///
    /// # Errors
    /// `S-FORBIDDEN` for another's run without the admin role, `S-CONFLICT` when it has ended.
    pub async fn cancel_experiment(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<(), StoreError> {
        self.write(
            ctx,
            (workspace.to_owned(), run),
            |tx, ctx, (workspace, run)| Box::pin(cancel(tx, ctx, workspace, *run)),
        )
        .await
    }

    /// Lets open trials rest; calls in flight end and are kept.
    ///
    /// # Errors
    /// `S-CONFLICT` unless it is running.
    pub async fn pause_experiment(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<(), StoreError> {
        self.turn(ctx, workspace, run, true).await
    }

    /// Goes on with a paused experiment.
    ///
    /// # Errors
    /// `S-CONFLICT` unless it is paused.
    pub async fn resume_experiment(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<(), StoreError> {
        self.turn(ctx, workspace, run, false).await
    }

    /// Queues the trials that ended in an error, cancelled or over budget again, into the same experiment. A stored
    /// answer is graded, not asked for again. Gives how many.
    ///
    /// # Errors
    /// `S-CONFLICT` when there is none.
    pub async fn rerun_failed(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<u64, StoreError> {
        self.write(
            ctx,
            (workspace.to_owned(), run),
            |tx, ctx, (workspace, run)| Box::pin(rerun(tx, ctx, workspace, *run)),
        )
        .await
    }

    async fn turn(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        pause: bool,
    ) -> Result<(), StoreError> {
        let input = (workspace.to_owned(), run, pause);
        self.write(ctx, input, |tx, ctx, (workspace, run, pause)| {
            Box::pin(async move {
                let held = hold(tx, ctx, workspace, *run).await?;
                let (from, to, state, action) = if *pause {
                    (
                        "running",
                        "paused",
                        ExperimentState::Paused,
                        "experiment.pause",
                    )
                } else {
                    (
                        "paused",
                        "running",
                        ExperimentState::Running,
                        "experiment.resume",
                    )
                };
                if held.finished || held.state != from {
                    return Err(not_now(
                        *run,
                        if held.finished {
                            "has ended"
                        } else {
                            "is not in that state"
                        },
                        "Reload the page to see how it stands.",
                    ));
                }
                tx.execute(
                    "UPDATE experiment SET state = $3 WHERE id = $1 AND workspace_id = $2",
                    args![&held.id, &held.workspace.id, to],
                )
                .await?;
                // Workers of every server hear of a pause as of a resumption.
                tx.wake_queue();
                event::experiment(tx, &held.workspace.id, &held.id, state, ctx.now).await?;
                audit::write(
                    tx,
                    ctx,
                    Some(&held.workspace.id),
                    Record::new(action, run.to_string()),
                )
                .await
            })
        })
        .await
    }
}

async fn cancel(tx: &mut Tx, ctx: &Ctx, workspace: &str, run: i64) -> Result<(), StoreError> {
    let held = hold(tx, ctx, workspace, run).await?;
    if !held.own {
        held.workspace.require(ctx, Action::CancelOthers)?;
    }
    if held.finished {
        return Err(not_now(run, "has ended", "Nothing is left to cancel."));
    }
    let cancelled = tx
        .execute(
            "UPDATE trial SET state = 'cancelled', colour = 'cancelled', epoch = epoch + 1, lease_owner = NULL, \
             lease_until = NULL, ended_at = $3 \
             WHERE experiment_id = $1 AND workspace_id = $2 AND state IN ('queued', 'running', 'recorded', 'grading')",
            args![&held.id, &held.workspace.id, ctx.now],
        )
        .await?;
    tx.execute(
        "UPDATE experiment SET state = 'cancelled', finished_at = $3 WHERE id = $1 AND workspace_id = $2",
        args![&held.id, &held.workspace.id, ctx.now],
    )
    .await?;
    tx.execute(
        "UPDATE latest_result SET colour = 'cancelled', at = $3 WHERE workspace_id = $2 AND experiment_id = $1 \
         AND colour = 'open'",
        args![&held.id, &held.workspace.id, ctx.now],
    )
    .await?;
    event::experiment(
        tx,
        &held.workspace.id,
        &held.id,
        ExperimentState::Cancelled,
        ctx.now,
    )
    .await?;
    audit::write(
        tx,
        ctx,
        Some(&held.workspace.id),
        Record::new("experiment.cancel", run.to_string()).with("trials", cancelled),
    )
    .await
}

async fn rerun(tx: &mut Tx, ctx: &Ctx, workspace: &str, run: i64) -> Result<u64, StoreError> {
    let held = hold(tx, ctx, workspace, run).await?;
    const FAILED: &str =
        "experiment_id = $1 AND workspace_id = $2 AND state IN ('error', 'cancelled', 'budget')";
    let keys = args![&held.id, &held.workspace.id];
    for table in ["trial_score", "trial_failure", "trial_unscored"] {
        tx.execute(
            format!(
                "DELETE FROM {table} WHERE experiment_id = $1 AND workspace_id = $2 \
                 AND trial_id IN (SELECT id FROM trial WHERE {FAILED})"
            ),
            keys.clone(),
        )
        .await?;
    }
    tx.execute(
        format!(
            "UPDATE latest_result SET colour = 'open', satisfied = 0, asked = 0, what = '', at = $3 \
             WHERE workspace_id = $2 AND experiment_id = $1 AND case_id IN (SELECT case_id FROM trial WHERE {FAILED})"
        ),
        args![&held.id, &held.workspace.id, ctx.now],
    )
    .await?;
    let trials = tx
        .execute(
            format!(
                "UPDATE trial SET state = CASE WHEN EXISTS (SELECT 1 FROM recorded_run r WHERE r.trial_id = trial.id) \
                 THEN 'recorded' ELSE 'queued' END, colour = 'open', attempts = 0, epoch = epoch + 1, not_before = 0, \
                 lease_owner = NULL, lease_until = NULL, stage = NULL, error_class = NULL, error_message = NULL, \
                 what = '', satisfied = 0, asked = 0, unscored = 0, needs_a_look = 0, ended_at = NULL WHERE {FAILED}"
            ),
            keys,
        )
        .await?;
    if trials == 0 {
        return Err(not_now(
            run,
            "has no failed trial",
            "There is nothing to run again.",
        ));
    }
    tx.execute(
        "UPDATE experiment SET state = 'running', finished_at = NULL WHERE id = $1 AND workspace_id = $2",
        args![&held.id, &held.workspace.id],
    )
    .await?;
    tx.wake_queue();
    event::experiment(
        tx,
        &held.workspace.id,
        &held.id,
        ExperimentState::Running,
        ctx.now,
    )
    .await?;
    audit::write(
        tx,
        ctx,
        Some(&held.workspace.id),
        Record::new("experiment.rerun", run.to_string()).with("trials", trials),
    )
    .await?;
    Ok(trials)
}
