//! `E-RUBRIC-TYPE`: an answer rubric without one of the three types.

use evalkit_core::case::RubricType;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::node::{Kind, Node};
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-RUBRIC-TYPE",
    severity: Severity::Error,
    what: "An answer rubric has no `type`, or one that does not exist.",
    why: "The type tells apart data that never arrived from reasoning that went wrong, and each type has its own rate.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: fact\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// Walks the decision, first match wins.
const HELP: &str = "Does some source state it? `factual_retrieval`. Otherwise, does the answer work it out, or name the \
                    method? `derived_computation`. Otherwise it says what the figures show: `analysis_interpretation`.";

/// The answer rubrics of a case with their indices; broken ones are left out.
pub(super) fn rubrics<'a>(unit: &Unit<'a>) -> impl Iterator<Item = (usize, &'a Node)> {
    unit.node
        .at(&["evaluators", "output", "answer_rubrics", "rubrics"])
        .and_then(Node::list)
        .unwrap_or_default()
        .iter()
        .enumerate()
        .filter(|(_, rubric)| rubric.mapping().is_some())
}

/// The pointer of a rubric's field.
pub(super) fn pointer(unit: &Unit<'_>, index: usize, field: &str) -> String {
    let slash = if field.is_empty() { "" } else { "/" };
    unit.pointer_to(&format!(
        "/evaluators/output/answer_rubrics/rubrics/{index}{slash}{field}"
    ))
}

/// Every answer rubric has one of the three types.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for (i, rubric) in rubrics(unit) {
        let Some(node) = rubric.get("type").filter(|node| node.kind != Kind::Null) else {
            let span = unit.source.first_line(rubric.span);
            let path = pointer(unit, i, "");
            sink.report(&RULE, unit, span, path, "This rubric has no `type`.", HELP);
            continue;
        };
        let written = node.text().unwrap_or_default();
        if RubricType::parse(written).is_some() || node.kind == Kind::Broken {
            continue;
        }
        let names = RubricType::ALL.map(RubricType::as_str);
        let near = nearest(written, names).or_else(|| abbreviated(written));
        let message = match node.text() {
            Some(text) => {
                let shown: String = text.chars().take(60).collect();
                format!("`{shown}` is not a rubric type.")
            }
            None => format!("A rubric type is text, and this is {}.", node.describe()),
        };
        let inline = splice::is_inline(unit.source, node.span);
        let path = pointer(unit, i, "type");
        let diagnostic = sink.report(&RULE, unit, node.span, path, message, HELP);
        if let Some(near) = near.filter(|_| inline) {
            diagnostic.help = format!("Did you mean `{near}`? {HELP}");
            let plain = |text: &str| text.to_ascii_lowercase().replace(['-', ' ', '_'], "");
            let text = if unit.source.path.ends_with(".json") {
                splice::quoted(near)
            } else {
                near.to_owned()
            };
            diagnostic.fix = Some(Fix {
                title: format!("Write `{near}`"),
                safe: plain(near) == plain(written),
                edits: vec![Edit::new(node.span, text)],
            });
        }
    }
}

/// `factual`, `derived`, `analysis`, and the other half of each name.
fn abbreviated(written: &str) -> Option<&'static str> {
    let written = written.to_ascii_lowercase();
    if written.len() < 4 {
        return None;
    }
    RubricType::ALL
        .map(RubricType::as_str)
        .into_iter()
        .find(|name| name.split('_').any(|half| half.starts_with(&written)))
}
