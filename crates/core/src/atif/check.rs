//! Conformance (`atif.md` §4): the rules of the upstream validator, every finding with its path, and what the format
//! allows but a reader should know as warnings.
//!
//! The verdicts were compared with the upstream models 0.26.0 on 12,000 documents mutated from the reference files: they
//! differ only where a count does not fit 64 bits, which is an error here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::model::Problem;
use super::value::{self, Read};
use super::{MAX_DEPTH, time};

/// The versions of the closed list, `ATIF-v1.0` to `ATIF-v1.8`.
const NEWEST_MINOR: u32 = 8;

/// At most this many problems of each kind are listed; the rest is counted.
const LISTED: usize = 500;

const IMAGE_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

/// Audio media types, and the aliases that are folded to them.
const AUDIO_TYPES: [&str; 19] = [
    "audio/wav",
    "audio/mpeg",
    "audio/mp4",
    "audio/aac",
    "audio/ogg",
    "audio/flac",
    "audio/webm",
    "audio/aiff",
    "audio/mp3",
    "audio/mpga",
    "audio/x-mpeg",
    "audio/x-wav",
    "audio/wave",
    "audio/vnd.wave",
    "audio/x-m4a",
    "audio/m4a",
    "audio/x-aac",
    "audio/x-flac",
    "audio/x-aiff",
];

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

    fn trajectory(&mut self, map: &Map<String, Value>, depth: u32) {
        self.closed(
            map,
            &[
                "schema_version",
                "session_id",
                "trajectory_id",
                "agent",
                "steps",
                "notes",
                "final_metrics",
                "continued_trajectory_ref",
                "extra",
                "subagent_trajectories",
            ],
            no_hint,
        );
        self.schema_version(map);
        for key in ["session_id", "notes", "continued_trajectory_ref"] {
            self.text(map, key, Need::Optional);
        }
        let id = self.text(map, "trajectory_id", Need::Optional);
        if depth > 0 && optional(map, "trajectory_id").is_none() {
            self.key("trajectory_id", |c| {
                c.error("this field is missing; an embedded subagent needs it");
            });
        }
        if id.is_some_and(|id| id.trim().is_empty()) {
            self.key("trajectory_id", |c| c.warn("this id is empty"));
        }
        self.extra(map);
        if let Some(agent) = self.object(map, "agent", Need::Required) {
            self.key("agent", |c| c.agent(agent));
        }
        let steps = self.list(map, "steps", Need::Required);
        if let Some(steps) = steps {
            self.key("steps", |c| c.steps(steps));
        }
        if let Some(metrics) = self.object(map, "final_metrics", Need::Optional) {
            self.key("final_metrics", |c| c.final_metrics(metrics, steps));
        }
        let subagents = self
            .list(map, "subagent_trajectories", Need::Optional)
            .unwrap_or(&[]);
        if depth >= MAX_DEPTH && !subagents.is_empty() {
            self.key("subagent_trajectories", |c| {
                c.error(format!("subagents more than {MAX_DEPTH} deep are not read"));
            });
            return;
        }
        self.references(map, subagents);
        let mut seen = BTreeSet::new();
        self.each_object("subagent_trajectories", subagents, |c, subagent| {
            if let Some(Value::String(id)) = subagent.get("trajectory_id")
                && !seen.insert(id.as_str())
            {
                c.key("trajectory_id", |c| {
                    c.error(format!(
                        "`{}` is already the id of another entry of this list",
                        shown(id)
                    ));
                });
            }
            c.trajectory(subagent, depth + 1);
        });
    }

    fn schema_version(&mut self, map: &Map<String, Value>) {
        if !map.contains_key("schema_version") {
            self.key("schema_version", |c| {
                c.warn(format!(
                    "this field is missing; the file is read as ATIF-v1.{NEWEST_MINOR}"
                ));
            });
            return;
        }
        if let Some(text) = self.text(map, "schema_version", Need::Required) {
            let text_shown = shown(text);
            self.key("schema_version", |c| match version(text) {
                Version::Known => {}
                Version::NewerMinor => c.error(format!(
                    "`{text_shown}` is newer than ATIF-v1.{NEWEST_MINOR}, as which it is read"
                )),
                Version::OtherMajor => {
                    c.error(format!("`{text_shown}` is not read; versions 1.0 to 1.{NEWEST_MINOR} are"));
                }
                Version::Unreadable => c.error(format!(
                    "`{text_shown}` is not a version; it is written ATIF-v1.0 to ATIF-v1.{NEWEST_MINOR}"
                )),
            });
        }
    }

    fn agent(&mut self, map: &Map<String, Value>) {
        self.closed(
            map,
            &["name", "version", "model_name", "tool_definitions", "extra"],
            |key| match key {
                "model" | "provider" => {
                    "; the model goes into model_name, anything else into extra"
                }
                _ => "",
            },
        );
        self.text(map, "name", Need::Required);
        self.text(map, "version", Need::Required);
        self.text(map, "model_name", Need::Optional);
        self.extra(map);
        if let Some(tools) = self.list(map, "tool_definitions", Need::Optional) {
            self.each_object("tool_definitions", tools, |_, _| {});
        }
    }

    fn steps(&mut self, steps: &[Value]) {
        if steps.is_empty() {
            self.error("a trajectory has at least one step");
        }
        let mut last_time = None;
        for (index, step) in steps.iter().enumerate() {
            self.index(index, |c| match step {
                Value::Object(map) => {
                    let at = c.step(map, index);
                    if let (Some(last), Some(at)) = (last_time, at)
                        && at < last
                    {
                        c.key("timestamp", |c| c.warn("this is before the step above"));
                    }
                    last_time = at.or(last_time);
                }
                other => c.expected("an object", other),
            });
        }
        let by_agent = |step: &Value| step.get("source").and_then(Value::as_str) == Some("agent");
        if !steps.is_empty() && !steps.iter().any(by_agent) {
            self.warn("no step is the agent's");
        }
    }

    fn step(&mut self, map: &Map<String, Value>, index: usize) -> Option<i64> {
        self.closed(
            map,
            &[
                "step_id",
                "timestamp",
                "source",
                "message",
                "model_name",
                "reasoning_effort",
                "reasoning_content",
                "tool_calls",
                "observation",
                "metrics",
                "is_copied_context",
                "llm_call_count",
                "extra",
            ],
            no_hint,
        );
        self.step_id(map, index);
        let source = self.text(map, "source", Need::Required);
        if let Some(other) = source
            && !matches!(other, "system" | "user" | "agent")
        {
            self.key("source", |c| {
                c.error(format!(
                    "`{}` is none of system, user, agent{}",
                    shown(other),
                    match other {
                        "assistant" => "; the agent's own steps are agent",
                        "tool" => "; tool results stand in the observation of the step that called",
                        _ => "",
                    }
                ));
            });
        }
        if let Some(message) = self.required(map, "message") {
            self.key("message", |c| c.content(message));
        }
        let at = self
            .text(map, "timestamp", Need::Optional)
            .and_then(|text| {
                let at = time::parse(text);
                if at.is_none() {
                    self.key("timestamp", |c| {
                        c.error(format!("`{}` is not an ISO 8601 time", shown(text)));
                    });
                }
                at
            });
        self.text(map, "model_name", Need::Optional);
        self.text(map, "reasoning_content", Need::Optional);
        if let Some(effort) = optional(map, "reasoning_effort")
            && !effort.is_string()
            && value::number(effort).ok().is_none()
        {
            self.key("reasoning_effort", |c| {
                c.expected("a text or a number", effort)
            });
        }
        self.read(map, "is_copied_context", value::boolean);
        self.extra(map);
        if let Some(metrics) = self.object(map, "metrics", Need::Optional) {
            self.key("metrics", |c| c.metrics(metrics));
        }
        let calls = self.list(map, "tool_calls", Need::Optional).unwrap_or(&[]);
        self.each_object("tool_calls", calls, |c, call| c.call(call));
        let ids = self.call_ids(calls);
        if let Some(observation) = self.object(map, "observation", Need::Optional) {
            self.key("observation", |c| c.observation(observation, &ids));
        }
        self.only_for_agents(map, source);
        at
    }

    fn step_id(&mut self, map: &Map<String, Value>, index: usize) {
        let Some(found) = self.required(map, "step_id") else {
            return;
        };
        self.key("step_id", |c| {
            if let Some(id) = c.loosely(found, value::integer)
                && i64::try_from(index + 1) != Ok(id)
            {
                c.error(format!(
                    "step ids count 1, 2, 3, …: expected {}, got {id}",
                    index + 1
                ));
            }
        });
    }

    /// Rules 8 and 10: what only an agent's step may carry, and what a dispatch without a model may not.
    fn only_for_agents(&mut self, map: &Map<String, Value>, source: Option<&str>) {
        if matches!(source, Some("system" | "user")) {
            for key in [
                "model_name",
                "reasoning_effort",
                "reasoning_content",
                "tool_calls",
                "metrics",
            ] {
                if optional(map, key).is_some() {
                    self.key(key, |c| c.error("only a step of the agent may have this"));
                }
            }
        }
        let calls = self.read(map, "llm_call_count", value::integer);
        if calls.is_some_and(|n| n < 0) {
            self.key("llm_call_count", |c| c.error("a count is not negative"));
        }
        if calls == Some(0) && source == Some("agent") {
            for key in ["metrics", "reasoning_content"] {
                if optional(map, key).is_some() {
                    self.key(key, |c| {
                        c.error("a step without a model call (llm_call_count 0) has none");
                    });
                }
            }
        }
    }

    fn call(&mut self, map: &Map<String, Value>) {
        self.closed(
            map,
            &["tool_call_id", "function_name", "arguments", "extra"],
            |key| match key {
                "name" => "; the tool's name is function_name",
                "result" | "output" => "; results stand in the step's observation",
                _ => "",
            },
        );
        self.text(map, "tool_call_id", Need::Required);
        self.text(map, "function_name", Need::Required);
        self.object(map, "arguments", Need::Required);
        self.extra(map);
    }

    /// The step's call ids with how often each stands there; warns of empty and repeated ones.
    fn call_ids<'v>(&mut self, calls: &'v [Value]) -> BTreeMap<&'v str, usize> {
        let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
        self.key("tool_calls", |c| {
            for (index, call) in calls.iter().enumerate() {
                let Some(id) = call.get("tool_call_id").and_then(Value::as_str) else {
                    continue;
                };
                let count = ids.entry(id).or_default();
                *count += 1;
                let (repeated, empty) = (*count == 2, id.is_empty());
                if repeated || empty {
                    c.index(index, |c| {
                        c.key("tool_call_id", |c| {
                            c.warn(if empty {
                                "this id is empty".to_owned()
                            } else {
                                format!("`{}` is the id of another call of this step", shown(id))
                            });
                        });
                    });
                }
            }
        });
        ids
    }

    fn observation(&mut self, map: &Map<String, Value>, calls: &BTreeMap<&str, usize>) {
        self.closed(map, &["results"], no_hint);
        let Some(results) = self.list(map, "results", Need::Required) else {
            return;
        };
        let mut answered: BTreeMap<&str, usize> = BTreeMap::new();
        self.each_object("results", results, |c, result| {
            c.closed(
                result,
                &[
                    "source_call_id",
                    "content",
                    "subagent_trajectory_ref",
                    "extra",
                ],
                |key| match key {
                    "is_error" => "; an error is text in content, or a hint in extra",
                    _ => "",
                },
            );
            c.extra(result);
            if let Some(content) = optional(result, "content") {
                c.key("content", |c| c.content(content));
            }
            c.subagent_refs(result);
            let Some(id) = c.text(result, "source_call_id", Need::Optional) else {
                return;
            };
            let known = calls.get(id).copied().unwrap_or(0);
            if known == 0 {
                c.key("source_call_id", |c| {
                    c.error(format!("`{}` is no tool_call_id of this step", shown(id)));
                });
                return;
            }
            let count = answered.entry(id).or_default();
            *count += 1;
            if *count == known + 1 {
                c.key("source_call_id", |c| {
                    c.warn(format!("`{}` already has its result", shown(id)));
                });
            }
        });
    }

    fn subagent_refs(&mut self, result: &Map<String, Value>) {
        let Some(refs) = self.list(result, "subagent_trajectory_ref", Need::Optional) else {
            return;
        };
        self.each_object("subagent_trajectory_ref", refs, |c, reference| {
            c.closed(
                reference,
                &["trajectory_id", "trajectory_path", "session_id", "extra"],
                no_hint,
            );
            for key in ["trajectory_id", "trajectory_path", "session_id"] {
                c.text(reference, key, Need::Optional);
            }
            c.extra(reference);
            if optional(reference, "trajectory_id").is_none()
                && optional(reference, "trajectory_path").is_none()
            {
                c.error("a reference needs trajectory_id or trajectory_path; session_id does not resolve it");
            }
        });
    }

    fn metrics(&mut self, map: &Map<String, Value>) {
        self.closed(
            map,
            &[
                "prompt_tokens",
                "completion_tokens",
                "cached_tokens",
                "cost_usd",
                "prompt_token_ids",
                "completion_token_ids",
                "logprobs",
                "extra",
            ],
            no_hint,
        );
        self.token_counts(map, ["prompt_tokens", "completion_tokens", "cached_tokens"]);
        self.read(map, "cost_usd", value::number);
        for key in ["prompt_token_ids", "completion_token_ids"] {
            self.numbers(
                map,
                key,
                |v| value::integer(v).ok().is_some(),
                "a whole number",
            );
        }
        self.numbers(
            map,
            "logprobs",
            |v| value::number(v).ok().is_some(),
            "a number",
        );
        self.extra(map);
    }

    fn final_metrics(&mut self, map: &Map<String, Value>, steps: Option<&[Value]>) {
        self.closed(
            map,
            &[
                "total_prompt_tokens",
                "total_completion_tokens",
                "total_cached_tokens",
                "total_cost_usd",
                "total_steps",
                "extra",
            ],
            |key| match key {
                "prompt_tokens" | "completion_tokens" | "cached_tokens" | "cost_usd" => {
                    "; totals are named total_…"
                }
                _ => "",
            },
        );
        self.token_counts(
            map,
            [
                "total_prompt_tokens",
                "total_completion_tokens",
                "total_cached_tokens",
            ],
        );
        self.read(map, "total_cost_usd", value::number);
        self.extra(map);
        if let Some(total) = self.read(map, "total_steps", value::integer) {
            self.key("total_steps", |c| {
                if total < 0 {
                    c.error("a count is not negative");
                } else if let Some(steps) = steps
                    && i64::try_from(steps.len()) != Ok(total)
                {
                    c.warn(format!("it says {total}, and there are {}", steps.len()));
                }
            });
        }
    }

    fn token_counts(&mut self, map: &Map<String, Value>, keys: [&str; 3]) {
        for key in keys {
            if self.read(map, key, value::integer).is_some_and(|n| n < 0) {
                self.key(key, |c| c.warn("a count is not negative"));
            }
        }
    }

    fn numbers(
        &mut self,
        map: &Map<String, Value>,
        key: &str,
        fits: fn(&Value) -> bool,
        what: &str,
    ) {
        let Some(items) = self.list(map, key, Need::Optional) else {
            return;
        };
        self.key(key, |c| {
            for (index, item) in items.iter().enumerate() {
                if !fits(item) {
                    c.index(index, |c| c.expected(what, item));
                }
            }
        });
    }

    /// A message or a result's content: text, or parts.
    fn content(&mut self, content: &Value) {
        let parts = match content {
            Value::String(_) => return,
            Value::Array(parts) => parts,
            other => return self.expected("a text or a list of parts", other),
        };
        for (index, part) in parts.iter().enumerate() {
            self.index(index, |c| match part {
                Value::Object(map) => c.part(map),
                other => c.expected("an object", other),
            });
        }
    }

    fn part(&mut self, map: &Map<String, Value>) {
        self.closed(map, &["type", "text", "source"], no_hint);
        let kind = self.text(map, "type", Need::Required);
        let text = self.text(map, "text", Need::Optional);
        let source = self.object(map, "source", Need::Optional);
        match kind {
            Some("text") => {
                if text.is_none() && optional(map, "text").is_none() {
                    self.key("text", |c| {
                        c.error("this field is missing; a text part needs it")
                    });
                }
                if source.is_some() {
                    self.key("source", |c| c.error("a text part has none"));
                }
            }
            Some(kind @ ("image" | "audio")) => {
                if text.is_some() {
                    self.key("text", |c| c.error(format!("an {kind} part has none")));
                }
                match source {
                    Some(source) => self.key("source", |c| c.media(source, kind == "audio")),
                    None if optional(map, "source").is_none() => self.key("source", |c| {
                        c.error(format!("this field is missing; an {kind} part needs it"));
                    }),
                    None => {}
                }
            }
            Some(other) => self.key("type", |c| {
                c.error(format!("`{}` is none of text, image, audio", shown(other)));
            }),
            None => {}
        }
    }

    fn media(&mut self, map: &Map<String, Value>, audio: bool) {
        let known: &[&str] = if audio {
            &["media_type", "path", "duration_sec"]
        } else {
            &["media_type", "path"]
        };
        self.closed(map, known, no_hint);
        self.text(map, "path", Need::Required);
        if let Some(kind) = self.text(map, "media_type", Need::Required) {
            let folded = kind.trim().to_ascii_lowercase();
            let fits = if audio {
                AUDIO_TYPES.contains(&folded.as_str())
            } else {
                IMAGE_TYPES.contains(&kind)
            };
            if !fits {
                self.key("media_type", |c| {
                    c.error(format!(
                        "`{}` is no {} type that ATIF knows",
                        shown(kind),
                        if audio { "audio" } else { "image" }
                    ));
                });
            }
        }
        if audio
            && self
                .read(map, "duration_sec", value::number)
                .is_some_and(|d| d < 0.0)
        {
            self.key("duration_sec", |c| c.error("a duration is not negative"));
        }
    }

    /// Warnings of references that lead nowhere and of subagents that nothing references.
    fn references(&mut self, map: &Map<String, Value>, subagents: &[Value]) {
        let embedded: BTreeSet<&str> = subagents
            .iter()
            .filter_map(|s| s.get("trajectory_id")?.as_str())
            .collect();
        let mut referenced: BTreeSet<&str> = BTreeSet::new();
        let steps = map.get("steps").and_then(Value::as_array);
        self.key("steps", |c| {
            for (at, step) in steps.into_iter().flatten().enumerate() {
                let results = step
                    .pointer("/observation/results")
                    .and_then(Value::as_array);
                for (result_at, result) in results.into_iter().flatten().enumerate() {
                    let refs = result
                        .get("subagent_trajectory_ref")
                        .and_then(Value::as_array);
                    for reference in refs.into_iter().flatten() {
                        let id = reference.get("trajectory_id").and_then(Value::as_str);
                        let path = reference.get("trajectory_path").and_then(Value::as_str);
                        if let Some(id) = id
                            && embedded.contains(id)
                        {
                            referenced.insert(id);
                            continue;
                        }
                        let Some(name) = path.or(id) else { continue };
                        let message = format!("the subagent `{}` is not in this file", shown(name));
                        c.index(at, |c| {
                            c.key("observation", |c| {
                                c.key("results", |c| {
                                    c.index(result_at, |c| {
                                        c.key("subagent_trajectory_ref", |c| c.warn(message));
                                    });
                                });
                            });
                        });
                    }
                }
            }
        });
        self.key("subagent_trajectories", |c| {
            for (index, subagent) in subagents.iter().enumerate() {
                if let Some(id) = subagent.get("trajectory_id").and_then(Value::as_str)
                    && !referenced.contains(id)
                {
                    c.index(index, |c| c.warn("no step refers to this subagent"));
                }
            }
        });
    }

    /// Warns of ids that stand more than once in the whole tree, and of the id `main`.
    fn identities(&mut self, root: &Map<String, Value>) {
        fn walk<'v>(map: &'v Map<String, Value>, depth: u32, ids: &mut Vec<&'v str>) {
            ids.extend(map.get("trajectory_id").and_then(Value::as_str));
            let subagents = map.get("subagent_trajectories").and_then(Value::as_array);
            if depth < MAX_DEPTH {
                for subagent in subagents.into_iter().flatten() {
                    if let Value::Object(subagent) = subagent {
                        walk(subagent, depth + 1, ids);
                    }
                }
            }
        }
        let mut ids = Vec::new();
        walk(root, 0, &mut ids);
        ids.sort_unstable();
        let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
        for id in ids {
            *groups.entry(id).or_default() += 1;
        }
        for (id, count) in groups {
            if count > 1 {
                self.warn(format!(
                    "the trajectory id `{}` stands {count} times; later ones are cited as `{0}#2` and so on",
                    shown(id)
                ));
            }
        }
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
