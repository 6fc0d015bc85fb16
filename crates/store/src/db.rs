//! One face for the databases: a transaction that takes the portable SQL text with its arguments.
//!
//! `on_db!` is the one place where a text meets a driver; every function of the store writes its SQL once, with `$1`,
//! `ON CONFLICT` and `RETURNING`, and gets [`Row`]s back.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use sqlx::{AssertSqlSafe, Postgres, Sqlite, Transaction};
use tokio::sync::watch;

use crate::ctx::Ctx;
use crate::dialect::postgres::{self, LeaseClock, Listener, PostgresDb};
use crate::dialect::sqlite::SqliteDb;
use crate::error::StoreError;
use crate::row::Row;
use crate::secret::SecretText;

/// The database in use.
#[derive(Debug, Clone)]
pub(crate) enum Db {
    Sqlite(SqliteDb),
    Postgres(Arc<PostgresDb>),
}

/// A transaction. Dropped without `commit`, it is rolled back.
pub(crate) struct Tx {
    on: On,
    /// Whether its commit brings the queue something to claim.
    queues: bool,
}

/// The database that a transaction is on.
enum On {
    Sqlite(Transaction<'static, Sqlite>),
    Postgres(Transaction<'static, Postgres>, Arc<PostgresDb>),
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
        match &mut $tx.on {
            On::Sqlite(tx) => {
                let $query = bound!(nameless($sql), $args);
                let $conn = &mut **tx;
                $run
            }
            On::Postgres(tx, _) => {
                let $query = bound!($sql, $args);
                let $conn = &mut **tx;
                // The database ends a statement after its own limit; this one is for a network that swallows the answer.
                tokio::time::timeout(postgres::PATIENCE, async { $run })
                    .await
                    .map_err(|_| StoreError::Away("no answer came in time".to_owned()))?
            }
        }
    };
}

macro_rules! bound {
    ($sql:expr, $args:expr) => {{
        // The text is put together in this crate from constants and `$n`; values never enter it.
        let mut query = sqlx::query(AssertSqlSafe($sql));
        for arg in $args {
            query = match arg {
                Arg::Int(value) => query.bind(value),
                Arg::Real(value) => query.bind(value),
                Arg::Text(value) => query.bind(value.map(storable)),
                Arg::Bytes(value) => query.bind(value),
            };
        }
        query
    }};
}

/// The text with `?` for `$1`, `$2`, … where they stand in this order, each once. SQLite looks every name up in a list of all
/// names, once as it reads the text and once as a value is bound: with thousands of values most of the time goes there.
fn nameless(sql: String) -> String {
    let mut out = String::with_capacity(sql.len());
    let mut rest = sql.as_str();
    let mut next = 1_usize;
    while let Some(at) = rest.find('$') {
        let (before, after) = rest.split_at(at);
        let digits = after[1..].bytes().take_while(u8::is_ascii_digit).count();
        let (number, behind) = after[1..].split_at(digits);
        if number.parse() != Ok(next) {
            return sql;
        }
        next += 1;
        out.push_str(before);
        out.push('?');
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Text as both databases keep it: PostgreSQL's takes no NUL, so that one becomes `␀` on either (`reliability.md`, D29).
fn storable(text: String) -> String {
    match without_nul(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(text) => text,
    }
}

/// A NUL as `␀`.
pub(crate) fn without_nul(text: &str) -> Cow<'_, str> {
    if text.contains('\0') {
        Cow::Owned(text.replace('\0', "\u{2400}"))
    } else {
        Cow::Borrowed(text)
    }
}

impl Db {
    /// The embedded database in `path`.
    pub(crate) async fn sqlite(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::Sqlite(SqliteDb::open(path).await?))
    }

    /// The PostgreSQL at `url`.
    pub(crate) async fn postgres(
        url: &SecretText,
        lease_clock: LeaseClock,
    ) -> Result<Self, StoreError> {
        Ok(Self::Postgres(Arc::new(
            PostgresDb::open(url, lease_clock).await?,
        )))
    }

    /// Whether other servers may use this database at the same time.
    pub(crate) const fn is_shared(&self) -> bool {
        match self {
            Self::Sqlite(_) => false,
            Self::Postgres(_) => true,
        }
    }

    /// A transaction that sees one moment and cannot write.
    pub(crate) async fn read(&self) -> Result<Tx, StoreError> {
        Ok(Tx::on(match self {
            Self::Sqlite(db) => On::Sqlite(db.read().await?),
            Self::Postgres(db) => On::Postgres(db.read().await?, Arc::clone(db)),
        }))
    }

    /// A writing transaction, the only one of the database while it lasts. Only the writer task calls this.
    pub(crate) async fn write(&self) -> Result<Tx, StoreError> {
        Ok(Tx::on(match self {
            Self::Sqlite(db) => On::Sqlite(db.write().await?),
            Self::Postgres(db) => On::Postgres(db.write().await?, Arc::clone(db)),
        }))
    }

    /// Hears what other servers commit, where there can be any: `commits` changes after each of their commits, `work`
    /// after those that bring the queue something.
    pub(crate) fn listen(
        &self,
        commits: watch::Sender<u64>,
        work: watch::Sender<u64>,
    ) -> Option<Listener> {
        match self {
            Self::Sqlite(_) => None,
            Self::Postgres(db) => Some(Listener::start(db, commits, work)),
        }
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(db) => db.close().await,
            Self::Postgres(db) => db.close().await,
        }
    }
}

impl Tx {
    const fn on(on: On) -> Self {
        Self { on, queues: false }
    }

    /// Notes that the commit brings the queue something to claim: workers look at once, those of other servers too.
    pub(crate) const fn wake_queue(&mut self) {
        self.queues = true;
    }

    /// Whether [`Tx::wake_queue`] was called.
    pub(crate) const fn wakes_queue(&self) -> bool {
        self.queues
    }

    /// The time that leases count by, in microseconds. Where several servers share the database it is the database's:
    /// their own clocks may differ.
    pub(crate) async fn lease_now(&mut self, ctx: &Ctx) -> Result<i64, StoreError> {
        match &self.on {
            On::Postgres(_, db) if db.lease_clock() == LeaseClock::Database => {
                self.one(postgres::NOW, Vec::new()).await?.int("now")
            }
            On::Postgres(..) | On::Sqlite(_) => Ok(ctx.now),
        }
    }

    /// Ends a subquery that picks rows to change: rows that another transaction is changing are passed over.
    pub(crate) const fn skip_locked(&self) -> &'static str {
        match self.on {
            On::Sqlite(_) => "",
            On::Postgres(..) => postgres::SKIP_LOCKED,
        }
    }

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
            Ok(rows.into_iter().map(Row::from).collect())
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
            Ok(query.fetch_optional(conn).await?.map(Row::from))
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
            Ok(Row::from(query.fetch_one(conn).await?))
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
    pub(crate) async fn commit(mut self) -> Result<(), StoreError> {
        let xid = match &self.on {
            On::Sqlite(_) => None,
            On::Postgres(_, db) => {
                let note = db.note(self.queues);
                let row = self.one(postgres::ANNOUNCE, args![note]).await?;
                Some(row.text("xid")?)
            }
        };
        match self.on {
            On::Sqlite(tx) => Ok(tx.commit().await?),
            On::Postgres(tx, db) => db.commit(tx, xid.as_deref().unwrap_or_default()).await,
        }
    }

    /// Takes the work back.
    pub(crate) async fn rollback(self) -> Result<(), StoreError> {
        match self.on {
            On::Sqlite(tx) => Ok(tx.rollback().await?),
            On::Postgres(tx, _) => Ok(tx.rollback().await?),
        }
    }
}

/// A common table of rows given as values: `name(a, b) AS (VALUES ($1, $2), ($3, $4))`, and its values. Every row has as
/// many values as there are columns. `FROM` it, a statement changes or finds many rows at once.
pub(crate) fn given(name: &str, columns: &[&str], rows: Vec<Vec<Arg>>) -> (String, Vec<Arg>) {
    let mut sql = format!("{name}({}) AS (VALUES ", columns.join(", "));
    for n in 0..rows.len() {
        sql.push_str(if n == 0 { "(" } else { ", (" });
        sql.push_str(&places(n * columns.len() + 1, columns.len()));
        sql.push(')');
    }
    sql.push(')');
    (sql, rows.into_iter().flatten().collect())
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

#[cfg(test)]
mod tests {
    use super::nameless;

    #[test]
    fn places_in_order_lose_their_names() {
        let plain = |sql: &str| nameless(sql.to_owned());
        assert_eq!(
            plain("INSERT INTO t (a, b) VALUES ($1, $2), ($3, $4)"),
            "INSERT INTO t (a, b) VALUES (?, ?), (?, ?)"
        );
        for kept in [
            "SELECT 1",
            "UPDATE t SET a = $2 WHERE b = $1",
            "SELECT $1, $1",
            "SELECT $2",
            "SELECT $1, $3",
            "SELECT '$'",
            "SELECT $99999999999999999999",
        ] {
            assert_eq!(plain(kept), kept);
        }
        let many: Vec<String> = (1..=10_000).map(|n| format!("${n}")).collect();
        assert_eq!(plain(&many.join(",")).matches('?').count(), 10_000);
    }
}
