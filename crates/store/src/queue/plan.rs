//! What the engine knows of an experiment before it claims its trials.

use evalkit_core::experiment::ExperimentState;

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::Frozen;
use crate::queue::engine_only;
use crate::row::Row;
use crate::store::Store;

/// An experiment for the engine.
#[derive(Debug, Clone, PartialEq)]
pub struct ExperimentPlan {
    /// Its id.
    pub id: String,
    /// Its workspace's id.
    pub workspace_id: String,
    /// Its workspace's slug.
    pub workspace: String,
    /// Its dataset's slug.
    pub dataset: String,
    /// Its number in the workspace.
    pub run: i64,
    /// The agent as results name it.
    pub agent: String,
    /// Calls at once.
    pub concurrency: u32,
    /// Running or paused; an experiment that has ended is neither and is not given.
    pub state: ExperimentState,
    /// What it is measured on.
    pub frozen: Frozen,
}

fn plan(row: &Row) -> Result<ExperimentPlan, StoreError> {
    Ok(ExperimentPlan {
        id: row.text("id")?,
        workspace_id: row.text("workspace_id")?,
        workspace: row.text("workspace")?,
        dataset: row.text("dataset")?,
        run: row.int("number")?,
        agent: row.text("agent")?,
        concurrency: row.number("concurrency")?,
        state: match row.text("state")?.as_str() {
            "paused" => ExperimentState::Paused,
            "cancelled" => ExperimentState::Cancelled,
            _ if row.maybe_int("finished_at")?.is_some() => ExperimentState::Finished,
            _ => ExperimentState::Running,
        },
        frozen: row.json("frozen")?,
    })
}

const PLAN: &str = "SELECT e.id, e.workspace_id, w.slug AS workspace, d.slug AS dataset, e.number, e.agent, e.concurrency, \
     e.state, e.finished_at, e.frozen FROM experiment e JOIN workspace w ON w.id = e.workspace_id \
     JOIN dataset d ON d.id = e.dataset_id";

impl Store {
    /// Experiments with open trials, oldest first, for the engine.
    ///
    /// # Errors
    /// `S-FORBIDDEN` for anyone else.
    pub async fn open_experiments(&self, ctx: &Ctx) -> Result<Vec<ExperimentPlan>, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        tx.all(
            format!("{PLAN} WHERE e.finished_at IS NULL ORDER BY e.created_at, e.id"),
            vec![],
        )
        .await?
        .iter()
        .map(plan)
        .collect()
    }

    /// One experiment by id, for the engine.
    ///
    /// # Errors
    /// `S-NOT-FOUND`.
    pub async fn experiment_plan(
        &self,
        ctx: &Ctx,
        experiment_id: &str,
    ) -> Result<ExperimentPlan, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        let row = tx
            .optional(format!("{PLAN} WHERE e.id = $1"), args![experiment_id])
            .await?
            .ok_or_else(StoreError::not_found)?;
        plan(&row)
    }
}

/// Sets the experiment's end when its last trial has ended, and says so to the live streams.
pub(super) async fn end_if_done(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    now: i64,
) -> Result<(), StoreError> {
    let ended = tx
        .execute(
            "UPDATE experiment SET finished_at = $3 WHERE id = $1 AND workspace_id = $2 AND finished_at IS NULL \
             AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.experiment_id = $1 AND t.state = 'queued') \
             AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.experiment_id = $1 AND t.state = 'running') \
             AND NOT EXISTS (SELECT 1 FROM trial t WHERE t.experiment_id = $1 AND t.state IN ('recorded', 'grading'))",
            args![experiment_id, workspace_id, now],
        )
        .await?;
    if ended > 0 {
        crate::experiment::event::experiment(
            tx,
            workspace_id,
            experiment_id,
            ExperimentState::Finished,
            now,
        )
        .await?;
    }
    Ok(())
}
