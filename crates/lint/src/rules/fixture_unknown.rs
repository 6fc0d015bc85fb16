//! `E-FIXTURE-UNKNOWN`: a case names a fixture that the registry does not have.

use evalkit_core::name::check_fixture_key;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-FIXTURE-UNKNOWN",
    severity: Severity::Error,
    what: "A case names a fixture key that no `fixtures.yaml` declares.",
    why: "Without the entry nobody knows which bytes are meant, nor what the file is.",
    bad: Example {
        files: &[
            (
                "fixtures.yaml",
                "fixtures:\n  acme-2024.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme for 2024.\"\n",
            ),
            (
                "cases.yaml",
                "id: acme-sales\ninput: {question: \"What were sales in 2024?\"}\nfixtures: [acme-2042.pdf]\nmax_response_time: 60\n",
            ),
        ],
        facts: "",
    },
    good: Example {
        files: &[
            (
                "fixtures.yaml",
                "fixtures:\n  acme-2024.pdf:\n    sha256: 501a108b88b9a2df325f8917d3898409ddb3b2ab7417c8dfe9e5a985435672aa\n    context: \"The annual report of Acme for 2024.\"\n",
            ),
            (
                "cases.yaml",
                "id: acme-sales\ninput: {question: \"What were sales in 2024?\"}\nfixtures: [acme-2024.pdf]\nmax_response_time: 60\n",
            ),
        ],
        facts: "",
    },
};

/// Every key against the registry, when it is known. A bad key is only `E-FIXTURE-KEY`.
pub(crate) fn check(unit: &Unit<'_>, project: &Project<'_>, sink: &mut Sink) {
    let keys = unit.node.get("fixtures").and_then(Node::list);
    if !project.registry_known || keys.is_none() {
        return;
    }
    let known = |key: &str| {
        project.fixture_keys.contains(key)
            || project
                .facts
                .fixtures
                .as_ref()
                .is_some_and(|fixtures| fixtures.contains_key(key))
    };
    for (i, node) in keys.unwrap_or_default().iter().enumerate() {
        let Some(key) = node.text().filter(|key| check_fixture_key(key).is_ok()) else {
            continue;
        };
        if known(key) {
            continue;
        }
        let declared = project.fixtures.iter().map(|fixture| fixture.key).chain(
            project
                .facts
                .fixtures
                .iter()
                .flat_map(|fixtures| fixtures.keys().map(String::as_str)),
        );
        let near = nearest(key, declared);
        let help = match near {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Declare it in `fixtures.yaml`; `evalkit fixture add FILE` writes the entry."
                .to_owned(),
        };
        let inline = splice::is_inline(unit.source, node.span);
        let message = format!("The fixture `{key}` is not declared.");
        let path = unit.pointer_to(&format!("/fixtures/{i}"));
        let diagnostic = sink.report(&RULE, unit, node.span, path, message, help);
        diagnostic.fix = near.filter(|_| inline).map(|near| Fix {
            title: format!("Write `{near}`"),
            safe: false,
            edits: vec![Edit::new(node.span, splice::quoted(near))],
        });
    }
}
