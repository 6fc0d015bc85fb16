//! The handle that everything else holds.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalkit_core::policy::Actor;
use tokio::sync::{Semaphore, watch};

use crate::clock::{Clock, SystemClock};
use crate::ctx::Ctx;
use crate::db::{Db, Tx};
use crate::error::StoreError;
use crate::folder::Folder;
use crate::score::ScoreCache;
use crate::secret::Keeper;
use crate::settings::Settings;
use crate::write::{Work, Writer};

/// The store. Cheap to clone; all clones are one store.
#[derive(Clone)]
pub struct Store {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    db: Db,
    writer: Writer,
    clock: Arc<dyn Clock>,
    pub(crate) folder: Folder,
    pub(crate) settings: Settings,
    pub(crate) keeper: Keeper,
    pub(crate) scores: ScoreCache,
    /// Password hashing costs 19 MiB a piece, so two at once at most.
    pub(crate) hashing: Semaphore,
    /// Changes when the queue may have something new.
    work: watch::Sender<u64>,
    /// Writes of workers that no longer held their trial: dropped, and counted here.
    pub(crate) stale_writes: AtomicU64,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("folder", &self.inner.folder.root())
            .finish_non_exhaustive()
    }
}

impl Store {
    /// Opens the data folder with the machine's clock.
    ///
    /// # Errors
    /// When another process holds the folder, a right is missing, the key does not fit, or the database is newer than
    /// this program. The text names the fix.
    pub async fn open(folder: &Path, settings: Settings) -> Result<Self, StoreError> {
        Self::open_with_clock(folder, settings, Arc::new(SystemClock)).await
    }

    /// Opens the data folder with a clock of the caller's.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_with_clock(
        folder: &Path,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let folder = Folder::open(folder)?;
        let key = folder.key()?;
        let db = Db::sqlite(&folder.database()).await?;
        let writer = Writer::start(db.clone());
        let store = Self {
            inner: Arc::new(Inner {
                db,
                writer,
                clock,
                folder,
                settings,
                keeper: Keeper::new(&key),
                scores: ScoreCache::default(),
                hashing: Semaphore::new(2),
                work: watch::channel(0).0,
                stale_writes: AtomicU64::new(0),
            }),
        };
        store.check_key().await?;
        Ok(store)
    }

    /// Closes every connection. Writes that were not answered yet may be lost; later ones fail as closed.
    pub async fn close(&self) {
        self.inner.db.close().await;
    }

    /// What the deployment decided.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The folder in use.
    pub fn folder(&self) -> &Path {
        self.inner.folder.root()
    }

    /// Now, by the store's clock, in microseconds.
    pub fn now(&self) -> i64 {
        self.inner.clock.now()
    }

    /// A context for one request.
    pub fn ctx(&self, actor: Actor, request_id: impl Into<String>, ip: impl Into<String>) -> Ctx {
        Ctx {
            actor,
            request_id: request_id.into(),
            now: self.now(),
            ip: ip.into(),
        }
    }

    /// A context for the engine's own work.
    pub fn system_ctx(&self) -> Ctx {
        self.ctx(Actor::System, "engine", "")
    }

    /// Changes after every commit: what waits for news waits on this.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.inner.writer.commits()
    }

    /// Changes when the queue may have something new to claim. Workers wait on this and look every two seconds besides.
    pub fn work(&self) -> watch::Receiver<u64> {
        self.inner.work.subscribe()
    }

    pub(crate) fn announce_work(&self) {
        self.inner.work.send_modify(|n| *n = n.wrapping_add(1));
    }

    /// Writes of workers that no longer held their trial since the start: each was dropped.
    pub fn stale_writes(&self) -> u64 {
        self.inner.stale_writes.load(Ordering::Relaxed)
    }

    /// A new id: UUIDv7, so that ids sort by time.
    pub(crate) fn new_id() -> String {
        uuid::Uuid::now_v7().to_string()
    }

    pub(crate) async fn read(&self) -> Result<Tx, StoreError> {
        self.inner.db.read().await
    }

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
        self.inner.writer.write(ctx, input, work).await
    }
}
