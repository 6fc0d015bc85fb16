//! An agent over plain TCP whose behaviour is chosen by the case id, with a ledger of every call.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One call as the agent saw it.
#[derive(Debug, Clone)]
pub struct Seen {
    pub case_id: String,
    pub key: String,
    pub head: String,
    pub body: String,
}

/// A running fake agent. It ends with the test's runtime.
#[derive(Debug, Clone)]
pub struct FakeAgent {
    pub address: SocketAddr,
    ledger: Arc<Mutex<Vec<Seen>>>,
}

impl FakeAgent {
    /// Starts an agent that answers each well-behaved case after `delay`.
    pub async fn start(delay: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let ledger: Arc<Mutex<Vec<Seen>>> = Arc::default();
        let seen = Arc::clone(&ledger);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, Arc::clone(&seen), delay));
            }
        });
        Self { address, ledger }
    }

    pub fn url(&self) -> String {
        format!("http://{}/run", self.address)
    }

    pub fn ledger(&self) -> Vec<Seen> {
        self.ledger.lock().unwrap().clone()
    }

    pub fn calls(&self, case_id: &str) -> usize {
        self.ledger()
            .iter()
            .filter(|seen| seen.case_id == case_id)
            .count()
    }
}

async fn connection(mut stream: TcpStream, ledger: Arc<Mutex<Vec<Seen>>>, delay: Duration) {
    while let Some((head, body)) = request(&mut stream).await {
        let case_id = serde_json::from_str::<Value>(&body)
            .ok()
            .and_then(|value| value["case_id"].as_str().map(str::to_owned))
            .unwrap_or_default();
        let key = head
            .lines()
            .find_map(|line| line.strip_prefix("idempotency-key: "))
            .unwrap_or_default()
            .to_owned();
        let earlier = {
            let mut ledger = ledger.lock().unwrap();
            let earlier = ledger.iter().filter(|seen| seen.key == key).count();
            ledger.push(Seen {
                case_id: case_id.clone(),
                key,
                head,
                body,
            });
            earlier
        };
        if !reply(&mut stream, &case_id, earlier, delay).await {
            return;
        }
    }
}

pub async fn request(stream: &mut TcpStream) -> Option<(String, String)> {
    let mut bytes = Vec::new();
    let mut chunk = [0; 8192];
    loop {
        if let Some(at) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
            let length: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "))
                .and_then(|n| n.trim().parse().ok())
                .unwrap_or(0);
            let start = at + 4;
            while bytes.len() < start + length {
                match stream.read(&mut chunk).await {
                    Ok(0) | Err(_) => return None,
                    Ok(n) => bytes.extend_from_slice(&chunk[..n]),
                }
            }
            return Some((
                head,
                String::from_utf8_lossy(&bytes[start..start + length]).into_owned(),
            ));
        }
        match stream.read(&mut chunk).await {
            Ok(0) | Err(_) => return None,
            Ok(n) => bytes.extend_from_slice(&chunk[..n]),
        }
    }
}

pub async fn say(stream: &mut TcpStream, status: &str, headers: &str, body: &[u8]) -> bool {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.is_ok() && stream.write_all(body).await.is_ok()
}

async fn json(stream: &mut TcpStream, body: &str) -> bool {
    say(
        stream,
        "200 OK",
        "content-type: application/json\r\n",
        body.as_bytes(),
    )
    .await
}

/// The answer of a case without a behaviour of its own.
pub const GOOD: &str = "Mount Everest is 8,848.86 m high.";

/// Whether the connection goes on.
async fn reply(stream: &mut TcpStream, case_id: &str, earlier: usize, delay: Duration) -> bool {
    let good = serde_json::json!({"answer": GOOD}).to_string();
    match case_id {
        "silent" => {
            tokio::time::sleep(Duration::from_secs(60)).await;
            false
        }
        "head-then-hang" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n").await;
            tokio::time::sleep(Duration::from_secs(60)).await;
            false
        }
        "drip" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{").await;
            while stream.write_all(b" ").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
            false
        }
        "endless" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
            let block = [b"10000\r\n".as_slice(), &vec![b' '; 0x10000], b"\r\n"].concat();
            while stream.write_all(&block).await.is_ok() {}
            false
        }
        "reset" => {
            let _ = stream.set_zero_linger();
            false
        }
        "closed" => false,
        "cut-body" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"answer\": \"hal").await;
            false
        }
        "to-metadata" => {
            say(stream, "302 Found", "location: http://169.254.169.254/latest/?token=s3cret\r\n", b"").await
        }
        "status-401" => say(stream, "401 Unauthorized", "", b"who are you").await,
        "status-404" => say(stream, "404 Not Found", "", b"").await,
        "status-422" => say(stream, "422 Unprocessable Entity", "", b"{\"detail\": \"no\"}").await,
        "status-429" => say(stream, "429 Too Many Requests", "retry-after: 0\r\n", b"").await,
        "status-500" => say(stream, "500 Internal Server Error", "", b"Traceback: key sk-abcdefghijklmnop").await,
        "status-503" => say(stream, "503 Service Unavailable", "", b"").await,
        "busy-once" if earlier == 0 => {
            say(stream, "503 Service Unavailable", "retry-after: 1\r\n", b"").await
        }
        "flaky-once" if earlier == 0 => false,
        "html" => {
            say(stream, "200 OK", "content-type: text/html\r\n", b"<!doctype html><title>Sign in</title>").await
        }
        "empty" => json(stream, "").await,
        "cut-json" => json(stream, "{\"answer\": \"half").await,
        "deep" => json(stream, &format!("{{\"output\": {}{}}}", "[".repeat(200), "]".repeat(200))).await,
        "duplicate-keys" => json(stream, &format!("{{\"answer\": \"first\", \"answer\": \"{GOOD}\"}}")).await,
        "nul" => json(stream, "{\"answer\": \"a\\u0000b\"}").await,
        "lone-surrogate" => json(stream, "{\"answer\": \"a\\ud800b\"}").await,
        "not-a-number" => json(stream, "{\"answer\": \"x\", \"output\": NaN}").await,
        "too-big-number" => json(stream, "{\"output\": 1e400}").await,
        "latin1" => {
            say(stream, "200 OK", "content-type: application/json; charset=iso-8859-1\r\n", b"{\"answer\": \"caf\xe9\"}").await
        }
        "large" => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n").await;
            let block = vec![b' '; 1 << 16];
            for _ in 0..1024 {
                if stream.write_all(&block).await.is_err() {
                    return false;
                }
            }
            false
        }
        "gzip-bomb" => {
            let bomb = bomb();
            say(stream, "200 OK", "content-encoding: gzip\r\n", &bomb).await
        }
        "bad-atif" => json(stream, "{\"answer\": \"x\", \"trajectory\": {\"schema_version\": \"ATIF-v1.7\", \"steps\": []}}").await,
        "long-atif" => json(stream, &atif(5_000)).await,
        "call-without-result" => json(stream, &atif(3)).await,
        "says-error" => json(stream, "{\"error\": \"the index is down\"}").await,
        "by-events" => {
            let body = format!("event: progress\ndata: {{}}\n\nevent: result\ndata: {good}\n\n");
            say(stream, "200 OK", "content-type: text/event-stream\r\n", body.as_bytes()).await
        }
        "events-without-result" => {
            say(stream, "200 OK", "content-type: text/event-stream\r\n", b"event: progress\ndata: {}\n\n").await
        }
        _ => {
            tokio::time::sleep(delay).await;
            json(stream, &good).await
        }
    }
}

/// 256 MiB of zeros in a few hundred KiB.
fn bomb() -> Vec<u8> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    let zeros = vec![0_u8; 1 << 20];
    for _ in 0..256 {
        encoder.write_all(&zeros).unwrap();
    }
    encoder.finish().unwrap()
}

fn atif(steps: usize) -> String {
    let steps: Vec<Value> = (1..=steps)
        .map(|id| {
            serde_json::json!({"step_id": id, "source": "agent", "message": "m",
                "tool_calls": [{"tool_call_id": format!("c{id}"), "function_name": "look", "arguments": {}}]})
        })
        .collect();
    serde_json::json!({"answer": GOOD, "trajectory": {"schema_version": "ATIF-v1.7",
        "agent": {"name": "fake", "version": "1"}, "steps": steps}})
    .to_string()
}
