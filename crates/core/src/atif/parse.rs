//! The tolerant parse (`atif.md` §6.1): whatever can be read is read, whatever is unknown is kept.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::check::{self, Version};
use super::model::{
    Agent, Content, Document, Problem, Source, Step, SubagentRef, ToolCall, ToolResult, Trajectory,
};
use super::{MAX_DEPTH, MAX_TRAJECTORIES, time, value};

impl Document {
    /// Reads a trajectory document; departures from the format are listed in [`Document::errors`].
    ///
    /// # Errors
    /// When nothing could be graded: the value is no object, has no list of steps with at least one object in it, or is
    /// of another major version. Every problem found is returned.
    pub fn parse(root: &Value) -> Result<Self, Vec<Problem>> {
        let (errors, warnings) = check::document(root);
        let usable = root.as_object().filter(|map| {
            let steps = map.get("steps").and_then(Value::as_array);
            let version = map.get("schema_version").and_then(Value::as_str);
            steps.is_some_and(|s| s.iter().any(Value::is_object))
                && version.is_none_or(|v| check::version(v) != Version::OtherMajor)
        });
        let Some(map) = usable else {
            return Err(errors);
        };
        let mut document = Self {
            trajectories: Vec::new(),
            errors,
            warnings,
        };
        document.add(map, None, 0);
        document.name();
        Ok(document)
    }

    /// Adds a trajectory and, after it, those it embeds.
    fn add(
        &mut self,
        map: &Map<String, Value>,
        parent: Option<usize>,
        depth: u32,
    ) -> Option<usize> {
        if self.trajectories.len() >= MAX_TRAJECTORIES {
            return None;
        }
        let at = self.trajectories.len();
        self.trajectories.push(Trajectory {
            alias: String::new(),
            trajectory_id: text(map, "trajectory_id"),
            schema_version: text(map, "schema_version"),
            agent: agent(map.get("agent")),
            steps: Vec::new(),
            parent,
            children: Vec::new(),
            depth,
            rest: rest(
                map,
                &[
                    "schema_version",
                    "trajectory_id",
                    "agent",
                    "steps",
                    "subagent_trajectories",
                ],
            ),
        });
        let mut children = Vec::new();
        if depth < MAX_DEPTH {
            for subagent in list(map, "subagent_trajectories") {
                if let Value::Object(subagent) = subagent {
                    children.extend(self.add(subagent, Some(at), depth + 1));
                }
            }
        }
        // References resolve among the trajectories that this one embeds, never by session id; the first of equal ids.
        let mut by_id: BTreeMap<String, usize> = BTreeMap::new();
        for child in &children {
            if let Some(id) = &self.trajectories[*child].trajectory_id {
                by_id.entry(id.clone()).or_insert(*child);
            }
        }
        let steps = list(map, "steps").iter().map(|s| step(s, &by_id)).collect();
        self.trajectories[at].steps = steps;
        self.trajectories[at].children = children;
        Some(at)
    }

    /// Gives every trajectory its alias (`atif.md` §6.2).
    fn name(&mut self) {
        let mut taken: BTreeSet<String> = BTreeSet::from(["main".to_owned()]);
        // The root's own id is another name of `main`, so no subagent may have it.
        taken.extend(self.trajectories[0].trajectory_id.clone());
        // Plain ids come first, so that a suffixed alias never takes the id of another subagent.
        let ids: BTreeSet<String> = self.trajectories[1..]
            .iter()
            .filter_map(|t| t.trajectory_id.clone())
            .collect();
        "main".clone_into(&mut self.trajectories[0].alias);
        // Where the numbering of a base goes on, so that many equal ids stay cheap.
        let mut next: BTreeMap<String, usize> = BTreeMap::new();
        for trajectory in &mut self.trajectories[1..] {
            let written = trajectory.trajectory_id.as_deref().unwrap_or("");
            let base = plain(written);
            let number = next.entry(base.clone()).or_insert(2);
            let mut alias = base.clone();
            while taken.contains(&alias) || (alias != written && ids.contains(&alias)) {
                alias = format!("{base}#{number}");
                *number += 1;
            }
            taken.insert(alias.clone());
            trajectory.alias = alias;
        }
    }
}

/// An id without blanks and control characters, at most 120 characters; `subagent` for an empty one.
fn plain(id: &str) -> String {
    let plain: String = id
        .chars()
        .take(120)
        .map(|c| {
            if c.is_whitespace() || c.is_control() {
                '_'
            } else {
                c
            }
        })
        .collect();
    if plain.is_empty() {
        "subagent".to_owned()
    } else {
        plain
    }
}

fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key)?.as_str().map(str::to_owned)
}

fn list<'v>(map: &'v Map<String, Value>, key: &str) -> &'v [Value] {
    map.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Everything but the keys that were read.
fn rest(map: &Map<String, Value>, read: &[&str]) -> Map<String, Value> {
    map.iter()
        .filter(|(key, value)| !read.contains(&key.as_str()) && !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

fn agent(found: Option<&Value>) -> Agent {
    let Some(Value::Object(map)) = found else {
        return Agent::default();
    };
    Agent {
        name: text(map, "name").unwrap_or_default(),
        version: text(map, "version").unwrap_or_default(),
        model_name: text(map, "model_name"),
        tools: list(map, "tool_definitions")
            .iter()
            .filter_map(|tool| {
                let name = tool
                    .pointer("/function/name")
                    .or_else(|| tool.get("name"))?;
                name.as_str().map(str::to_owned)
            })
            .collect(),
    }
}

fn step(found: &Value, subagents: &BTreeMap<String, usize>) -> Step {
    let empty = Map::new();
    let map = found.as_object().unwrap_or(&empty);
    let mut results: Vec<ToolResult> = map
        .get("observation")
        .and_then(Value::as_object)
        .map_or(&[][..], |o| list(o, "results"))
        .iter()
        .map(|r| result(r, subagents))
        .collect();
    let mut calls: Vec<ToolCall> = list(map, "tool_calls").iter().map(call).collect();
    pair(&mut calls, &mut results);
    let metrics = map.get("metrics").and_then(Value::as_object);
    let count = |key: &str| -> Option<u64> {
        let count = value::integer(metrics?.get(key)?).ok()?;
        u64::try_from(count).ok()
    };
    let timestamp = text(map, "timestamp");
    Step {
        source: match map.get("source").and_then(Value::as_str) {
            Some("system") => Source::System,
            Some("user") => Source::User,
            Some("agent") => Source::Agent,
            other => Source::Other(other.unwrap_or("unknown").to_owned()),
        },
        message: content(map.get("message")),
        reasoning: text(map, "reasoning_content").filter(|r| !r.is_empty()),
        calls,
        results,
        copied: map
            .get("is_copied_context")
            .and_then(|v| value::boolean(v).ok())
            .unwrap_or(false),
        side_chain: side_chain(map.get("extra")),
        at: timestamp.as_deref().and_then(time::parse),
        timestamp,
        model_name: text(map, "model_name"),
        tokens: match (count("prompt_tokens"), count("completion_tokens")) {
            (None, None) => None,
            (input, output) => Some((input.unwrap_or(0), output.unwrap_or(0))),
        },
        cost_usd: metrics
            .and_then(|m| m.get("cost_usd"))
            .and_then(|v| value::number(v).ok()),
        rest: rest(
            map,
            &[
                "step_id",
                "source",
                "message",
                "reasoning_content",
                "tool_calls",
                "observation",
                "is_copied_context",
                "timestamp",
                "model_name",
                "metrics",
            ],
        ),
    }
}

/// A subagent's step inside the main array, as one harness writes it (`atif.md` §5.6).
fn side_chain(extra: Option<&Value>) -> Option<String> {
    let extra = extra?.as_object()?;
    let marked = extra
        .get("is_sidechain")
        .and_then(|v| value::boolean(v).ok());
    (marked == Some(true)).then(|| text(extra, "agent_id").unwrap_or_default())
}

fn call(found: &Value) -> ToolCall {
    let empty = Map::new();
    let map = found.as_object().unwrap_or(&empty);
    ToolCall {
        id: text(map, "tool_call_id").unwrap_or_default(),
        name: text(map, "function_name").unwrap_or_default(),
        arguments: match map.get("arguments") {
            Some(Value::String(json)) => match serde_json::from_str(json) {
                Ok(object @ Value::Object(_)) => object,
                _ => Value::String(json.clone()),
            },
            Some(arguments) => arguments.clone(),
            None => Value::Null,
        },
        results: Vec::new(),
        rest: rest(map, &["tool_call_id", "function_name", "arguments"]),
    }
}

fn result(found: &Value, subagents: &BTreeMap<String, usize>) -> ToolResult {
    let empty = Map::new();
    let map = found.as_object().unwrap_or(&empty);
    let references = match map.get("subagent_trajectory_ref") {
        Some(Value::Array(references)) => references.iter().collect(),
        Some(bare @ Value::Object(_)) => vec![bare],
        _ => Vec::new(),
    };
    ToolResult {
        source_call_id: text(map, "source_call_id"),
        content: content(map.get("content")),
        subagents: references
            .into_iter()
            .filter_map(|reference| {
                let map = reference.as_object()?;
                let id = text(map, "trajectory_id");
                if let Some(child) = id.as_ref().and_then(|id| subagents.get(id)) {
                    return Some(SubagentRef::Embedded(*child));
                }
                text(map, "trajectory_path")
                    .or(id)
                    .map(SubagentRef::NotSupplied)
            })
            .collect(),
        rest: rest(
            map,
            &["source_call_id", "content", "subagent_trajectory_ref"],
        ),
    }
}

/// Pairs results with calls of the same step. Where an id stands on several calls, the first result goes to the first
/// call, the next to the next, and all others to the last.
fn pair(calls: &mut [ToolCall], results: &mut [ToolResult]) {
    let mut by_id: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, call) in calls.iter().enumerate() {
        by_id.entry(call.id.clone()).or_default().push(index);
    }
    let mut answered: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, result) in results.iter().enumerate() {
        let Some(id) = result.source_call_id.as_deref() else {
            continue;
        };
        let Some(candidates) = by_id.get(id) else {
            continue;
        };
        let turn = answered.entry(id).or_default();
        let call = candidates[(*turn).min(candidates.len() - 1)];
        *turn += 1;
        calls[call].results.push(index);
    }
}

/// Text and media of a message or result; anything that is neither text nor parts is kept as its JSON.
fn content(found: Option<&Value>) -> Content {
    match found {
        None | Some(Value::Null) => Content::default(),
        Some(Value::String(text)) => Content {
            text: text.clone(),
            media: Vec::new(),
        },
        Some(Value::Array(parts)) => {
            let mut out = Content::default();
            for part in parts {
                if !out.text.is_empty() {
                    out.text.push('\n');
                }
                let kind = part.get("type").and_then(Value::as_str);
                let path = part.pointer("/source/path").and_then(Value::as_str);
                match (kind, path, part.get("text").and_then(Value::as_str)) {
                    (Some(kind), Some(path), _) => {
                        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
                        out.text.push_str(&format!("[{kind}: {name}]"));
                        out.media.push((kind.to_owned(), path.to_owned()));
                    }
                    (_, None, Some(text)) => out.text.push_str(text),
                    _ => out.text.push_str(&part.to_string()),
                }
            }
            out
        }
        Some(other) => Content {
            text: other.to_string(),
            media: Vec::new(),
        },
    }
}
