//! Tests on both databases. A test is written once, lists itself in [`on_each_database!`], and runs on SQLite and on
//! PostgreSQL, on each in a database of its own.
//!
//! PostgreSQL is the server that `cargo xtask test` starts and names in `EVALKIT_TEST_POSTGRES`. Without it the tests on
//! PostgreSQL say that they were skipped.
//!
//! What is absent: anything that ships. This crate is a development dependency alone.

pub mod history;
pub mod invariants;

use std::future::Future;
use std::io::Write as _;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::time::Duration;

use evalkit_store::{Database, SecretText, Settings, Store};
use futures::FutureExt as _;
use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, PgConnection};

/// Names the server whose databases tests make and drop: `postgres://user@host:port/postgres`.
const SERVER: &str = "EVALKIT_TEST_POSTGRES";
/// The database that those of tests are copies of.
const TEMPLATE: &str = "evalkit_template";

#[derive(Clone)]
struct Current {
    url: String,
    key_file: PathBuf,
}

tokio::task_local! {
    static CURRENT: Current;
}

/// Makes two tests of each function named, `name::on_sqlite` and `name::on_postgres`. A function is
/// `async fn name()` and opens its stores with [`settings`].
#[macro_export]
macro_rules! on_each_database {
    ($($test:ident),+ $(,)?) => {$(
        mod $test {
            #[tokio::test(flavor = "multi_thread")]
            async fn on_sqlite() {
                super::$test().await;
            }

            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                $crate::on_postgres(module_path!(), super::$test()).await;
            }
        }
    )+};
}

/// Makes a test of each function named, on PostgreSQL alone: `name::on_postgres`.
#[macro_export]
macro_rules! on_postgres {
    ($($test:ident),+ $(,)?) => {$(
        mod $test {
            #[tokio::test(flavor = "multi_thread")]
            async fn on_postgres() {
                $crate::on_postgres(module_path!(), super::$test()).await;
            }
        }
    )+};
}

/// The database of the running test in a store's settings. Outside a test on PostgreSQL nothing changes.
pub fn settings(settings: Settings) -> Settings {
    match CURRENT.try_with(Clone::clone) {
        Ok(current) => Settings {
            database: Database::Postgres {
                url: SecretText::new(current.url),
            },
            secret_key_file: Some(current.key_file),
            ..settings
        },
        Err(_) => settings,
    }
}

/// The address of the running test's PostgreSQL database; `None` on SQLite.
pub fn url() -> Option<String> {
    CURRENT.try_with(|current| current.url.clone()).ok()
}

/// A connection to the running test's PostgreSQL database, beside any store's.
///
/// # Panics
/// Outside a test on PostgreSQL, and when the server does not answer.
pub async fn connection() -> PgConnection {
    let url = url().unwrap_or_else(|| panic!("this test runs on PostgreSQL alone"));
    connect(&url).await
}

async fn connect(url: &str) -> PgConnection {
    let options = PgConnectOptions::from_str(url)
        .unwrap_or_else(|error| panic!("{SERVER} is not an address of PostgreSQL: {error}"))
        .disable_statement_logging();
    PgConnection::connect_with(&options)
        .await
        .unwrap_or_else(|error| panic!("the PostgreSQL of {SERVER} does not answer: {error}"))
}

async fn tell(connection: &mut PgConnection, statement: String) {
    sqlx::raw_sql(AssertSqlSafe(statement))
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("{error}"));
}

/// Runs a test in a new database, which goes with it; says that the test was skipped when there is no server.
///
/// # Panics
/// When the test does, and when the server cannot make the database.
pub async fn on_postgres(test: &str, run: impl Future<Output = ()>) {
    #[expect(
        clippy::disallowed_methods,
        reason = "how the test command tells every test process of the server it started"
    )]
    let server = std::env::var(SERVER).unwrap_or_default();
    if server.is_empty() {
        let _ = writeln!(
            std::io::stdout(),
            "SKIPPED: {test} on PostgreSQL: needs program postgres, which `cargo xtask test --only rust` starts"
        );
        return;
    }
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
    let key_file = key_file(folder.path());
    let mut admin = connect(&server).await;
    prepare_template(&mut admin, &server, &key_file).await;
    tell(
        &mut admin,
        format!("CREATE DATABASE {name} TEMPLATE {TEMPLATE}"),
    )
    .await;
    let current = Current {
        url: of_database(&server, &name),
        key_file,
    };
    let ended = AssertUnwindSafe(CURRENT.scope(current, run))
        .catch_unwind()
        .await;
    // The server ends this without us; its checkpoint takes longer than most tests.
    let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
    let _ = tokio::time::timeout(Duration::from_millis(20), tell(&mut admin, drop)).await;
    if let Err(panic) = ended {
        std::panic::resume_unwind(panic);
    }
}

/// The address of another database of the same server.
fn of_database(server: &str, name: &str) -> String {
    let mut url = url::Url::parse(server).unwrap_or_else(|error| panic!("{SERVER}: {error}"));
    url.set_path(name);
    url.into()
}

/// Makes a database with the schema in it, once a server: copies of it are quick.
async fn prepare_template(admin: &mut PgConnection, server: &str, key_file: &std::path::Path) {
    tell(admin, "SELECT pg_advisory_lock(1)".to_owned()).await;
    let known: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)")
            .bind(TEMPLATE)
            .fetch_one(&mut *admin)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
    if !known {
        let unready = format!("{TEMPLATE}_unready");
        tell(
            admin,
            format!("DROP DATABASE IF EXISTS {unready} WITH (FORCE)"),
        )
        .await;
        tell(
            admin,
            format!("CREATE DATABASE {unready} TEMPLATE template0 ENCODING 'UTF8'"),
        )
        .await;
        let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{error}"));
        let settings = Settings {
            database: Database::Postgres {
                url: SecretText::new(of_database(server, &unready)),
            },
            secret_key_file: Some(key_file.to_owned()),
            ..Settings::default()
        };
        let store = Store::open(folder.path(), settings)
            .await
            .unwrap_or_else(|error| panic!("{error}"));
        store.close().await;
        drop(store);
        tell(
            admin,
            format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{unready}'"
            ),
        )
        .await;
        tell(
            admin,
            format!("ALTER DATABASE {unready} RENAME TO {TEMPLATE}"),
        )
        .await;
    }
    tell(admin, "SELECT pg_advisory_unlock(1)".to_owned()).await;
}

/// A database without anything in it, beside the running test's; gone with the server.
///
/// # Panics
/// As [`connection`].
pub async fn empty_database() -> String {
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    let mut connection = connection().await;
    tell(
        &mut connection,
        format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
    )
    .await;
    of_database(&url().unwrap_or_default(), &name)
}

/// A key that only its owner reads.
fn key_file(folder: &std::path::Path) -> PathBuf {
    use std::os::unix::fs::OpenOptionsExt as _;
    let path = folder.join("secret.key");
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .and_then(|mut file| file.write_all(&[9; 32]))
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    path
}
