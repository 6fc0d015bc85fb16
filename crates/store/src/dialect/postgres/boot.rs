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
    let url = url.expose();
    let ours = url.starts_with("postgres://") || url.starts_with("postgresql://");
    match PgConnectOptions::from_str(url) {
        Ok(options) if ours => Ok(options
            .application_name("evalkit")
            .statement_cache_capacity(400)
            // Statements and their values are not for the log.
            .disable_statement_logging()
            // Every release rolls back, mostly nothing, which is worth no warning.
            .options([("client_min_messages", "error")])),
        // The error of the parser may hold the password.
        Ok(_) | Err(_) => Err(StoreError::Schema(
            "DATABASE_URL is not an address of PostgreSQL; write postgres://user:password@host:5432/database.".to_owned(),
        )),
    }
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
    let facts = Facts {
        number: row.try_get("number")?,
        version: row.try_get("version")?,
        fsync: row.try_get("fsync")?,
        synchronous: row.try_get("synchronous")?,
        encoding: row.try_get("encoding")?,
        read_only: row.try_get("read_only")?,
    };
    match refusal(&facts, &place(options)) {
        Some(refusal) => Err(StoreError::Schema(refusal)),
        None => Ok(()),
    }
}

/// What the server says of itself.
struct Facts {
    number: i32,
    version: String,
    fsync: String,
    synchronous: String,
    encoding: String,
    read_only: String,
}

/// Why this server is not used: one line that names the fix.
fn refusal(facts: &Facts, place: &str) -> Option<String> {
    Some(if facts.number < OLDEST {
        let version = &facts.version;
        format!("PostgreSQL at {place} is {version}, and 14 or newer is needed; upgrade it.")
    } else if facts.fsync != "on" {
        let fsync = &facts.fsync;
        format!(
            "PostgreSQL at {place} runs with `fsync = {fsync}` and may lose what it acknowledged; set `fsync = on` in postgresql.conf and reload."
        )
    } else if facts.synchronous == "off" {
        format!(
            "PostgreSQL at {place} runs with `synchronous_commit = off` and may lose what it acknowledged; set it to `on` for this role, database or server."
        )
    } else if facts.encoding != "UTF8" {
        let encoding = &facts.encoding;
        format!(
            "The database at {place} stores text as {encoding}, and UTF8 is needed; run `createdb --encoding UTF8 --template template0 NAME`."
        )
    } else if facts.read_only == "on" {
        format!("PostgreSQL at {place} is read-only; name the primary server in DATABASE_URL.")
    } else {
        return None;
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Facts {
        Facts {
            number: 150_018,
            version: "15.18".to_owned(),
            fsync: "on".to_owned(),
            synchronous: "on".to_owned(),
            encoding: "UTF8".to_owned(),
            read_only: "off".to_owned(),
        }
    }

    #[test]
    fn a_server_that_may_lose_or_mangle_data_is_refused_in_one_line() {
        assert_eq!(refusal(&good(), "db:5432"), None);
        let facts = |change: fn(&mut Facts)| {
            let mut facts = good();
            change(&mut facts);
            facts
        };
        for (facts, fix) in [
            (facts(|f| f.number = 139_999), "upgrade it"),
            (facts(|f| f.fsync = "off".to_owned()), "set `fsync = on`"),
            (
                facts(|f| f.synchronous = "off".to_owned()),
                "set it to `on`",
            ),
            (
                facts(|f| f.encoding = "SQL_ASCII".to_owned()),
                "--encoding UTF8",
            ),
            (facts(|f| f.read_only = "on".to_owned()), "primary server"),
        ] {
            let line = refusal(&facts, "db:5432").expect("refused");
            assert!(line.contains(fix) && line.contains("db:5432"), "{line}");
            assert_eq!(line.lines().count(), 1, "{line}");
        }
    }

    #[test]
    fn a_wrong_address_is_refused_without_being_repeated() {
        for url in [
            "postgres://ines:s3cret@host:port/x",
            "s3cret",
            "http://s3cret@x/",
        ] {
            match options(&SecretText::new(url)) {
                Ok(_) => panic!("{url} is no address of PostgreSQL"),
                Err(error) => {
                    let line = error.to_string();
                    assert!(
                        line.contains("DATABASE_URL") && !line.contains("s3cret"),
                        "{line}"
                    );
                }
            }
        }
    }
}
