//! Rules of steps and what they hold: calls, observations, metrics, messages and their parts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::{time, value};
use super::{Checker, Need, no_hint, optional, shown};

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

impl Checker {
    pub(super) fn steps(&mut self, steps: &[Value]) {
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

    pub(super) fn token_counts(&mut self, map: &Map<String, Value>, keys: [&str; 3]) {
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
}
