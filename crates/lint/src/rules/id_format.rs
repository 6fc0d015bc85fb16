//! `E-ID-FORMAT`: a case id of a form that ids do not have.

use evalkit_core::name::{NameError, is_case_id};

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-ID-FORMAT",
    severity: Severity::Error,
    what: "An id is not of the form `[a-z0-9][a-z0-9._-]{0,127}`.",
    why: "Ids stand in addresses, on command lines and in overlays, so they are plain.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: Tower Height\n    input: {question: \"How tall is the tower?\"}\n    max_response_time: 60\n",
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

/// The id of a case.
pub(crate) fn check_case(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    check(unit, "id", sink);
}

/// The id that an overlay extends.
pub(crate) fn check_overlay(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    check(unit, "extends", sink);
}

fn check(unit: &Unit<'_>, field: &str, sink: &mut Sink) {
    let Some(node) = unit.node.get(field) else {
        return;
    };
    let Some(id) = node.text().filter(|id| !is_case_id(id)) else {
        return;
    };
    let shown: String = id.chars().take(80).collect();
    let message = format!("`{shown}` is not a case id.");
    let rule = NameError::CaseId.to_string();
    let help = format!("{}{}.", rule[..1].to_uppercase(), &rule[1..]);
    let suggestion = suggest(id);
    let inline = splice::is_inline(unit.source, node.span);
    let path = unit.pointer_to(&format!("/{field}"));
    let diagnostic = sink.report(&RULE, unit, node.span, path, message, help);
    if let Some(suggestion) = suggestion.filter(|_| inline) {
        diagnostic.fix = Some(Fix {
            title: format!("Write `{suggestion}`"),
            safe: false,
            edits: vec![Edit::new(node.span, suggestion)],
        });
    }
}

/// The id that was probably meant: lower case, with dashes.
fn suggest(id: &str) -> Option<String> {
    let mut out = String::new();
    for c in id.chars() {
        let c = c.to_ascii_lowercase();
        if c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-') {
            out.push(c);
        } else if !out.ends_with('-') {
            out.push('-');
        }
    }
    let out = out.trim_matches(['-', '.', '_']);
    let out = out.get(..128).unwrap_or(out);
    // A bare number would be read as a number again.
    let plain = out.chars().any(|c| c.is_ascii_lowercase());
    (is_case_id(out) && plain && !matches!(out, "true" | "false" | "null")).then(|| out.to_owned())
}
