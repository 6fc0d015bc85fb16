//! `evalkit-http`: the Agent Run API (`runs.md`).

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use evalkit_core::agent::AgentConfig;
use evalkit_core::run::{AgentErrorClass, Capability};
use futures::future::BoxFuture;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION};
use http::{HeaderMap, Method, StatusCode};
use tokio::sync::Semaphore;

use super::failure::{Again, millis};
use super::wire::RunRequest;
use super::{Adapter, AgentFailure, AgentReply, AgentTask, reply, sse};
use crate::egress::{Answer, Call, Caller, Target, scrub};

/// The largest reply, bytes, unless the deployment says otherwise (`runs.md`).
pub const REPLY_CAP: u64 = 32 << 20;
/// How much of an error page is read, bytes (D13).
const ERROR_CAP: u64 = 256 << 10;
/// Characters of an error page that are shown.
const ERROR_SHOWN: usize = 300;
/// Replies above this size are parsed two at a time and off the async threads, bytes.
const LARGE: u64 = 1 << 20;
/// An agent that asks for a longer pause is not waited for.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

static LARGE_PARSES: Semaphore = Semaphore::const_new(2);

/// An agent behind HTTP.
pub struct EvalkitHttp {
    caller: Caller,
    headers: HeaderMap,
    secret: Option<String>,
    capabilities: Option<Vec<Capability>>,
    cap: u64,
}

impl EvalkitHttp {
    /// An adapter for `config` at `target`, sending `secret` as the configuration says.
    ///
    /// # Errors
    /// `agent_reported` when the secret or its header's name cannot be sent; `tls` without a certificate store.
    pub fn new(
        config: &AgentConfig,
        target: Target,
        secret: Option<&str>,
        cap: u64,
    ) -> Result<Self, AgentFailure> {
        let unsendable = |what: &str| {
            AgentFailure::of(
                AgentErrorClass::AgentReported,
                format!("The agent's {what} cannot be sent in a header. Set it again."),
            )
        };
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(
            ACCEPT,
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        if let Some(secret) = secret {
            let (name, text) = match &config.secret_header {
                Some(name) => (
                    HeaderName::try_from(name.as_str()).map_err(|_| unsendable("secret header"))?,
                    secret.to_owned(),
                ),
                None => (AUTHORIZATION, format!("Bearer {secret}")),
            };
            let mut value = HeaderValue::try_from(text).map_err(|_| unsendable("secret"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(Self {
            caller: Caller::new(target)?,
            headers,
            secret: secret.map(str::to_owned),
            capabilities: config.capabilities.clone(),
            cap,
        })
    }

    async fn run(&self, task: &AgentTask) -> Result<AgentReply, AgentFailure> {
        let mut headers = self.headers.clone();
        if let Ok(key) = HeaderValue::try_from(task.idempotency_key.as_str()) {
            headers.insert("idempotency-key", key);
        }
        let body = serde_json::to_vec(&RunRequest::of(task)).map_err(|error| {
            AgentFailure::of(
                AgentErrorClass::AgentReported,
                format!("The request cannot be written: {error}."),
            )
        })?;
        let started = tokio::time::Instant::now();
        let mut answer = self
            .caller
            .send(Call {
                method: Method::POST,
                headers,
                body: Bytes::from(body),
                allowed: task.allowed,
            })
            .await
            .map_err(|failure| AgentFailure::from(failure).took(started.elapsed()))?;
        let outcome = self.read(&mut answer).await;
        let elapsed = answer.elapsed();
        match outcome {
            Ok(mut reply) => {
                task.case_id.clone_into(&mut reply.run.case_id);
                reply.run.trial = task.trial;
                reply.run.latency_ms = Some(millis(elapsed));
                reply.run.capabilities.clone_from(&self.capabilities);
                Ok(reply)
            }
            Err(failure) => Err(failure.took(elapsed)),
        }
    }

    async fn read(&self, answer: &mut Answer) -> Result<AgentReply, AgentFailure> {
        if !answer.status.is_success() {
            return Err(self.refuse(answer).await);
        }
        let media = answer.media_type();
        let bytes = if media == "text/event-stream" {
            sse::result(answer, self.cap).await?
        } else {
            let spool = answer.spool(self.cap).await?;
            let _turn = if spool.len() > LARGE {
                LARGE_PARSES.acquire().await.ok()
            } else {
                None
            };
            spool.into_bytes().await.map_err(|_| {
                AgentFailure::of(
                    AgentErrorClass::Cut,
                    "The reply could not be read back from the server's temporary folder.",
                )
            })?
        };
        let secret = self.secret.clone();
        let parse = move || {
            let secrets: Vec<&str> = secret.as_deref().into_iter().collect();
            reply::read(bytes, &media, &secrets)
        };
        // Parsing a large reply would hold up every other call on this thread.
        tokio::task::spawn_blocking(parse)
            .await
            .unwrap_or_else(|_| {
                Err(AgentFailure::of(
                    AgentErrorClass::NotJson,
                    "The reply could not be read.",
                ))
            })
    }

    /// A reply without success: its class, and what the agent said about it.
    async fn refuse(&self, answer: &mut Answer) -> AgentFailure {
        use AgentErrorClass as C;
        let status = answer.status;
        let pause = answer.retry_after(wall_clock());
        let secrets: Vec<&str> = self.secret.as_deref().into_iter().collect();
        if status.is_redirection() {
            let to = answer
                .headers
                .get(LOCATION)
                .and_then(|value| value.to_str().ok())
                .map(|to| format!(" to {}", scrub(to, &secrets)))
                .unwrap_or_default();
            return AgentFailure::of(
                C::Redirect,
                format!(
                    "The agent answered {status} and points{to}. Redirects are not followed; enter the final address."
                ),
            );
        }
        let class = match status {
            StatusCode::TOO_MANY_REQUESTS => C::RateLimited,
            _ if status.is_server_error() => C::Http5xx,
            _ => C::Http4xx,
        };
        let said = answer.start_of_body(ERROR_CAP).await;
        let said: String = scrub(said.trim(), &secrets)
            .chars()
            .take(ERROR_SHOWN)
            .collect();
        let mut message = format!("The agent answered {status}");
        match said.as_str() {
            "" => message.push('.'),
            said => {
                message.push_str(": ");
                message.push_str(said);
            }
        }
        let again = match (class, pause) {
            (C::Http4xx, _) => Again::Never,
            (_, Some(pause)) if pause > LONGEST_PAUSE => {
                message.push_str(&format!(
                    " (It asks to wait {} s, which is longer than a run waits.)",
                    pause.as_secs()
                ));
                Again::Never
            }
            (_, Some(pause)) => Again::After(pause),
            (_, None) => Again::Soon,
        };
        AgentFailure::of(class, message).again(again)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a `Retry-After` date is by the wall clock of the moment it arrives"
)]
fn wall_clock() -> SystemTime {
    SystemTime::now()
}

impl Adapter for EvalkitHttp {
    fn call<'a>(&'a self, task: &'a AgentTask) -> BoxFuture<'a, Result<AgentReply, AgentFailure>> {
        Box::pin(self.run(task))
    }
}
