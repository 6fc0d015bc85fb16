//! `E-RUBRIC-FIELD`: fields that rubrics of other tools have and these do not.

use super::rubric_type::{pointer, rubrics};
use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::Fix;
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-RUBRIC-FIELD",
    severity: Severity::Error,
    what: "A rubric has `points`, `weight`, `tolerance`, or its own judge or model.",
    why: "Scores pool over rubrics of all cases, so every rubric counts once; what is accepted stands in the sentence, \
          where readers see it; and one judge grades all, so that verdicts compare.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: factual_retrieval\n          tolerance: 1\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall (±1 metre).\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// The names this rule speaks about.
pub(crate) const NAMES: &[&str] = &[
    "points",
    "weight",
    "tolerance",
    "judge",
    "judge_model",
    "model",
];

fn words(name: &str) -> (&'static str, &'static str) {
    match name {
        "points" => (
            "Rubrics have no points.",
            "Remove it. Every rubric counts once, in all cases alike; split a sentence that asserts more than one thing.",
        ),
        "weight" => (
            "Rubrics have no weight.",
            "Remove it. Every rubric counts once, in all cases alike; a weight means nothing beside rubrics of other cases.",
        ),
        "tolerance" => (
            "Rubrics have no tolerance field.",
            "Write what is accepted into the sentence, such as `(±1 metre)`. Normal rounding is accepted without it.",
        ),
        "judge" | "judge_model" => (
            "A rubric cannot choose its judge.",
            "Remove it. The judge is set once, on the server, so that all verdicts compare.",
        ),
        _ => (
            "A rubric cannot choose a model.",
            "Remove it. The judge and its model are set once, on the server, so that all verdicts compare.",
        ),
    }
}

/// Each such field, with its own message.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for (i, rubric) in rubrics(unit) {
        let entries = rubric.mapping().unwrap_or_default();
        for entry in entries.iter().filter(|e| NAMES.contains(&&*e.key)) {
            let (message, help) = words(&entry.key);
            let edit = splice::remove_entry(unit.source, entries, &entry.key);
            let path = pointer(unit, i, &entry.key);
            sink.report(&RULE, unit, entry.key_span, path, message, help)
                .fix = edit.map(|edit| Fix {
                title: format!("Remove `{}`", entry.key),
                safe: &*entry.key != "tolerance",
                edits: vec![edit],
            });
        }
    }
}
