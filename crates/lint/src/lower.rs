//! Sound trees into the domain's values: defaults folded in, short forms written out, fixture keys resolved
//! (`cases.md`, Canonical content).

use std::collections::BTreeMap;

use evalkit_core::case::Case;
use evalkit_core::overlay::Overlay;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::node::Node;
use crate::project::{Project, Sink, Unit};

/// An entry of the fixture registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureEntry {
    /// 64 lower-case hex digits.
    pub sha256: String,
    /// One or two sentences on what the file is.
    pub context: String,
}

/// The registry: what the documents declare, then what the facts know.
pub(crate) fn registry(project: &Project<'_>, sink: &Sink) -> BTreeMap<String, FixtureEntry> {
    let mut registry = BTreeMap::new();
    for fixture in &project.fixtures {
        if !sink.is_sound(&fixture.unit) {
            continue;
        }
        let text = |key: &str| fixture.unit.node.get(key).and_then(Node::text);
        if let (Some(sha256), Some(context)) = (text("sha256"), text("context")) {
            registry
                .entry(fixture.key.to_owned())
                .or_insert_with(|| FixtureEntry {
                    sha256: sha256.to_ascii_lowercase(),
                    context: context.to_owned(),
                });
        }
    }
    for (key, entry) in project.facts.fixtures.iter().flatten() {
        registry.entry(key.clone()).or_insert_with(|| entry.clone());
    }
    registry
}

/// The case of a unit about which no error was reported. `None` when a part of it is broken.
pub(crate) fn case(unit: &Unit<'_>, registry: &BTreeMap<String, FixtureEntry>) -> Option<Case> {
    let Value::Object(mut map) = unit.node.to_json()? else {
        return None;
    };
    if !map.contains_key("max_response_time")
        && let Some(time) = unit.defaults.and_then(|d| d.get("max_response_time"))
    {
        map.insert("max_response_time".to_owned(), time.to_json()?);
    }
    if let Some(keys) = map.get_mut("fixtures") {
        resolve_fixtures(keys, registry);
    }
    if let Some(Value::Object(metrics)) = map.get_mut("metrics") {
        write_out_metrics(metrics);
    }
    if let Some(judge) = map
        .get_mut("evaluators")
        .and_then(|evaluators| evaluators.get_mut("output")?.get_mut("presentation_judge"))
        && judge.is_array()
    {
        *judge = json!({ "require": judge.take() });
    }
    serde_json::from_value(Value::Object(map)).ok()
}

fn resolve_fixtures(keys: &mut Value, registry: &BTreeMap<String, FixtureEntry>) {
    for item in keys.as_array_mut().into_iter().flatten() {
        let Value::String(key) = item else { continue };
        *item = match registry.get(key.as_str()) {
            Some(entry) => json!({"key": key, "sha256": entry.sha256, "context": entry.context}),
            None => json!({ "key": key }),
        };
    }
}

/// A bare number is a threshold, and nothing is a metric without one (`gate.md` 3.1).
fn write_out_metrics(metrics: &mut Map<String, Value>) {
    for spec in metrics.values_mut() {
        match spec {
            Value::Null => *spec = json!({}),
            Value::Number(_) => *spec = json!({ "threshold": spec.take() }),
            _ => {}
        }
    }
}

/// The overlay of a unit about which no error was reported.
pub(crate) fn overlay(unit: &Unit<'_>) -> Option<Overlay> {
    let Value::Object(mut map) = unit.node.to_json()? else {
        return None;
    };
    if !map.contains_key("agents")
        && let Some(agents) = unit.defaults.and_then(|d| d.get("agents"))
    {
        map.insert("agents".to_owned(), agents.to_json()?);
    }
    serde_json::from_value(Value::Object(map)).ok()
}
