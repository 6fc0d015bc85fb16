//! `E-FIELD-UNKNOWN`: a field that the mapping does not have.

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::node::Entry;
use crate::project::{Sink, Unit};
use crate::shape::{Closed, Path, language};

pub(crate) const RULE: Rule = Rule {
    code: "E-FIELD-UNKNOWN",
    severity: Severity::Error,
    what: "A mapping has a field that is not part of the language.",
    why: "A misspelt field would be skipped in silence, and the check behind it never made.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_respons_time: 60\n    metrics: {relevance: {threshold: 4}}\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n    metrics: {relevance: {threshold: 4}}\n",
        )],
        facts: "",
    },
};

/// Names that authors try, and where the thing they mean is written.
const MEANT: &[(&str, &str)] = &[
    ("prompt", "input.question"),
    ("query", "input.question"),
    ("user_input", "input.question"),
    ("reference", "expected"),
    ("answer", "expected"),
    ("expected_answer", "expected"),
    ("expected_output", "expected"),
    ("ground_truth", "expected"),
    ("timeout", "max_response_time"),
    ("max_latency", "max_response_time"),
    ("latency", "max_response_time"),
    ("judge", "metrics"),
    ("split", "tags"),
    ("splits", "tags"),
    ("files", "fixtures"),
    ("attachments", "fixtures"),
    ("assertions", "evaluators.output.answer_rubrics.rubrics"),
    ("criteria", "evaluators.output.answer_rubrics.rubrics"),
    ("answer_rubric", "evaluators.output.answer_rubrics"),
    ("presentation", "evaluators.output.presentation_judge"),
    (
        "required_tools",
        "evaluators.trajectory.required_tools_called",
    ),
    ("text", "rubric"),
    ("args_subset", "args"),
];

/// Reports a field, with the name or the place that was probably meant.
pub(crate) fn report(
    entry: &Entry,
    siblings: &[Entry],
    closed: &Closed,
    path: Path<'_>,
    unit: &Unit<'_>,
    sink: &mut Sink,
) {
    let key = &*entry.key;
    let free = |name: &&str| !siblings.iter().any(|sibling| &*sibling.key == *name);
    let names = closed.fields.iter().map(|field| field.name).filter(free);
    let begun = || {
        let mut fields = closed.fields.iter().map(|field| field.name).filter(free);
        fields.find(|name| {
            key.len() >= 4 && name.strip_prefix(key).is_some_and(|r| r.starts_with('_'))
        })
    };
    let near = nearest(key, names).or_else(begun);
    let place = || {
        let meant = MEANT.iter().find(|(name, _)| *name == key);
        meant
            .map(|(_, place)| (*place).to_owned())
            .or_else(|| language::place_of(key))
    };
    let help = match near {
        Some(near) => format!("Did you mean `{near}`?"),
        None => match place() {
            Some(place) => format!("Did you mean `{place}` of the case?"),
            None if key == "extends" || key == "agents" => {
                "An overlay stands in a list under `overlays:`, in a document of its own."
                    .to_owned()
            }
            None => format!("It may have: {}.", list(closed)),
        },
    };
    let pointer = path.key(key).pointer();
    let message = format!("`{key}` is not a field of {}.", closed.name);
    let diagnostic = sink.report(&RULE, unit, entry.key_span, pointer, message, help);
    if let Some(near) = near {
        let plain = |name: &str| name.to_ascii_lowercase().replace(['-', ' ', '_'], "");
        let written = unit.source.slice(entry.key_span);
        let text = if written.starts_with('"') {
            format!("\"{near}\"")
        } else {
            near.to_owned()
        };
        diagnostic.fix = Some(Fix {
            title: format!("Rename to `{near}`"),
            safe: plain(near) == plain(key),
            edits: vec![Edit::new(entry.key_span, text)],
        });
    }
}

fn list(closed: &Closed) -> String {
    let names: Vec<String> = closed
        .fields
        .iter()
        .map(|field| format!("`{}`", field.name))
        .collect();
    names.join(", ")
}
