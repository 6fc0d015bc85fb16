//! `E-RUBRIC-SOURCE`: a source on a rubric that no source states.

use evalkit_core::case::RubricType;

use super::rubric_type::{pointer, rubrics};
use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::Fix;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-RUBRIC-SOURCE",
    severity: Severity::Error,
    what: "`source` stands on a rubric whose type is not `factual_retrieval`.",
    why: "Only a fact that a source states can be credited to it. A computed figure or a reading has no source to cite.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: growth\ninput: {question: \"How fast did sales grow from 2023 to 2024?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates growth as 12.9%.\"\n          type: derived_computation\n          source: \"annual report 2024\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: growth\ninput: {question: \"How fast did sales grow from 2023 to 2024?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates growth as 12.9%.\"\n          type: derived_computation\n",
        )],
        facts: "",
    },
};

/// `source` only with `factual_retrieval`. A missing or unknown type is another rule's matter.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for (i, rubric) in rubrics(unit) {
        let kind = rubric
            .get("type")
            .and_then(Node::text)
            .and_then(RubricType::parse);
        let (Some(kind), Some(source), Some(entries)) =
            (kind, rubric.entry("source"), rubric.mapping())
        else {
            continue;
        };
        if kind == RubricType::FactualRetrieval {
            continue;
        }
        let fix = splice::remove_entry(unit.source, entries, "source").map(|edit| Fix {
            title: "Remove `source`".to_owned(),
            safe: true,
            edits: vec![edit],
        });
        sink.report(
            &RULE,
            unit,
            source.key_span,
            pointer(unit, i, "source"),
            format!(
                "`source` belongs to `factual_retrieval`, and this rubric is `{}`.",
                kind.as_str()
            ),
            "Remove `source`, or make the fact it credits a rubric of its own.",
        )
        .fix = fix;
    }
}
