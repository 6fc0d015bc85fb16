//! Recording: the agent's answer is stored before anything else is done with it.

use std::collections::{HashMap, HashSet, VecDeque};

use evalkit_core::canonical;
use evalkit_core::experiment::TrialState;
use evalkit_core::grade::Grade;
use evalkit_core::judge::addresses_grader;
use evalkit_core::run::RecordedRun;
use futures::future::BoxFuture;

use crate::blob;
use crate::ctx::Ctx;
use crate::db::{Tx, args, given, without_nul};
use crate::error::StoreError;
use crate::experiment::event::{self, Moved};
use crate::queue::claim::{Claim, claim, completed};
use crate::queue::{Fence, Taken, engine_only};
use crate::row::to_json;
use crate::store::Store;
use crate::write::{Gather, Outcomes};

/// Larger trajectories go to a file.
const INLINE: usize = 256 * 1024;
/// Trajectories beyond this are not taken; the agent's reply is bounded far below.
const LARGEST: u64 = 256 * 1024 * 1024;

/// What an agent returned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Recording {
    /// Everything but the trajectory, whose field is ignored.
    pub run: RecordedRun,
    /// The trajectory's bytes as received.
    pub trajectory: Option<Vec<u8>>,
}

/// The next trial that a worker takes with an answer: it begins the next call as soon as the answer is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// Who takes it.
    pub worker: String,
    /// For how long, in microseconds.
    pub lease: i64,
}

struct Stored {
    fence: Fence,
    /// A trial of the same experiment is taken in the same transaction.
    next: Option<Wanted>,
    run: String,
    answer: Option<String>,
    marked: bool,
    addressing: bool,
    latency_ms: Option<u64>,
    cost_usd: Option<f64>,
    trajectory: Option<Trajectory>,
}

struct Trajectory {
    sha256: String,
    bytes: u64,
    /// Absent when the bytes are in a file.
    inline: Option<Vec<u8>>,
}

impl Store {
    /// Stores the answer of a running trial; from here on it is never asked for again.
    ///
    /// # Errors
    /// When the database or the disk fails; then nothing is stored.
    pub async fn record_answer(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        recording: Recording,
    ) -> Result<Taken, StoreError> {
        let (taken, _) = self
            .record_answer_and_claim(ctx, fence, recording, None)
            .await?;
        Ok(taken)
    }

    /// Stores the answer of a running trial and takes the next queued one of its experiment, in one transaction, when
    /// `next` says for whom. Nothing is taken when the answer is not, or when none may run.
    ///
    /// # Errors
    /// When the database or the disk fails; then nothing is stored and nothing taken.
    pub async fn record_answer_and_claim(
        &self,
        ctx: &Ctx,
        fence: &Fence,
        recording: Recording,
        next: Option<Wanted>,
    ) -> Result<(Taken, Option<Claim>), StoreError> {
        engine_only(ctx)?;
        let mut run = recording.run;
        run.trajectory = None;
        let (answer, marked) = match run.answer.take() {
            Some(answer) => {
                let marked = answer.contains('\0');
                (Some(without_nul(&answer).into_owned()), marked)
            }
            None => (None, false),
        };
        let stored = Stored {
            fence: fence.clone(),
            next,
            run: to_json(&run)?,
            addressing: answer.as_deref().is_some_and(addresses_grader),
            answer,
            marked,
            latency_ms: run.latency_ms,
            cost_usd: run.usage.as_ref().and_then(|usage| usage.cost_usd),
            trajectory: self.place_trajectory(recording.trajectory).await?,
        };
        let (taken, claim) = self.gather(ctx, stored).await?;
        Ok((self.count_stale(taken), claim))
    }

    async fn place_trajectory(
        &self,
        bytes: Option<Vec<u8>>,
    ) -> Result<Option<Trajectory>, StoreError> {
        let Some(bytes) = bytes else {
            return Ok(None);
        };
        let length = bytes.len() as u64;
        if bytes.len() <= INLINE {
            return Ok(Some(Trajectory {
                sha256: canonical::hash_bytes(&bytes),
                bytes: length,
                inline: Some(bytes),
            }));
        }
        let mut writer = self.blob_writer(LARGEST).await?;
        writer.write(&bytes).await?;
        let (sha256, bytes) = writer.finish().await?;
        Ok(Some(Trajectory {
            sha256,
            bytes,
            inline: None,
        }))
    }

    /// What a trial recorded, its trajectory included, for grading.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when nothing is recorded.
    pub async fn recorded_run(&self, ctx: &Ctx, trial_id: &str) -> Result<RecordedRun, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT workspace_id, run, answer, trajectory_sha256, trajectory FROM recorded_run WHERE trial_id = $1",
                args![trial_id],
            )
            .await?
            .ok_or_else(StoreError::not_found)?;
        let mut run: RecordedRun = row.json("run")?;
        run.answer = row.maybe_text("answer")?;
        let workspace_id = row.text("workspace_id")?;
        let bytes = self
            .trajectory_bytes(
                &mut tx,
                &workspace_id,
                row.maybe_text("trajectory_sha256")?,
                row.maybe_bytes("trajectory")?,
            )
            .await?;
        // Bytes that are no JSON stay a string: the evaluators then say that the trajectory cannot be read.
        run.trajectory = bytes.map(|bytes| {
            serde_json::from_slice(&bytes).unwrap_or_else(|_| {
                serde_json::Value::String(String::from_utf8_lossy(&bytes).into_owned())
            })
        });
        Ok(run)
    }

    /// Trajectory bytes, from the row or from the file.
    pub(crate) async fn trajectory_bytes(
        &self,
        tx: &mut Tx,
        workspace_id: &str,
        sha256: Option<String>,
        inline: Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        match (inline, sha256) {
            (Some(bytes), _) => Ok(Some(bytes)),
            (None, Some(sha256)) => {
                let (path, _) = blob::blob_file(self, tx, workspace_id, &sha256, blob::RUN).await?;
                tokio::fs::read(&path)
                    .await
                    .map(Some)
                    .map_err(|error| StoreError::io(path, error))
            }
            (None, None) => Ok(None),
        }
    }

    /// Grades a trial already has: no verdict is bought twice.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn stored_grades(&self, ctx: &Ctx, trial_id: &str) -> Result<Vec<Grade>, StoreError> {
        engine_only(ctx)?;
        let mut tx = self.read().await?;
        tx.all(
            "SELECT grade FROM grade WHERE trial_id = $1 ORDER BY position, evaluator",
            args![trial_id],
        )
        .await?
        .iter()
        .map(|row| row.json("grade"))
        .collect()
    }
}

impl Gather for Stored {
    type Out = (Taken, Option<Claim>);

    /// The next call waits for it.
    const URGENT: bool = true;

    fn run<'a>(
        tx: &'a mut Tx,
        pieces: Vec<(&'a Ctx, &'a Self)>,
    ) -> BoxFuture<'a, Outcomes<Self::Out>> {
        Box::pin(record(tx, pieces))
    }
}

/// Where a trial lives that has taken an answer.
struct Home {
    workspace_id: String,
    experiment_id: String,
    case_id: String,
    trial: u32,
}

async fn record(tx: &mut Tx, pieces: Vec<(&Ctx, &Stored)>) -> Outcomes<(Taken, Option<Claim>)> {
    let homes = take(tx, &pieces).await?;
    let mut runs = Vec::new();
    let mut moved = Vec::new();
    let mut outcomes = Vec::with_capacity(pieces.len());
    let mut recorded = HashSet::new();
    for (ctx, stored) in &pieces {
        // The first that comes for a trial is the one.
        let home = homes
            .get(&stored.fence)
            .filter(|_| recorded.insert(&stored.fence));
        outcomes.push(home.is_some());
        let Some(home) = home else {
            continue;
        };
        let trajectory = stored.trajectory.as_ref();
        runs.push(args![
            &stored.fence.trial_id,
            &home.workspace_id,
            &stored.run,
            stored.answer.as_deref(),
            stored.marked,
            stored.addressing,
            trajectory.map(|t| t.sha256.as_str()),
            trajectory.map(|t| t.bytes),
            trajectory.and_then(|t| t.inline.clone())
        ]);
        if let Some(file) = trajectory.filter(|t| t.inline.is_none()) {
            let (hash, bytes) = (&file.sha256, file.bytes);
            blob::refer(tx, &home.workspace_id, hash, blob::RUN, bytes, ctx.now).await?;
        }
        moved.push(Moved {
            workspace_id: &home.workspace_id,
            experiment_id: &home.experiment_id,
            cell: event::open_cell(&home.case_id, home.trial, TrialState::Recorded),
            now: ctx.now,
        });
    }
    tx.insert_many(
        "INSERT INTO recorded_run (trial_id, workspace_id, run, answer, answer_marked, addresses_grader, trajectory_sha256, \
         trajectory_bytes, trajectory) VALUES",
        runs,
        "ON CONFLICT (trial_id) DO UPDATE SET run = excluded.run, answer = excluded.answer, \
         answer_marked = excluded.answer_marked, addresses_grader = excluded.addresses_grader, \
         trajectory_sha256 = excluded.trajectory_sha256, trajectory_bytes = excluded.trajectory_bytes, \
         trajectory = excluded.trajectory",
    )
    .await?;
    event::trials(tx, moved).await?;
    let mut next = next_claims(tx, &pieces, &outcomes, &homes).await?;
    Ok(pieces
        .iter()
        .zip(outcomes)
        .map(|((_, stored), taken)| {
            let claim = homes
                .get(&stored.fence)
                .filter(|_| taken)
                .zip(stored.next.as_ref())
                .and_then(|(home, wanted)| {
                    let key = (home.experiment_id.as_str(), wanted.worker.as_str());
                    next.get_mut(&key).and_then(VecDeque::pop_front)
                });
            Ok((taken, claim))
        })
        .collect())
}

/// For each experiment and worker, as many trials as answers were taken that wanted one.
async fn next_claims<'a>(
    tx: &mut Tx,
    pieces: &[(&Ctx, &'a Stored)],
    taken: &[bool],
    homes: &'a HashMap<Fence, Home>,
) -> Result<HashMap<(&'a str, &'a str), VecDeque<Claim>>, StoreError> {
    let mut wanted: HashMap<(&str, &str), (u32, i64, &Ctx)> = HashMap::new();
    for ((ctx, stored), taken) in pieces.iter().zip(taken) {
        if let Some(next) = &stored.next
            && *taken
            && let Some(home) = homes.get(&stored.fence)
        {
            let key = (home.experiment_id.as_str(), next.worker.as_str());
            wanted.entry(key).or_insert((0, next.lease, ctx)).0 += 1;
        }
    }
    let mut claims = HashMap::with_capacity(wanted.len());
    for ((experiment, worker), (n, lease, ctx)) in wanted {
        let taken = claim(tx, ctx, worker, experiment, n, lease).await?;
        claims.insert(
            (experiment, worker),
            completed(tx, taken).await?.into_iter().collect(),
        );
    }
    Ok(claims)
}

/// Moves the trials that are still held as named to `recorded`, and says where they live.
async fn take(tx: &mut Tx, pieces: &[(&Ctx, &Stored)]) -> Result<HashMap<Fence, Home>, StoreError> {
    let mut seen = HashSet::new();
    let rows = pieces
        .iter()
        .filter(|(_, stored)| seen.insert(&stored.fence))
        .map(|(ctx, stored)| {
            args![
                &stored.fence.trial_id,
                stored.fence.epoch,
                ctx.now,
                stored.latency_ms,
                stored.cost_usd
            ]
        })
        .collect();
    let (answers, values) = given(
        "answers",
        &["of_trial", "of_epoch", "landed_at", "took_ms", "costs_usd"],
        rows,
    );
    let mut homes = HashMap::new();
    for row in tx
        .all(
            format!(
                "WITH {answers} UPDATE trial SET state = 'recorded', recorded_at = landed_at, latency_ms = took_ms, \
                 cost_usd = costs_usd, stage = NULL, error_class = NULL, error_message = NULL FROM answers \
                 WHERE id = of_trial AND epoch = of_epoch AND state = 'running' \
                 RETURNING id, epoch, workspace_id, experiment_id, case_id, trial"
            ),
            values,
        )
        .await?
    {
        let fence = Fence {
            trial_id: row.text("id")?,
            epoch: row.int("epoch")?,
        };
        homes.insert(
            fence,
            Home {
                workspace_id: row.text("workspace_id")?,
                experiment_id: row.text("experiment_id")?,
                case_id: row.text("case_id")?,
                trial: row.number("trial")?,
            },
        );
    }
    Ok(homes)
}
