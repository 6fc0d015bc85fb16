//! At start: can the database be reached, does it keep what it acknowledges, is its schema ours. Each refusal is one line
//! that names the fix (`reliability.md`, D30).

use std::str::FromStr as _;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, Row as _};

use super::{PAUSE, TRIES, is_away};
use crate::error::StoreError;
use crate::secret::SecretText;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations/postgres");

/// 14.0, as the server counts.
const OLDEST: i32 = 140_000;
/// How long one connection may take at start.
const CONNECT: Duration = Duration::from_millis(1_500);

/// Connection options of `DATABASE_URL`.
pub(super) fn options(url: &SecretText) -> Result<PgConnectOptions, StoreError> {
    PgConnectOptions::from_str(url.expose())
        .map(|options| {
            options
                .application_name("evalkit")
                .statement_cache_capacity(400)
                // Statements and their values are not for the log.
                .disable_statement_logging()
                // Every release rolls back, mostly nothing, which is worth no warning.
                .options([("client_min_messages", "error")])
        })
        // The error of the parser may hold the password.
        .map_err(|_| {
            StoreError::Schema(
                "DATABASE_URL is not an address of PostgreSQL; write postgres://user:password@host:5432/database.".to_owned(),
            )
        })
}

/// Checks the database and brings its schema up to date.
pub(super) async fn prepare(options: &PgConnectOptions) -> Result<(), StoreError> {
    // A migration takes as long as it takes, and so does waiting for another server's.
    let patient = options.clone().options([
        ("statement_timeout", "0"),
        ("lock_timeout", "0"),
        ("idle_in_transaction_session_timeout", "0"),
    ]);
    let mut connection = connect(&patient).await?;
    check(&mut connection, options).await?;
    migrate(&mut connection).await?;
    connection.close().await?;
    Ok(())
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let attempts = async {
        let mut tries = 1;
        loop {
            match PgConnection::connect_with(options).await {
                Err(error) if is_away(&error) && tries < TRIES => {
                    tokio::time::sleep(PAUSE).await;
                    tries += 1;
                }
                outcome => return outcome,
            }
        }
    };
    match tokio::time::timeout(CONNECT, attempts).await {
        Ok(Ok(connection)) => Ok(connection),
        Ok(Err(error)) => Err(StoreError::Schema(why(&error, options))),
        Err(_) => Err(StoreError::Schema(format!(
            "PostgreSQL at {} does not answer; start it, or correct DATABASE_URL.",
            place(options)
        ))),
    }
}

/// Where the database is, without user and password.
fn place(options: &PgConnectOptions) -> String {
    match options.get_socket() {
        Some(socket) => socket.display().to_string(),
        None => format!("{}:{}", options.get_host(), options.get_port()),
    }
}

fn why(error: &sqlx::Error, options: &PgConnectOptions) -> String {
    let place = place(options);
    let code = error.as_database_error().and_then(|error| error.code());
    match code.as_deref() {
        Some("28P01" | "28000") => format!(
            "PostgreSQL at {place} refuses the user `{}`; correct user and password in DATABASE_URL.",
            options.get_username()
        ),
        Some("3D000") => {
            let database = options.get_database().unwrap_or(options.get_username());
            format!(
                "PostgreSQL at {place} has no database `{database}`; run `createdb {database}`, or correct DATABASE_URL."
            )
        }
        _ => format!(
            "PostgreSQL at {place} cannot be reached ({}); start it, or correct DATABASE_URL.",
            one_line(&error.to_string())
        ),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

async fn check(
    connection: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<(), StoreError> {
    let row = sqlx::query(
        "SELECT CAST(current_setting('server_version_num') AS INT) AS number, current_setting('server_version') AS version, \
         current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous, \
         current_setting('server_encoding') AS encoding, current_setting('transaction_read_only') AS read_only",
    )
    .fetch_one(connection)
    .await?;
    let number: i32 = row.try_get("number")?;
    let text = |column: &str| row.try_get::<String, _>(column);
    let (version, fsync, synchronous) = (text("version")?, text("fsync")?, text("synchronous")?);
    let (encoding, read_only) = (text("encoding")?, text("read_only")?);
    let place = place(options);
    let refusal = if number < OLDEST {
        format!("PostgreSQL at {place} is {version}, and 14 or newer is needed; upgrade it.")
    } else if fsync != "on" {
        format!(
            "PostgreSQL at {place} runs with `fsync = {fsync}` and may lose what it acknowledged; set `fsync = on` in postgresql.conf and reload."
        )
    } else if synchronous == "off" {
        format!(
            "PostgreSQL at {place} runs with `synchronous_commit = off` and may lose what it acknowledged; set it to `on` for this role, database or server."
        )
    } else if encoding != "UTF8" {
        format!(
            "The database at {place} stores text as {encoding}, and UTF8 is needed; run `createdb --encoding UTF8 --template template0 NAME`."
        )
    } else if read_only == "on" {
        format!("PostgreSQL at {place} is read-only; name the primary server in DATABASE_URL.")
    } else {
        return Ok(());
    };
    Err(StoreError::Schema(refusal))
}

async fn migrate(connection: &mut PgConnection) -> Result<(), StoreError> {
    MIGRATIONS
        .run(connection)
        .await
        .map_err(|error| StoreError::Schema(match error {
            MigrateError::VersionMissing(version) => format!(
                "The database has schema {version}, which is newer than this program; start the newer `evalkit`, or restore the backup that was made before the upgrade."
            ),
            other => format!("The database could not be brought up to date: {}", one_line(&other.to_string())),
        }))
}
