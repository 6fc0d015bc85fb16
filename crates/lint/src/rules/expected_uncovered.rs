//! `W-EXPECTED-UNCOVERED`: a figure of `expected` that nothing grades.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Part, figures, numbers, passages, place};
use std::collections::HashSet;

use evalkit_core::figures::criterion::{Criterion, Fit, criteria};

pub(crate) const RULE: Rule = Rule {
    code: "W-EXPECTED-UNCOVERED",
    severity: Severity::Warning,
    what: "`expected` holds a figure that no rubric accounts for.",
    why: "People read `expected` as what counts. A figure that no rubric asks for can be wrong without any verdict.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nexpected: \"330 metres, and 10,100 tonnes.\"\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nexpected: \"330 metres, and 10,100 tonnes.\"\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"States that the tower weighed 10,100 tonnes.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// More pairs than this are not compared one by one.
const MOST: usize = 20_000;

/// Every figure of `expected` against those of the rubrics and of the question.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let passages = passages(unit);
    let Some(expected) = passages
        .iter()
        .find(|passage| passage.part == Part::Expected)
    else {
        return;
    };
    if !passages.iter().any(|passage| passage.part == Part::Rubric) {
        return;
    }
    let given = figures(expected.text);
    let mut written: HashSet<String> = HashSet::new();
    let mut asked: Vec<Criterion> = Vec::new();
    for passage in &passages {
        if matches!(passage.part, Part::Expected | Part::Source) {
            continue;
        }
        let found = figures(passage.text);
        written.extend(numbers(passage.text));
        asked.extend(criteria(passage.text, &found));
    }
    let few = given.len().saturating_mul(asked.len()) <= MOST;
    for figure in given {
        let covered = written.contains(&figure.number.normalize().to_string())
            || !few
            || asked
                .iter()
                .any(|criterion| matches!(criterion.fit(&figure), Fit::Matches));
        if covered {
            continue;
        }
        let shown = &expected.text[figure.start..figure.end];
        let message = format!("No rubric accounts for {shown}.");
        let span = place(
            unit.source,
            expected.node,
            expected.text,
            figure.start..figure.end,
        );
        let help = "Add a rubric that asks for it, or leave it out of `expected`.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&expected.path),
            message,
            help,
        );
    }
}
