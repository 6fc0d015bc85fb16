//! `E-ID-TAKEN`: an id that another dataset of the workspace uses.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-ID-TAKEN",
    severity: Severity::Error,
    what: "A case of another dataset of the workspace has the same id.",
    why: "Overlays target a case by its id alone, so an id names one case in the whole workspace.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n",
        )],
        facts: "{\"other_cases\": {\"tower-height\": \"buildings\"}}",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: paris-tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n",
        )],
        facts: "{\"other_cases\": {\"tower-height\": \"buildings\"}}",
    },
};

/// The id against the other datasets, when they are known.
pub(crate) fn check(unit: &Unit<'_>, project: &Project<'_>, sink: &mut Sink) {
    let (Some(id), Some(others)) = (unit.id, &project.facts.other_cases) else {
        return;
    };
    if let (Some(dataset), Some(node)) = (others.get(id), unit.node.get("id")) {
        sink.report(
            &RULE,
            unit,
            node.span,
            unit.pointer_to("/id"),
            format!("The id `{id}` is used in the dataset `{dataset}` of this workspace."),
            "Give this case an id of its own.",
        );
    }
}
