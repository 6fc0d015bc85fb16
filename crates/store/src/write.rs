//! The writer: one task through which every write of this process goes.
//!
//! Work that arrives while a commit is on its way to the disk is gathered into the next transaction, so that many
//! small writes share one `fdatasync`; each piece of work has its own savepoint, so one refusal takes nothing else
//! back. Pieces of one kind that wait together can also share their statements (`write/gather.rs`). A caller that goes
//! away does not stop its work half way, and is told nothing before the commit is durable.
//!
//! A transaction that came to nothing for a reason that passes is run again from its start, here and nowhere else.

mod gather;

use std::collections::VecDeque;
use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};

use crate::ctx::Ctx;
use crate::db::{Db, Tx};
use crate::error::StoreError;

use gather::Gathered;
pub(crate) use gather::{Gather, Outcomes};

/// What a write does: a plain function of the transaction, the context and its input, so that it can be run again.
pub(crate) type Work<I, T> =
    for<'a> fn(&'a mut Tx, &'a Ctx, &'a I) -> BoxFuture<'a, Result<T, StoreError>>;

/// Jobs in one transaction at most.
const BATCH: usize = 512;
/// A transaction takes in no further job after this time.
const BATCH_TIME: Duration = Duration::from_millis(25);
/// Jobs that wait at most; a caller beyond waits for a place.
const QUEUE: usize = 4_096;
/// How often a transaction is run that comes to nothing for a reason that passes.
const RUNS: u32 = 4;
/// The pause before it is run again; it grows with each run.
const PAUSE: Duration = Duration::from_millis(50);

/// The door to the writer task.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Box<dyn Job>>,
}

impl Writer {
    /// Starts the writer task on `db`. It ends when the last door is dropped. `commits` changes after every commit,
    /// `work` after those that bring the queue something.
    pub(crate) fn start(db: Db, commits: watch::Sender<u64>, work: watch::Sender<u64>) -> Self {
        let (jobs, inbox) = mpsc::channel(QUEUE);
        let task = Task {
            db,
            inbox,
            commits,
            work,
        };
        tokio::spawn(task.run());
        Self { jobs }
    }

    /// Runs `work` in a writing transaction and answers once it is durable.
    pub(crate) async fn write<I, T>(
        &self,
        ctx: &Ctx,
        input: I,
        work: Work<I, T>,
    ) -> Result<T, StoreError>
    where
        I: Send + Sync + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Piece {
            ctx: ctx.clone(),
            input,
            work,
            outcome: None,
            reply,
        });
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Does a piece of work of the kind `G`, together with others of that kind that wait, and answers once it is durable.
    pub(crate) async fn gather<G: Gather>(
        &self,
        ctx: &Ctx,
        piece: G,
    ) -> Result<G::Out, StoreError> {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Gathered::of(ctx.clone(), piece, reply));
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

/// A piece of work without its types.
trait Job: Send {
    /// Runs it and keeps the outcome.
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Ran>;
    /// Takes another job in when both can be done together; else gives it back.
    fn take_in(&mut self, other: Box<dyn Job>) -> Option<Box<dyn Job>> {
        Some(other)
    }
    /// Whether somebody waits for it who could go on: see [`Gather::URGENT`].
    fn urgent(&self) -> bool {
        false
    }
    /// Several pieces done together, apart again.
    fn apart(self: Box<Self>) -> Vec<Box<dyn Job>>;
    /// Tells the caller; `lost` when the transaction itself failed.
    fn answer(self: Box<Self>, lost: Option<&StoreError>);
    /// For [`Job::take_in`].
    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any>;
    /// For [`Job::take_in`].
    fn kind(&self) -> std::any::TypeId;
}

/// What became of a job.
enum Ran {
    /// Its changes are to stay.
    Stays,
    /// It refused or failed, and its changes are to be taken back.
    Refused,
    /// Pieces done together failed together: each is to be done alone.
    Apart,
    /// The transaction cannot go on.
    Broken(StoreError),
}

impl Ran {
    fn of<T>(outcome: &Result<T, StoreError>) -> Self {
        match outcome {
            Ok(_) => Self::Stays,
            Err(error) if error.passes() => Self::Broken(error.clone()),
            Err(_) => Self::Refused,
        }
    }
}

struct Piece<I, T> {
    ctx: Ctx,
    input: I,
    work: Work<I, T>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

/// The outcome of work that may panic.
async fn caught<T>(
    work: BoxFuture<'_, Result<T, StoreError>>,
    request: &str,
) -> Result<T, StoreError> {
    AssertUnwindSafe(work)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| {
            tracing::error!(request, "a write panicked");
            Err(StoreError::Unreadable("a write panicked".to_owned()))
        })
}

/// Tells one caller.
fn tell<T>(
    reply: oneshot::Sender<Result<T, StoreError>>,
    outcome: Option<Result<T, StoreError>>,
    lost: Option<&StoreError>,
) {
    let outcome = match (outcome, lost) {
        (Some(Err(refusal)), _) if !refusal.passes() => Err(refusal),
        (_, Some(lost)) => Err(lost.clone()),
        (Some(outcome), None) => outcome,
        (None, None) => Err(StoreError::Closed),
    };
    // A caller that went away needs no answer.
    drop(reply.send(outcome));
}

impl<I, T> Job for Piece<I, T>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let work = (self.work)(tx, &self.ctx, &self.input);
            let outcome = caught(work, &self.ctx.request_id).await;
            let ran = Ran::of(&outcome);
            self.outcome = Some(outcome);
            ran
        })
    }

    fn apart(self: Box<Self>) -> Vec<Box<dyn Job>> {
        vec![self]
    }

    fn answer(self: Box<Self>, lost: Option<&StoreError>) {
        tell(self.reply, self.outcome, lost);
    }

    fn into_any(self: Box<Self>) -> Box<dyn std::any::Any> {
        self
    }

    fn kind(&self) -> std::any::TypeId {
        std::any::TypeId::of::<Self>()
    }
}

/// Jobs of one transaction: those to be run, and those that were.
struct Batch {
    waiting: VecDeque<Box<dyn Job>>,
    run: Vec<Box<dyn Job>>,
    /// Holds what was left once already: everything in it is done now.
    patient: bool,
}

impl Batch {
    fn len(&self) -> usize {
        self.waiting.len() + self.run.len()
    }

    /// Everything is to be run again, in the order it was.
    fn again(&mut self) {
        let mut all: VecDeque<_> = std::mem::take(&mut self.run).into();
        all.append(&mut self.waiting);
        self.waiting = all;
    }

    /// The next job, and every job that can be done with it.
    fn next(&mut self) -> Option<Box<dyn Job>> {
        let urgent = self.waiting.iter().position(|job| job.urgent());
        let mut job = self.waiting.remove(urgent.unwrap_or(0))?;
        for _ in 0..self.waiting.len() {
            if let Some(other) = self
                .waiting
                .pop_front()
                .and_then(|other| job.take_in(other))
            {
                self.waiting.push_back(other);
            }
        }
        Some(job)
    }
}

struct Task {
    db: Db,
    inbox: mpsc::Receiver<Box<dyn Job>>,
    commits: watch::Sender<u64>,
    work: watch::Sender<u64>,
}

/// Where a transaction failed.
enum Failed {
    /// It did not begin: the database is away or busy, and was waited for already.
    Begin(StoreError),
    /// On its way.
    Later(StoreError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Later(error)
    }
}

impl Task {
    async fn run(mut self) {
        // What an urgent job was committed without.
        let mut left = VecDeque::new();
        loop {
            let mut batch = Batch {
                patient: !left.is_empty(),
                waiting: std::mem::take(&mut left),
                run: Vec::new(),
            };
            if batch.waiting.is_empty() {
                match self.inbox.recv().await {
                    Some(first) => batch.waiting.push_back(first),
                    None => return,
                }
            }
            let lost = self.carry(&mut batch).await.err();
            if lost.is_none() {
                left = std::mem::take(&mut batch.waiting);
            }
            for job in batch.run.into_iter().chain(batch.waiting) {
                job.answer(lost.as_ref());
            }
        }
    }

    /// Runs the batch in a transaction, again where that may help.
    async fn carry(&mut self, batch: &mut Batch) -> Result<(), StoreError> {
        let mut runs = 1;
        loop {
            match self.transact(batch).await {
                Ok(()) => return Ok(()),
                Err(Failed::Begin(error)) => return Err(error),
                Err(Failed::Later(error)) if error.passes() && runs < RUNS => {
                    tracing::debug!(%error, "a transaction is run again");
                    tokio::time::sleep(PAUSE * runs).await;
                    batch.again();
                    runs += 1;
                }
                Err(Failed::Later(error)) => return Err(error),
            }
        }
    }

    /// One transaction: the jobs in `batch`, and those that arrive meanwhile, which are added to it.
    async fn transact(&mut self, batch: &mut Batch) -> Result<(), Failed> {
        let begun = Instant::now();
        let mut tx = self.db.write().await.map_err(Failed::Begin)?;
        let mut stays = false;
        let mut urgent = false;
        loop {
            if batch.len() < BATCH && begun.elapsed() < BATCH_TIME {
                while batch.len() < BATCH
                    && let Ok(job) = self.inbox.try_recv()
                {
                    batch.waiting.push_back(job);
                }
            }
            let Some(job) = batch.next() else {
                break;
            };
            if urgent && !job.urgent() && !batch.patient {
                batch.waiting.push_front(job);
                break;
            }
            urgent |= job.urgent();
            stays |= step(&mut tx, job, batch).await?;
        }
        if !stays {
            return Ok(tx.rollback().await?);
        }
        let queues = tx.wakes_queue();
        tx.commit().await?;
        bump(&self.commits);
        if queues {
            bump(&self.work);
        }
        Ok(())
    }
}

fn bump(sender: &watch::Sender<u64>) {
    sender.send_modify(|n| *n = n.wrapping_add(1));
}

/// Runs one job in a savepoint of its own and puts it where it belongs. Says whether its changes stay.
async fn step(tx: &mut Tx, mut job: Box<dyn Job>, batch: &mut Batch) -> Result<bool, StoreError> {
    if let Err(error) = tx.execute("SAVEPOINT piece", Vec::new()).await {
        batch.run.push(job);
        return Err(error);
    }
    let ran = job.run(tx).await;
    let mut stays = false;
    match ran {
        Ran::Stays => {
            stays = true;
            batch.run.push(job);
        }
        Ran::Refused => batch.run.push(job),
        Ran::Apart => {
            for alone in job.apart().into_iter().rev() {
                batch.waiting.push_front(alone);
            }
        }
        Ran::Broken(error) => {
            batch.run.push(job);
            return Err(error);
        }
    }
    if !stays {
        tx.execute("ROLLBACK TO SAVEPOINT piece", Vec::new())
            .await?;
    }
    tx.execute("RELEASE SAVEPOINT piece", Vec::new()).await?;
    Ok(stays)
}
