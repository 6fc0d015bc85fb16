//! `E-NOTHING-TO-GRADE`: a case that asks and never checks.

use super::{Example, Rule};
use crate::Severity;
use crate::node::{Kind, Node};
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-NOTHING-TO-GRADE",
    severity: Severity::Error,
    what: "A case has no rubric, check, metric, evaluator or time limit.",
    why: "Such a case can neither pass nor fail. `expected` is for people and grades nothing.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    expected: \"330 metres\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower?\"}\n    expected: \"330 metres\"\n    evaluators:\n      output:\n        answer_rubrics:\n          rubrics:\n            - rubric: \"States that the tower is 330 metres tall.\"\n              type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// Keys of `expect` that only change how other keys are read (`gate.md` 3.2).
const MODIFIERS: &[&str] = &["ordered", "case_insensitive", "scope"];

/// Whether anything in the case can be graded. A list that is empty or of the wrong kind counts, because another rule
/// speaks about it.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let node = unit.node;
    if node.mapping().is_none() {
        return;
    }
    let timed = node.get("max_response_time").is_some()
        || unit
            .defaults
            .is_some_and(|defaults| defaults.get("max_response_time").is_some());
    let metrics = node.get("metrics").is_some_and(holds_something);
    let expects = node.get("expect").is_some_and(|expect| match &expect.kind {
        Kind::Mapping(entries) => entries.iter().any(|entry| {
            !MODIFIERS.contains(&&*entry.key) && makes_a_check(&entry.key, &entry.value)
        }),
        kind => *kind != Kind::Null,
    });
    let evaluates = node
        .get("evaluators")
        .is_some_and(|evaluators| match &evaluators.kind {
            Kind::Mapping(buckets) => buckets.iter().any(|bucket| holds_something(&bucket.value)),
            kind => *kind != Kind::Null,
        });
    if !(timed || metrics || expects || evaluates) {
        sink.report(
            &RULE,
            unit,
            unit.first_line(),
            unit.pointer.clone(),
            "This case has nothing that can be graded.",
            "Add at least one rubric under `evaluators.output.answer_rubrics.rubrics`, a check, or `max_response_time`.",
        );
    }
}

fn holds_something(node: &Node) -> bool {
    match &node.kind {
        Kind::Null => false,
        Kind::Mapping(entries) => !entries.is_empty(),
        _ => true,
    }
}

/// `gate.md` 3.2: `false`, null and an empty list of texts make no check.
fn makes_a_check(key: &str, node: &Node) -> bool {
    match &node.kind {
        Kind::Null => false,
        Kind::Bool(value) => *value || key == "json_schema",
        Kind::List(items) => !(matches!(key, "contains" | "not_contains") && items.is_empty()),
        _ => true,
    }
}
