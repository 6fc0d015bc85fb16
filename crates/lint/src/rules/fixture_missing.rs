//! `E-FIXTURE-MISSING`: a declared fixture whose bytes are nowhere.

use evalkit_core::name::check_fixture_key;

use super::{Example, Rule};
use crate::Severity;
use crate::node::Node;
use crate::project::{Fixture, Project, Sink};

pub(crate) const RULE: Rule = Rule {
    code: "E-FIXTURE-MISSING",
    severity: Severity::Error,
    what: "The registry declares a fixture, and neither the fixture folder nor the workspace has its bytes.",
    why: "An agent cannot read a file that is not there. Every such key is named, whether a case uses it or not.",
    bad: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  acme.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "{\"fixture_files\": {}}",
    },
    good: Example {
        files: &[(
            "fixtures.yaml",
            "fixtures:\n  acme.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme.\"\n",
        )],
        facts: "{\"fixture_files\": {\"acme.pdf\": {\"sha256\": \"501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\", \"bytes\": 10}}}",
    },
};

const HELP: &str = "Put the file into the fixture folder, or fetch it with `evalkit fixture pull`.";

/// Each registry entry against the files at hand, when they are known.
pub(crate) fn check_entry(fixture: &Fixture<'_>, project: &Project<'_>, sink: &mut Sink) {
    let Some(files) = &project.facts.fixture_files else {
        return;
    };
    if files.contains_key(fixture.key) || check_fixture_key(fixture.key).is_err() {
        return;
    }
    let unit = &fixture.unit;
    let message = format!("The fixture `{}` has no bytes.", fixture.key);
    let path = unit.pointer.clone();
    sink.report(&RULE, unit, fixture.key_span, path, message, HELP);
}

/// A registry that stands in the facts has no text to underline, so the cases that use it are named.
pub(crate) fn check_facts(project: &Project<'_>, sink: &mut Sink) {
    let (Some(files), Some(registry)) = (&project.facts.fixture_files, &project.facts.fixtures)
    else {
        return;
    };
    for case in &project.cases {
        let keys = case.node.get("fixtures").and_then(Node::list);
        for (i, node) in keys.unwrap_or_default().iter().enumerate() {
            let Some(key) = node.text() else { continue };
            let declared_here = project.fixture_keys.contains(key);
            if !declared_here && registry.contains_key(key) && !files.contains_key(key) {
                let message = format!("The fixture `{key}` has no bytes.");
                let path = case.pointer_to(&format!("/fixtures/{i}"));
                sink.report(&RULE, case, node.span, path, message, HELP);
            }
        }
    }
}
