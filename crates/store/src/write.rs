//! The writer: one task through which every write goes.
//!
//! Work that arrives while a commit is on its way to the disk is gathered into the next transaction, so that many
//! small writes share one `fdatasync`; each piece of work has its own savepoint, so one refusal takes nothing else
//! back. A caller that goes away does not stop its work half way, and is told nothing before the commit is durable.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};

use crate::ctx::Ctx;
use crate::db::{Db, Tx};
use crate::error::StoreError;

/// What a write does: a plain function of the transaction, the context and its input, so that it can be run again.
pub(crate) type Work<I, T> =
    for<'a> fn(&'a mut Tx, &'a Ctx, &'a I) -> BoxFuture<'a, Result<T, StoreError>>;

/// Jobs in one transaction at most.
const BATCH: usize = 512;
/// A transaction takes in no further job after this time.
const BATCH_TIME: Duration = Duration::from_millis(25);
/// Jobs that wait at most; a caller beyond waits for a place.
const QUEUE: usize = 4_096;

/// The door to the writer task.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Box<dyn Job>>,
    commits: watch::Receiver<u64>,
}

impl Writer {
    /// Starts the writer task on `db`. It ends when the last door is dropped.
    pub(crate) fn start(db: Db) -> Self {
        let (jobs, inbox) = mpsc::channel(QUEUE);
        let (done, commits) = watch::channel(0);
        tokio::spawn(run(db, inbox, done));
        Self { jobs, commits }
    }

    /// Counts commits; changes after every one. Streams and the engine wait on it.
    pub(crate) fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
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
}

/// A piece of work without its types.
trait Job: Send {
    /// Runs it; true when its changes are to stay.
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, bool>;
    /// Tells the caller; `lost` when the transaction itself failed.
    fn answer(self: Box<Self>, lost: Option<&StoreError>);
}

struct Piece<I, T> {
    ctx: Ctx,
    input: I,
    work: Work<I, T>,
    outcome: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<I, T> Job for Piece<I, T>
where
    I: Send + Sync + 'static,
    T: Send + 'static,
{
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, bool> {
        Box::pin(async move {
            let work = (self.work)(tx, &self.ctx, &self.input);
            let outcome = AssertUnwindSafe(work)
                .catch_unwind()
                .await
                .unwrap_or_else(|_| {
                    tracing::error!(request = %self.ctx.request_id, "a write panicked");
                    Err(StoreError::Unreadable("a write panicked".to_owned()))
                });
            let stays = outcome.is_ok();
            self.outcome = Some(outcome);
            stays
        })
    }

    fn answer(self: Box<Self>, lost: Option<&StoreError>) {
        let outcome = match (self.outcome, lost) {
            (Some(Err(refusal)), _) => Err(refusal),
            (_, Some(lost)) => Err(lost.clone()),
            (Some(outcome), None) => outcome,
            (None, None) => Err(StoreError::Closed),
        };
        // A caller that went away needs no answer.
        drop(self.reply.send(outcome));
    }
}

async fn run(db: Db, mut inbox: mpsc::Receiver<Box<dyn Job>>, commits: watch::Sender<u64>) {
    while let Some(first) = inbox.recv().await {
        let mut batch = vec![first];
        let outcome = transact(&db, &mut inbox, &mut batch).await;
        if outcome.is_ok() {
            commits.send_modify(|n| *n = n.wrapping_add(1));
        }
        let lost = outcome.err();
        for job in batch {
            job.answer(lost.as_ref());
        }
    }
}

/// One transaction: the jobs in `batch`, and those that arrive meanwhile, which are added to it.
async fn transact(
    db: &Db,
    inbox: &mut mpsc::Receiver<Box<dyn Job>>,
    batch: &mut Vec<Box<dyn Job>>,
) -> Result<(), StoreError> {
    let begun = Instant::now();
    let mut tx = db.write().await?;
    let mut stays = false;
    let mut next = 0;
    loop {
        while next < batch.len() {
            stays |= step(&mut tx, &mut batch[next]).await?;
            next += 1;
        }
        if batch.len() >= BATCH || begun.elapsed() >= BATCH_TIME {
            break;
        }
        match inbox.try_recv() {
            Ok(job) => batch.push(job),
            Err(_) => break,
        }
    }
    if stays {
        tx.commit().await
    } else {
        tx.rollback().await
    }
}

async fn step(tx: &mut Tx, job: &mut Box<dyn Job>) -> Result<bool, StoreError> {
    tx.execute("SAVEPOINT piece", Vec::new()).await?;
    let stays = job.run(tx).await;
    if !stays {
        tx.execute("ROLLBACK TO SAVEPOINT piece", Vec::new())
            .await?;
    }
    tx.execute("RELEASE SAVEPOINT piece", Vec::new()).await?;
    Ok(stays)
}
