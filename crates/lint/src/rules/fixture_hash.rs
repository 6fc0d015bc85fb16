//! `E-FIXTURE-HASH`: the bytes at hand are not the ones declared.

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::project::{Fixture, Project, Sink};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-FIXTURE-HASH",
    severity: Severity::Error,
    what: "The bytes of a fixture have another SHA-256 than the registry says.",
    why: "Every case that uses the file would be asked about something else than its author checked.",
    bad: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  acme.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "{\"fixture_files\": {\"acme.pdf\": {\"sha256\": \"3d4d2741638fab6d7de6596e7273a24882ec12d4d818b37ece4bd20692b01ab5\", \"bytes\": 10}}}",
    },
    good: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  acme.pdf:\n    sha256: 3d4d2741638fab6d7de6596e7273a24882ec12d4d818b37ece4bd20692b01ab5\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "{\"fixture_files\": {\"acme.pdf\": {\"sha256\": \"3d4d2741638fab6d7de6596e7273a24882ec12d4d818b37ece4bd20692b01ab5\", \"bytes\": 10}}}",
    },
};

/// Each registry entry against the bytes at hand, when they are known. A malformed hash is `E-VALUE`.
pub(crate) fn check(fixture: &Fixture<'_>, project: &Project<'_>, sink: &mut Sink) {
    let unit = &fixture.unit;
    let found = project
        .facts
        .fixture_files
        .as_ref()
        .and_then(|files| files.get(fixture.key));
    let (Some(found), Some(node)) = (found, unit.node.get("sha256")) else {
        return;
    };
    let Some(declared) = node.text().filter(|text| super::value::is_sha256(text)) else {
        return;
    };
    if declared.eq_ignore_ascii_case(&found.sha256) {
        return;
    }
    let inline = splice::is_inline(unit.source, node.span);
    sink.report(
        &RULE,
        unit,
        node.span,
        unit.pointer_to("/sha256"),
        format!("The bytes of `{}` are not the ones declared.", fixture.key),
        format!(
            "Their SHA-256 is {}. If the file was changed on purpose, run `evalkit fixture add` on it; otherwise restore it.",
            found.sha256
        ),
    )
    .fix = inline.then(|| Fix {
        title: "Declare the bytes at hand".to_owned(),
        safe: false,
        edits: vec![Edit::new(node.span, splice::quoted(&found.sha256))],
    });
}
