//! `W-DUPLICATE`: the same assertion twice.

use std::collections::HashMap;

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit, related};
use crate::prose::{Passage, answer_rubrics, assertion, place, presentation, trajectory};

pub(crate) const RULE: Rule = Rule {
    code: "W-DUPLICATE",
    severity: Severity::Warning,
    what: "Two rubrics of a case assert the same, or an answer rubric and a presentation entry do.",
    why: "It counts twice, for or against.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"The tower was 330 metres tall.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// Answer rubrics and presentation entries together; trajectory rubrics by themselves.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let mut answer: Vec<Passage<'_>> = answer_rubrics(unit)
        .into_iter()
        .map(|rubric| rubric.sentence)
        .collect();
    answer.extend(presentation(unit));
    for list in [answer, trajectory(unit)] {
        let mut said: HashMap<String, &Passage<'_>> = HashMap::new();
        for passage in &list {
            let Some(key) = assertion(passage.text) else {
                continue;
            };
            let Some(first) = said.get(&key) else {
                said.insert(key, passage);
                continue;
            };
            // What is asked for here and forbidden there is not said twice.
            if first.path.contains("/forbid/") != passage.path.contains("/forbid/") {
                continue;
            }
            let whole = |passage: &Passage<'_>| {
                let end = passage.text.trim_end().len();
                place(unit.source, passage.node, passage.text, 0..end)
            };
            let other = related(unit.source, whole(first), "It is asserted here first.");
            let span = whole(passage);
            let path = unit.pointer_to(&passage.path);
            let help = "Keep one of the two.";
            sink.report(
                &RULE,
                unit,
                span,
                path,
                "This says the same as another rubric of the case.",
                help,
            )
            .related
            .push(other);
        }
    }
}
