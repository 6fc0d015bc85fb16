//! Conformance (`atif.md` §4): the rules of the upstream validator, every finding with its path, and what the format
//! allows but a reader should know as warnings.
//!
//! The verdicts were compared with the upstream models 0.26.0 on 12,000 documents mutated from the reference files: they
//! differ only where a count does not fit 64 bits, which is an error here.

mod step;
mod trajectory;

use serde_json::{Map, Value};

use super::model::Problem;
use super::value::{self, Read};

/// The versions of the closed list, `ATIF-v1.0` to `ATIF-v1.8`.
const NEWEST_MINOR: u32 = 8;

/// At most this many problems of each kind are listed; the rest is counted.
const LISTED: usize = 500;

/// Checks a whole document. Returns errors and warnings, each in document order.
pub(super) fn document(root: &Value) -> (Vec<Problem>, Vec<Problem>) {
    let mut checker = Checker::default();
    match root {
        Value::Object(map) => {
            checker.trajectory(map, 0);
            checker.identities(map);
        }
        other => checker.error(format!(
            "a trajectory is one JSON object, and this is {}",
            value::kind(other)
        )),
    }
    checker.finish()
}

/// What a `schema_version` says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// One of the closed list.
    Known,
    /// `ATIF-v1.N` newer than this reader: read as the newest known.
    NewerMinor,
    /// Another major version: refused.
    OtherMajor,
    /// Not spelled as a version.
    Unreadable,
}

/// Reads a `schema_version`.
pub(super) fn version(text: &str) -> Version {
    let number = |digits: &str| -> Option<u32> {
        let plain = !digits.is_empty()
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits == "0" || !digits.starts_with('0'));
        // A number too long for 32 bits is newer than anything known.
        plain.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    let parts = text
        .strip_prefix("ATIF-v")
        .and_then(|rest| rest.split_once('.'))
        .and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
    match parts {
        Some((1, minor)) if minor <= NEWEST_MINOR => Version::Known,
        Some((1, _)) => Version::NewerMinor,
        Some(_) => Version::OtherMajor,
        None => Version::Unreadable,
    }
}

#[derive(Default)]
struct Checker {
    path: String,
    errors: Vec<Problem>,
    warnings: Vec<Problem>,
    more_errors: usize,
    more_warnings: usize,
}

/// What a text field may be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// Must be there.
    Required,
    /// May be absent or null.
    Optional,
}

impl Checker {
    fn finish(mut self) -> (Vec<Problem>, Vec<Problem>) {
        for (list, more) in [
            (&mut self.errors, self.more_errors),
            (&mut self.warnings, self.more_warnings),
        ] {
            if more > 0 {
                list.push(Problem {
                    path: String::new(),
                    message: format!("{more} more like these are not listed"),
                });
            }
        }
        (self.errors, self.warnings)
    }

    fn error(&mut self, message: impl Into<String>) {
        if self.errors.len() < LISTED {
            self.errors.push(Problem {
                path: self.path.clone(),
                message: message.into(),
            });
        } else {
            self.more_errors += 1;
        }
    }

    fn warn(&mut self, message: impl Into<String>) {
        if self.warnings.len() < LISTED {
            self.warnings.push(Problem {
                path: self.path.clone(),
                message: message.into(),
            });
        } else {
            self.more_warnings += 1;
        }
    }

    fn key<R>(&mut self, key: &str, run: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&shown(key));
        let result = run(self);
        self.path.truncate(length);
        result
    }

    fn index<R>(&mut self, index: usize, run: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let result = run(self);
        self.path.truncate(length);
        result
    }

    fn expected(&mut self, what: &str, got: &Value) {
        self.error(format!("expected {what}, got {}", value::kind(got)));
    }

    /// A closed object: every key the format does not know is an error.
    fn closed(&mut self, map: &Map<String, Value>, known: &[&str], hint: fn(&str) -> &'static str) {
        for key in map.keys() {
            if !known.contains(&key.as_str()) {
                self.key(key, |c| {
                    c.error(format!("this is no field of ATIF{}", hint(key)));
                });
            }
        }
    }

    /// A required field; null counts as there, for its type to be refused.
    fn required<'v>(&mut self, map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
        let found = map.get(key);
        if found.is_none() {
            self.key(key, |c| c.error("this field is missing"));
        }
        found
    }

    fn text<'v>(&mut self, map: &'v Map<String, Value>, key: &str, need: Need) -> Option<&'v str> {
        let found = match need {
            Need::Required => self.required(map, key)?,
            Need::Optional => optional(map, key)?,
        };
        match found {
            Value::String(text) => Some(text),
            other => {
                self.key(key, |c| c.expected("a text", other));
                None
            }
        }
    }

    fn object<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        key: &str,
        need: Need,
    ) -> Option<&'v Map<String, Value>> {
        let found = match need {
            Need::Required => self.required(map, key)?,
            Need::Optional => optional(map, key)?,
        };
        match found {
            Value::Object(object) => Some(object),
            other => {
                self.key(key, |c| c.expected("an object", other));
                None
            }
        }
    }

    fn list<'v>(
        &mut self,
        map: &'v Map<String, Value>,
        key: &str,
        need: Need,
    ) -> Option<&'v [Value]> {
        let found = match need {
            Need::Required => self.required(map, key)?,
            Need::Optional => optional(map, key)?,
        };
        match found {
            Value::Array(items) => Some(items),
            other => {
                self.key(key, |c| c.expected("a list", other));
                None
            }
        }
    }

    /// Runs `each` on every object of a list; anything else in it is an error.
    fn each_object<'v>(
        &mut self,
        key: &str,
        items: &'v [Value],
        mut each: impl FnMut(&mut Self, &'v Map<String, Value>),
    ) {
        self.key(key, |c| {
            for (index, item) in items.iter().enumerate() {
                c.index(index, |c| match item {
                    Value::Object(map) => each(c, map),
                    other => c.expected("an object", other),
                });
            }
        });
    }

    fn read<T: std::fmt::Display + Copy>(
        &mut self,
        map: &Map<String, Value>,
        key: &str,
        reader: fn(&Value) -> Read<T>,
    ) -> Option<T> {
        let found = optional(map, key)?;
        self.key(key, |c| c.loosely(found, reader))
    }

    fn loosely<T: std::fmt::Display + Copy>(
        &mut self,
        found: &Value,
        reader: fn(&Value) -> Read<T>,
    ) -> Option<T> {
        match reader(found) {
            Read::Exact(value) => Some(value),
            Read::Loose(value) => {
                self.warn(format!("{} is read as {value}", short(found)));
                Some(value)
            }
            Read::Not(what) => {
                self.expected(what, found);
                None
            }
        }
    }

    fn extra(&mut self, map: &Map<String, Value>) {
        self.object(map, "extra", Need::Optional);
    }
}

/// A field that is there and not null.
fn optional<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Value> {
    map.get(key).filter(|value| !value.is_null())
}

fn no_hint(_: &str) -> &'static str {
    ""
}

/// A foreign text for a message: without control characters, at most 60 characters.
fn shown(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(60)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(60).is_some() {
        out.push('…');
    }
    out
}

fn short(value: &Value) -> String {
    match value {
        Value::String(text) => format!("\"{}\"", shown(text)),
        other => shown(&other.to_string()),
    }
}
