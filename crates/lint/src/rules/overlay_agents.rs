//! `E-OVERLAY-AGENTS`: an overlay that names no agent.

use super::{Example, Rule};
use crate::Severity;
use crate::node::Kind;
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-OVERLAY-AGENTS",
    severity: Severity::Error,
    what: "An overlay names no agent, neither itself nor by the file's `defaults.agents`.",
    why: "An overlay knows the insides of certain agents. It scores runs of those agents only.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    evaluators: {trajectory: {required_tools_called: {tools: [look_up]}}}\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "defaults: {agents: [support-bot]}\noverlays:\n  - extends: tower-height\n    evaluators: {trajectory: {required_tools_called: {tools: [look_up]}}}\n",
        )],
        facts: "",
    },
};

/// `agents` is there and not empty, after the file's defaults.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    if unit.node.mapping().is_none() {
        return;
    }
    let own = unit.node.get("agents");
    let agents = own.or_else(|| unit.defaults.and_then(|defaults| defaults.get("agents")));
    let empty = match agents.map(|node| &node.kind) {
        None => true,
        Some(Kind::List(items)) => items.is_empty(),
        Some(_) => false,
    };
    if empty {
        let (span, path) = match own {
            Some(node) => (node.span, "/agents"),
            None => (unit.first_line(), ""),
        };
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(path),
            "This overlay names no agent.",
            "Add `agents: [name]` here, or once for the file under `defaults:`.",
        );
    }
}
