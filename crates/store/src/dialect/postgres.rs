//! PostgreSQL: connections, checks at start, the one writer of the database, word from other servers.
//!
//! A write holds an advisory lock of the database from its `BEGIN` to its commit, so that writes happen one after the
//! other whichever server they come from, as they do on SQLite: what a function of the store read is still true when it
//! writes, live events are numbered in the order they become visible, and deadlocks cannot be. Many small writes share
//! one such transaction (`write.rs`), so the lock costs little; `docs/adr/0023` has the reasons and the price.
//!
//! In sqlx 0.9 a `begin` that is cancelled half-way hands a connection with an open transaction back to its pool. Three
//! guards stand against it: [`begin`] runs in a task that nobody cancels, every connection is rolled back when it is
//! released, and the database ends a transaction that idles.

mod away;
mod boot;
mod listener;

use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{Connection as _, Executor as _, PgConnection, Postgres, Row as _, Transaction};

use crate::error::StoreError;
use crate::secret::SecretText;

pub(crate) use away::{is_away, is_busy, is_conflict, is_full};
pub(crate) use listener::Listener;

/// The database ends a statement after this time.
const STATEMENT: &str = "30s";
/// The database ends a transaction whose client says nothing for this time: a stopped server must not hold up others.
const IDLE_TRANSACTION: &str = "10s";
/// How long an answer of the database is waited for: longer than it lets a statement run.
pub(crate) const PATIENCE: Duration = Duration::from_secs(40);
/// How long a connection is waited for. A page then answers that the database is away.
const ACQUIRE: Duration = Duration::from_secs(3);
/// Connections that read.
const READERS: u32 = 10;
/// Connections that write: one works while the other is cleaned.
const WRITERS: u32 = 2;
/// How often a connection is tried that is refused at once.
const TRIES: u32 = 3;
/// The first pause between tries; it triples.
const PAUSE: Duration = Duration::from_millis(100);
/// How long the fate of a commit is asked after.
const RESOLVE: Duration = Duration::from_secs(10);

const READ: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/// The number is this product's own, and means "the one writer of this database".
const WRITE: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SELECT pg_advisory_xact_lock(7305804385310271488)";
/// The channel that servers of one database tell each other of commits by.
const CHANNEL: &str = "evalkit";

/// The database's time in microseconds since 1970-01-01 UTC.
pub(crate) const NOW: &str =
    "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) AS now";
/// Tells other servers, once this commits, and names the transaction.
pub(crate) const ANNOUNCE: &str =
    "SELECT pg_notify('evalkit', $1) IS NULL AS told, CAST(pg_current_xact_id() AS TEXT) AS xid";
/// See [`crate::db::Tx::skip_locked`].
pub(crate) const SKIP_LOCKED: &str = " FOR UPDATE SKIP LOCKED";

/// Whose clock leases count by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LeaseClock {
    /// The database's: servers agree on it.
    Database,
    /// The store's, where a test decides what time it is.
    Store,
}

/// An open database.
#[derive(Debug)]
pub(crate) struct PostgresDb {
    writers: PgPool,
    readers: PgPool,
    options: PgConnectOptions,
    lease_clock: LeaseClock,
    /// Names this process among the servers of the database.
    server: String,
}

impl PostgresDb {
    /// Reaches the database, checks that it keeps what it acknowledges, and brings the schema up to date. Of several
    /// servers that start at once, one does that.
    pub(crate) async fn open(
        url: &SecretText,
        lease_clock: LeaseClock,
    ) -> Result<Self, StoreError> {
        let base = boot::options(url)?;
        boot::prepare(&base).await?;
        let options = base.options([
            ("statement_timeout", STATEMENT),
            ("idle_in_transaction_session_timeout", IDLE_TRANSACTION),
        ]);
        Ok(Self {
            writers: pool(WRITERS).connect_lazy_with(options.clone()),
            readers: pool(READERS).connect_lazy_with(options.clone()),
            options,
            lease_clock,
            server: uuid::Uuid::now_v7().to_string(),
        })
    }

    /// Whose clock leases count by.
    pub(crate) const fn lease_clock(&self) -> LeaseClock {
        self.lease_clock
    }

    /// A transaction that sees one moment and cannot write.
    pub(crate) async fn read(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        begin(&self.readers, READ).await
    }

    /// The writing transaction; while it lasts no other server has one.
    pub(crate) async fn write(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        begin(&self.writers, WRITE).await
    }

    /// What other servers hear of a commit.
    pub(crate) fn note(&self, queues: bool) -> String {
        listener::note(&self.server, queues)
    }

    /// Commits. When the connection breaks meanwhile, the database is asked what became of the transaction `xid`.
    pub(crate) async fn commit(
        &self,
        tx: Transaction<'static, Postgres>,
        xid: &str,
    ) -> Result<(), StoreError> {
        match tokio::time::timeout(PATIENCE, tx.commit()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) if !is_away(&error) => Err(error.into()),
            Ok(Err(_)) | Err(_) => self.resolve(xid).await,
        }
    }

    async fn resolve(&self, xid: &str) -> Result<(), StoreError> {
        let asked = tokio::time::timeout(RESOLVE, async {
            loop {
                match self.status(xid).await.as_deref() {
                    Ok("committed") => return Ok(()),
                    Ok("aborted") => {
                        return Err(StoreError::Away(
                            "the connection broke, and the change was taken back".to_owned(),
                        ));
                    }
                    Ok(_) | Err(_) => tokio::time::sleep(PAUSE).await,
                }
            }
        });
        asked.await.unwrap_or(Err(StoreError::Uncertain))
    }

    async fn status(&self, xid: &str) -> Result<String, sqlx::Error> {
        let mut connection = PgConnection::connect_with(&self.options).await?;
        let row = sqlx::query(
            "SELECT COALESCE(pg_xact_status(CAST(CAST($1 AS TEXT) AS xid8)), '') AS status",
        )
        .bind(xid)
        .fetch_one(&mut connection)
        .await?;
        connection.close().await?;
        row.try_get("status")
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writers.close().await;
    }
}

fn pool(connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE)
        // A restart of the database leaves dead connections behind.
        .test_before_acquire(true)
        .after_release(|connection, _| {
            Box::pin(async move {
                connection.execute("ROLLBACK").await?;
                Ok(true)
            })
        })
}

/// Begins a transaction in a task of its own: a caller that goes away leaves the task to end the `begin` and roll back.
/// A database whose socket is missing is tried again a few times, for it may be starting; one that refuses connections is
/// waited for by the pool.
async fn begin(
    pool: &PgPool,
    statement: &'static str,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let pool = pool.clone();
    let begun = tokio::spawn(async move {
        let mut pause = PAUSE;
        let mut tries = 1;
        loop {
            match pool.begin_with(statement).await {
                Err(error) if is_away(&error) && tries < TRIES => {
                    tokio::time::sleep(pause).await;
                    pause *= 3;
                    tries += 1;
                }
                outcome => return outcome,
            }
        }
    });
    Ok(begun
        .await
        .map_err(|_| StoreError::Away("beginning a transaction was cut off".to_owned()))??)
}

/// Shared by the listener.
fn listening_pool(db: &Arc<PostgresDb>) -> PgPool {
    PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(ACQUIRE)
        .connect_lazy_with(db.options.clone())
}

#[cfg(test)]
mod tests;
