//! A demo server that tests and benches run against, and a small HTTP client for it.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::{build::Mode, demo, process, repo::Repo};

/// How long a server may take to answer its first request, on a busy machine.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may drain.
const STOP_LIMIT: Duration = Duration::from_secs(20);
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// Ports away from those of the demo.
const PORTS: std::ops::RangeInclusive<u16> = 3110..=3190;

/// A running server. It is ended when this is dropped.
pub struct Served {
    child: Child,
    port: u16,
    started_in: Duration,
}

impl Served {
    /// Starts `evalkit serve --demo` with its data in `data` and its output in `log`, and waits for its first answer.
    ///
    /// # Errors
    /// When it does not start; the message carries the end of its output.
    pub fn start(repo: &Repo, mode: Mode, data: &Path, log: &Path) -> Result<Self> {
        Self::start_with(repo, mode, data, log, &[])
    }

    /// The same with more variables in its environment, such as those of another database.
    ///
    /// # Errors
    /// As [`Served::start`].
    pub fn start_with(
        repo: &Repo,
        mode: Mode,
        data: &Path,
        log: &Path,
        environment: &[(&str, String)],
    ) -> Result<Self> {
        if let Some(folder) = log.parent() {
            fs::create_dir_all(folder)?;
        }
        let output = File::create(log)?;
        let port = demo::free_port(PORTS).context("no free port for a test server")?;
        let mut command = demo::server(repo, mode);
        command
            .args(["--demo", "--bind", &format!("127.0.0.1:{port}")])
            .env("EVALKIT_DATA", data)
            .envs(environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output);
        let start = Instant::now();
        let child = command
            .spawn()
            .with_context(|| format!("cannot start `{}`", process::line(&command)))?;
        let mut served = Self {
            child,
            port,
            started_in: Duration::ZERO,
        };
        loop {
            if let Some(status) = served.child.try_wait()? {
                let said = fs::read_to_string(log).unwrap_or_default();
                bail!(
                    "the server ended with {status}\n{}",
                    process::tail(&said, 20)
                );
            }
            if served.get("/").is_ok() {
                served.started_in = start.elapsed();
                return Ok(served);
            }
            if start.elapsed() > START_LIMIT {
                let said = fs::read_to_string(log).unwrap_or_default();
                bail!(
                    "the server did not answer within {} s\n{}",
                    START_LIMIT.as_secs(),
                    process::tail(&said, 20)
                );
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Its address, without a slash at the end.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The time from start to the first answer.
    pub fn started_in(&self) -> Duration {
        self.started_in
    }

    /// One GET, with the cookies of earlier answers left out.
    ///
    /// # Errors
    /// When no whole answer comes.
    pub fn get(&self, path: &str) -> Result<Answer> {
        self.get_as(path, "")
    }

    /// One GET with a `Cookie` header, when it is not empty.
    ///
    /// # Errors
    /// When no whole answer comes.
    pub fn get_as(&self, path: &str, cookie: &str) -> Result<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(ANSWER_LIMIT))?;
        stream.set_nodelay(true)?;
        let cookie = if cookie.is_empty() {
            String::new()
        } else {
            format!("Cookie: {cookie}\r\n")
        };
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAccept: text/html,*/*\r\n{cookie}Connection: close\r\n\r\n",
            self.port
        )?;
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes)?;
        Answer::of(&bytes)
    }

    /// Asks it to end, and waits.
    ///
    /// # Errors
    /// When its state cannot be read.
    pub fn stop(mut self) -> Result<()> {
        process::terminate(&mut self.child, STOP_LIMIT)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Nothing can be reported from here; a child that is gone already is what we want.
        let _ = process::terminate(&mut self.child, STOP_LIMIT);
    }
}

/// An HTTP answer.
#[derive(Debug)]
pub struct Answer {
    /// The status code.
    pub status: u16,
    /// Header lines, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body as text. Chunk marks of a streamed page are left in: they do not matter to who reads it.
    pub body: String,
}

impl Answer {
    fn of(bytes: &[u8]) -> Result<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text
            .split_once("\r\n\r\n")
            .context("the answer has no end of headers")?;
        let mut lines = head.lines();
        let status = lines
            .next()
            .and_then(|line| line.split(' ').nth(1))
            .and_then(|code| code.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
            .collect();
        Ok(Self {
            status: status.context("the answer has no status")?,
            headers,
            body: body.to_owned(),
        })
    }

    /// The first header with a name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| &**value)
    }

    /// The cookies it sets, as a `Cookie` header.
    pub fn cookies(&self) -> String {
        let pairs: Vec<_> = self
            .headers
            .iter()
            .filter(|(name, _)| name == "set-cookie")
            .filter_map(|(_, value)| value.split(';').next())
            .collect();
        pairs.join("; ")
    }

    /// The addresses that the page links to, in its order.
    pub fn links(&self) -> impl Iterator<Item = &str> {
        self.body
            .split("href=\"")
            .skip(1)
            .filter_map(|rest| rest.split('"').next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read() -> Result<()> {
        let text = b"HTTP/1.1 303 See Other\r\nLocation: /x\r\nSet-Cookie: a=1; Path=/\r\nSet-Cookie: b=2\r\n\r\n<a href=\"/y\">y</a> <a href=\"/cases/1\">";
        let answer = Answer::of(text)?;
        assert_eq!(answer.status, 303);
        assert_eq!(answer.header("location"), Some("/x"));
        assert_eq!(answer.cookies(), "a=1; b=2");
        assert_eq!(answer.links().collect::<Vec<_>>(), ["/y", "/cases/1"]);
        assert!(Answer::of(b"nonsense").is_err());
        Ok(())
    }
}
