//! `E-FIXTURE-KEY`: a key that is no flat file name, or that the registry has twice.

use evalkit_core::name::check_fixture_key;

use super::{Example, Rule};
use crate::Severity;
use crate::node::Node;
use crate::project::{Fixture, Project, Sink, Unit, related};

pub(crate) const RULE: Rule = Rule {
    code: "E-FIXTURE-KEY",
    severity: Severity::Error,
    what: "A fixture key is not a flat file name, or two registry entries have the same key.",
    why: "A key names a file in the fixture folder and nothing else, on every system alike.",
    bad: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  reports/acme.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  acme.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "",
    },
};

const HELP: &str = "Use a flat file name of at most 255 bytes: no `/`, `\\`, `:` or control character, and no dot or \
                    blank at either end.";

/// The keys that a case names.
pub(crate) fn check_case(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let keys = unit.node.get("fixtures").and_then(Node::list);
    for (i, node) in keys.unwrap_or_default().iter().enumerate() {
        let Some(Err(fault)) = node.text().map(check_fixture_key) else {
            continue;
        };
        let path = unit.pointer_to(&format!("/fixtures/{i}"));
        sink.report(&RULE, unit, node.span, path, sentence(&fault), HELP);
    }
}

/// The keys of the registry.
pub(crate) fn check_entry(fixture: &Fixture<'_>, _: &Project<'_>, sink: &mut Sink) {
    if let Err(fault) = check_fixture_key(fixture.key) {
        let unit = &fixture.unit;
        let path = unit.pointer.clone();
        sink.report(&RULE, unit, fixture.key_span, path, sentence(&fault), HELP);
    }
}

/// A key twice, in one registry document or in several. (Twice in one mapping is `E-YAML`.)
pub(crate) fn check_duplicates(project: &Project<'_>, sink: &mut Sink) {
    let first = project.fixtures_by_key();
    for fixture in &project.fixtures {
        let Some(original) = first.get(fixture.key) else {
            continue;
        };
        if original.unit.number == fixture.unit.number {
            continue;
        }
        let unit = &fixture.unit;
        let message = format!("The fixture `{}` is declared twice.", fixture.key);
        let path = unit.pointer.clone();
        let help = "Keep one of the two entries.";
        let note = format!("`{}` is declared here first.", fixture.key);
        let place = related(original.unit.source, original.key_span, note);
        sink.report(&RULE, unit, fixture.key_span, path, message, help)
            .related
            .push(place);
    }
}

fn sentence(fault: &impl ToString) -> String {
    let text = fault.to_string();
    format!("A{}.", &text[1..])
}
