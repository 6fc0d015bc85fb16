//! Calls to one endpoint of judge models: tries on the wire, pauses it asked for, places, the breaker (D13).
//!
//! All judges of a process that use the same address with the same key share one [`Endpoint`], so that limits hold across
//! runs. Every try is kept, whatever came of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use evalkit_core::judge::ladder::Heard;
use evalkit_core::judge::prompt::Prompt;
use evalkit_core::verdict::Unscored;
use evalkit_core::view::judging::{CallOutcome, JudgeCall};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::breaker::{Breaker, May};
use super::config::{JudgeConfig, JudgeConfigError};
use super::ledger::Ledger;
use super::pace::JudgePace;
use super::provider::{self, Complaint, End, Habits, Provider, Question, Reply};
use crate::egress::{Call, CallFailure, Caller, Egress, FailureKind, Trust, scrub};

/// Tries on the wire for one request.
pub(super) const MOST_TRIES: u32 = 5;
/// The largest reply, bytes (D13).
const REPLY_CAP: u64 = 1 << 20;
/// Of an error's body, bytes that are read (D13).
const ERROR_CAP: u64 = 256 * 1024;
/// Of an error's text, characters that are shown.
const SHOWN: usize = 300;

/// The endpoints that this process calls, and what they are made from. Cheap to clone; clones share.
#[derive(Clone)]
pub struct Endpoints {
    egress: Egress,
    keys: Arc<HashMap<String, String>>,
    pace: JudgePace,
    open: Arc<Mutex<HashMap<String, Arc<Endpoint>>>>,
}

impl Endpoints {
    /// `keys` holds the values of environment variables that judges name.
    pub fn new(egress: Egress, keys: HashMap<String, String>, pace: JudgePace) -> Self {
        Self {
            egress,
            keys: Arc::new(keys),
            pace,
            open: Arc::default(),
        }
    }

    /// For judges that call nobody.
    pub fn none() -> Self {
        Self::new(Egress::default(), HashMap::new(), JudgePace::default())
    }

    /// The endpoint of a judge that calls a model.
    pub(super) fn of(
        &self,
        config: &JudgeConfig,
        provider: &'static dyn Provider,
    ) -> Result<Arc<Endpoint>, JudgeConfigError> {
        let base_url = config.base_url(provider);
        let base_url = base_url.ok_or(JudgeConfigError::Key {
            key: "base_url",
            why: "is the address of the server's API: write for example http://127.0.0.1:8000/v1",
        })?;
        let key = match config.key_variable(provider) {
            None => None,
            Some(variable) => match self.keys.get(variable) {
                Some(key) => Some(key.clone()),
                None => return Err(JudgeConfigError::NoKey(variable.to_owned())),
            },
        };
        let target = self
            .egress
            .target(base_url, Trust::Config)
            .map_err(|denied| JudgeConfigError::Address(denied.to_string()))?;
        let fingerprint = hex::encode(Sha256::digest(key.as_deref().unwrap_or_default()));
        let name = format!("{}\n{base_url}\n{fingerprint}", config.provider.as_str());
        let mut open = lock(&self.open);
        if let Some(endpoint) = open.get(&name) {
            return Ok(Arc::clone(endpoint));
        }
        let caller =
            Caller::new(target).map_err(|failure| JudgeConfigError::Address(failure.message))?;
        let endpoint = Arc::new(Endpoint {
            provider,
            caller,
            key,
            places: Semaphore::new(config.concurrency.max(1) as usize),
            breaker: Mutex::new(Breaker::new(self.pace.rest)),
            changed: Notify::new(),
            held_until: Mutex::new(Instant::now()),
            habits: Mutex::default(),
            pace: self.pace,
        });
        open.insert(name, Arc::clone(&endpoint));
        Ok(endpoint)
    }
}

impl std::fmt::Debug for Endpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoints").finish_non_exhaustive()
    }
}

/// One address with one key.
pub(super) struct Endpoint {
    provider: &'static dyn Provider,
    caller: Caller,
    key: Option<String>,
    places: Semaphore,
    breaker: Mutex<Breaker>,
    /// Told when the breaker opens or closes.
    changed: Notify,
    held_until: Mutex<Instant>,
    /// By model.
    habits: Mutex<HashMap<String, Habits>>,
    pace: JudgePace,
}

impl std::fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Endpoint")
            .field("address", &self.caller.target().shown())
            .finish_non_exhaustive()
    }
}

/// What is asked, and how the record of its calls begins.
pub(super) struct Wanted<'a> {
    pub(super) prompt: &'a Prompt,
    pub(super) config: &'a JudgeConfig,
    pub(super) model: &'a str,
    pub(super) longest: Option<u32>,
    /// Everything that is known before the call.
    pub(super) record: JudgeCall,
}

/// How one try on the wire went.
struct Try {
    record: JudgeCall,
    end: TryEnd,
}

enum TryEnd {
    Reply(Reply),
    TooLong,
    /// The same request again, in a form that the model takes.
    Otherwise(String),
    /// Again after a pause; `Some` when the endpoint asked for it.
    Later(Option<Duration>, Unscored, String),
    /// For good.
    Failed(Unscored, String),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What these hold stays whole whichever line a panic came from.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Endpoint {
    /// Asks until there is a reply or nothing more can be done. Every try but the last is kept in the ledger; the last
    /// one comes back, because its record also says what the reply was worth. Absent when nothing went over the wire.
    pub(super) async fn ask(
        &self,
        wanted: &Wanted<'_>,
        ledger: &Ledger,
    ) -> (Heard, Option<JudgeCall>) {
        let mut last: Option<JudgeCall> = None;
        let mut heard = Heard::Failed(Unscored::ProviderError, String::new());
        for wire_try in 1..=MOST_TRIES {
            let pass = match self.enter(last.is_some()).await {
                Ok(pass) => pass,
                Err(why) => {
                    let shown = self.caller.target().shown();
                    let message =
                        format!("{shown} has failed for some time and is left alone: {why}");
                    return (Heard::Failed(Unscored::ProviderError, message), last);
                }
            };
            if let Some(earlier) = last.take() {
                ledger.keep(earlier, None).await;
            }
            let tried = self.once(wanted, wire_try).await;
            self.tell_breaker(pass, &tried, wanted, ledger).await;
            last = Some(tried.record);
            match tried.end {
                TryEnd::Reply(reply) => {
                    let heard = match reply.end {
                        End::Whole => Heard::Text(reply.text),
                        End::Cut => Heard::Cut,
                        End::Refused(words) => Heard::Refused(shortened(&words)),
                    };
                    return (heard, last);
                }
                TryEnd::TooLong => return (Heard::TooLong, last),
                TryEnd::Failed(why, message) => return (Heard::Failed(why, message), last),
                TryEnd::Otherwise(message) => {
                    heard = Heard::Failed(Unscored::ProviderError, message);
                }
                TryEnd::Later(asked, why, message) => {
                    if let Some(asked) = asked.filter(|asked| *asked > self.pace.longest_asked) {
                        let message = format!(
                            "{message} It asks to wait {} s, more than a judge waits.",
                            asked.as_secs()
                        );
                        return (Heard::Failed(why, message), last);
                    }
                    heard = Heard::Failed(why, message);
                    if wire_try < MOST_TRIES {
                        self.wait(asked, wire_try).await;
                    }
                }
            }
        }
        if let Heard::Failed(_, message) = &mut heard {
            message.push_str(&format!(" Tried {MOST_TRIES} times."));
        }
        (heard, last)
    }

    /// Waits before another try: at least as long as was asked for and at most 1.2 times as long, else a growing pause.
    async fn wait(&self, asked: Option<Duration>, tries: u32) {
        let luck = rand::random::<f64>();
        let pause = match asked.filter(|asked| !asked.is_zero()) {
            Some(asked) => {
                // Nobody else comes sooner either.
                let until = Instant::now() + asked;
                {
                    let mut held = lock(&self.held_until);
                    *held = (*held).max(until);
                }
                asked + asked.mul_f64(0.1 * luck)
            }
            None => self
                .pace
                .first_pause
                .saturating_mul(1 << tries.saturating_sub(1).min(10))
                .min(self.pace.longest_pause)
                .mul_f64(0.75 + 0.5 * luck),
        };
        tokio::time::sleep(pause).await;
    }

    /// A place for one call, once the endpoint may be called. `waited`: the caller has just kept a pause.
    async fn enter(&self, waited: bool) -> Result<Pass<'_>, String> {
        let mut spread = !waited;
        loop {
            let held_until = *lock(&self.held_until);
            let now = Instant::now();
            if held_until > now {
                // Calls that were held together do not come back together.
                let extra = if spread {
                    (held_until - now).mul_f64(0.1 * rand::random::<f64>())
                } else {
                    Duration::ZERO
                };
                spread = false;
                tokio::time::sleep_until(held_until + extra).await;
                continue;
            }
            // The semaphore is never closed.
            let place = self
                .places
                .acquire()
                .await
                .map_err(|error| error.to_string())?;
            if *lock(&self.held_until) > Instant::now() {
                continue;
            }
            let changed = self.changed.notified();
            let may = lock(&self.breaker).may(Instant::now());
            match may {
                May::Go | May::Probe => {
                    return Ok(Pass {
                        endpoint: self,
                        _place: place,
                        probe: may == May::Probe,
                    });
                }
                May::GiveUp(why) => return Err(why),
                May::WaitUntil(until) => {
                    drop(place);
                    tokio::select! {
                        () = tokio::time::sleep_until(until) => {}
                        () = changed => {}
                    }
                }
                May::WaitForProbe => {
                    drop(place);
                    // Told at its end; looked at again in any case.
                    let _ = tokio::time::timeout(self.pace.rest, changed).await;
                }
            }
        }
    }

    async fn tell_breaker(
        &self,
        mut pass: Pass<'_>,
        tried: &Try,
        wanted: &Wanted<'_>,
        ledger: &Ledger,
    ) {
        pass.probe = false;
        let provider = wanted.config.provider.as_str();
        let failure = match &tried.end {
            TryEnd::Reply(_) | TryEnd::TooLong | TryEnd::Otherwise(_) => None,
            // It answers, and asks for patience or for another request.
            TryEnd::Later(..) if tried.record.outcome == CallOutcome::RateLimited => None,
            TryEnd::Failed(Unscored::TooLarge, _) => None,
            TryEnd::Failed(..) if matches!(tried.record.status, Some(400 | 422)) => None,
            TryEnd::Later(_, _, why) | TryEnd::Failed(_, why) => Some(why),
        };
        match failure {
            None => {
                let closed = lock(&self.breaker).answered();
                if closed {
                    tracing::info!(
                        provider,
                        model = wanted.model,
                        "the judge's endpoint answers again"
                    );
                    ledger.mark(provider, wanted.model, None).await;
                    self.changed.notify_waiters();
                }
            }
            Some(why) => {
                let opened = lock(&self.breaker).failed(Instant::now(), why);
                if opened.is_some() {
                    tracing::warn!(
                        provider,
                        model = wanted.model,
                        rest_s = self.pace.rest.as_secs(),
                        "the judge's endpoint fails and is left alone for a while"
                    );
                    let opened = Some((why.clone(), self.pace.rest));
                    ledger.mark(provider, wanted.model, opened).await;
                    self.changed.notify_waiters();
                }
            }
        }
    }

    async fn once(&self, wanted: &Wanted<'_>, wire_try: u32) -> Try {
        let habits = lock(&self.habits)
            .get(wanted.model)
            .copied()
            .unwrap_or_default();
        let question = Question {
            model: wanted.model,
            prompt: wanted.prompt,
            temperature: habits.temperature.then_some(wanted.config.temperature),
            form: habits.form,
            longest: wanted.longest.filter(|_| habits.longest),
        };
        let mut record = JudgeCall {
            wire_try,
            ..wanted.record.clone()
        };
        let began = Instant::now();
        let sent = self.send(&question).await;
        let end = match sent {
            Err(failure) => {
                record.outcome = CallOutcome::Failed;
                let message = failure.message;
                match failure.kind {
                    FailureKind::Timeout => {
                        record.outcome = CallOutcome::Timeout;
                        TryEnd::Later(None, Unscored::Timeout, message)
                    }
                    FailureKind::Refused
                    | FailureKind::Dns
                    | FailureKind::Cut
                    | FailureKind::Encoding => {
                        TryEnd::Later(None, Unscored::ProviderError, message)
                    }
                    FailureKind::TooLarge => {
                        record.outcome = CallOutcome::Unusable;
                        record.trouble.clone_from(&message);
                        TryEnd::TooLong
                    }
                    FailureKind::Tls | FailureKind::Denied => {
                        TryEnd::Failed(Unscored::ProviderError, message)
                    }
                }
            }
            Ok(received) => {
                record.status = Some(received.status.as_u16());
                record.reply_bytes = received.bytes;
                record.reply = Some(self.scrubbed(&received.body));
                self.sort(received, habits, wanted, &mut record)
            }
        };
        record.latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let TryEnd::Otherwise(message)
        | TryEnd::Later(_, _, message)
        | TryEnd::Failed(_, message) = &end
        {
            record.trouble.clone_from(message);
        }
        Try { record, end }
    }

    async fn send(&self, question: &Question<'_>) -> Result<Received, CallFailure> {
        let mut headers = HeaderMap::new();
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("application/json"),
        );
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        self.provider.headers(&mut headers);
        if let Some(key) = &self.key {
            let (name, value) = self.provider.credential(key);
            let value = provider::secret(&value).ok_or_else(|| {
                CallFailure::new(
                    FailureKind::Denied,
                    "The judge's key holds characters that no header carries.",
                )
            })?;
            headers.insert(name, value);
        }
        let body = self.provider.body(question).to_string();
        let call = Call {
            method: Method::POST,
            headers,
            body: Bytes::from(body),
            allowed: self.pace.allowed,
        };
        let mut answer = self
            .caller
            .send_below(&self.provider.path(question.model), call)
            .await?;
        let status = answer.status;
        #[expect(
            clippy::disallowed_methods,
            reason = "Retry-After may be a date of the wall clock; nothing is stored by it"
        )]
        let retry_after = answer.retry_after(std::time::SystemTime::now());
        let (body, bytes) = if status.is_success() {
            let spool = answer.spool(REPLY_CAP).await?;
            let bytes = spool.len();
            let body = spool.into_bytes().await.map_err(|_| {
                CallFailure::new(FailureKind::Cut, "The reply could not be kept in memory.")
            })?;
            (String::from_utf8_lossy(&body).into_owned(), bytes)
        } else {
            let body = answer.start_of_body(ERROR_CAP).await;
            let bytes = body.len() as u64;
            (body, bytes)
        };
        Ok(Received {
            status,
            retry_after,
            body,
            bytes,
        })
    }

    /// What a reply of the endpoint means.
    fn sort(
        &self,
        received: Received,
        habits: Habits,
        wanted: &Wanted<'_>,
        record: &mut JudgeCall,
    ) -> TryEnd {
        let status = received.status;
        if status.is_success() {
            let reply = serde_json::from_str::<Value>(&received.body)
                .ok()
                .and_then(|body| self.provider.read(&body));
            let Some(reply) = reply else {
                record.outcome = CallOutcome::Unusable;
                record.trouble = "the reply has not the provider's form".to_owned();
                // The ladder takes it as a reply that says nothing.
                return TryEnd::Reply(Reply::default());
            };
            record.outcome = match reply.end {
                // Until the ladder has read it.
                End::Whole => CallOutcome::Unusable,
                End::Cut => CallOutcome::Truncated,
                End::Refused(_) => CallOutcome::Refusal,
            };
            record.input_tokens = reply.input_tokens;
            record.output_tokens = reply.output_tokens;
            record.cost_usd = wanted
                .config
                .prices
                .and_then(|prices| prices.cost(reply.input_tokens?, reply.output_tokens?));
            return TryEnd::Reply(reply);
        }
        let shown = self.caller.target().shown();
        let said = shortened(&self.scrubbed(&received.body));
        let message = if said.trim().is_empty() {
            format!("{shown} answered HTTP {}.", status.as_u16())
        } else {
            format!("{shown} answered HTTP {}: {}", status.as_u16(), said.trim())
        };
        record.outcome = CallOutcome::Failed;
        match status.as_u16() {
            429 => {
                record.outcome = CallOutcome::RateLimited;
                TryEnd::Later(received.retry_after, Unscored::ProviderError, message)
            }
            408 | 500..=599 => {
                TryEnd::Later(received.retry_after, Unscored::ProviderError, message)
            }
            413 => {
                record.outcome = CallOutcome::TooLarge;
                TryEnd::Failed(Unscored::TooLarge, message)
            }
            400 | 422 => self.other_form(&received.body, habits, wanted, record, message),
            _ => TryEnd::Failed(Unscored::ProviderError, message),
        }
    }

    /// After a 400: the form that the model may take instead, remembered for it.
    fn other_form(
        &self,
        body: &str,
        habits: Habits,
        wanted: &Wanted<'_>,
        record: &mut JudgeCall,
        message: String,
    ) -> TryEnd {
        let mut changed = habits;
        match provider::complaint(body) {
            Complaint::TooLarge => {
                record.outcome = CallOutcome::TooLarge;
                return TryEnd::Failed(Unscored::TooLarge, message);
            }
            Complaint::Temperature if habits.temperature => changed.temperature = false,
            Complaint::Longest if habits.longest && wanted.longest.is_some() => {
                changed.longest = false
            }
            Complaint::Form if let Some(looser) = habits.form.looser() => changed.form = looser,
            _ => return TryEnd::Failed(Unscored::ProviderError, message),
        }
        lock(&self.habits).insert(wanted.model.to_owned(), changed);
        TryEnd::Otherwise(message)
    }

    /// A text of the endpoint without our key.
    fn scrubbed(&self, text: &str) -> String {
        match &self.key {
            Some(key) if key.len() >= 4 => text.replace(key.as_str(), "[secret]"),
            _ => text.to_owned(),
        }
    }
}

/// A foreign text for a sentence: secrets out, short, one line.
fn shortened(text: &str) -> String {
    let one_line: Vec<&str> = text.split_whitespace().take(200).collect();
    let scrubbed = scrub(&one_line.join(" "), &[]);
    match scrubbed.char_indices().nth(SHOWN) {
        None => scrubbed,
        Some((at, _)) => format!("{}…", &scrubbed[..at]),
    }
}

struct Received {
    status: StatusCode,
    retry_after: Option<Duration>,
    body: String,
    bytes: u64,
}

/// The right to make one call. A probe that ends without telling the breaker leaves room for the next.
struct Pass<'e> {
    endpoint: &'e Endpoint,
    _place: SemaphorePermit<'e>,
    probe: bool,
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.probe {
            lock(&self.endpoint.breaker).abandoned(Instant::now());
            self.endpoint.changed.notify_waiters();
        }
    }
}
