//! The handle that everything else holds.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use evalkit_core::policy::Actor;
use tokio::sync::{Semaphore, watch};

use crate::clock::{Clock, SystemClock};
use crate::ctx::Ctx;
use crate::db::{Db, Tx};
use crate::dialect::postgres::{LeaseClock, Listener};
use crate::error::StoreError;
use crate::folder::Folder;
use crate::score::ScoreCache;
use crate::secret::Keeper;
use crate::settings::{Database, Settings};
use crate::write::{Gather, Work, Writer};

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
    /// Changes after every commit that is known of.
    commits: watch::Sender<u64>,
    /// Changes when the queue may have something new.
    work: watch::Sender<u64>,
    /// Hears the other servers of a shared database, for as long as the store is there.
    _listener: Option<Listener>,
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
        Self::assemble(
            folder,
            settings,
            Arc::new(SystemClock),
            LeaseClock::Database,
        )
        .await
    }

    /// Opens the data folder with a clock of the caller's, which leases count by too.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn open_with_clock(
        folder: &Path,
        settings: Settings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        Self::assemble(folder, settings, clock, LeaseClock::Store).await
    }

    async fn assemble(
        folder: &Path,
        settings: Settings,
        clock: Arc<dyn Clock>,
        lease_clock: LeaseClock,
    ) -> Result<Self, StoreError> {
        let folder = Folder::open(folder, settings.database.is_embedded())?;
        let key_file = settings.secret_key_file.as_deref();
        let (db, key) = match &settings.database {
            Database::Sqlite => {
                let key = folder.key(key_file)?;
                (Db::sqlite(&folder.database()).await?, key)
            }
            Database::Postgres { url } => {
                let key = Folder::given_key(key_file)?;
                (Db::postgres(url, lease_clock).await?, key)
            }
        };
        let (commits, work) = (watch::Sender::new(0), watch::Sender::new(0));
        let writer = Writer::start(db.clone(), commits.clone(), work.clone());
        let listener = db.listen(commits.clone(), work.clone());
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
                commits,
                work,
                _listener: listener,
                stale_writes: AtomicU64::new(0),
            }),
        };
        store.check_key().await?;
        Ok(store)
    }

    /// Whether other servers may use the same database: then their leases are theirs.
    pub fn is_shared(&self) -> bool {
        self.inner.db.is_shared()
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

    /// Changes after every commit, those of other servers included: what waits for news waits on this.
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.inner.commits.subscribe()
    }

    /// Changes when the queue may have something new to claim. Workers wait on this and look every two seconds besides.
    pub fn work(&self) -> watch::Receiver<u64> {
        self.inner.work.subscribe()
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

    /// A write that shares its statements with others of its kind.
    pub(crate) async fn gather<G: Gather>(
        &self,
        ctx: &Ctx,
        piece: G,
    ) -> Result<G::Out, StoreError> {
        self.inner.writer.gather(ctx, piece).await
    }
}
