//! A PostgreSQL for one test run: a cluster of its own in a temporary folder, run as a plain user even when the caller is
//! root, and gone with the caller however that ends.
//!
//! The server is a child of a small shell that waits on a pipe from us. When we go, even by SIGKILL, the pipe closes, and
//! the shell ends the server and removes its folder.

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use xtask::postgres::programs;

use crate::process;

/// What tests read the address from.
pub const VARIABLE: &str = "EVALKIT_TEST_POSTGRES";

/// How long the server may take until it answers.
const READY: Duration = Duration::from_secs(30);
/// Accounts that may run it when we are root, which PostgreSQL refuses to run as.
const PLAIN_USERS: [&str; 2] = ["postgres", "nobody"];
/// Runs `"$@"` until standard input closes. `$0` is the folder to remove.
const GUARD: &str = r#"trap '' INT TERM
"$@" & server=$!
cat > /dev/null
kill -QUIT "$server" 2> /dev/null
wait "$server" 2> /dev/null
rm -rf "$0""#;

/// A running server.
pub struct Cluster {
    guard: Child,
    folder: PathBuf,
    port: u16,
}

impl Cluster {
    /// Makes a cluster and starts its server on a free loopback port and on a socket. Durability is as in production.
    ///
    /// # Errors
    /// When PostgreSQL is not installed or does not start; the text has the end of its log.
    pub fn start() -> Result<Self> {
        let programs = programs().map_err(|why| anyhow!(why))?;
        let user = plain_user()?;
        let folder = new_folder(user.as_deref())?;
        let data = folder.join("data");
        let made = process::output(
            as_user(user.as_deref(), &programs.join("initdb"))
                .current_dir(&folder)
                .arg("--pgdata")
                .arg(&data)
                .args(["--username", "evalkit", "--auth", "trust"])
                .args(["--encoding", "UTF8", "--locale", "C", "--no-sync"]),
        )?;
        if !made.status.success() {
            let _ = std::fs::remove_dir_all(&folder);
            bail!(
                "initdb failed: {}",
                process::tail(&String::from_utf8_lossy(&made.stderr), 5)
            );
        }
        // Free now; nobody else asks for it in the moment until the server has it.
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let log = std::fs::File::create(folder.join("server.log"))?;
        let server = as_user(user.as_deref(), &programs.join("postgres"));
        let guard = Command::new("sh")
            .current_dir(&folder)
            .args(["-c", GUARD])
            .arg(&folder)
            .arg(server.get_program())
            .args(server.get_args())
            .arg("-D")
            .arg(&data)
            .args(["-p", &port.to_string(), "-k"])
            .arg(&folder)
            .args([
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "max_connections=300",
            ])
            .args(["-c", "shared_buffers=64MB", "-c", "max_wal_size=256MB"])
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .context("`sh` does not start")?;
        let cluster = Self {
            guard,
            folder,
            port,
        };
        cluster.wait(&programs)?;
        Ok(cluster)
    }

    /// `postgres://…/postgres`, over the socket.
    pub fn url(&self) -> String {
        format!(
            "postgres://evalkit@localhost:{}/postgres?host={}",
            self.port,
            self.folder.display()
        )
    }

    /// What a server needs in its environment to keep its rows here, its key in a file below `folder`.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn environment(&self, folder: &Path) -> Result<[(&'static str, String); 2]> {
        let key = folder.join("secret.key");
        std::fs::create_dir_all(folder)?;
        std::fs::write(&key, [9; 32]).with_context(|| key.display().to_string())?;
        std::fs::set_permissions(&key, Permissions::from_mode(0o600))?;
        Ok([
            ("DATABASE_URL", self.url()),
            ("EVALKIT_SECRET_KEY_FILE", key.display().to_string()),
        ])
    }

    fn wait(&self, programs: &Path) -> Result<()> {
        let until = Instant::now() + READY;
        loop {
            let mut ready = process::command(programs.join("pg_isready"));
            ready.arg("-q").arg("-h").arg(&self.folder);
            if process::output(ready.args(["-p", &self.port.to_string()]))?
                .status
                .success()
            {
                return Ok(());
            }
            if Instant::now() > until {
                let log =
                    std::fs::read_to_string(self.folder.join("server.log")).unwrap_or_default();
                bail!("the server does not answer: {}", process::tail(&log, 5));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Closes the pipe; the guard does the rest.
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// The account that runs the server: ours, unless we are root.
fn plain_user() -> Result<Option<String>> {
    if process::capture(process::command("id").arg("-u"))? != "0" {
        return Ok(None);
    }
    PLAIN_USERS
        .into_iter()
        .find(|user| process::capture(process::command("id").args(["-u", user])).is_ok())
        .map(|user| Some(user.to_owned()))
        .context("PostgreSQL does not run as root, and there is no other account for it")
}

/// A program as that account.
fn as_user(user: Option<&str>, program: &Path) -> Command {
    let mut command = match user {
        None => return process::command(program),
        Some(user) if process::find("setpriv").is_some() => {
            let mut command = process::command("setpriv");
            command.args([
                "--reuid",
                user,
                "--regid",
                &group_of(user),
                "--clear-groups",
            ]);
            command
        }
        Some(user) => {
            let mut command = process::command("runuser");
            command.args(["-u", user, "--"]);
            command
        }
    };
    command.arg(program);
    command
}

fn group_of(user: &str) -> String {
    process::capture(process::command("id").args(["-g", user])).unwrap_or_else(|_| user.to_owned())
}

/// A folder that the account may write and everybody may reach the socket in. Its path is short: a socket's must be.
fn new_folder(user: Option<&str>) -> Result<PathBuf> {
    static MADE: AtomicU32 = AtomicU32::new(0);
    let number = MADE.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("evalkit-pg-{}-{number}", std::process::id()));
    std::fs::create_dir(&folder).with_context(|| folder.display().to_string())?;
    std::fs::set_permissions(&folder, Permissions::from_mode(0o755))?;
    if let Some(user) = user {
        let id = process::capture(process::command("id").args(["-u", user]))?;
        std::os::unix::fs::chown(&folder, Some(id.parse()?), None)?;
    }
    Ok(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_answers_and_leaves_nothing_behind() -> Result<()> {
        let cluster = match Cluster::start() {
            Ok(cluster) => cluster,
            Err(error) => {
                println!("SKIPPED: a throw-away PostgreSQL: needs program postgres: {error:#}");
                return Ok(());
            }
        };
        let (folder, port) = (cluster.folder.clone(), cluster.port);
        let programs = programs().map_err(|why| anyhow!(why))?;
        let asked = process::capture(
            process::command(programs.join("psql"))
                .args([&cluster.url(), "-Atc"])
                .arg("SELECT current_setting('fsync'), current_user <> 'root'"),
        )?;
        assert_eq!(asked, "on|t");
        drop(cluster);
        assert!(!folder.exists());
        assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err());
        Ok(())
    }
}
