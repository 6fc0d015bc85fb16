//! Live events: one row a move, in the move's own transaction; streams replay them by id (`runs.md`, Live).

use evalkit_core::experiment::{ExperimentState, TrialState};
use evalkit_core::grade::Colour;
use evalkit_core::policy::Action;
use evalkit_core::view::experiment::{Live, TrialCell};
use serde::{Deserialize, Serialize};

use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::row::{Row, to_json};
use crate::store::Store;
use crate::view::run_rows;

/// Events of one answer at most.
const BATCH: u32 = 256;

/// What a row holds; the counts are added when it is read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Stored {
    Trial(TrialCell),
    Experiment { state: ExperimentState },
}

/// A live event with the id that a stream resumes from.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedEvent {
    /// Grows within an experiment.
    pub id: i64,
    /// What happened.
    pub live: Live,
}

/// Notes that the experiment changed its state.
pub(crate) async fn experiment(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    state: ExperimentState,
    now: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO event (workspace_id, experiment_id, kind, data, at) VALUES ($1, $2, $3, $4, $5)",
        args![
            workspace_id,
            experiment_id,
            "experiment",
            to_json(&Stored::Experiment { state })?,
            now
        ],
    )
    .await
    .map(drop)
}

/// Notes that a trial moved; `cell` is the trial as it is now.
pub(crate) async fn trial(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    cell: TrialCell,
    now: i64,
) -> Result<(), StoreError> {
    let moved = Moved {
        workspace_id,
        experiment_id,
        cell,
        now,
    };
    trials(tx, vec![moved]).await
}

/// A trial's move.
pub(crate) struct Moved<'a> {
    pub(crate) workspace_id: &'a str,
    pub(crate) experiment_id: &'a str,
    /// The trial as it is now.
    pub(crate) cell: TrialCell,
    pub(crate) now: i64,
}

/// Notes that trials moved, in this order.
pub(crate) async fn trials(tx: &mut Tx, moved: Vec<Moved<'_>>) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(moved.len());
    for Moved {
        workspace_id,
        experiment_id,
        cell,
        now,
    } in moved
    {
        rows.push(args![
            workspace_id,
            experiment_id,
            "trial",
            to_json(&Stored::Trial(cell))?,
            now
        ]);
    }
    tx.insert_many(
        "INSERT INTO event (workspace_id, experiment_id, kind, data, at) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

/// The grid's cell of a trial row with `case_id, trial, state, colour, satisfied, asked, needs_a_look`.
pub(crate) fn cell(row: &Row) -> Result<TrialCell, StoreError> {
    Ok(TrialCell {
        case_id: row.text("case_id")?,
        trial: row.number("trial")?,
        state: row.text("state")?,
        colour: colour::parse(&row.text("colour")?),
        satisfied: row.count("satisfied")?,
        of: row.count("asked")?,
        needs_a_look: row.flag("needs_a_look")?,
    })
}

/// The cell of a trial that is under way.
pub(crate) fn open_cell(case_id: &str, trial: u32, state: TrialState) -> TrialCell {
    TrialCell {
        case_id: case_id.to_owned(),
        trial,
        state: state.as_str().to_owned(),
        colour: Colour::Open,
        satisfied: 0,
        of: 0,
        needs_a_look: false,
    }
}

impl Store {
    /// Events of run `run` after the id `after`, oldest first, at most 256. Their counts are those of now.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a run that is not there or not the caller's to see.
    pub async fn events_after(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        after: i64,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let experiment = tx
            .optional(
                "SELECT id FROM experiment WHERE workspace_id = $1 AND number = $2",
                args![&workspace.id, run],
            )
            .await?
            .ok_or_else(StoreError::not_found)?
            .text("id")?;
        let rows = tx
            .all(
                "SELECT id, data FROM event WHERE experiment_id = $1 AND workspace_id = $2 AND id > $3 ORDER BY id LIMIT $4",
                args![&experiment, &workspace.id, after, BATCH],
            )
            .await?;
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let counts = run_rows::tallies(
            &mut tx,
            std::slice::from_ref(&workspace.id),
            std::slice::from_ref(&experiment),
            &[],
        )
        .await?
        .remove(&experiment)
        .unwrap_or_default()
        .counts;
        rows.iter()
            .map(|row| {
                let live = match row.json("data")? {
                    Stored::Trial(cell) => Live::Trial { cell, counts },
                    Stored::Experiment { state } => Live::Experiment { state, counts },
                };
                Ok(NumberedEvent {
                    id: row.int("id")?,
                    live,
                })
            })
            .collect()
    }
}
