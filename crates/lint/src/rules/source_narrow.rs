//! `H-SOURCE-NARROW`: a source that is one exact document.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{answer_rubrics, place, words};

pub(crate) const RULE: Rule = Rule {
    code: "H-SOURCE-NARROW",
    severity: Severity::Hint,
    what: "A `source` names one exact document where several would state the fact.",
    why: "An answer that found the same fact in another disclosure would look wrong to the judge.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n          source: \"the press release of 1 May 2025\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n          source: \"any publication of the operator\"\n",
        )],
        facts: "",
    },
};

/// Every source.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for source in answer_rubrics(unit)
        .into_iter()
        .filter_map(|rubric| rubric.source)
    {
        if !is_narrow(source.text) {
            continue;
        }
        let end = source.text.trim_end().len();
        let span = place(unit.source, source.node, source.text, 0..end);
        let message = "This source is one exact document.";
        let help =
            "If others state the fact too, write so: \u{201c}any FY2024 annual disclosure\u{201d}.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&source.path),
            message,
            help,
        );
    }
}

/// Kinds of document that come beside others with the same facts.
const KINDS: &[&[&str]] = &[
    &["earnings", "release"],
    &["press", "release"],
    &["earnings", "call"],
    &["call", "transcript"],
    &["news", "release"],
    &["investor", "presentation"],
    &["shareholder", "letter"],
    &["10-k"],
    &["10-q"],
    &["8-k"],
    &["20-f"],
    &["6-k"],
    &["slide", "deck"],
    &["earnings", "presentation"],
    &["prospectus"],
    &["form", "10-k"],
];

fn is_narrow(text: &str) -> bool {
    let words = words(text);
    let open = words
        .iter()
        .any(|word| word.is(&["any", "or", "either", "other", "e.g", "such", "every"]));
    !open
        && (0..words.len()).any(|i| {
            KINDS.iter().any(|kind| {
                words.get(i..i + kind.len()).is_some_and(|found| {
                    found
                        .iter()
                        .zip(*kind)
                        .all(|(word, wanted)| word.lower == *wanted)
                })
            })
        })
}
