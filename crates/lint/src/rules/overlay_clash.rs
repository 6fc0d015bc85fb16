//! `E-OVERLAY-CLASH`: one evaluator set twice for one agent on one case.

use std::collections::HashMap;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::Related;
use crate::node::{Entry, Node};
use crate::project::{Project, Sink, Unit, related};

pub(crate) const RULE: Rule = Rule {
    code: "E-OVERLAY-CLASH",
    severity: Severity::Error,
    what: "Two overlays, or an overlay and the case itself, set one evaluator for one agent on one case.",
    why: "Which of the two would count? Neither wins in silence.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "defaults: {agents: [support-bot]}\noverlays:\n  - extends: tower-height\n    evaluators: {trajectory: {required_tools_called: {tools: [look_up]}}}\n  - extends: tower-height\n    evaluators: {trajectory: {required_tools_called: {tools: [search]}}}\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "defaults: {agents: [support-bot]}\noverlays:\n  - extends: tower-height\n    evaluators: {trajectory: {required_tools_called: {tools: [look_up, search]}}}\n",
        )],
        facts: "",
    },
};

/// Who set an evaluator first.
enum First<'a> {
    Here(&'a Unit<'a>, &'a Entry),
    Dataset(&'a str),
}

/// The evaluators that a case or an overlay sets, with the pointer of each and its name in results.
fn evaluators(node: &Node) -> Vec<(String, String, &Entry)> {
    let mut found = Vec::new();
    let bucket = |name: &str| {
        node.at(&["evaluators", name])
            .and_then(Node::mapping)
            .unwrap_or_default()
    };
    for entry in bucket("trajectory") {
        if matches!(
            &*entry.key,
            "required_tools_called" | "tool_trajectory_match"
        ) {
            let path = format!("/evaluators/trajectory/{}", entry.key);
            found.push((entry.key.to_string(), path, entry));
        }
    }
    for entry in bucket("custom") {
        let key = crate::node::escape_pointer(&entry.key);
        let path = format!("/evaluators/custom/{key}");
        found.push((format!("custom:{}", entry.key), path, entry));
    }
    found
}

/// The agents of an overlay, defaults folded in.
pub(crate) fn agents<'a>(unit: &Unit<'a>) -> Vec<&'a str> {
    let own = unit.node.get("agents");
    let agents = own.or_else(|| unit.defaults.and_then(|defaults| defaults.get("agents")));
    let agents = agents.and_then(Node::list).unwrap_or_default();
    agents.iter().filter_map(Node::text).collect()
}

/// Overlays in file order: the later one is at fault, as the later sync would be.
pub(crate) fn check(project: &Project<'_>, sink: &mut Sink) {
    let cases = project.cases_by_id();
    let mut taken: HashMap<(&str, String, &str), First<'_>> = HashMap::new();
    for named in project.facts.overlays.iter().flatten() {
        let overlay = &named.overlay;
        let checks = &overlay.evaluators.trajectory;
        let mut names = Vec::new();
        if checks.required_tools_called.is_some() {
            names.push("required_tools_called".to_owned());
        }
        if checks.tool_trajectory_match.is_some() {
            names.push("tool_trajectory_match".to_owned());
        }
        names.extend(
            overlay
                .evaluators
                .custom
                .keys()
                .map(|name| format!("custom:{name}")),
        );
        for agent in &overlay.agents {
            for name in &names {
                taken
                    .entry((&overlay.extends, name.clone(), agent))
                    .or_insert(First::Dataset(&named.dataset));
            }
        }
    }
    for overlay in &project.overlays {
        let Some(target) = overlay.id else { continue };
        let in_case: HashMap<String, &Entry> = cases
            .get(target)
            .map(|case| evaluators(case.node))
            .unwrap_or_default()
            .into_iter()
            .map(|(name, _, entry)| (name, entry))
            .collect();
        for (name, path, entry) in evaluators(overlay.node) {
            if let (Some(own), Some(case)) = (in_case.get(&name), cases.get(target)) {
                let note = "The case itself sets it here.";
                let place = related(case.source, own.key_span, note);
                report(
                    overlay,
                    entry,
                    &path,
                    &name,
                    "the case itself",
                    Some(place),
                    sink,
                );
                continue;
            }
            let mut clash: Option<(String, Option<Related>)> = None;
            for agent in agents(overlay) {
                let key = (target, name.clone(), agent);
                match taken.get(&key) {
                    Some(First::Here(other, _)) if other.number == overlay.number => {}
                    Some(First::Here(other, first)) => {
                        let note = format!("It is set for `{agent}` here first.");
                        let place = related(other.source, first.key_span, note);
                        clash.get_or_insert_with(|| {
                            (format!("another overlay, for `{agent}`"), Some(place))
                        });
                    }
                    Some(First::Dataset(dataset)) => {
                        clash.get_or_insert_with(|| {
                            (
                                format!("an overlay of the dataset `{dataset}`, for `{agent}`"),
                                None,
                            )
                        });
                    }
                    None => {
                        taken.insert(key, First::Here(overlay, entry));
                    }
                }
            }
            if let Some((who, place)) = clash {
                report(overlay, entry, &path, &name, &who, place, sink);
            }
        }
    }
}

fn report(
    unit: &Unit<'_>,
    entry: &Entry,
    path: &str,
    name: &str,
    who: &str,
    place: Option<Related>,
    sink: &mut Sink,
) {
    let target = unit.id.unwrap_or_default();
    sink.report(
        &RULE,
        unit,
        entry.key_span,
        unit.pointer_to(path),
        format!("`{name}` of `{target}` is already set by {who}."),
        "Keep one of the two, or name other agents.",
    )
    .related
    .extend(place);
}
