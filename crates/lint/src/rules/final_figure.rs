//! `W-FINAL-FIGURE`: checkpoints that stop short of the result.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{answer_rubrics, figures, numbers, place, trajectory};
use std::collections::HashSet;

use evalkit_core::figures::criterion::{Criterion, Fit, criteria};

pub(crate) const RULE: Rule = Rule {
    code: "W-FINAL-FIGURE",
    severity: Severity::Warning,
    what: "There are trajectory rubrics, and none of the derived figures of the answer rubrics is among them.",
    why: "A run could look everything up, never work the result out, and pass every checkpoint.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates the height as 330 metres.\"\n          type: derived_computation\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the shadow as 110 metres.\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates the height as 330 metres.\"\n          type: derived_computation\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the shadow as 110 metres.\"\n        - \"Calculates the height as 330 metres.\"\n",
        )],
        facts: "",
    },
};

/// More pairs than this are not compared one by one.
const MOST: usize = 20_000;

/// The derived figures against the checkpoints.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let checkpoints = trajectory(unit);
    if checkpoints.is_empty() {
        return;
    }
    let given: Vec<_> = checkpoints
        .iter()
        .flat_map(|passage| figures(passage.text))
        .collect();
    let written: HashSet<String> = checkpoints
        .iter()
        .flat_map(|passage| numbers(passage.text))
        .collect();
    let mut last = None;
    for rubric in answer_rubrics(unit)
        .into_iter()
        .filter(|rubric| rubric.is_derived())
    {
        let text = rubric.sentence.text;
        let found = figures(text);
        let asked: Vec<Criterion> = criteria(text, &found);
        for criterion in &asked {
            let same = written.contains(&criterion.figure.number.normalize().to_string())
                || given.len().saturating_mul(asked.len()) > MOST
                || given
                    .iter()
                    .any(|figure| matches!(criterion.fit(figure), Fit::Matches));
            if same {
                return;
            }
        }
        if let Some(criterion) = asked.into_iter().next_back() {
            last = Some((rubric, criterion.figure.start..criterion.figure.end));
        }
    }
    let Some((rubric, range)) = last else { return };
    let shown = &rubric.sentence.text[range.clone()];
    let message = format!("The trajectory rubrics never arrive at {shown}.");
    let span = place(
        unit.source,
        rubric.sentence.node,
        rubric.sentence.text,
        range,
    );
    let help = "Add a checkpoint that calculates it.";
    sink.report(
        &RULE,
        unit,
        span,
        unit.pointer_to(&rubric.sentence.path),
        message,
        help,
    );
}
