//! Remembers calls: the same `Idempotency-Key` is answered once, and every call is written to a log.

use std::collections::{HashMap, VecDeque};
use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use tokio::sync::OnceCell;

use crate::protocol::RunReply;

/// Keys kept in memory; the oldest go first.
const MAX_KEYS: usize = 10_000;

/// A reply that is worked out once, however many calls wait for it.
pub type Pending = Arc<OnceCell<RunReply>>;

/// The memory of all calls so far.
#[derive(Debug, Default)]
pub struct Calls {
    known: Mutex<Known>,
    log: Option<Mutex<std::fs::File>>,
}

#[derive(Debug, Default)]
struct Known {
    by_key: HashMap<String, (String, Pending)>,
    order: VecDeque<String>,
}

/// What a call turned out to be.
#[derive(Debug)]
pub enum Arrival {
    /// The reply to fill in or wait for.
    Answer(Pending),
    /// The key was used before, for another question.
    KeyReused,
}

/// One line of the log.
#[derive(Debug, Serialize)]
struct LogLine<'a> {
    /// Milliseconds since 1 January 1970.
    time_ms: u64,
    run_id: &'a str,
    case_id: &'a str,
    idempotency_key: Option<&'a str>,
    /// Whether the key was seen before, in this process.
    repeat: bool,
}

impl Calls {
    /// Starts with an empty memory; the log, when there is one, is appended to.
    ///
    /// # Errors
    /// When the log cannot be opened.
    pub fn open(log: Option<PathBuf>) -> std::io::Result<Self> {
        let log = log
            .map(|path| {
                std::fs::OpenOptions::new()
                    .create(true)
                    .append(true)
                    .open(path)
            })
            .transpose()?
            .map(Mutex::new);
        Ok(Self {
            known: Mutex::default(),
            log,
        })
    }

    /// Notes a call and finds the reply that belongs to it. A call without a key is always new.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn arrive(
        &self,
        key: Option<&str>,
        run_id: &str,
        case_id: &str,
    ) -> std::io::Result<Arrival> {
        let subject = format!("{run_id}\n{case_id}");
        let (arrival, repeat) = match key {
            None => (Arrival::Answer(Pending::default()), false),
            Some(key) => self.find(key, subject),
        };
        self.write(&LogLine {
            time_ms: now_ms(),
            run_id,
            case_id,
            idempotency_key: key,
            repeat,
        })?;
        Ok(arrival)
    }

    fn find(&self, key: &str, subject: String) -> (Arrival, bool) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((first, pending)) = known.by_key.get(key) {
            let arrival = if *first == subject {
                Arrival::Answer(pending.clone())
            } else {
                Arrival::KeyReused
            };
            return (arrival, true);
        }
        if known.order.len() >= MAX_KEYS
            && let Some(oldest) = known.order.pop_front()
        {
            known.by_key.remove(&oldest);
        }
        let pending = Pending::default();
        known.order.push_back(key.to_owned());
        known
            .by_key
            .insert(key.to_owned(), (subject, pending.clone()));
        (Arrival::Answer(pending), false)
    }

    /// One write a line, so that lines of calls at the same time never mix.
    fn write(&self, line: &LogLine<'_>) -> std::io::Result<()> {
        let Some(log) = &self.log else {
            return Ok(());
        };
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        log.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .write_all(&text)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the agent's log says when a call came"
)]
fn now_ms() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Arrival, Calls, MAX_KEYS};
    use std::sync::Arc;

    #[test]
    fn one_key_is_one_reply() {
        let calls = Calls::open(None).unwrap();
        let Arrival::Answer(first) = calls.arrive(Some("k"), "r", "c").unwrap() else {
            panic!("a new key is answered");
        };
        let Arrival::Answer(second) = calls.arrive(Some("k"), "r", "c").unwrap() else {
            panic!("a repeated key is answered");
        };
        assert!(Arc::ptr_eq(&first, &second));
        let other = calls.arrive(Some("k"), "r", "another").unwrap();
        assert!(matches!(other, Arrival::KeyReused));
    }

    #[test]
    fn memory_is_bounded() {
        let calls = Calls::open(None).unwrap();
        for at in 0..=MAX_KEYS {
            calls.arrive(Some(&at.to_string()), "r", "c").unwrap();
        }
        let known = calls.known.lock().unwrap();
        assert_eq!(
            (known.order.len(), known.by_key.len()),
            (MAX_KEYS, MAX_KEYS)
        );
        assert!(!known.by_key.contains_key("0"));
    }
}
