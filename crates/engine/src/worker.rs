//! The worker: takes trials from the durable queue, calls the agent, journals the answer, grades it (`runs.md`, The engine).
//!
//! Every move is a fenced write of the store, committed before the next action. A worker that lost its trial learns so
//! from the answer to its write and drops the rest. Nothing here is remembered that a restart needs: lanes, gates and the
//! list of held trials are built again from rows.
//!
//! Absent: prompts and answers in the log. Ids, classes and counts are all it says.

mod gate;
mod lane;
mod retry;
mod trial;

use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use evalkit_core::experiment::ExperimentState;
use evalkit_store::{Claim, Fence, Store, StoreError};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::adapter::FixtureLinks;
use crate::egress::Egress;
use crate::judge::Endpoints;
use crate::settings::EngineSettings;
use gate::Gate;
use lane::{Lane, Permits};

/// The queue is looked at this often even when nothing announced work.
const POLL: Duration = Duration::from_secs(2);
/// Trials whose answer is stored already that are graded at once; each holds its answer in memory.
const REGRADES: usize = 16;

/// What all tasks of the worker share.
pub(crate) struct Worker {
    pub(crate) store: Store,
    pub(crate) egress: Egress,
    pub(crate) endpoints: Endpoints,
    pub(crate) settings: EngineSettings,
    pub(crate) links: FixtureLinks,
    /// Lanes built while this is set play demo recordings back without waiting.
    pub(crate) at_once: AtomicBool,
    name: String,
    lanes: Mutex<HashMap<String, Arc<Lane>>>,
    gates: Mutex<HashMap<String, Arc<Gate>>>,
    held: Mutex<HashMap<Fence, Held>>,
    wake: Notify,
    look_again: AtomicBool,
    regrades: Arc<Semaphore>,
    /// Recorded trials may wait that nobody holds.
    unheld: AtomicBool,
    /// Held while trials are being claimed, until they are on the list of what is held.
    claiming: tokio::sync::Mutex<()>,
    stop: watch::Sender<bool>,
}

/// A trial in the hands of one of our tasks.
struct Held {
    experiment_id: String,
    task: AbortHandle,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold stays whole whichever line a panic came from.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Worker {
    pub(crate) fn new(
        store: Store,
        egress: Egress,
        endpoints: Endpoints,
        settings: EngineSettings,
        links: FixtureLinks,
    ) -> Self {
        Self {
            store,
            egress,
            endpoints,
            settings,
            links,
            at_once: AtomicBool::new(false),
            name: uuid::Uuid::now_v7().to_string(),
            lanes: Mutex::default(),
            gates: Mutex::default(),
            held: Mutex::default(),
            wake: Notify::new(),
            look_again: AtomicBool::new(true),
            regrades: Arc::new(Semaphore::new(REGRADES)),
            unheld: AtomicBool::new(true),
            claiming: tokio::sync::Mutex::default(),
            stop: watch::Sender::new(false),
        }
    }

    /// Works until [`Worker::stop`].
    pub(crate) async fn run(self: Arc<Self>) {
        let mut stop = self.stop.subscribe();
        let mut work = self.store.work();
        let heart = tokio::spawn(Arc::clone(&self).beat());
        while !*stop.borrow_and_update() {
            if let Err(error) = self.take_work().await {
                if matches!(error, StoreError::Closed) {
                    break;
                }
                tracing::warn!(%error, "the queue cannot be read; trying again");
                self.look_again.store(true, Ordering::Relaxed);
            }
            tokio::select! {
                () = self.wake.notified() => {}
                changed = work.changed() => {
                    if changed.is_err() {
                        break;
                    }
                    self.look_again.store(true, Ordering::Relaxed);
                }
                () = tokio::time::sleep(POLL) => self.look_again.store(true, Ordering::Relaxed),
                _ = stop.changed() => {}
            }
        }
        heart.abort();
    }

    /// Looks at the queue now: something changed that the store does not announce.
    pub(crate) fn look(&self) {
        self.look_again.store(true, Ordering::Relaxed);
        self.wake.notify_one();
    }

    fn look_at(self: &Arc<Self>, when: Instant) {
        let worker = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep_until(when).await;
            worker.look();
        });
    }

    /// Ends the calls of experiments that are no longer open: their trials are no longer ours.
    pub(crate) async fn drop_cancelled(&self) {
        match self.store.open_experiments(&self.store.system_ctx()).await {
            Ok(open) => lock(&self.held).retain(|_, held| {
                let keep = open.iter().any(|plan| plan.id == held.experiment_id);
                if !keep {
                    held.task.abort();
                }
                keep
            }),
            // The next renewal of the leases finds them too.
            Err(error) => {
                tracing::warn!(%error, "cancelled calls go on until their leases are renewed")
            }
        }
        self.look();
    }

    /// Takes nothing new, lets what is in flight end for a while, gives the rest back.
    pub(crate) async fn stop(&self) {
        self.stop.send_replace(true);
        // A claim that is on its way would come after the leases were given back, and keep its trials until they run out.
        drop(self.claiming.lock().await);
        let until = Instant::now() + self.settings.drain;
        while !lock(&self.held).is_empty() && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        self.abort_all();
        if let Err(error) = self.store.release_leases_unchecked(Some(&self.name)).await {
            tracing::warn!(%error, "trials could not be given back; their leases will run out");
        }
    }

    fn abort_all(&self) {
        for (_, held) in lock(&self.held).drain() {
            held.task.abort();
        }
    }

    /// Ends everything at once and gives nothing back, as a kill would. For tests of what comes after one.
    pub(crate) fn kill(&self) {
        self.stop.send_replace(true);
        self.abort_all();
    }

    async fn take_work(self: &Arc<Self>) -> Result<(), StoreError> {
        let _claiming = self.claiming.lock().await;
        if *self.stop.borrow() {
            return Ok(());
        }
        if self.look_again.swap(false, Ordering::Relaxed) {
            let ctx = self.store.system_ctx();
            let reaped = self.store.reap(&ctx).await?;
            if reaped.requeued + reaped.ended + reaped.regrade > 0 {
                tracing::info!(
                    requeued = reaped.requeued,
                    ended = reaped.ended,
                    regrade = reaped.regrade,
                    "took back trials whose worker is gone"
                );
            }
            self.refresh_lanes().await?;
            self.unheld.store(true, Ordering::Relaxed);
        }
        self.take_recorded().await?;
        self.take_queued().await
    }

    /// One lane an open experiment; lanes of experiments that ended go with their last task.
    async fn refresh_lanes(&self) -> Result<(), StoreError> {
        let plans = self
            .store
            .open_experiments(&self.store.system_ctx())
            .await?;
        lock(&self.lanes).retain(|id, _| plans.iter().any(|plan| plan.id == *id));
        for plan in plans {
            let known = lock(&self.lanes).get(&plan.id).cloned();
            let lane = match known {
                Some(lane) => lane,
                None => {
                    let lane = Arc::new(Lane::open(self, &plan).await);
                    lock(&self.lanes).insert(plan.id.clone(), Arc::clone(&lane));
                    lane
                }
            };
            lane.rests
                .store(plan.state != ExperimentState::Running, Ordering::Relaxed);
            lane.drained.store(false, Ordering::Relaxed);
        }
        Ok(())
    }

    fn gate_of(&self, key: String, make: impl FnOnce() -> Gate) -> Arc<Gate> {
        Arc::clone(
            lock(&self.gates)
                .entry(key)
                .or_insert_with(|| Arc::new(make())),
        )
    }

    /// Goes on grading answers that are stored and that nobody holds, a few at a time.
    async fn take_recorded(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut permits = Vec::new();
        while self.unheld.load(Ordering::Relaxed)
            && let Ok(permit) = Arc::clone(&self.regrades).try_acquire_owned()
        {
            permits.push(permit);
        }
        if permits.is_empty() {
            return Ok(());
        }
        let wanted = u32::try_from(permits.len()).unwrap_or(u32::MAX);
        let ctx = self.store.system_ctx();
        let claims = self
            .store
            .claim_recorded(&ctx, &self.name, wanted, self.lease())
            .await?;
        if claims.len() < permits.len() {
            self.unheld.store(false, Ordering::Relaxed);
        }
        for claim in claims {
            let known = lock(&self.lanes).get(&claim.experiment_id).cloned();
            let lane = match known {
                Some(lane) => lane,
                // It began after the lanes were refreshed.
                None => {
                    let plan = self
                        .store
                        .experiment_plan(&ctx, &claim.experiment_id)
                        .await?;
                    Arc::new(Lane::open(self, &plan).await)
                }
            };
            // The store gives no more than was asked for.
            if let Some(permit) = permits.pop() {
                self.begin(claim, lane, Permits::grading(permit));
            }
        }
        Ok(())
    }

    /// Takes as many queued trials as each lane has room for, one statement a lane.
    async fn take_queued(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut lanes: Vec<Arc<Lane>> = lock(&self.lanes).values().cloned().collect();
        // Oldest first; a lane that is full lets the next one pass.
        lanes.sort_by(|a, b| a.plan.id.cmp(&b.plan.id));
        for lane in lanes {
            if *self.stop.borrow() {
                return Ok(());
            }
            let mut permits = lane.free_permits();
            if permits.is_empty() {
                continue;
            }
            let wanted = u32::try_from(permits.len()).unwrap_or(u32::MAX);
            let claims = self
                .store
                .claim_trials(
                    &self.store.system_ctx(),
                    &self.name,
                    &lane.plan.id,
                    wanted,
                    self.lease(),
                )
                .await?;
            if claims.len() < permits.len() {
                lane.drained.store(true, Ordering::Relaxed);
            }
            for claim in claims {
                // The store gives no more than was asked for.
                if let Some(permit) = permits.pop() {
                    self.begin(claim, Arc::clone(&lane), permit);
                }
            }
        }
        Ok(())
    }

    fn begin(self: &Arc<Self>, claim: Claim, lane: Arc<Lane>, permits: Permits) {
        let worker = Arc::clone(self);
        let fence = claim.fence.clone();
        let experiment_id = claim.experiment_id.clone();
        // The list is locked while the task is made, so its own removal comes after its entry.
        let mut held = lock(&self.held);
        let mine = fence.clone();
        let task = tokio::spawn(async move {
            let _leave = Leave {
                worker: Arc::clone(&worker),
                fence: mine,
            };
            trial::run(&worker, &lane, claim, permits).await;
        });
        held.insert(
            fence,
            Held {
                experiment_id,
                task: task.abort_handle(),
            },
        );
    }

    /// Nothing new is taken any more.
    fn is_stopping(&self) -> bool {
        *self.stop.borrow()
    }

    fn lease(&self) -> i64 {
        micros(self.settings.lease)
    }

    /// Prolongs the leases of what is held, and drops what was taken away.
    async fn beat(self: Arc<Self>) {
        loop {
            tokio::time::sleep(self.settings.lease / 3).await;
            let fences: Vec<Fence> = lock(&self.held).keys().cloned().collect();
            if fences.is_empty() {
                continue;
            }
            let ctx = self.store.system_ctx();
            let until = ctx.now + self.lease();
            match self
                .store
                .renew_leases(&ctx, &self.name, fences, until)
                .await
            {
                Ok(lost) => {
                    let mut held = lock(&self.held);
                    for fence in lost {
                        // One that ended meanwhile is no loss: its task has left the list.
                        if let Some(gone) = held.remove(&fence) {
                            gone.task.abort();
                            tracing::info!(trial = %fence.trial_id, "the trial is no longer held here");
                        }
                    }
                }
                Err(error) => tracing::warn!(%error, "leases could not be prolonged"),
            }
        }
    }

    /// Repeats a write until the database takes it: an answer in hand must not be lost to a full disk or a busy file.
    async fn persist<T, F>(&self, what: &str, mut write: impl FnMut() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = Duration::from_millis(50);
        loop {
            match write().await {
                Err(error) if !matches!(error, StoreError::Fault(_) | StoreError::Closed) => {
                    tracing::warn!(%error, what, "a write failed; trying again");
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(Duration::from_secs(2));
                }
                outcome => return outcome,
            }
        }
    }
}

/// Takes a task off the list however it ends, and makes room known.
struct Leave {
    worker: Arc<Worker>,
    fence: Fence,
}

impl Drop for Leave {
    fn drop(&mut self) {
        lock(&self.worker.held).remove(&self.fence);
        self.worker.wake.notify_one();
    }
}

/// Whole microseconds, as the store counts.
fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX / 4)
}
