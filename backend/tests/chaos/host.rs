//! The agent's side: it logs every call before it answers, on disk, and answers as many as the test lets it.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use evalkit_test_database::invariants::Call;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A running agent. It ends with the test's runtime, never with a server.
#[derive(Clone)]
pub struct Host {
    address: SocketAddr,
    inside: Arc<Inside>,
}

struct Inside {
    ledger: Mutex<Ledger>,
    /// Answers that may still be given.
    rations: Semaphore,
    in_flight: AtomicUsize,
    delay: Duration,
}

struct Ledger {
    file: File,
    calls: Vec<Call>,
    last: Instant,
}

impl Host {
    /// Listens on a free port and logs to `calls.log` in `folder`. It answers after `delay`, once there is a ration.
    pub async fn start(folder: &Path, delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ledger = Ledger {
            file: File::create(folder.join("calls.log")).unwrap(),
            calls: Vec::new(),
            last: Instant::now(),
        };
        let inside = Arc::new(Inside {
            ledger: Mutex::new(ledger),
            rations: Semaphore::new(0),
            in_flight: AtomicUsize::new(0),
            delay,
        });
        let mine = Arc::clone(&inside);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, Arc::clone(&mine)));
            }
        });
        Self { address, inside }
    }

    pub fn url(&self) -> String {
        format!("http://{}/run", self.address)
    }

    /// Lets that many more answers go.
    pub fn give(&self, answers: usize) {
        self.inside.rations.add_permits(answers);
    }

    /// Calls that wait for an answer now.
    pub fn in_flight(&self) -> usize {
        self.inside.in_flight.load(Ordering::SeqCst)
    }

    /// Every call so far.
    pub fn calls(&self) -> Vec<Call> {
        self.inside.ledger.lock().unwrap().calls.clone()
    }

    /// When the last call came.
    pub fn last_call(&self) -> Instant {
        self.inside.ledger.lock().unwrap().last
    }
}

impl Inside {
    /// On disk before anything else happens.
    fn log(&self, key: &str) -> String {
        let mut ledger = self.ledger.lock().unwrap();
        // Letters alone: a figure would be graded.
        let tag: String = format!("{:04}", ledger.calls.len())
            .bytes()
            .map(|digit| char::from(b'a' + (digit - b'0')))
            .collect();
        let answer = format!("Mount Everest is 8,848.86 m high.\n\n{tag}");
        writeln!(ledger.file, "{key}\t{answer:?}").unwrap();
        ledger.file.sync_data().unwrap();
        ledger.last = Instant::now();
        ledger.calls.push(Call {
            key: key.to_owned(),
            answer: answer.clone(),
        });
        answer
    }
}

async fn connection(mut stream: TcpStream, inside: Arc<Inside>) {
    while let Some((head, body)) = request(&mut stream).await {
        let body: Value = serde_json::from_str(&body).unwrap_or_default();
        let key = head
            .lines()
            .find_map(|line| line.strip_prefix("idempotency-key: "))
            .unwrap_or_default();
        let answer = inside.log(key);
        inside.in_flight.fetch_add(1, Ordering::SeqCst);
        let go = tokio::select! {
            go = allowed(&inside) => go,
            // The caller went away: its ration is another's.
            () = gone(&stream) => false,
        };
        inside.in_flight.fetch_sub(1, Ordering::SeqCst);
        if !go {
            return;
        }
        let case = body["case_id"].as_str().unwrap_or_default();
        let reply = json!({"answer": answer, "trajectory": trajectory(case)}).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            reply.len()
        );
        if stream.write_all(head.as_bytes()).await.is_err()
            || stream.write_all(reply.as_bytes()).await.is_err()
        {
            return;
        }
    }
}

async fn allowed(inside: &Inside) -> bool {
    tokio::time::sleep(inside.delay).await;
    match inside.rations.acquire().await {
        Ok(ration) => {
            ration.forget();
            true
        }
        Err(_) => false,
    }
}

async fn gone(stream: &TcpStream) {
    let mut byte = [0];
    // Nothing more comes before the answer: what is readable is the end.
    let _ = stream.peek(&mut byte).await;
}

/// One call of the tool that cases require; of some cases, so long that it is kept in a file.
fn trajectory(case: &str) -> Value {
    let message = if case.ends_with('0') {
        "long ".repeat(60_000)
    } else {
        "short".to_owned()
    };
    json!({"schema_version": "ATIF-v1.7", "session_id": case, "agent": {"name": "host", "version": "1"}, "steps": [
        {"step_id": 1, "source": "user", "message": "?"},
        {"step_id": 2, "source": "agent", "message": message,
         "tool_calls": [{"tool_call_id": "c1", "function_name": "look", "arguments": {}}],
         "observation": {"results": [{"source_call_id": "c1", "content": "8,848.86 m"}]}}
    ]})
}

async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    let head = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).to_lowercase();
    let length: usize = text
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "))
        .and_then(|n| n.trim().parse().ok())
        .unwrap_or(0);
    while bytes.len() < head + 4 + length {
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
    let body = String::from_utf8_lossy(&bytes[head + 4..head + 4 + length]).into_owned();
    Some((text, body))
}
