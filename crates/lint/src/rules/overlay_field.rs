//! `E-OVERLAY-FIELD`: an overlay touches what belongs to the case.

use super::{Example, Rule};
use crate::Severity;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-OVERLAY-FIELD",
    severity: Severity::Error,
    what: "An overlay sets something other than tags, the two tool checks and custom evaluators.",
    why: "Stripping every overlay must leave a portable case with the same ground truth.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    expected: \"330 metres\"\n    tags: [towers]\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    tags: [towers]\n",
        )],
        facts: "",
    },
};

/// Fields of a case that an overlay may not have.
pub(crate) const CASE_ONLY: &[&str] = &[
    "id",
    "input",
    "question",
    "messages",
    "fixtures",
    "expected",
    "context",
    "max_response_time",
    "approvals",
    "expect",
    "metrics",
    "metadata",
];

/// Buckets of `evaluators` that an overlay may not have.
pub(crate) const EVALUATORS_ONLY: &[&str] = &["output", "answer_rubrics", "presentation_judge"];

/// Checks of `evaluators.trajectory` that an overlay may not have.
pub(crate) const TRAJECTORY_ONLY: &[&str] = &["trajectory_rubrics"];

/// Each field that belongs to the case.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let evaluators = unit.node.get("evaluators");
    refuse(Some(unit.node), CASE_ONLY, "", unit, sink);
    refuse(evaluators, EVALUATORS_ONLY, "/evaluators", unit, sink);
    let trajectory = evaluators.and_then(|node| node.get("trajectory"));
    let path = "/evaluators/trajectory";
    refuse(trajectory, TRAJECTORY_ONLY, path, unit, sink);
}

fn refuse(node: Option<&Node>, names: &[&str], path: &str, unit: &Unit<'_>, sink: &mut Sink) {
    let entries = node.and_then(Node::mapping).unwrap_or_default();
    for entry in entries.iter().filter(|e| names.contains(&&*e.key)) {
        sink.report(
            &RULE,
            unit,
            entry.key_span,
            unit.pointer_to(&format!("{path}/{}", entry.key)),
            format!("An overlay may not set `{}`.", entry.key),
            "Change the case itself, or remove this. An overlay adds `tags`, `required_tools_called`, `tool_trajectory_match` and custom evaluators only.",
        );
    }
}
