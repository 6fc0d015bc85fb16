//! The server's side: a data folder, a database, an owner with a token, and processes that can be killed and paused.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use evalkit_core::policy::{Actor, Scope};
use evalkit_store::{NewOwner, NewTokenRequest, Settings, Store};
use evalkit_test_database::history::History;
use evalkit_test_database::invariants::{self, Plan};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::host::Host;
use crate::seed::variable;

/// How long a program may take to serve, on a busy machine.
const BOOT: Duration = Duration::from_secs(30);
/// Evaluators of every case.
pub const EVALUATORS: usize = 3;
/// Calls at once.
pub const AT_ONCE: usize = 8;

/// A deployment that outlives its servers.
pub struct Place {
    folder: TempDir,
    token: String,
    lease: Duration,
    logs: std::cell::Cell<usize>,
}

/// A server's process. Killed when this is dropped.
pub struct Server {
    child: Child,
    out: std::path::PathBuf,
}

/// An HTTP answer.
pub struct Answer {
    pub status: u16,
    pub body: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|error| panic!("{} {error}: {}", self.status, self.body))
    }
}

fn settings() -> Settings {
    evalkit_test_database::settings(Settings::default())
}

impl Place {
    /// An owner with a token, in a new database.
    pub async fn new(lease: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().join("data"), settings())
            .await
            .unwrap();
        let link = store.issue_setup_link_unchecked().await.unwrap().unwrap();
        let nobody = store.ctx(Actor::Anonymous, "chaos", "");
        let owner = NewOwner {
            name: "mara".to_owned(),
            display_name: "Mara".to_owned(),
            password: "correct horse battery".to_owned(),
        };
        let signed_in = store.complete_setup(&nobody, &link, &owner).await.unwrap();
        let actor = store.actor_by_session(&signed_in.secret).await.unwrap();
        let request = NewTokenRequest {
            name: "chaos".to_owned(),
            scopes: Scope::ALL.to_vec(),
            days: None,
        };
        let ctx = store.ctx(actor, "chaos", "");
        let token = store.create_token(&ctx, &request).await.unwrap().secret;
        store.close().await;
        Self {
            folder,
            token,
            lease,
            logs: std::cell::Cell::new(0),
        }
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The data folder.
    pub fn data(&self) -> std::path::PathBuf {
        self.path().join("data")
    }

    /// The program with the deployment's environment.
    pub fn program(&self) -> Command {
        let program =
            variable("EVALKIT_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_evalkit").to_owned());
        let mut command = Command::new(program);
        command
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env("EVALKIT_DATA", self.data())
            .env("EVALKIT_TEST_LEASE_MS", self.lease.as_millis().to_string())
            .env("HOME", self.path())
            .env_remove("EVALKIT_CONFIG")
            .stdin(Stdio::null());
        if let Some(url) = evalkit_test_database::url() {
            command.env("DATABASE_URL", url);
        }
        if let Some(key) = settings().secret_key_file {
            command.env("EVALKIT_SECRET_KEY_FILE", key);
        }
        command
    }

    /// Starts a process and does not wait for it.
    pub fn spawn(&self) -> Server {
        self.spawn_as(self.program())
    }

    /// The same with a command made from [`Place::program`].
    pub fn spawn_as(&self, mut command: Command) -> Server {
        let n = self.logs.get() + 1;
        self.logs.set(n);
        let out = self.path().join(format!("server-{n}.out"));
        let err = self.path().join(format!("server-{n}.err"));
        command
            .stdout(File::create(&out).unwrap())
            .stderr(File::create(err).unwrap());
        Server {
            child: command.spawn().unwrap(),
            out,
        }
    }

    /// The token, for requests that are not answered at once.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// What all servers so far logged.
    pub fn logs(&self) -> String {
        (1..=self.logs.get())
            .filter_map(|n| {
                std::fs::read_to_string(self.path().join(format!("server-{n}.err"))).ok()
            })
            .collect()
    }

    /// Starts a server and waits until it serves.
    pub async fn serve(&self) -> Server {
        let mut server = self.spawn();
        self.ready(&mut server).await;
        server
    }

    /// Waits until it serves.
    pub async fn ready(&self, server: &mut Server) -> String {
        let until = Instant::now() + BOOT;
        loop {
            if let Some(address) = server.address() {
                return address;
            }
            if let Some(status) = server.child.try_wait().unwrap() {
                panic!("the server ended with {status}: {}", self.logs());
            }
            assert!(
                Instant::now() < until,
                "no server within {BOOT:?}: {}",
                self.logs()
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A request as the owner.
    pub async fn ask(
        &self,
        server: &Server,
        method: &str,
        path: &str,
        body: &Value,
    ) -> std::io::Result<Answer> {
        let address = server.address().unwrap_or_default();
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        let text = format!(
            "{method} {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
             content-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.token,
            body.len()
        );
        tokio::time::timeout(Duration::from_secs(30), exchange(&address, &text)).await?
    }

    /// The same, and it must succeed.
    pub async fn say(&self, server: &Server, method: &str, path: &str, body: Value) -> Answer {
        let answer = self.ask(server, method, path, &body).await.unwrap();
        assert!(
            (200..300).contains(&answer.status),
            "{method} {path}: {} {}",
            answer.status,
            answer.body
        );
        answer
    }

    /// Cases `case-0…`, three evaluators each, and the host as the agent `bot`.
    pub async fn prepare(&self, server: &Server, host: &Host, cases: usize) {
        let mut text = String::from("cases:\n");
        for n in 0..cases {
            text.push_str(&format!(
                "  - id: case-{n}\n    max_response_time: 100000\n    input:\n      question: \"How high is Mount Everest? ({n})\"\n    \
                 evaluators:\n      output:\n        answer_rubrics:\n          rubrics:\n            \
                 - rubric: \"States that Mount Everest is 8,848.86 m high.\"\n              type: factual_retrieval\n      \
                 trajectory:\n        required_tools_called:\n          tools: [look]\n"
            ));
        }
        self.say(
            server,
            "POST",
            "/api/w/mara/d/cases/sync",
            json!({"files": [{"path": "cases.yaml", "text": text}]}),
        )
        .await;
        self.agent(server, "bot", &host.url()).await;
    }

    pub async fn agent(&self, server: &Server, name: &str, url: &str) {
        let config = json!({"name": name, "adapter": "evalkit-http", "endpoint": url, "concurrency": AT_ONCE,
            "max_attempts": 20, "timeout_s": 120});
        self.say(
            server,
            "PUT",
            &format!("/api/w/mara/agents/{name}"),
            json!({"config": config}),
        )
        .await;
    }

    /// Begins a run of all cases; its number.
    pub async fn run(&self, server: &Server) -> i64 {
        let begun = self
            .say(
                server,
                "POST",
                "/api/w/mara/runs",
                json!({"dataset": "cases", "agent": "bot"}),
            )
            .await
            .json();
        begun["number"].as_i64().unwrap()
    }

    /// Waits for the end of a run; its results.
    pub async fn finish(&self, server: &Server, run: i64, longest: Duration) -> Value {
        let until = Instant::now() + longest;
        loop {
            let results = self
                .say(
                    server,
                    "GET",
                    &format!("/api/w/mara/runs/{run}/results"),
                    Value::Null,
                )
                .await
                .json();
            if results["finished_at"].is_string() {
                return results;
            }
            assert!(
                Instant::now() < until,
                "run {run} has not ended: {}\n{}",
                results["counts"],
                self.logs()
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    pub async fn history(&self) -> History {
        History::read(&self.data()).await
    }

    /// I1 to I8 over the database, the files and the agent's log.
    pub async fn check(&self, host: &Host, plan: Plan) -> History {
        let history = self.history().await;
        let mut broken = invariants::broken(&history, &host.calls(), plan);
        broken.extend(invariants::blobs_broken(&history, &self.data()));
        assert!(broken.is_empty(), "{broken:#?}");
        assert!(
            !history.blobs.is_empty(),
            "no trajectory was long enough for a file"
        );
        history
    }
}

async fn exchange(address: &str, text: &str) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(text.as_bytes()).await?;
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await?;
    let text = String::from_utf8_lossy(&bytes);
    let (head, rest) = text
        .split_once("\r\n\r\n")
        .ok_or_else(|| std::io::Error::other("no answer"))?;
    let head = head.to_lowercase();
    let body = if head.contains("transfer-encoding: chunked") {
        unchunked(rest)
    } else {
        rest.to_owned()
    };
    let status = head
        .split_whitespace()
        .nth(1)
        .and_then(|status| status.parse().ok())
        .ok_or_else(|| std::io::Error::other("no status"))?;
    Ok(Answer { status, body })
}

fn unchunked(mut rest: &str) -> String {
    let mut body = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let Some(length) = usize::from_str_radix(length.trim(), 16)
            .ok()
            .filter(|n| *n > 0)
        else {
            break;
        };
        body.push_str(after.get(..length).unwrap_or(after));
        rest = after.get(length + 2..).unwrap_or_default();
    }
    body
}

impl Server {
    /// Where it serves, once it said so.
    pub fn address(&self) -> Option<String> {
        let said = std::fs::read_to_string(&self.out).ok()?;
        let (_, rest) = said.split_once(" at http://")?;
        let (address, _) = rest.split_once("/\n")?;
        Some(address.to_owned())
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGKILL: nothing of it runs after this.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Any signal by name.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill")
            .args([&format!("-{name}"), &self.pid().to_string()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Waits for its end.
    pub async fn ended(&mut self, longest: Duration) -> Option<std::process::ExitStatus> {
        let until = Instant::now() + longest;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return Some(status);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        None
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
