//! Reading what an agent returned: `{answer?, output?, trajectory?, usage?, error?}` (`runs.md`, Agent Run API).
//!
//! The bytes are hostile. Nesting is capped at 128 levels, the last of equal keys counts, a lone surrogate becomes its
//! escape in plain characters (`\ud800`), and whatever else JSON refuses is `not_json`.

use std::collections::BTreeMap;

use evalkit_core::atif;
use evalkit_core::run::{AgentErrorClass, RecordedRun, RunStatus, Usage};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{AgentFailure, AgentReply};
use crate::egress::scrub;

/// Characters of a reply that an error message quotes.
const QUOTED: usize = 200;

/// Reads a whole reply. `media` is its media type, for messages; `secrets` are kept out of them.
pub(super) fn read(
    bytes: Vec<u8>,
    media: &str,
    secrets: &[&str],
) -> Result<AgentReply, AgentFailure> {
    let not_json = |why: String| AgentFailure::of(AgentErrorClass::NotJson, why);
    let text = String::from_utf8(mend(bytes))
        .map_err(|_| not_json("The reply is not UTF-8, which JSON is.".to_owned()))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.trim().is_empty() {
        return Err(not_json("The reply is empty.".to_owned()));
    }
    let unreadable = |error: &serde_json::Error| {
        let kind = if media.is_empty() {
            String::new()
        } else {
            format!(" ({})", scrub(media, secrets))
        };
        let start: String = text.trim_start().chars().take(QUOTED).collect();
        not_json(format!(
            "The reply{kind} is not JSON: {error}. It begins: {}",
            scrub(&start, secrets)
        ))
    };
    let fields: BTreeMap<String, &RawValue> =
        serde_json::from_str(text).map_err(|error| match error.classify() {
            serde_json::error::Category::Data => not_json(
                "The reply is JSON, but not an object with `answer`, `output`, `trajectory`, `usage` or `error`."
                    .to_owned(),
            ),
            _ => unreadable(&error),
        })?;
    let field = |name: &str| -> Result<Option<Value>, AgentFailure> {
        let Some(raw) = fields.get(name) else {
            return Ok(None);
        };
        match serde_json::from_str(raw.get()) {
            Ok(Value::Null) => Ok(None),
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(not_json(format!(
                "`{name}` of the reply cannot be read: {error}."
            ))),
        }
    };
    if let Some(error) = field("error")? {
        return Err(AgentFailure::of(
            AgentErrorClass::AgentReported,
            reported(&error, secrets),
        ));
    }
    let answer = match field("answer")? {
        None => None,
        Some(Value::String(text)) => Some(text),
        Some(_) => {
            return Err(not_json(
                "`answer` of the reply is not a string; a structured answer goes into `output`."
                    .to_owned(),
            ));
        }
    };
    let output = field("output")?;
    let trajectory = field("trajectory")?;
    if let Some(trajectory) = &trajectory {
        check_trajectory(trajectory)?;
    }
    if answer.is_none() && output.is_none() && trajectory.is_none() {
        return Err(not_json(
            "The reply holds neither `answer`, `output`, `trajectory` nor `error`.".to_owned(),
        ));
    }
    Ok(AgentReply {
        trajectory: trajectory
            .is_some()
            .then(|| {
                fields
                    .get("trajectory")
                    .map(|raw| raw.get().as_bytes().to_vec())
            })
            .flatten(),
        run: RecordedRun {
            answer,
            output,
            trajectory,
            usage: field("usage")?.as_ref().map(usage),
            status: RunStatus::Ok,
            ..RecordedRun::default()
        },
    })
}

/// Refuses a trajectory that nothing could be graded from. Smaller departures are listed on the result page instead.
pub(super) fn check_trajectory(trajectory: &Value) -> Result<(), AgentFailure> {
    atif::Document::parse(trajectory)
        .map(drop)
        .map_err(|problems| {
            let first = problems
                .first()
                .map_or_else(|| "it holds no steps".to_owned(), ToString::to_string);
            AgentFailure::of(
                AgentErrorClass::InvalidAtif,
                format!(
                    "The trajectory cannot be read as ATIF: {}.",
                    scrub(first.trim_end_matches('.'), &[])
                ),
            )
        })
}

/// What an agent says went wrong: a string, an object with `message`, or any other value as it is.
fn reported(error: &Value, secrets: &[&str]) -> String {
    let text = match error {
        Value::String(text) => text.clone(),
        Value::Object(map) => match map.get("message").and_then(Value::as_str) {
            Some(message) => message.to_owned(),
            None => error.to_string(),
        },
        other => other.to_string(),
    };
    match scrub(text.trim(), secrets) {
        text if text.is_empty() => "The agent reported an error without saying which.".to_owned(),
        text => text,
    }
}

/// Counts that are whole and not negative, cost that is finite and not negative; anything else is unknown.
fn usage(value: &Value) -> Usage {
    let count = |name: &str| value.get(name).and_then(Value::as_u64);
    Usage {
        input_tokens: count("input_tokens"),
        output_tokens: count("output_tokens"),
        cost_usd: value
            .get("cost_usd")
            .and_then(Value::as_f64)
            .filter(|cost| cost.is_finite() && *cost >= 0.0),
    }
}

/// Writes each lone surrogate escape as plain characters, because no Unicode text can hold one (D29).
fn mend(bytes: Vec<u8>) -> Vec<u8> {
    let suspect = bytes
        .windows(3)
        .any(|w| w[0] == b'\\' && w[1] == b'u' && w[2].eq_ignore_ascii_case(&b'd'));
    if !suspect {
        return bytes;
    }
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            out.push(bytes[at]);
            at += 1;
            continue;
        }
        let escape = |from: usize| -> Option<u16> {
            let digits = bytes.get(from..from + 6)?;
            if digits[0] != b'\\' || digits[1] != b'u' {
                return None;
            }
            u16::from_str_radix(std::str::from_utf8(&digits[2..]).ok()?, 16).ok()
        };
        let taken = match escape(at) {
            Some(0xd800..=0xdbff) => match escape(at + 6) {
                Some(0xdc00..=0xdfff) => 12,
                _ => {
                    out.push(b'\\');
                    6
                }
            },
            Some(0xdc00..=0xdfff) => {
                out.push(b'\\');
                6
            }
            // An escape of two characters, or something that the parser will refuse.
            _ => 2,
        };
        let end = (at + taken).min(bytes.len());
        out.extend_from_slice(&bytes[at..end]);
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(text: &str) -> AgentErrorClass {
        read(text.as_bytes().to_vec(), "application/json", &[])
            .unwrap_err()
            .error
            .class
    }

    fn answer(text: &str) -> Option<String> {
        read(text.as_bytes().to_vec(), "", &[]).unwrap().run.answer
    }

    #[test]
    fn what_is_not_a_reply() {
        for text in [
            "",
            "  ",
            "<html>",
            "[]",
            "null",
            "42",
            "\"x\"",
            "{",
            "{\"answer\": \"x\"",
            "{\"answer\": NaN}",
            "{\"answer\": 1}",
            "{\"answer\": [\"x\"]}",
            "{}",
            "{\"detail\": \"no\"}",
            "{\"answer\": null}",
            "{\"output\": 1e400}",
            "{\"answer\": \"x\"} trailing",
            "{'answer': 'x'}",
            "{\"answer\": \"\u{1}\"}",
        ] {
            assert_eq!(class(text), AgentErrorClass::NotJson, "{text}");
        }
        let deep = format!("{{\"output\": {}{}}}", "[".repeat(200), "]".repeat(200));
        assert_eq!(class(&deep), AgentErrorClass::NotJson);
        let latin1 = read(b"{\"answer\": \"caf\xe9\"}".to_vec(), "", &[]).unwrap_err();
        assert_eq!(latin1.error.class, AgentErrorClass::NotJson);
    }

    #[test]
    fn odd_text_is_kept() {
        assert_eq!(answer("\u{feff}{\"answer\": \"x\"}").as_deref(), Some("x"));
        assert_eq!(
            answer(r#"{"answer": "a", "answer": "b"}"#).as_deref(),
            Some("b")
        );
        assert_eq!(answer(r#"{"answer": "a\u0000b"}"#).as_deref(), Some("a\0b"));
        assert_eq!(
            answer(r#"{"answer": "\ud83d\ude00"}"#).as_deref(),
            Some("😀")
        );
        assert_eq!(
            answer(r#"{"answer": "\ud83d!"}"#).as_deref(),
            Some("\\ud83d!")
        );
        assert_eq!(
            answer(r#"{"answer": "\uDE00\ud83d\\ud83d"}"#).as_deref(),
            Some("\\uDE00\\ud83d\\ud83d")
        );
        assert_eq!(answer(r#"{"answer": ""}"#).as_deref(), Some(""));
    }

    #[test]
    fn errors_of_the_agent() {
        for (text, message) in [
            (r#"{"error": "no luck", "answer": "x"}"#, "no luck"),
            (r#"{"error": {"message": "down", "code": 7}}"#, "down"),
            (r#"{"error": {"code": 7}}"#, "{\"code\":7}"),
            (
                r#"{"error": ""}"#,
                "The agent reported an error without saying which.",
            ),
        ] {
            let failure = read(text.as_bytes().to_vec(), "", &[]).unwrap_err();
            assert_eq!(failure.error.class, AgentErrorClass::AgentReported);
            assert_eq!(failure.error.message, message);
        }
    }

    #[test]
    fn trajectories_keep_their_bytes() {
        let text = r#"{"trajectory": {"schema_version": "ATIF-v1.7",  "agent": {"name": "a", "version": "1"},
            "steps": [{"step_id": 1, "source": "agent", "message": "hi", "extra": {"x": 1.00}}]}, "usage": {"input_tokens": 5, "output_tokens": -1, "cost_usd": "x"}}"#;
        let reply = read(text.as_bytes().to_vec(), "", &[]).unwrap();
        assert!(
            String::from_utf8(reply.trajectory.unwrap())
                .unwrap()
                .contains("1.00")
        );
        assert_eq!(
            reply.run.usage,
            Some(Usage {
                input_tokens: Some(5),
                output_tokens: None,
                cost_usd: None
            })
        );
        for bad in [
            "{\"trajectory\": {}}",
            "{\"trajectory\": []}",
            "{\"trajectory\": \"x\"}",
            "{\"trajectory\": {\"steps\": []}}",
        ] {
            assert_eq!(class(bad), AgentErrorClass::InvalidAtif, "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_quoted_back() {
        let failure = read(
            b"<p>your token s3cr3t-value</p>".to_vec(),
            "text/html",
            &["s3cr3t-value"],
        )
        .unwrap_err();
        assert!(
            !failure.error.message.contains("s3cr3t"),
            "{}",
            failure.error.message
        );
        assert!(failure.error.message.contains("text/html"));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = read(bytes, "", &[]);
        }

        #[test]
        fn escapes_never_panic_and_whole_pairs_survive(text in r#"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|\\n|a|\\u00e9){0,12}"#) {
            let reply = read(format!("{{\"answer\": \"{text}\"}}").into_bytes(), "", &[]);
            proptest::prop_assert!(reply.is_ok(), "{}", text);
        }
    }
}
