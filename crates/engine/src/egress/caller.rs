//! A client for one target and one credential, and the reply as a bounded stream.

use std::io::{self, SeekFrom};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
use tokio::time::{Instant, timeout_at};

use super::failure::{CallFailure, FailureKind};
use super::peer::{GuardedResolver, PeerLayer};
use super::target::Target;

/// Time to connect, name resolution and TLS included (D13).
const CONNECT: Duration = Duration::from_secs(5);
/// Idle connections are dropped sooner than common servers drop them (5 s), so that a request is not written to a
/// connection that is being closed.
const IDLE: Duration = Duration::from_secs(3);
/// Replies up to this size stay in memory, bytes; larger ones go to an unnamed temporary file.
const IN_MEMORY: usize = 1 << 20;

/// A client bound to one [`Target`]. Cheap to clone; connections are shared between clones and with nobody else, so no
/// credential ever travels on a connection that was opened for another one.
#[derive(Debug, Clone)]
pub struct Caller {
    target: Target,
    client: reqwest::Client,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Call {
    /// `POST` for every API of ours; `GET` for probes.
    pub method: Method,
    /// Secrets among them are marked sensitive by their maker.
    pub headers: HeaderMap,
    /// Sent as it is.
    pub body: Bytes,
    /// From now to the last byte of the reply.
    pub allowed: Duration,
}

/// The head of a reply; the body is still to be read.
#[derive(Debug)]
pub struct Answer {
    /// As received.
    pub status: StatusCode,
    /// As received.
    pub headers: HeaderMap,
    response: reqwest::Response,
    shown: String,
    https: bool,
    allowed: Duration,
    started: Instant,
    deadline: Instant,
    read: u64,
}

impl Caller {
    /// A client for `target`.
    ///
    /// # Errors
    /// [`CallFailure`] of kind `Tls` when the machine has no usable certificate store.
    pub fn new(target: Target) -> Result<Self, CallFailure> {
        // Fails only when a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        #[expect(
            clippy::disallowed_methods,
            reason = "this is the egress guard: the one place that builds a client"
        )]
        let builder = reqwest::Client::builder();
        let mut builder = builder
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .tcp_nodelay(true)
            .user_agent(concat!("evalkit/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(GuardedResolver(target.clone()))
            .connector_layer(PeerLayer(target.clone()));
        if target.url().scheme() == "http" {
            // Redirects are never followed, so a plain target needs no certificates; reading the store costs time.
            builder = builder.tls_certs_only([]);
        }
        let client = builder.build().map_err(|_| {
            CallFailure::new(
                FailureKind::Tls,
                "The server's machine has no usable certificate store. Install the package ca-certificates.",
            )
        })?;
        Ok(Self { target, client })
    }

    /// What it calls.
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// Sends one request to the target and waits for the head of the reply.
    ///
    /// # Errors
    /// A [`CallFailure`]; statuses are no failures here.
    pub async fn send(&self, call: Call) -> Result<Answer, CallFailure> {
        self.send_to(&self.target, call).await
    }

    /// Sends to a path below the target (see [`Target::below`]); the host is the caller's own.
    ///
    /// # Errors
    /// As [`Caller::send`].
    pub async fn send_below(&self, tail: &str, call: Call) -> Result<Answer, CallFailure> {
        self.send_to(&self.target.below(tail), call).await
    }

    async fn send_to(&self, target: &Target, call: Call) -> Result<Answer, CallFailure> {
        let started = Instant::now();
        let deadline = started + call.allowed;
        let shown = target.shown();
        let https = target.url().scheme() == "https";
        let request = self
            .client
            .request(call.method, target.url().clone())
            .headers(call.headers)
            .body(call.body)
            .timeout(call.allowed)
            .send();
        let response = timeout_at(deadline, request)
            .await
            .map_err(|_| CallFailure::timed_out(call.allowed))?
            .map_err(|error| CallFailure::of(&error, &shown, https, call.allowed))?;
        let headers = response.headers().clone();
        // What the client decodes loses this header. What still names an encoding would be read as noise.
        if let Some(encoding) = headers.get(header::CONTENT_ENCODING)
            && encoding.as_bytes() != b"identity"
        {
            return Err(CallFailure::new(
                FailureKind::Encoding,
                format!("{shown} answered in an encoding that was not asked for."),
            ));
        }
        Ok(Answer {
            status: response.status(),
            headers,
            response,
            shown,
            https,
            allowed: call.allowed,
            started,
            deadline,
            read: 0,
        })
    }
}

impl Answer {
    /// The next piece of the decompressed body; `None` at its end.
    ///
    /// # Errors
    /// `TooLarge` once more than `cap` bytes came, `Timeout` when the call's time is over, `Cut`, `Encoding`.
    pub async fn chunk(&mut self, cap: u64) -> Result<Option<Bytes>, CallFailure> {
        let next = timeout_at(self.deadline, self.response.chunk())
            .await
            .map_err(|_| CallFailure::timed_out(self.allowed))?
            .map_err(|error| CallFailure::of(&error, &self.shown, self.https, self.allowed))?;
        let Some(bytes) = next else { return Ok(None) };
        self.read += bytes.len() as u64;
        if self.read > cap {
            return Err(CallFailure::new(
                FailureKind::TooLarge,
                format!("The reply of {} is larger than {}.", self.shown, size(cap)),
            ));
        }
        Ok(Some(bytes))
    }

    /// The whole body, kept in memory up to 1 MiB and in an unnamed temporary file beyond.
    ///
    /// # Errors
    /// As [`Answer::chunk`]; `Cut` when the temporary file cannot be written.
    pub async fn spool(&mut self, cap: u64) -> Result<Spool, CallFailure> {
        let mut spool = Spool::default();
        while let Some(bytes) = self.chunk(cap).await? {
            spool.push(&bytes).await.map_err(|_| {
                CallFailure::new(
                    FailureKind::Cut,
                    "The reply could not be kept: the server's temporary folder is full or not writable.",
                )
            })?;
        }
        Ok(spool)
    }

    /// At most the first `cap` bytes as text, for error pages; never fails.
    pub async fn start_of_body(&mut self, cap: u64) -> String {
        let mut out = Vec::new();
        while let Ok(Some(bytes)) = self.chunk(cap).await {
            out.extend_from_slice(&bytes);
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Since the request was begun: with the body read, "first byte sent to last byte read" (`grading.md`).
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The media type, lower case, without parameters.
    pub fn media_type(&self) -> String {
        self.headers
            .get(header::CONTENT_TYPE)
            .and_then(|value| value.to_str().ok())
            .and_then(|value| value.split(';').next())
            .unwrap_or_default()
            .trim()
            .to_ascii_lowercase()
    }

    /// `Retry-After` in seconds or as a date, if it can be read; a date in the past is zero. `now` is the wall clock.
    pub fn retry_after(&self, now: std::time::SystemTime) -> Option<Duration> {
        let value = self.headers.get(header::RETRY_AFTER)?;
        retry_after(value, now)
    }
}

fn retry_after(value: &HeaderValue, now: std::time::SystemTime) -> Option<Duration> {
    let text = value.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<u64>() {
        return Some(Duration::from_secs(seconds));
    }
    let at = httpdate::parse_http_date(text).ok()?;
    Some(at.duration_since(now).unwrap_or(Duration::ZERO))
}

/// `32 MiB`, `256 KiB`.
fn size(bytes: u64) -> String {
    if bytes >= 1 << 20 {
        format!("{} MiB", bytes >> 20)
    } else if bytes >= 1 << 10 {
        format!("{} KiB", bytes >> 10)
    } else {
        format!("{bytes} bytes")
    }
}

/// A body on its way in.
#[derive(Debug, Default)]
pub struct Spool {
    memory: Vec<u8>,
    file: Option<tokio::fs::File>,
    len: u64,
}

impl Spool {
    /// Appends bytes; beyond 1 MiB everything moves to an unnamed temporary file.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len += bytes.len() as u64;
        if self.file.is_none() && self.memory.len() + bytes.len() > IN_MEMORY {
            let file = tokio::task::spawn_blocking(tempfile::tempfile)
                .await
                .map_err(io::Error::other)??;
            let mut file = tokio::fs::File::from_std(file);
            file.write_all(&self.memory).await?;
            self.memory = Vec::new();
            self.file = Some(file);
        }
        match &mut self.file {
            Some(file) => file.write_all(bytes).await,
            None => {
                self.memory.extend_from_slice(bytes);
                Ok(())
            }
        }
    }

    /// Bytes so far.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing came.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole body in memory.
    ///
    /// # Errors
    /// What the file system says.
    pub async fn into_bytes(self) -> io::Result<Vec<u8>> {
        let Some(mut file) = self.file else {
            return Ok(self.memory);
        };
        file.flush().await?;
        file.seek(SeekFrom::Start(0)).await?;
        let mut out = Vec::with_capacity(usize::try_from(self.len).unwrap_or(0));
        file.read_to_end(&mut out).await?;
        Ok(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn retry_after_in_both_forms() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_777);
        let read = |text: &'static str| retry_after(&HeaderValue::from_static(text), now);
        assert_eq!(read("120"), Some(Duration::from_secs(120)));
        assert_eq!(
            read("Sun, 06 Nov 1994 08:50:37 GMT"),
            Some(Duration::from_secs(60))
        );
        assert_eq!(read("Sun, 06 Nov 1994 08:00:00 GMT"), Some(Duration::ZERO));
        assert_eq!(read("soon"), None);
        assert_eq!(read("-1"), None);
    }

    #[tokio::test]
    async fn a_spool_keeps_every_byte() {
        for total in [0_usize, 10, IN_MEMORY, IN_MEMORY + 1, 3 * IN_MEMORY] {
            let bytes: Vec<u8> = (0..total).map(|n| (n % 251) as u8).collect();
            let mut spool = Spool::default();
            for chunk in bytes.chunks(70_001) {
                spool.push(chunk).await.unwrap();
            }
            assert_eq!(spool.len(), total as u64);
            assert_eq!(spool.into_bytes().await.unwrap(), bytes);
        }
    }
}
