//! `W-SOURCE-PARTIAL`: some facts with a source, others without.

use super::{Example, Rule};
use crate::Severity;
use crate::project::related;
use crate::project::{Project, Sink, Unit};
use crate::prose::{answer_rubrics, place};

pub(crate) const RULE: Rule = Rule {
    code: "W-SOURCE-PARTIAL",
    severity: Severity::Warning,
    what: "Some factual rubrics of a case name a source and others do not.",
    why: "A reader cannot tell whether the source was forgotten or does not matter.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall and how heavy is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: factual_retrieval\n          source: \"any guide of 2025\"\n        - rubric: \"States that the tower weighs 10,100 tonnes.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall and how heavy is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: factual_retrieval\n          source: \"any guide of 2025\"\n        - rubric: \"States that the tower weighs 10,100 tonnes.\"\n          type: factual_retrieval\n          source: \"any guide of 2025\"\n",
        )],
        facts: "",
    },
};

/// The factual rubrics of a case together.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let facts: Vec<_> = answer_rubrics(unit)
        .into_iter()
        .filter(|rubric| rubric.is_factual())
        .collect();
    let Some(named) = facts.iter().find_map(|rubric| rubric.source.as_ref()) else {
        return;
    };
    let bare: Vec<_> = facts
        .iter()
        .filter(|rubric| rubric.source.is_none())
        .collect();
    let Some(first) = bare.first() else { return };
    let text = first.sentence.text;
    let span = place(
        unit.source,
        first.sentence.node,
        text,
        0..text.trim_end().len(),
    );
    let message = if bare.len() == 1 {
        "This factual rubric names no source, and others of the case do.".to_owned()
    } else {
        format!(
            "This factual rubric and {} more name no source, and others of the case do.",
            bare.len() - 1
        )
    };
    let help = "Add `source:` to all factual rubrics of the case, or to none.";
    let path = unit.pointer_to(&first.sentence.path);
    let place = related(unit.source, named.node.span, "A source is named here.");
    sink.report(&RULE, unit, span, path, message, help)
        .related
        .push(place);
}
