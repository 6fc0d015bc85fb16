//! What can go wrong in the store, and which fault of the catalogue a person sees for it.

use std::path::PathBuf;
use std::sync::Arc;

use evalkit_core::error::{Code, Fault};
use sqlx::error::DatabaseError as _;
use sqlx::sqlite::SqliteError;

use crate::dialect::postgres::{is_away, is_busy, is_conflict, is_full};

/// An error of the store. [`Fault`] is what crosses to people; the rest is for the log.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Something the caller can understand and act on.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// The database failed.
    #[error("database: {0}")]
    Database(Arc<sqlx::Error>),
    /// The database cannot be reached; nothing was changed.
    #[error("the database is away: {0}")]
    Away(String),
    /// The database went away in the middle of a commit and did not come back in time to say what became of it.
    #[error("the database went away during a commit")]
    Uncertain,
    /// A migration failed, or the database is newer than this program.
    #[error("{0}")]
    Schema(String),
    /// A file or folder of the data folder could not be used.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: Arc<std::io::Error>,
    },
    /// A stored value is not what this program wrote.
    #[error("stored data is not readable: {0}")]
    Unreadable(String),
    /// The data folder cannot be used as it is; the text names the fix.
    #[error("{0}")]
    Folder(String),
    /// The writer has stopped because the server is shutting down.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    /// A fault of the catalogue.
    pub(crate) fn fault(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::Fault(Box::new(Fault::new(code, message, next)))
    }

    /// The one answer for what is missing and for what the caller may not see.
    pub(crate) fn not_found() -> Self {
        Self::Fault(Box::new(Fault::not_found()))
    }

    /// A field that is not valid.
    pub(crate) fn invalid(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::fault(Code::Invalid, message, next)
    }

    /// A file error with its path.
    pub(crate) fn io(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source: Arc::new(source),
        }
    }

    /// The code of the fault that a person would see.
    pub fn code(&self) -> Code {
        match self {
            Self::Fault(fault) => fault.code,
            Self::Database(error) => code_of(error),
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                Code::StorageFull
            }
            Self::Closed | Self::Away(_) | Self::Uncertain => Code::Busy,
            Self::Schema(_) | Self::Io { .. } | Self::Unreadable(_) | Self::Folder(_) => {
                Code::Internal
            }
        }
    }

    /// Whether the transaction as a whole came to nothing for a reason that passes: a conflict with another one, or a
    /// connection that broke. Run again from its start, it may succeed.
    pub(crate) fn passes(&self) -> bool {
        match self {
            Self::Database(error) => is_conflict(error) || is_away(error),
            Self::Away(_) => true,
            _ => false,
        }
    }

    /// Whether a unique or foreign key refused the write.
    pub(crate) fn is_unique_violation(&self) -> bool {
        matches!(self, Self::Database(error)
            if error.as_database_error().is_some_and(sqlx::error::DatabaseError::is_unique_violation))
    }
}

/// SQLite's primary result code, when the error has one.
fn sqlite_code(error: &sqlx::Error) -> Option<i32> {
    let error = error
        .as_database_error()?
        .try_downcast_ref::<SqliteError>()?;
    let code: i32 = error.code()?.parse().ok()?;
    Some(code & 0xff)
}

fn code_of(error: &sqlx::Error) -> Code {
    const BUSY: i32 = 5;
    const LOCKED: i32 = 6;
    const FULL: i32 = 13;
    match sqlite_code(error) {
        Some(BUSY | LOCKED) => Code::Busy,
        Some(FULL) => Code::StorageFull,
        _ if is_full(error) => Code::StorageFull,
        _ if is_busy(error) => Code::Busy,
        _ => Code::Internal,
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        Self::Database(Arc::new(error))
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

impl From<StoreError> for Fault {
    /// What a person sees. The text of a database or file error stays in the log: it may name paths and values.
    fn from(error: StoreError) -> Self {
        let code = error.code();
        match error {
            StoreError::Fault(fault) => *fault,
            StoreError::Uncertain => Self::new(
                code,
                "The database went away while this was being stored, so it is not known whether it was.",
                "Reload the page in a few seconds to see how it stands before you do it again.",
            ),
            _ => match code {
                Code::Busy => Self::new(
                    code,
                    "The database is busy or away.",
                    "Try again in a few seconds; nothing was changed.",
                ),
                Code::StorageFull => Self::new(
                    code,
                    "The server has no space left to store this.",
                    "Ask whoever runs the server to free space; nothing was changed.",
                ),
                _ => Self::new(
                    Code::Internal,
                    "The server could not do this because of a fault of its own.",
                    "Try again; if it happens again, give the request id to whoever runs the server.",
                ),
            },
        }
    }
}
