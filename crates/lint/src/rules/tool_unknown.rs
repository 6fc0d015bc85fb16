//! `W-TOOL-UNKNOWN`: a tool check names a tool that nobody has seen.

use std::collections::BTreeSet;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "W-TOOL-UNKNOWN",
    severity: Severity::Warning,
    what: "A tool check names a tool that is not among the known ones.",
    why: "Names match exactly, prefixes included. A misspelt one can never be called.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    evaluators: {trajectory: {required_tools_called: {tools: [lookup]}}}\n",
        )],
        facts: "{\"tools\": [\"look_up\"]}",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    evaluators: {trajectory: {required_tools_called: {tools: [look_up]}}}\n",
        )],
        facts: "{\"tools\": [\"look_up\"]}",
    },
};

/// Names in both tool checks, when the tools are known.
pub(crate) fn check(unit: &Unit<'_>, project: &Project<'_>, sink: &mut Sink) {
    let (Some(tools), Some(trajectory)) = (
        &project.facts.tools,
        unit.node.at(&["evaluators", "trajectory"]),
    ) else {
        return;
    };
    let list = |keys: &[&str]| trajectory.at(keys).and_then(Node::list).unwrap_or_default();
    for (i, name) in list(&["required_tools_called", "tools"]).iter().enumerate() {
        let path = format!("/evaluators/trajectory/required_tools_called/tools/{i}");
        check_name(name, &path, tools, unit, sink);
    }
    for (i, call) in list(&["tool_trajectory_match", "expected"])
        .iter()
        .enumerate()
    {
        if let Some(name) = call.get("name") {
            let path = format!("/evaluators/trajectory/tool_trajectory_match/expected/{i}/name");
            check_name(name, &path, tools, unit, sink);
        }
    }
}

fn check_name(node: &Node, path: &str, tools: &BTreeSet<String>, unit: &Unit<'_>, sink: &mut Sink) {
    let Some(name) = node.text().filter(|name| !tools.contains(*name)) else {
        return;
    };
    let near = nearest(name, tools.iter().map(String::as_str));
    let help = match near {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "Write the name exactly as the agent records it, prefixes included.".to_owned(),
    };
    let inline = splice::is_inline(unit.source, node.span);
    let shown: String = name.chars().take(80).collect();
    let message = format!("No known tool is called `{shown}`.");
    let path = unit.pointer_to(path);
    let diagnostic = sink.report(&RULE, unit, node.span, path, message, help);
    diagnostic.fix = near.filter(|_| inline).map(|near| Fix {
        title: format!("Write `{near}`"),
        safe: false,
        edits: vec![Edit::new(node.span, splice::quoted(near))],
    });
}
