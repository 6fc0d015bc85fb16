//! Grades as they land, and the ends of a trial: done, or an error.

use evalkit_core::error::Code;
use evalkit_core::experiment::TrialState;
use evalkit_core::failures::{self, Failure};
use evalkit_core::grade::{Colour, Grade};
use evalkit_core::run::RunError;
use evalkit_core::score::case_colour;
use evalkit_core::view::experiment::TrialCell;

use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::event;
use crate::queue::outcome::{Summary, summarise};
use crate::queue::plan::end_if_done;
use crate::queue::{Fence, Taken, engine_only};
use crate::row::{Row, to_json};
use crate::store::Store;

/// Where a trial lives, for what its end touches.
struct Home {
    workspace_id: String,
    experiment_id: String,
    case_id: String,
    trial: u32,
}

fn home(row: &Row) -> Result<Home, StoreError> {
    Ok(Home {
        workspace_id: row.text("workspace_id")?,
        experiment_id: row.text("experiment_id")?,
        case_id: row.text("case_id")?,
        trial: row.number("trial")?,
    })
}

struct Grades {
    fence: Fence,
    /// With its place in the evaluators' order.
    grades: Vec<(u32, Grade)>,
}

/// An agent call or evaluator that failed.
struct CallFault {
    fence: Fence,
    stage: String,
    error: RunError,
    not_before: i64,
}

impl Store {
    /// Marks that evaluators are at work on a recorded trial.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn begin_grading(&self, ctx: &Ctx, fence: &Fence) -> Result<Taken, StoreError> {
        self.store_grades(ctx, fence, Vec::new()).await
    }

    /// Keeps grades as they land, each with its place in the evaluators' order. A grade that is stored already stays.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn store_grades(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        grades: Vec<(u32, Grade)>,
    ) -> Result<Taken, StoreError> {
        engine_only(ctx)?;
        let input = Grades {
            fence: fence.clone(),
            grades,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| Box::pin(keep(tx, ctx, input)))
            .await?;
        Ok(self.count_stale(taken))
    }

    /// Keeps the last grades and ends the trial as done: its colour and scores follow from all its grades.
    ///
    /// # Errors
    /// `S-CONFLICT` when it has no grade at all; when the database fails.
    pub async fn finish_trial(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        grades: Vec<(u32, Grade)>,
    ) -> Result<Taken, StoreError> {
        engine_only(ctx)?;
        let input = Grades {
            fence: fence.clone(),
            grades,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| {
                Box::pin(finish(tx, ctx, input))
            })
            .await?;
        Ok(self.count_stale(taken))
    }

    /// Ends the trial in an error. `stage` is `agent call` or the evaluator; the message is scrubbed by the caller.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn fail_trial(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        stage: &str,
        error: RunError,
    ) -> Result<Taken, StoreError> {
        engine_only(ctx)?;
        let input = CallFault {
            fence: fence.clone(),
            stage: stage.to_owned(),
            error,
            not_before: 0,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| Box::pin(fail(tx, ctx, input)))
            .await?;
        Ok(self.count_stale(taken))
    }

    /// Puts a running trial back into the queue, not before the given time in microseconds, with what went wrong.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn retry_later(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        error: RunError,
        not_before: i64,
    ) -> Result<Taken, StoreError> {
        engine_only(ctx)?;
        let input = CallFault {
            fence: fence.clone(),
            stage: "agent call".to_owned(),
            error,
            not_before,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| Box::pin(retry(tx, ctx, input)))
            .await?;
        self.announce_work();
        Ok(self.count_stale(taken))
    }
}

/// Grading has begun and these grades stay.
async fn keep(tx: &mut Tx, ctx: &Ctx, input: &Grades) -> Result<Taken, StoreError> {
    let row = tx
        .optional(
            "SELECT state FROM trial WHERE id = $1 AND epoch = $2 AND state IN ('recorded', 'grading')",
            args![&input.fence.trial_id, input.fence.epoch],
        )
        .await?;
    let Some(row) = row else {
        return Ok(false);
    };
    let begins = row.text("state")? == TrialState::Recorded.as_str();
    let row = tx
        .one(
            "UPDATE trial SET state = 'grading' WHERE id = $1 AND epoch = $2 AND state IN ('recorded', 'grading') \
             RETURNING workspace_id, experiment_id, case_id, trial",
            args![&input.fence.trial_id, input.fence.epoch],
        )
        .await?;
    let home = home(&row)?;
    insert_grades(tx, ctx, &home, input).await?;
    if begins {
        let cell = event::open_cell(&home.case_id, home.trial, TrialState::Grading);
        event::trial(tx, &home.workspace_id, &home.experiment_id, cell, ctx.now).await?;
    }
    Ok(true)
}

async fn insert_grades(
    tx: &mut Tx,
    ctx: &Ctx,
    home: &Home,
    input: &Grades,
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(input.grades.len());
    for (position, grade) in &input.grades {
        rows.push(args![
            &input.fence.trial_id,
            &grade.evaluator,
            &home.workspace_id,
            *position,
            to_json(grade)?,
            ctx.now
        ]);
    }
    tx.insert_many(
        "INSERT INTO grade (trial_id, evaluator, workspace_id, position, grade, created_at) VALUES",
        rows,
        "ON CONFLICT (trial_id, evaluator) DO NOTHING",
    )
    .await
    .map(drop)
}

async fn finish(tx: &mut Tx, ctx: &Ctx, input: &Grades) -> Result<Taken, StoreError> {
    let row = tx
        .optional(
            "SELECT workspace_id, experiment_id, case_id, trial FROM trial WHERE id = $1 AND epoch = $2 \
             AND state IN ('recorded', 'grading')",
            args![&input.fence.trial_id, input.fence.epoch],
        )
        .await?;
    let Some(row) = row else {
        return Ok(false);
    };
    let home = home(&row)?;
    insert_grades(tx, ctx, &home, input).await?;
    let grades = tx
        .all(
            "SELECT grade FROM grade WHERE trial_id = $1 AND workspace_id = $2 ORDER BY position, evaluator",
            args![&input.fence.trial_id, &home.workspace_id],
        )
        .await?
        .iter()
        .map(|row| row.json::<Grade>("grade"))
        .collect::<Result<Vec<_>, _>>()?;
    if grades.is_empty() {
        return Err(StoreError::fault(
            Code::Conflict,
            "A trial cannot end as done without a grade.",
            "This is a fault of the engine; the log names the trial.",
        ));
    }
    let summary = summarise(&grades);
    end(tx, ctx, &input.fence, &home, &summary).await?;
    let mut rows = Vec::with_capacity(summary.scores.len());
    for (name, num, den) in &summary.scores {
        rows.push(args![
            &home.experiment_id,
            name,
            &input.fence.trial_id,
            &home.workspace_id,
            &home.case_id,
            *num,
            *den
        ]);
    }
    tx.insert_many(
        "INSERT INTO trial_score (experiment_id, name, trial_id, workspace_id, case_id, num, den) VALUES",
        rows,
        "ON CONFLICT (experiment_id, name, trial_id) DO UPDATE SET num = excluded.num, den = excluded.den",
    )
    .await?;
    insert_failures(tx, &input.fence, &home, &failures::of_grades(&grades)).await?;
    let cell = TrialCell {
        case_id: home.case_id.clone(),
        trial: home.trial,
        state: TrialState::Done.as_str().to_owned(),
        colour: summary.colour,
        satisfied: summary.satisfied,
        of: summary.asked,
        needs_a_look: summary.needs_a_look,
    };
    after_end(tx, ctx, &home, cell, &summary).await?;
    Ok(true)
}

async fn insert_failures(
    tx: &mut Tx,
    fence: &Fence,
    home: &Home,
    failures: &[Failure],
) -> Result<(), StoreError> {
    let mut rows = Vec::with_capacity(failures.len());
    for (position, failure) in failures.iter().enumerate() {
        rows.push(args![
            &home.experiment_id,
            &fence.trial_id,
            position,
            &home.workspace_id,
            &home.case_id,
            home.trial,
            to_json(failure)?
        ]);
    }
    tx.insert_many(
        "INSERT INTO trial_failure (experiment_id, trial_id, position, workspace_id, case_id, trial, failure) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

async fn end(
    tx: &mut Tx,
    ctx: &Ctx,
    fence: &Fence,
    home: &Home,
    summary: &Summary,
) -> Result<(), StoreError> {
    tx.execute(
        "UPDATE trial SET state = 'done', colour = $3, satisfied = $4, asked = $5, unscored = $6, needs_a_look = $7, \
         what = $8, ended_at = $9, lease_owner = NULL, lease_until = NULL, stage = NULL \
         WHERE id = $1 AND epoch = $2 AND workspace_id = $10",
        args![
            &fence.trial_id,
            fence.epoch,
            colour::as_str(summary.colour),
            summary.satisfied,
            summary.asked,
            summary.unscored,
            summary.needs_a_look,
            &summary.what,
            ctx.now,
            &home.workspace_id
        ],
    )
    .await
    .map(drop)
}

/// What follows a trial's end, whichever: the case's latest colour, the live event, perhaps the experiment's end.
async fn after_end(
    tx: &mut Tx,
    ctx: &Ctx,
    home: &Home,
    cell: TrialCell,
    summary: &Summary,
) -> Result<(), StoreError> {
    let siblings = tx
        .all(
            "SELECT colour FROM trial WHERE experiment_id = $1 AND case_id = $2 AND workspace_id = $3",
            args![&home.experiment_id, &home.case_id, &home.workspace_id],
        )
        .await?;
    let mut colours = Vec::with_capacity(siblings.len());
    for row in &siblings {
        colours.push(colour::parse(&row.text("colour")?));
    }
    // The counts shown are those of the trial that a page opens with: the first that is not green, or the newest.
    let shown = cell.colour != Colour::Green || colours.iter().all(|c| *c == Colour::Green);
    tx.execute(
        "UPDATE latest_result SET colour = $4, satisfied = CASE WHEN $8 = 1 THEN $5 ELSE satisfied END, \
         asked = CASE WHEN $8 = 1 THEN $6 ELSE asked END, what = CASE WHEN $8 = 1 THEN $7 ELSE what END, at = $9 \
         WHERE workspace_id = $1 AND case_id = $2 AND experiment_id = $3",
        args![
            &home.workspace_id,
            &home.case_id,
            &home.experiment_id,
            colour::as_str(case_colour(&colours)),
            summary.satisfied,
            summary.asked,
            &summary.what,
            shown,
            ctx.now
        ],
    )
    .await?;
    event::trial(tx, &home.workspace_id, &home.experiment_id, cell, ctx.now).await?;
    end_if_done(tx, &home.workspace_id, &home.experiment_id, ctx.now).await
}

async fn fail(tx: &mut Tx, ctx: &Ctx, input: &CallFault) -> Result<Taken, StoreError> {
    let row = tx
        .optional(
            "UPDATE trial SET state = 'error', colour = 'error', stage = $3, error_class = $4, error_message = $5, \
             what = $6, ended_at = $7, lease_owner = NULL, lease_until = NULL \
             WHERE id = $1 AND epoch = $2 AND state IN ('running', 'recorded', 'grading') \
             RETURNING workspace_id, experiment_id, case_id, trial",
            args![
                &input.fence.trial_id,
                input.fence.epoch,
                &input.stage,
                input.error.class.as_str(),
                clean(&input.error.message),
                format!("{}: {}", input.stage, input.error.class.as_str()),
                ctx.now
            ],
        )
        .await?;
    let Some(row) = row else {
        return Ok(false);
    };
    let home = home(&row)?;
    let failure = failures::of_error(&input.stage, &input.error);
    insert_failures(tx, &input.fence, &home, &[failure]).await?;
    after_failure(tx, ctx, &home, &input.stage, input.error.class.as_str()).await?;
    Ok(true)
}

/// What follows a trial's end in an error.
async fn after_failure(
    tx: &mut Tx,
    ctx: &Ctx,
    home: &Home,
    stage: &str,
    class: &str,
) -> Result<(), StoreError> {
    let summary = Summary {
        colour: Colour::Error,
        satisfied: 0,
        asked: 0,
        unscored: 0,
        needs_a_look: false,
        what: format!("{stage}: {class}"),
        scores: Vec::new(),
    };
    let cell = TrialCell {
        colour: Colour::Error,
        ..event::open_cell(&home.case_id, home.trial, TrialState::Error)
    };
    after_end(tx, ctx, home, cell, &summary).await
}

/// Ends a trial whose calls were all interrupted; for the reaper, which holds no fence but names the epoch it saw.
pub(super) async fn give_up(
    tx: &mut Tx,
    ctx: &Ctx,
    trial_id: &str,
    epoch: i64,
    message: &str,
) -> Result<Taken, StoreError> {
    let failure = CallFault {
        fence: Fence {
            trial_id: trial_id.to_owned(),
            epoch,
        },
        stage: "agent call".to_owned(),
        error: RunError {
            class: evalkit_core::run::AgentErrorClass::Cut,
            message: message.to_owned(),
        },
        not_before: 0,
    };
    fail(tx, ctx, &failure).await
}

async fn retry(tx: &mut Tx, ctx: &Ctx, input: &CallFault) -> Result<Taken, StoreError> {
    let row = tx
        .optional(
            "UPDATE trial SET state = 'queued', stage = $3, error_class = $4, error_message = $5, not_before = $6, \
             lease_owner = NULL, lease_until = NULL WHERE id = $1 AND epoch = $2 AND state = 'running' \
             RETURNING workspace_id, experiment_id, case_id, trial",
            args![
                &input.fence.trial_id,
                input.fence.epoch,
                &input.stage,
                input.error.class.as_str(),
                clean(&input.error.message),
                input.not_before
            ],
        )
        .await?;
    let Some(row) = row else {
        return Ok(false);
    };
    let home = home(&row)?;
    let cell = event::open_cell(&home.case_id, home.trial, TrialState::Queued);
    event::trial(tx, &home.workspace_id, &home.experiment_id, cell, ctx.now).await?;
    Ok(true)
}

/// At most 2,000 characters, without NUL.
fn clean(message: &str) -> String {
    message.chars().filter(|c| *c != '\0').take(2_000).collect()
}
