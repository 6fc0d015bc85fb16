//! `E-FIELD-MISSING`: a field that the mapping must have.

use super::{Example, Rule};
use crate::Severity;
use crate::node::{Kind, Node};
use crate::project::{Project, Sink, Unit};
use crate::shape::{Closed, Path};

pub(crate) const RULE: Rule = Rule {
    code: "E-FIELD-MISSING",
    severity: Severity::Error,
    what: "A mapping lacks a field that it must have.",
    why: "Without it the case cannot be asked or graded.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    max_response_time: 60\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n",
        )],
        facts: "",
    },
};

/// Reports a field that a closed mapping lacks, on the mapping's first line.
pub(crate) fn report(
    node: &Node,
    field: &str,
    closed: &Closed,
    path: Path<'_>,
    unit: &Unit<'_>,
    sink: &mut Sink,
) {
    let name = capital(closed.name);
    let message = format!("{name} lacks `{field}`.");
    let span = unit.source.first_line(node.span);
    sink.report(&RULE, unit, span, path.pointer(), message, help(field));
}

fn help(field: &str) -> String {
    match field {
        "id" => "Add `id:`, a short name in lower case such as `revenue-2024`.".to_owned(),
        "input" => "Add `input:` with the `question` a user would type.".to_owned(),
        "rubric" => "Add `rubric:` with one sentence about what a correct answer contains.".to_owned(),
        "rubrics" => "Add `rubrics:` with at least one entry.".to_owned(),
        "context" => "Add `context:`, one or two sentences on what the file is.".to_owned(),
        "sha256" => "Add `sha256:` with the 64 hex digits of the file's hash; `evalkit fixture add FILE` writes the entry.".to_owned(),
        "extends" => "Add `extends:` with the id of the case.".to_owned(),
        "cases" | "overlays" | "fixtures" => format!("Add `{field}:`."),
        _ => format!("Add `{field}:`."),
    }
}

/// `input` needs a question or messages.
pub(crate) fn check_case(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let Some(input) = unit.node.get("input") else {
        return;
    };
    if input.mapping().is_some()
        && input.get("question").is_none()
        && input.get("messages").is_none()
    {
        sink.report(
            &RULE,
            unit,
            unit.source.first_line(input.span),
            unit.pointer_to("/input"),
            "The input lacks `question`.",
            "Add `question:` with what a user would type, or `messages:` for several turns.",
        );
    }
}

/// An overlay adds evaluators or tags.
pub(crate) fn check_overlay(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let holds = |key: &str| match unit.node.get(key).map(|node| &node.kind) {
        Some(Kind::List(items)) => !items.is_empty(),
        Some(Kind::Mapping(entries)) => entries.iter().any(|entry| match &entry.value.kind {
            Kind::Mapping(inner) => !inner.is_empty(),
            _ => true,
        }),
        Some(_) => true,
        None => false,
    };
    if unit.node.mapping().is_some() && !holds("evaluators") && !holds("tags") {
        sink.report(
            &RULE,
            unit,
            unit.first_line(),
            unit.pointer.clone(),
            "The overlay adds nothing.",
            "Add `evaluators:` with a tool check or a custom evaluator, or `tags:`.",
        );
    }
}

fn capital(name: &str) -> String {
    let mut chars = name.chars();
    match chars.next() {
        Some(first) => format!("{}{}", first.to_uppercase(), chars.as_str()),
        None => String::new(),
    }
}
