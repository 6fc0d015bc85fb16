//! SQLite: the files, the pragmas, one writer and four readers.
//!
//! One connection writes (`BEGIN IMMEDIATE`), so a read lock never has to be upgraded and `SQLITE_BUSY_SNAPSHOT`
//! cannot happen. `synchronous=FULL`: what was acknowledged survives a power cut.

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Row as _, Sqlite, Transaction};

use crate::error::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/sqlite");

/// Older versions can corrupt a database in WAL mode.
const OLDEST: (u32, u32, u32) = (3, 51, 3);
const READERS: u32 = 4;

/// An open database.
#[derive(Debug, Clone)]
pub(crate) struct SqliteDb {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl SqliteDb {
    /// Opens or makes the file, checks the library and the pragmas, and brings the schema up to date.
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let base = SqliteConnectOptions::new()
            .filename(path)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5))
            .statement_cache_capacity(400)
            .command_buffer_size(256)
            .row_buffer_size(256);
        let writer = pool(1)
            .connect_with(
                base.clone()
                    .create_if_missing(true)
                    .journal_mode(SqliteJournalMode::Wal)
                    .synchronous(SqliteSynchronous::Full)
                    .pragma("cache_size", "-65536")
                    .pragma("temp_store", "memory")
                    .thread_name(|_| "evalkit-db-writer".to_owned()),
            )
            .await?;
        check(&writer).await?;
        migrate(&writer).await?;
        let readers = pool(READERS)
            .connect_with(
                base.read_only(true)
                    .pragma("cache_size", "-16384")
                    .pragma("mmap_size", "268435456")
                    .pragma("temp_store", "memory")
                    .thread_name(|id| format!("evalkit-db-reader-{id}")),
            )
            .await?;
        Ok(Self { writer, readers })
    }

    /// A transaction that sees one moment and cannot write.
    pub(crate) async fn read(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.readers.begin().await?)
    }

    /// The one writing transaction. Only the writer task calls this.
    pub(crate) async fn write(&self) -> Result<Transaction<'static, Sqlite>, StoreError> {
        Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
    }

    /// Closes every connection; SQLite folds the write-ahead log into the file.
    pub(crate) async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

fn pool(connections: u32) -> SqlitePoolOptions {
    SqlitePoolOptions::new()
        .min_connections(connections)
        .max_connections(connections)
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(Duration::from_secs(10))
}

async fn check(writer: &SqlitePool) -> Result<(), StoreError> {
    let version: String = sqlx::query("SELECT sqlite_version() AS version")
        .fetch_one(writer)
        .await?
        .try_get("version")?;
    if parse_version(&version) < Some(OLDEST) {
        return Err(StoreError::Schema(format!(
            "This program is linked with SQLite {version}, which can corrupt a database in WAL mode; build it with SQLite 3.51.3 or newer."
        )));
    }
    for (pragma, wanted) in [
        ("PRAGMA journal_mode", "wal"),
        ("PRAGMA synchronous", "2"),
        ("PRAGMA foreign_keys", "1"),
    ] {
        let row = sqlx::query(pragma).fetch_one(writer).await?;
        let found = row
            .try_get_unchecked::<String, _>(0)
            .or_else(|_| row.try_get_unchecked::<i64, _>(0).map(|n| n.to_string()))?;
        if found != wanted {
            return Err(StoreError::Schema(format!(
                "The database answers {found} to `{pragma}` where {wanted} is needed; keep the data folder on a local disk."
            )));
        }
    }
    Ok(())
}

fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let mut parts = text.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

async fn migrate(writer: &SqlitePool) -> Result<(), StoreError> {
    MIGRATIONS
        .run(writer)
        .await
        .map_err(|error| StoreError::Schema(match error {
            MigrateError::VersionMissing(version) => format!(
                "The database has schema {version}, which is newer than this program; start the newer `evalkit`, or restore the backup that was made before the upgrade."
            ),
            other => format!("The database could not be brought up to date: {other}"),
        }))
}
