//! `W-GROUND-TRUTH`: a case that waits for its values.

use super::{Example, Rule};
use crate::Severity;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "W-GROUND-TRUTH",
    severity: Severity::Warning,
    what: "A case is tagged `needs-ground-truth`.",
    why: "Main runs skip it until somebody stands behind its values; this says so where it can be seen.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ntags: [needs-ground-truth]\ninput: {question: \"How tall is the tower?\"}\nmax_response_time: 60\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ntags: [towers]\ninput: {question: \"How tall is the tower?\"}\nmax_response_time: 60\n",
        )],
        facts: "",
    },
};

/// The tag, wherever it stands in the list.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let tags = unit.node.get("tags").and_then(Node::list);
    for (i, tag) in tags.unwrap_or_default().iter().enumerate() {
        if tag.text() == Some("needs-ground-truth") {
            sink.report(
                &RULE,
                unit,
                tag.span,
                unit.pointer_to(&format!("/tags/{i}")),
                "Main runs skip this case until its ground truth is settled.",
                "Check the values, then remove the tag. `--include-needs-ground-truth` runs it anyway.",
            );
        }
    }
}

/// Whether the case waits for its ground truth.
pub(super) fn waits(unit: &Unit<'_>) -> bool {
    let tags = unit.node.get("tags").and_then(Node::list);
    tags.unwrap_or_default()
        .iter()
        .any(|tag| tag.text() == Some("needs-ground-truth"))
}
