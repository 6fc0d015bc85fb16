//! `E-TOOL-CHECK`: a tool check that cannot be made.

use evalkit_core::case::ArgsMode;

use super::{Example, Rule};
use crate::Severity;
use crate::nearest::nearest;
use crate::node::{Node, escape_pointer};
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-TOOL-CHECK",
    severity: Severity::Error,
    what: "A tool check has an empty list, an unknown mode, or `match_overrides` that cannot apply.",
    why: "An empty list would pass always, and an override that nothing reads would check less than its author thinks.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    evaluators:\n      trajectory:\n        tool_trajectory_match:\n          expected:\n            - name: look_up\n              args: {topic: tower}\n              args_mode: exact\n              match_overrides: {topic: substring}\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    evaluators:\n      trajectory:\n        tool_trajectory_match:\n          expected:\n            - name: look_up\n              args: {topic: tower}\n              match_overrides: {topic: substring}\n",
        )],
        facts: "",
    },
};

const BASE: &str = "/evaluators/trajectory";

/// Both tool checks of a case or an overlay.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let Some(trajectory) = unit.node.at(&["evaluators", "trajectory"]) else {
        return;
    };
    let tools = trajectory.at(&["required_tools_called", "tools"]);
    if let Some((node, [])) = tools.and_then(|node| Some((node, node.list()?))) {
        let path = unit.pointer_to(&format!("{BASE}/required_tools_called/tools"));
        let message = "`tools` is empty, so the check would always pass.";
        let help = "Name at least one tool, or remove the check.";
        sink.report(&RULE, unit, node.span, path, message, help);
    }
    for (i, tool) in tools
        .and_then(Node::list)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        let path = format!("{BASE}/required_tools_called/tools/{i}");
        check_name(tool, path, unit, sink);
    }
    let expected = trajectory.at(&["tool_trajectory_match", "expected"]);
    if let Some((node, [])) = expected.and_then(|node| Some((node, node.list()?))) {
        let path = unit.pointer_to(&format!("{BASE}/tool_trajectory_match/expected"));
        let message = "`expected` is empty, so the check would always pass.";
        let help = "Write at least one expected call, or remove the check.";
        sink.report(&RULE, unit, node.span, path, message, help);
    }
    let calls = expected.and_then(Node::list).unwrap_or_default();
    for (i, call) in calls.iter().enumerate() {
        let path = format!("{BASE}/tool_trajectory_match/expected/{i}");
        if let Some(name) = call.get("name") {
            check_name(name, format!("{path}/name"), unit, sink);
        }
        check_call(call, &path, unit, sink);
    }
}

fn check_name(node: &Node, path: String, unit: &Unit<'_>, sink: &mut Sink) {
    if node.text().is_some_and(|name| name.trim().is_empty()) {
        sink.report(
            &RULE,
            unit,
            node.span,
            unit.pointer_to(&path),
            "The tool's name is empty.",
            "Write the name exactly as the agent records it.",
        );
    }
}

fn check_call(call: &Node, path: &str, unit: &Unit<'_>, sink: &mut Sink) {
    let written = call.get("args_mode").and_then(Node::text);
    let mode = match written {
        None => ArgsMode::default(),
        Some(text) => match ArgsMode::parse(text) {
            Some(mode) => mode,
            None => {
                let names = ArgsMode::ALL.map(ArgsMode::as_str);
                let help = match nearest(text, names) {
                    Some(near) => format!("Did you mean `{near}`?"),
                    None => {
                        "Write `subset` (the default), `exact`, `ignore` or `substring`.".to_owned()
                    }
                };
                if let Some(node) = call.get("args_mode") {
                    let path = unit.pointer_to(&format!("{path}/args_mode"));
                    let shown: String = text.chars().take(60).collect();
                    let message = format!("`{shown}` is not a mode.");
                    sink.report(&RULE, unit, node.span, path, message, help);
                }
                return;
            }
        },
    };
    let Some(overrides) = call.entry("match_overrides") else {
        return;
    };
    let all = unit.pointer_to(&format!("{path}/match_overrides"));
    if matches!(mode, ArgsMode::Exact | ArgsMode::Ignore) {
        sink.report(
            &RULE,
            unit,
            overrides.key_span,
            all,
            format!(
                "`match_overrides` cannot stand with `args_mode: {}`.",
                mode.as_str()
            ),
            "Remove it, or use `subset` or `substring`.",
        );
        return;
    }
    let args = call.get("args");
    for entry in overrides.value.mapping().unwrap_or_default() {
        let path = format!("{all}/{}", escape_pointer(&entry.key));
        if args.is_none_or(|args| args.get(&entry.key).is_none()) {
            sink.report(
                &RULE,
                unit,
                entry.key_span,
                path,
                format!("`{}` is not a key of `args`.", entry.key),
                "Override keys of `args` only.",
            );
        } else if let Some(value) = entry.value.text()
            && !matches!(value, "equals" | "substring")
        {
            let shown: String = value.chars().take(60).collect();
            sink.report(
                &RULE,
                unit,
                entry.value.span,
                path,
                format!("`{shown}` is not an override."),
                "Write `equals` or `substring`.",
            );
        }
    }
}
