//! Grades as they land, and the ends of a trial: done, or an error.

mod ended;

use std::collections::HashMap;

use evalkit_core::error::Code;
use evalkit_core::experiment::TrialState;
use evalkit_core::explanation;
use evalkit_core::failures::{self, Failure};
use evalkit_core::grade::{Colour, Grade};
use evalkit_core::run::RunError;
use evalkit_core::view::experiment::TrialCell;
use futures::future::BoxFuture;

use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, given, places};
use crate::error::StoreError;
use crate::experiment::event;
use crate::queue::outcome::{Summary, summarise};
use crate::queue::{Fence, Taken, engine_only};
use crate::row::{Row, to_json};
use crate::store::Store;
use crate::write::{Gather, Outcomes};
use ended::{Ended, after_end, end};

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

/// The last grades of a trial, which ends with them.
struct Ending(Grades);

impl Gather for Ending {
    type Out = Taken;

    fn run<'a>(tx: &'a mut Tx, pieces: Vec<(&'a Ctx, &'a Self)>) -> BoxFuture<'a, Outcomes<Taken>> {
        Box::pin(finish(tx, pieces))
    }
}

/// An agent call or evaluator that failed.
struct CallFault {
    fence: Fence,
    stage: String,
    error: RunError,
    /// Microseconds until it may be claimed again.
    wait: i64,
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
        let ending = Ending(Grades {
            fence: fence.clone(),
            grades,
        });
        let taken = self.gather(ctx, ending).await?;
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
            wait: 0,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| Box::pin(fail(tx, ctx, input)))
            .await?;
        Ok(self.count_stale(taken))
    }

    /// Puts a running trial back into the queue, not before the given time in microseconds by the clock of `ctx`, with
    /// what went wrong.
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
            wait: not_before - ctx.now,
        };
        let taken = self
            .write(ctx, input, |tx, ctx, input| Box::pin(retry(tx, ctx, input)))
            .await?;
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
    insert_grades(tx, &[(ctx, &home, input)]).await?;
    if begins {
        let cell = event::open_cell(&home.case_id, home.trial, TrialState::Grading);
        event::trial(tx, &home.workspace_id, &home.experiment_id, cell, ctx.now).await?;
    }
    Ok(true)
}

/// Grades of several trials, each with the trial's home. Those that are stored already stay.
async fn insert_grades(tx: &mut Tx, graded: &[(&Ctx, &Home, &Grades)]) -> Result<(), StoreError> {
    let mut rows = Vec::new();
    for (ctx, home, input) in graded {
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
    }
    tx.insert_many(
        "INSERT INTO grade (trial_id, evaluator, workspace_id, position, grade, created_at) VALUES",
        rows,
        "ON CONFLICT (trial_id, evaluator) DO NOTHING",
    )
    .await
    .map(drop)
}

async fn finish(tx: &mut Tx, pieces: Vec<(&Ctx, &Ending)>) -> Outcomes<Taken> {
    let mut homes = gradable(tx, &pieces).await?;
    let mut held = Vec::new();
    let mut graded = Vec::with_capacity(pieces.len());
    for (index, (ctx, Ending(input))) in pieces.iter().enumerate() {
        // The first that comes for a trial is the one.
        if let Some(home) = homes.remove(&input.fence) {
            held.push((index, *ctx, home, input));
        }
    }
    for (_, ctx, home, input) in &held {
        graded.push((*ctx, home, *input));
    }
    insert_grades(tx, &graded).await?;
    let mut all = grades_of(tx, &graded).await?;
    let mut outcomes: Vec<_> = pieces.iter().map(|_| Ok(false)).collect();
    let mut ended = Vec::with_capacity(held.len());
    let mut scores = Vec::new();
    let mut failures = Vec::new();
    let mut unscored = Vec::new();
    for (index, ctx, home, input) in held {
        let trial_id = &input.fence.trial_id;
        let grades = all.remove(trial_id).unwrap_or_default();
        if grades.is_empty() {
            outcomes[index] = Err(StoreError::fault(
                Code::Conflict,
                "A trial cannot end as done without a grade.",
                "This is a fault of the engine; the log names the trial.",
            ));
            continue;
        }
        outcomes[index] = Ok(true);
        let summary = summarise(&grades);
        for (name, num, den) in &summary.scores {
            scores.push(args![
                &home.experiment_id,
                name,
                trial_id,
                &home.workspace_id,
                &home.case_id,
                *num,
                *den
            ]);
        }
        failures.extend(failure_rows(
            &input.fence,
            &home,
            &failures::of_grades(&grades),
        )?);
        unscored.extend(unscored_rows(&input.fence, &home, &grades));
        ended.push(Ended {
            fence: &input.fence,
            cell: TrialCell {
                case_id: home.case_id.clone(),
                trial: home.trial,
                state: TrialState::Done.as_str().to_owned(),
                colour: summary.colour,
                satisfied: summary.satisfied,
                of: summary.asked,
                needs_a_look: summary.needs_a_look,
            },
            home,
            summary,
            now: ctx.now,
        });
    }
    end(tx, &ended).await?;
    tx.insert_many(
        "INSERT INTO trial_score (experiment_id, name, trial_id, workspace_id, case_id, num, den) VALUES",
        scores,
        "ON CONFLICT (experiment_id, name, trial_id) DO UPDATE SET num = excluded.num, den = excluded.den",
    )
    .await?;
    insert_failures(tx, failures).await?;
    tx.insert_many(
        "INSERT INTO trial_unscored (experiment_id, trial_id, evaluator, reason, workspace_id, entries) VALUES",
        unscored,
        "ON CONFLICT (experiment_id, trial_id, evaluator, reason) DO UPDATE SET entries = excluded.entries",
    )
    .await?;
    after_end(tx, ended).await?;
    Ok(outcomes)
}

/// Where the trials live that are still held as named and have an answer.
async fn gradable(
    tx: &mut Tx,
    pieces: &[(&Ctx, &Ending)],
) -> Result<HashMap<Fence, Home>, StoreError> {
    let rows = pieces
        .iter()
        .map(|(_, Ending(input))| args![&input.fence.trial_id, input.fence.epoch])
        .collect();
    let (fences, values) = given("fences", &["of_trial", "of_epoch"], rows);
    let mut homes = HashMap::new();
    for row in tx
        .all(
            format!(
                "WITH {fences} SELECT id, epoch, workspace_id, experiment_id, case_id, trial FROM trial \
                 JOIN fences ON id = of_trial AND epoch = of_epoch WHERE state IN ('recorded', 'grading')"
            ),
            values,
        )
        .await?
    {
        let fence = Fence {
            trial_id: row.text("id")?,
            epoch: row.int("epoch")?,
        };
        homes.insert(fence, home(&row)?);
    }
    Ok(homes)
}

/// All grades of these trials, in the evaluators' order.
async fn grades_of(
    tx: &mut Tx,
    graded: &[(&Ctx, &Home, &Grades)],
) -> Result<HashMap<String, Vec<Grade>>, StoreError> {
    let mut grades: HashMap<String, Vec<Grade>> = HashMap::new();
    for chunk in graded.chunks(500) {
        let values = chunk
            .iter()
            .map(|(_, _, input)| Arg::from(&input.fence.trial_id))
            .collect();
        let sql = format!(
            "SELECT trial_id, grade FROM grade WHERE trial_id IN ({}) ORDER BY position, evaluator",
            places(1, chunk.len())
        );
        for row in tx.all(sql, values).await? {
            grades
                .entry(row.text("trial_id")?)
                .or_default()
                .push(row.json("grade")?);
        }
    }
    Ok(grades)
}

fn failure_rows(
    fence: &Fence,
    home: &Home,
    failures: &[Failure],
) -> Result<Vec<Vec<Arg>>, StoreError> {
    failures
        .iter()
        .enumerate()
        .map(|(position, failure)| {
            Ok(args![
                &home.experiment_id,
                &fence.trial_id,
                position,
                &home.workspace_id,
                &home.case_id,
                home.trial,
                to_json(failure)?
            ])
        })
        .collect()
}

async fn insert_failures(tx: &mut Tx, rows: Vec<Vec<Arg>>) -> Result<(), StoreError> {
    tx.insert_many(
        "INSERT INTO trial_failure (experiment_id, trial_id, position, workspace_id, case_id, trial, failure) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

/// Why entries have no verdict, for the run's sentence on what is unscored.
fn unscored_rows(fence: &Fence, home: &Home, grades: &[Grade]) -> Vec<Vec<Arg>> {
    explanation::unscored(grades)
        .into_iter()
        .map(|((evaluator, reason), entries)| {
            args![
                &home.experiment_id,
                &fence.trial_id,
                evaluator,
                reason.as_str(),
                &home.workspace_id,
                entries
            ]
        })
        .collect()
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
    insert_failures(tx, failure_rows(&input.fence, &home, &[failure])?).await?;
    let summary = Summary {
        colour: Colour::Error,
        satisfied: 0,
        asked: 0,
        unscored: 0,
        needs_a_look: false,
        what: format!("{}: {}", input.stage, input.error.class.as_str()),
        scores: Vec::new(),
    };
    let cell = TrialCell {
        colour: Colour::Error,
        ..event::open_cell(&home.case_id, home.trial, TrialState::Error)
    };
    let ended = Ended {
        fence: &input.fence,
        home,
        cell,
        summary,
        now: ctx.now,
    };
    after_end(tx, vec![ended]).await?;
    Ok(true)
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
        wait: 0,
    };
    fail(tx, ctx, &failure).await
}

async fn retry(tx: &mut Tx, ctx: &Ctx, input: &CallFault) -> Result<Taken, StoreError> {
    let now = tx.lease_now(ctx).await?;
    tx.wake_queue();
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
                now + input.wait
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
