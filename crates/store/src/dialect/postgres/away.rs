//! What an error of PostgreSQL or of the way to it means.

use std::io::ErrorKind;

use sqlx::Error;
use sqlx::postgres::PgDatabaseError;

fn state(error: &Error) -> Option<&str> {
    Some(
        error
            .as_database_error()?
            .try_downcast_ref::<PgDatabaseError>()?
            .code(),
    )
}

/// The database cannot be reached, or ended the connection: what was not committed is gone, and may be tried again.
pub(crate) fn is_away(error: &Error) -> bool {
    match error {
        Error::Io(error) => matches!(
            error.kind(),
            ErrorKind::NotFound
                | ErrorKind::ConnectionRefused
                | ErrorKind::ConnectionReset
                | ErrorKind::ConnectionAborted
                | ErrorKind::NotConnected
                | ErrorKind::BrokenPipe
                | ErrorKind::UnexpectedEof
                | ErrorKind::TimedOut
                | ErrorKind::HostUnreachable
                | ErrorKind::NetworkUnreachable
        ),
        Error::Protocol(_) | Error::BeginFailed => true,
        // Connection exceptions; shut down, crashed, starting up, session idle for too long; transaction idle for too long.
        _ => state(error).is_some_and(|code| {
            code.starts_with("08")
                || matches!(code, "57P01" | "57P02" | "57P03" | "57P05" | "25P03")
        }),
    }
}

/// Two transactions were in each other's way, and this one gave in: it is to be run again from its start.
pub(crate) fn is_conflict(error: &Error) -> bool {
    matches!(state(error), Some("40001" | "40P01"))
}

/// It is not now, and may be later: time-outs, too many connections, a read-only standby, a database that takes nobody in.
pub(crate) fn is_busy(error: &Error) -> bool {
    is_away(error)
        || is_conflict(error)
        || matches!(
            error,
            Error::PoolTimedOut | Error::PoolClosed | Error::Tls(_)
        )
        || state(error).is_some_and(|code| {
            code.starts_with("28")
                || matches!(
                    code,
                    "53200" | "53300" | "53400" | "55000" | "55P03" | "57014" | "25006" | "3D000"
                )
        })
}

/// No space is left.
pub(crate) fn is_full(error: &Error) -> bool {
    state(error) == Some("53100")
}
