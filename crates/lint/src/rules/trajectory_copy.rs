//! `W-TRAJECTORY-COPY`: checkpoints copied from the answer rubrics.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{answer_rubrics, assertion, place, trajectory};
use std::collections::HashSet;

pub(crate) const RULE: Rule = Rule {
    code: "W-TRAJECTORY-COPY",
    severity: Severity::Warning,
    what: "The trajectory rubrics repeat most of the answer rubrics.",
    why: "A copy says nothing about how the answer was reached, and counts every fault twice.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower, and how heavy?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"States that the tower weighed 10,100 tonnes.\"\n          type: factual_retrieval\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"States that the tower was 330 metres tall.\"\n        - \"States that the tower weighed 10,100 tonnes.\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower, and how heavy?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"States that the tower weighed 10,100 tonnes.\"\n          type: factual_retrieval\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Opens a survey of the tower, not a travel guide.\"\n",
        )],
        facts: "",
    },
};

/// Both lists, by what their entries assert.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let answer: HashSet<String> = answer_rubrics(unit)
        .iter()
        .filter_map(|rubric| assertion(rubric.sentence.text))
        .collect();
    let checkpoints = trajectory(unit);
    let copied: Vec<_> = checkpoints
        .iter()
        .filter(|passage| assertion(passage.text).is_some_and(|key| answer.contains(&key)))
        .collect();
    let (Some(first), true) = (
        copied.first(),
        copied.len() >= 2 && copied.len() * 2 > answer.len(),
    ) else {
        return;
    };
    let span = place(
        unit.source,
        first.node,
        first.text,
        0..first.text.trim_end().len(),
    );
    let message = format!(
        "{} of the {} answer rubrics stand among the trajectory rubrics again.",
        copied.len(),
        answer.len()
    );
    let help = "Keep checkpoints for steps on the way: what has to be looked up, and the figures in between.";
    sink.report(
        &RULE,
        unit,
        span,
        unit.pointer_to(&first.path),
        message,
        help,
    );
}
