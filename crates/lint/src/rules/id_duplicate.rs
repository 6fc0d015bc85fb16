//! `E-ID-DUPLICATE`: an id twice in one dataset.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, related};

pub(crate) const RULE: Rule = Rule {
    code: "E-ID-DUPLICATE",
    severity: Severity::Error,
    what: "Two cases of the dataset have the same id.",
    why: "Versions, reviews and results hang on the id; two cases cannot share them.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n  - id: tower\n    input: {question: \"How old is the tower?\"}\n    max_response_time: 60\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n  - id: tower-age\n    input: {question: \"How old is the tower?\"}\n    max_response_time: 60\n",
        )],
        facts: "",
    },
};

/// Every case after the first of its id.
pub(crate) fn check(project: &Project<'_>, sink: &mut Sink) {
    let first = project.cases_by_id();
    for case in &project.cases {
        let (Some(id), Some(node)) = (case.id, case.node.get("id")) else {
            continue;
        };
        let Some(original) = first.get(id).filter(|first| first.number != case.number) else {
            continue;
        };
        let place = original.node.get("id").map(|node| node.span);
        let message = format!("The id `{id}` is taken by another case of this dataset.");
        let path = case.pointer_to("/id");
        let help = "Give this case an id of its own.";
        let diagnostic = sink.report(&RULE, case, node.span, path, message, help);
        if let Some(span) = place {
            let note = format!("`{id}` stands here first.");
            diagnostic
                .related
                .push(related(original.source, span, note));
        }
    }
}
