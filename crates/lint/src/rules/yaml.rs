//! `E-YAML`: not valid YAML (or JSON), a key twice, or a bound exceeded.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Sink, Unit, related};
use crate::syntax::SyntaxError;

pub(crate) const RULE: Rule = Rule {
    code: "E-YAML",
    severity: Severity::Error,
    what: "The text is not valid YAML or JSON, a key stands twice in a mapping, or a bound of the format is exceeded.",
    why: "Nothing can be said about text that has no structure. Reading resumes at the next item of the list that broke, \
          so the other cases of the file are still checked.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?}\n    max_response_time: 60\n",
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

/// Reports a syntax error; `unit` is the document around it, or the file.
pub(crate) fn report(error: SyntaxError, unit: &Unit<'_>, path: String, sink: &mut Sink) {
    let place = error
        .related
        .map(|place| related(unit.source, place.0, place.1));
    let diagnostic = sink.report(&RULE, unit, error.span, path, error.message, error.help);
    diagnostic.related.extend(place);
    diagnostic.fix = error.fix.map(|fix| *fix);
}
