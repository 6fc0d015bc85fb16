//! `evalkit atif check` (`formats.md`): bytes to a report, with what strict JSON refuses named by path.

use std::fmt;

use serde::Serialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::check;
use super::model::{Document, Problem};

/// The report, as `--json` prints it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// No errors.
    pub valid: bool,
    /// Departures from the format.
    pub errors: Vec<Problem>,
    /// What the format allows and a reader should know.
    pub warnings: Vec<Problem>,
    /// Steps of the main trajectory and its subagents.
    pub steps: usize,
    /// Tool calls, copied context left out.
    pub tool_calls: usize,
}

/// Checks a file's bytes: JSON as strict readers have it, then the rules of `atif.md` §4.
pub fn check_bytes(bytes: &[u8]) -> CheckReport {
    let mut errors = Vec::new();
    let bytes = if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        errors.push(problem(
            "",
            "the file starts with a byte order mark (EF BB BF), which JSON does not allow",
        ));
        rest
    } else {
        bytes
    };
    let mut report = CheckReport {
        valid: false,
        errors,
        warnings: Vec::new(),
        steps: 0,
        tool_calls: 0,
    };
    let value = match read(bytes, &mut report.errors) {
        Ok(value) => value,
        Err(fault) => {
            report.errors.push(fault);
            return report;
        }
    };
    match Document::parse(&value) {
        Ok(document) => {
            report.steps = document.trajectories().iter().map(|t| t.steps.len()).sum();
            report.tool_calls = document.calls().count();
            report.errors.extend(document.errors);
            report.warnings = document.warnings;
        }
        Err(found) => {
            report.errors.extend(found);
            report.warnings = check::document(&value).1;
        }
    }
    report.valid = report.errors.is_empty();
    report
}

fn problem(path: impl Into<String>, message: impl Into<String>) -> Problem {
    Problem {
        path: path.into(),
        message: message.into(),
    }
}

/// Strict JSON; repeated keys are listed and the last one counts.
fn read(bytes: &[u8], repeated: &mut Vec<Problem>) -> Result<Value, Problem> {
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Err(problem("", "the file is empty"));
    }
    let text = std::str::from_utf8(bytes).map_err(|fault| {
        problem(
            "",
            format!(
                "the file is not UTF-8: byte {} cannot be read",
                fault.valid_up_to() + 1
            ),
        )
    })?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let mut path = String::new();
    let value = Strict {
        path: &mut path,
        repeated,
    }
    .deserialize(&mut reader)
    .map_err(|fault| syntax(text, &fault))?;
    reader.end().map_err(|fault| {
        if matches!(value, Value::Object(_)) && text.trim_start().lines().count() > 1 {
            problem(
                "",
                format!(
                    "line {} starts another value; a trajectory is one JSON object, not one object a line (JSONL)",
                    fault.line()
                ),
            )
        } else {
            syntax(text, &fault)
        }
    })?;
    Ok(value)
}

/// Says where strict reading stopped, as a path, and why.
fn syntax(text: &str, fault: &serde_json::Error) -> Problem {
    let offset = offset(text, fault.line(), fault.column());
    let near = text.get(token_start(text, offset)..).unwrap_or("");
    let why = if near.starts_with("NaN") {
        "NaN is not JSON; leave the field out or write null".to_owned()
    } else if near.starts_with("Infinity") || near.starts_with("-Infinity") {
        "Infinity is not JSON; leave the field out or write null".to_owned()
    } else {
        let words = fault.to_string();
        let words = words.split(" at line ").next().unwrap_or(&words);
        match words {
            w if w.contains("surrogate") || w.contains("hex escape") => {
                "a \\u escape stands for half a character (a lone surrogate)".to_owned()
            }
            "number out of range" => "this number is out of range".to_owned(),
            "recursion limit exceeded" => "values are nested too deeply".to_owned(),
            other => format!("this is not JSON: {other}"),
        }
    };
    problem(
        path_at(text, offset),
        format!("line {}, column {}: {why}", fault.line(), fault.column()),
    )
}

/// The byte offset of a one-based line and byte column.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    let mut at = (start + column.saturating_sub(1)).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Back to the start of the word that `offset` stands in.
fn token_start(text: &str, offset: usize) -> usize {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '+' || c == '.';
    let before = text.get(..offset).unwrap_or("");
    offset - before.chars().rev().take_while(|c| word(*c)).count()
}

/// The path of the value that a byte offset stands in, by brackets and strings alone.
fn path_at(text: &str, offset: usize) -> String {
    enum Level {
        Object(String),
        List(usize),
    }
    let mut levels: Vec<Level> = Vec::new();
    let mut string: Option<usize> = None;
    let mut escaped = false;
    let mut last_string = String::new();
    for (at, byte) in text.bytes().enumerate().take(offset) {
        if let Some(start) = string {
            if escaped {
                escaped = false;
            } else if byte == b'\\' {
                escaped = true;
            } else if byte == b'"' {
                text.get(start..at)
                    .unwrap_or("")
                    .clone_into(&mut last_string);
                string = None;
            }
            continue;
        }
        match byte {
            b'"' => string = Some(at + 1),
            b'{' => levels.push(Level::Object(String::new())),
            b'[' => levels.push(Level::List(0)),
            b'}' | b']' => {
                levels.pop();
            }
            b':' => {
                if let Some(Level::Object(key)) = levels.last_mut() {
                    last_string.clone_into(key);
                }
            }
            b',' => match levels.last_mut() {
                Some(Level::List(index)) => *index += 1,
                Some(Level::Object(key)) => key.clear(),
                None => {}
            },
            _ => {}
        }
    }
    let mut path = String::new();
    for level in levels {
        match level {
            Level::Object(key) if key.is_empty() => {}
            Level::Object(key) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&key);
            }
            Level::List(index) => path.push_str(&format!("[{index}]")),
        }
    }
    path
}

/// Builds a value and lists every key that stands twice in one object.
struct Strict<'a> {
    path: &'a mut String,
    repeated: &'a mut Vec<Problem>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        serde_json::Number::from_f64(value)
            .map(Value::Number)
            .ok_or_else(|| E::custom("number out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let length = self.path.len();
        let mut out = Vec::new();
        loop {
            self.path.push_str(&format!("[{}]", out.len()));
            let item = items.next_element_seed(Strict {
                path: self.path,
                repeated: self.repeated,
            })?;
            self.path.truncate(length);
            match item {
                Some(item) => out.push(item),
                None => return Ok(Value::Array(out)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        const LISTED: usize = 100;
        let length = self.path.len();
        let mut out = serde_json::Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            if length > 0 {
                self.path.push('.');
            }
            self.path.push_str(&key);
            let value = entries.next_value_seed(Strict {
                path: self.path,
                repeated: self.repeated,
            })?;
            if out.contains_key(&key) && self.repeated.len() < LISTED {
                self.repeated.push(problem(
                    self.path.clone(),
                    "this key stands twice in one object, and readers differ on which one counts",
                ));
            }
            self.path.truncate(length);
            out.insert(key, value);
        }
        Ok(Value::Object(out))
    }
}
