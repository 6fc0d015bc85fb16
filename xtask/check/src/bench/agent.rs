//! An agent that takes a fixed time for every answer: a thread a connection, so that it never is what one waits for.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, SystemTime},
};

use anyhow::Result;

const REPLY: &str = r#"{"answer": "The number is 7."}"#;

/// A running agent. Its threads end with the program.
pub struct Agent {
    address: SocketAddr,
    span: Arc<Mutex<Option<(SystemTime, SystemTime)>>>,
}

impl Agent {
    /// Listens on a free port of loopback.
    ///
    /// # Errors
    /// When it cannot.
    pub fn start(answer: Duration) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let span = Arc::new(Mutex::new(None));
        let seen = Arc::clone(&span);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                // A peer that goes away ends its thread and nothing else.
                thread::spawn(move || drop(converse(stream, answer, &seen)));
            }
        });
        Ok(Self { address, span })
    }

    /// Where it takes its POST.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Begins a new span.
    pub fn forget(&self) {
        *self.span.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// When the first call of the span came, and when its last answer went.
    pub fn span(&self) -> Option<(SystemTime, SystemTime)> {
        *self.span.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Answers one request after the other on a connection.
fn converse(
    mut stream: TcpStream,
    answer: Duration,
    span: &Mutex<Option<(SystemTime, SystemTime)>>,
) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::new();
    loop {
        let Some(length) = request(&mut stream, &mut buffer)? else {
            return Ok(());
        };
        buffer.drain(..length);
        let came = SystemTime::now();
        thread::sleep(answer);
        let went = SystemTime::now();
        {
            let mut span = span.lock().unwrap_or_else(PoisonError::into_inner);
            *span = Some(span.map_or((came, went), |(first, last)| {
                (first.min(came), last.max(went))
            }));
        }
        // One write, so that the answer is not cut into packets.
        let text = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{REPLY}",
            REPLY.len()
        );
        stream.write_all(text.as_bytes())?;
    }
}

/// Reads one whole request and gives its length; nothing when the peer has closed.
fn request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> std::io::Result<Option<usize>> {
    let mut piece = [0; 64 * 1024];
    loop {
        if let Some(end) = buffer.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
            let body: usize = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:"))
                .and_then(|length| length.trim().parse().ok())
                .unwrap_or(0);
            let length = end + 4 + body;
            if buffer.len() >= length {
                return Ok(Some(length));
            }
        }
        match stream.read(&mut piece)? {
            0 => return Ok(None),
            read => buffer.extend_from_slice(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_answers_every_request_of_a_connection() -> Result<()> {
        let agent = Agent::start(Duration::from_millis(1))?;
        let mut stream = TcpStream::connect(agent.address)?;
        for _ in 0..2 {
            stream.write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")?;
            let mut answer = Vec::new();
            let mut piece = [0; 512];
            while !answer.ends_with(REPLY.as_bytes()) {
                let read = stream.read(&mut piece)?;
                assert!(read > 0, "the answer ended early");
                answer.extend_from_slice(&piece[..read]);
            }
        }
        assert!(agent.span().is_some_and(|(first, last)| first < last));
        agent.forget();
        assert_eq!(agent.span(), None);
        Ok(())
    }
}
