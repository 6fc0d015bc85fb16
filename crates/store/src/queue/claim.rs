//! Claiming: a worker takes trials in one statement, each with a lease and a new epoch.

use std::collections::HashMap;

use evalkit_core::case::Case;
use evalkit_core::experiment::TrialState;
use evalkit_core::overlay::{self, EffectiveCase, NamedOverlay};

use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::experiment::event::{self, Moved};
use crate::queue::{Fence, engine_only};
use crate::row::Row;
use crate::store::Store;

/// A trial that the worker now holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Named in every write.
    pub fence: Fence,
    /// The experiment.
    pub experiment_id: String,
    /// Its workspace.
    pub workspace_id: String,
    /// `Running`: call the agent. `Recorded` or `Grading`: an answer is stored, grade it.
    pub state: TrialState,
    /// Calls made so far, this one included; from 1.
    pub attempt: u32,
    /// The same at every attempt of this trial.
    pub idempotency_key: String,
    /// From 1.
    pub trial: u32,
    /// The case version frozen.
    pub version: u32,
    /// The case as this agent is graded on it.
    pub case: EffectiveCase,
}

pub(super) struct Taken {
    trial_id: String,
    experiment_id: String,
    workspace_id: String,
    case_id: String,
    trial: u32,
    state: TrialState,
    attempt: u32,
    epoch: i64,
    idempotency_key: String,
    position: i64,
}

fn taken(row: &Row) -> Result<Taken, StoreError> {
    let state = row.text("state")?;
    Ok(Taken {
        trial_id: row.text("id")?,
        experiment_id: row.text("experiment_id")?,
        workspace_id: row.text("workspace_id")?,
        case_id: row.text("case_id")?,
        trial: row.number("trial")?,
        state: TrialState::parse(&state)
            .ok_or_else(|| StoreError::Unreadable(format!("trial state {state}")))?,
        attempt: row.number("attempts")?,
        epoch: row.int("epoch")?,
        idempotency_key: row.text("idempotency_key")?,
        position: row.int("position")?,
    })
}

const RETURNING: &str = "RETURNING id, experiment_id, workspace_id, case_id, trial, state, attempts, epoch, \
     idempotency_key, position";

/// Rows of a claim in the order of the queue; a database returns changed rows in any.
fn in_order(rows: &[Row]) -> Result<Vec<Taken>, StoreError> {
    let mut trials = rows.iter().map(taken).collect::<Result<Vec<_>, _>>()?;
    trials.sort_by(|a, b| (&a.experiment_id, a.position).cmp(&(&b.experiment_id, b.position)));
    Ok(trials)
}

impl Store {
    /// Takes up to `n` queued trials of a running experiment for `worker` until `lease` microseconds from now, never
    /// more than the experiment's concurrency lets run at once. The attempt counts from here.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claim_trials(
        &self,
        ctx: &Ctx,
        worker: &str,
        experiment_id: &str,
        n: u32,
        lease: i64,
    ) -> Result<Vec<Claim>, StoreError> {
        engine_only(ctx)?;
        let input = (worker.to_owned(), experiment_id.to_owned(), n, lease);
        let taken = self
            .write(ctx, input, |tx, ctx, (worker, experiment, n, lease)| {
                Box::pin(claim(tx, ctx, worker, experiment, *n, *lease))
            })
            .await?;
        self.complete(taken).await
    }

    /// Takes up to `n` trials whose answer is stored and whose grading nobody holds, of any running experiment. After a
    /// restart this is how grading goes on; no agent is called for them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn claim_recorded(
        &self,
        ctx: &Ctx,
        worker: &str,
        n: u32,
        lease: i64,
    ) -> Result<Vec<Claim>, StoreError> {
        engine_only(ctx)?;
        let input = (worker.to_owned(), n, lease);
        let taken = self
            .write(ctx, input, |tx, ctx, (worker, n, lease)| {
                Box::pin(async move {
                    let now = tx.lease_now(ctx).await?;
                    let skip = tx.skip_locked();
                    let rows = tx
                        .all(
                            format!(
                                "UPDATE trial SET epoch = epoch + 1, lease_owner = $1, lease_until = $2 WHERE id IN \
                                 (SELECT t.id FROM trial t WHERE t.state IN ('recorded', 'grading') \
                                  AND (t.lease_until IS NULL OR t.lease_until <= $3) AND EXISTS (SELECT 1 FROM experiment e \
                                  WHERE e.id = t.experiment_id AND e.finished_at IS NULL AND e.state = 'running') \
                                  ORDER BY t.recorded_at LIMIT $4{skip}) {RETURNING}"
                            ),
                            args![worker, now + lease, now, *n],
                        )
                        .await?;
                    in_order(&rows)
                })
            })
            .await?;
        self.complete(taken).await
    }

    async fn complete(&self, taken: Vec<Taken>) -> Result<Vec<Claim>, StoreError> {
        if taken.is_empty() {
            return Ok(Vec::new());
        }
        completed(&mut self.read().await?, taken).await
    }
}

/// Adds each trial's effective case, in two statements an experiment at most.
pub(super) async fn completed(tx: &mut Tx, taken: Vec<Taken>) -> Result<Vec<Claim>, StoreError> {
    let mut by_experiment: HashMap<String, Vec<Taken>> = HashMap::new();
    for trial in taken {
        by_experiment
            .entry(trial.experiment_id.clone())
            .or_default()
            .push(trial);
    }
    let mut claims = Vec::new();
    for (experiment_id, trials) in by_experiment {
        let mut ids: Vec<String> = trials.iter().map(|t| t.case_id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        let cases = effective_cases(tx, &experiment_id, &ids).await?;
        for trial in trials {
            let (case, version) = cases.get(&trial.case_id).cloned().ok_or_else(|| {
                StoreError::Unreadable(format!("no frozen case {}", trial.case_id))
            })?;
            claims.push(Claim {
                fence: Fence {
                    trial_id: trial.trial_id,
                    epoch: trial.epoch,
                },
                experiment_id: trial.experiment_id,
                workspace_id: trial.workspace_id,
                state: trial.state,
                attempt: trial.attempt,
                idempotency_key: trial.idempotency_key,
                trial: trial.trial,
                version,
                case,
            });
        }
    }
    Ok(claims)
}

pub(super) async fn claim(
    tx: &mut Tx,
    ctx: &Ctx,
    worker: &str,
    experiment_id: &str,
    n: u32,
    lease: i64,
) -> Result<Vec<Taken>, StoreError> {
    let row = tx
        .optional(
            "SELECT e.concurrency - (SELECT COUNT(*) FROM trial t WHERE t.experiment_id = e.id AND t.state = 'running') AS room \
             FROM experiment e WHERE e.id = $1 AND e.state = 'running' AND e.finished_at IS NULL",
            args![experiment_id],
        )
        .await?;
    let room = row.map_or(Ok(0), |row| row.int("room"))?.min(i64::from(n));
    if room <= 0 {
        return Ok(Vec::new());
    }
    let now = tx.lease_now(ctx).await?;
    let skip = tx.skip_locked();
    let rows = tx
        .all(
            format!(
                "UPDATE trial SET state = 'running', attempts = attempts + 1, epoch = epoch + 1, lease_owner = $2, \
                 lease_until = $3, started_at = $4 WHERE id IN (SELECT id FROM trial WHERE experiment_id = $1 \
                 AND state = 'queued' AND not_before <= $6 ORDER BY position LIMIT $5{skip}) {RETURNING}"
            ),
            args![experiment_id, worker, now + lease, ctx.now, room, now],
        )
        .await?;
    let trials = in_order(&rows)?;
    let moved = trials
        .iter()
        .map(|trial| Moved {
            workspace_id: &trial.workspace_id,
            experiment_id,
            cell: event::open_cell(&trial.case_id, trial.trial, TrialState::Running),
            now: ctx.now,
        })
        .collect();
    event::trials(tx, moved).await?;
    Ok(trials)
}

/// Frozen cases of an experiment by id, overlays folded in, with their version.
pub(crate) async fn effective_cases(
    tx: &mut Tx,
    experiment_id: &str,
    case_ids: &[String],
) -> Result<HashMap<String, (EffectiveCase, u32)>, StoreError> {
    let mut cases = HashMap::with_capacity(case_ids.len());
    for chunk in case_ids.chunks(500) {
        let mut values = args![experiment_id];
        values.extend(chunk.iter().map(Arg::from));
        let sql = format!(
            "SELECT c.case_id, c.version, c.overlays, v.canonical, e.agent FROM experiment_case c \
             JOIN experiment e ON e.id = c.experiment_id \
             JOIN case_version v ON v.id = c.version_id AND v.workspace_id = c.workspace_id \
             WHERE c.experiment_id = $1 AND c.case_id IN ({})",
            places(2, chunk.len())
        );
        for row in tx.all(sql, values).await? {
            let case: Case = row.json("canonical")?;
            let overlays: Option<Vec<NamedOverlay>> = row.maybe_json("overlays")?;
            let effective = overlay::merge(
                &case,
                overlays.as_deref().unwrap_or_default(),
                &row.text("agent")?,
            )
            .map_err(|clash| StoreError::Unreadable(clash.to_string()))?;
            cases.insert(row.text("case_id")?, (effective, row.number("version")?));
        }
    }
    Ok(cases)
}
