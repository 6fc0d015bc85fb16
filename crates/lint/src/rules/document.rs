//! `E-DOCUMENT`: a document is none of the kinds of `cases.md`, Files.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Sink, Unit};
use crate::source::Span;

pub(crate) const RULE: Rule = Rule {
    code: "E-DOCUMENT",
    severity: Severity::Error,
    what: "A document is no case list, single case, overlay list or fixture registry.",
    why: "A document that nothing reads would be lost without a word. Files that are not cases can be named in \
          `.evalkitignore`.",
    bad: Example {
        files: &[("cases.yaml", "case:\n  - id: tower-height\n")],
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

/// Reports a document of no kind.
pub(crate) fn report(
    unit: &Unit<'_>,
    span: Span,
    path: &str,
    message: &str,
    help: &str,
    sink: &mut Sink,
) {
    sink.report(&RULE, unit, span, unit.pointer_to(path), message, help);
}
