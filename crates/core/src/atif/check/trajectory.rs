//! Rules of a trajectory as a whole: its fields, its agent, its subagents and the references to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::{MAX_DEPTH, value};
use super::{Checker, NEWEST_MINOR, Need, Version, no_hint, optional, shown, version};

impl Checker {
    pub(super) fn trajectory(&mut self, map: &Map<String, Value>, depth: u32) {
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
    pub(super) fn identities(&mut self, root: &Map<String, Value>) {
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
