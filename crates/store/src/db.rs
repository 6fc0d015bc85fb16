//! One face for the databases: a transaction that takes the portable SQL text with its arguments.
//!
//! `on_db!` is the one place where a text meets a driver; every function of the store writes its SQL once, with `$1`,
//! `ON CONFLICT` and `RETURNING`, and gets [`Row`]s back.

use std::path::Path;

use sqlx::{AssertSqlSafe, Sqlite, Transaction};

use crate::dialect::sqlite::SqliteDb;
use crate::error::StoreError;
use crate::row::Row;

/// The database in use.
#[derive(Debug, Clone)]
pub(crate) enum Db {
    Sqlite(SqliteDb),
}

/// A transaction on it. Dropped without `commit`, it is rolled back.
pub(crate) enum Tx {
    Sqlite(Transaction<'static, Sqlite>),
}

/// A value for `$n`.
#[derive(Debug, Clone)]
pub(crate) enum Arg {
    Int(Option<i64>),
    Real(Option<f64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
}

macro_rules! on_db {
    ($tx:expr, $sql:expr, $args:expr, |$query:ident, $conn:ident| $run:expr) => {
        match $tx {
            Tx::Sqlite(tx) => {
                // The text is put together in this crate from constants and `$n`; values never enter it.
                let mut $query = sqlx::query(AssertSqlSafe($sql));
                for arg in $args {
                    $query = match arg {
                        Arg::Int(value) => $query.bind(value),
                        Arg::Real(value) => $query.bind(value),
                        Arg::Text(value) => $query.bind(value),
                        Arg::Bytes(value) => $query.bind(value),
                    };
                }
                let $conn = &mut **tx;
                $run
            }
        }
    };
}

impl Db {
    /// The embedded database in `path`.
    pub(crate) async fn sqlite(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::Sqlite(SqliteDb::open(path).await?))
    }

    /// A transaction that sees one moment and cannot write.
    pub(crate) async fn read(&self) -> Result<Tx, StoreError> {
        match self {
            Self::Sqlite(db) => Ok(Tx::Sqlite(db.read().await?)),
        }
    }

    /// A writing transaction. Only the writer task calls this.
    pub(crate) async fn write(&self) -> Result<Tx, StoreError> {
        match self {
            Self::Sqlite(db) => Ok(Tx::Sqlite(db.write().await?)),
        }
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(db) => db.close().await,
        }
    }
}

impl Tx {
    /// Runs a statement and tells how many rows it changed.
    pub(crate) async fn execute(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<u64, StoreError> {
        let sql: String = sql.into();
        on_db!(self, sql, args, |query, conn| {
            Ok(query.execute(conn).await?.rows_affected())
        })
    }

    /// Every row.
    pub(crate) async fn all(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<Vec<Row>, StoreError> {
        let sql: String = sql.into();
        on_db!(self, sql, args, |query, conn| {
            let rows = query.fetch_all(conn).await?;
            Ok(rows.into_iter().map(Row::Sqlite).collect())
        })
    }

    /// The first row, when there is one.
    pub(crate) async fn optional(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<Option<Row>, StoreError> {
        let sql: String = sql.into();
        on_db!(self, sql, args, |query, conn| {
            Ok(query.fetch_optional(conn).await?.map(Row::Sqlite))
        })
    }

    /// The one row of a statement that always has one.
    pub(crate) async fn one(
        &mut self,
        sql: impl Into<String>,
        args: Vec<Arg>,
    ) -> Result<Row, StoreError> {
        let sql: String = sql.into();
        on_db!(self, sql, args, |query, conn| {
            Ok(Row::Sqlite(query.fetch_one(conn).await?))
        })
    }

    /// Inserts many rows in few statements: `head` is `INSERT INTO t (a, b) VALUES`, `tail` an `ON CONFLICT` clause or
    /// nothing. Every row has the same number of values.
    pub(crate) async fn insert_many(
        &mut self,
        head: &str,
        rows: Vec<Vec<Arg>>,
        tail: &str,
    ) -> Result<u64, StoreError> {
        const VALUES_A_STATEMENT: usize = 6_000;
        let Some(width) = rows.first().map(Vec::len) else {
            return Ok(0);
        };
        let rows_a_statement = (VALUES_A_STATEMENT / width.max(1)).max(1);
        let mut changed = 0;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            let chunk: Vec<Vec<Arg>> = rows.by_ref().take(rows_a_statement).collect();
            let mut sql = String::with_capacity(head.len() + tail.len() + chunk.len() * width * 6);
            sql.push_str(head);
            for n in 0..chunk.len() {
                sql.push_str(if n == 0 { " (" } else { ", (" });
                sql.push_str(&places(n * width + 1, width));
                sql.push(')');
            }
            sql.push(' ');
            sql.push_str(tail);
            changed += self
                .execute(sql, chunk.into_iter().flatten().collect())
                .await?;
        }
        Ok(changed)
    }

    /// Makes the work durable.
    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.commit().await?),
        }
    }

    /// Takes the work back.
    pub(crate) async fn rollback(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => Ok(tx.rollback().await?),
        }
    }
}

/// `$first, $first+1, …`: `n` places for values.
pub(crate) fn places(first: usize, n: usize) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(n * 5);
    for i in first..first + n {
        if i > first {
            text.push_str(", ");
        }
        // Writing to a String cannot fail.
        let _ = write!(text, "${i}");
    }
    text
}

/// Builds the arguments of a statement: `args![id, now, None::<String>]`.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::db::Arg::from($value)),*] };
}
pub(crate) use args;

macro_rules! arg_from {
    ($($from:ty => $variant:ident, |$value:ident| $convert:expr;)*) => {$(
        impl From<$from> for Arg {
            fn from($value: $from) -> Self {
                Self::$variant(Some($convert))
            }
        }
        impl From<Option<$from>> for Arg {
            fn from(value: Option<$from>) -> Self {
                Self::$variant(value.map(|$value| $convert))
            }
        }
    )*};
}

arg_from! {
    i64 => Int, |v| v;
    u32 => Int, |v| i64::from(v);
    bool => Int, |v| i64::from(v);
    u64 => Int, |v| i64::try_from(v).unwrap_or(i64::MAX);
    usize => Int, |v| i64::try_from(v).unwrap_or(i64::MAX);
    f64 => Real, |v| v;
    String => Text, |v| v;
    &String => Text, |v| v.clone();
    &str => Text, |v| v.to_owned();
    Vec<u8> => Bytes, |v| v;
}
