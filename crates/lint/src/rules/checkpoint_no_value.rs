//! `W-CHECKPOINT-NO-VALUE`: a checkpoint about a figure, without the figure.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{gives_a_value, place, trajectory, words};

pub(crate) const RULE: Rule = Rule {
    code: "W-CHECKPOINT-NO-VALUE",
    severity: Severity::Warning,
    what: "A trajectory rubric retrieves or calculates a figure and does not say which.",
    why: "Without the value, a run that read the wrong line passes like one that read the right line.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the height of the tower.\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the height of the tower as 330 metres.\"\n",
        )],
        facts: "",
    },
};

/// Every trajectory rubric; a case that waits for its ground truth has no values yet.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    if super::ground_truth::waits(unit) {
        return;
    }
    for passage in trajectory(unit) {
        if !wants_a_value(passage.text) || gives_a_value(passage.text) {
            continue;
        }
        let end = passage.text.trim_end().len();
        let span = place(unit.source, passage.node, passage.text, 0..end);
        let help = "Add the value, such as \u{201c}as $1,955,000,000\u{201d}.";
        let message = "This checkpoint is about a figure and gives none.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&passage.path),
            message,
            help,
        );
    }
}

/// What is measured, not what is read.
const MEASURES: &[&str] = &[
    "revenue",
    "revenues",
    "sales",
    "profit",
    "income",
    "earnings",
    "margin",
    "price",
    "prices",
    "cost",
    "costs",
    "expenditure",
    "capex",
    "debt",
    "cash",
    "rate",
    "rates",
    "ratio",
    "share",
    "number",
    "total",
    "amount",
    "balance",
    "yield",
    "volume",
    "weight",
    "height",
    "length",
    "distance",
    "speed",
    "load",
    "demand",
    "capacity",
    "temperature",
    "population",
    "area",
    "fee",
    "fees",
    "tariff",
    "growth",
    "change",
    "value",
    "figure",
    "figures",
    "count",
    "percentage",
    "average",
    "mean",
    "median",
    "sum",
    "premium",
    "dividend",
    "eps",
    "ebitda",
    "occupancy",
    "duration",
    "age",
    "score",
    "consumption",
    "emissions",
    "headcount",
    "turnover",
    "stock",
    "shipments",
    "tax",
    "salary",
    "rent",
    "hours",
    "days",
];

/// Whether a checkpoint is about a figure.
fn wants_a_value(text: &str) -> bool {
    let words = words(text);
    let Some(first) = words.first() else {
        return false;
    };
    let computes = first.is(&["calculates", "computes", "calculate", "compute", "derives"])
        || first.lower == "works" && words.get(1).is_some_and(|word| word.lower == "out");
    let retrieves = first.is(&[
        "retrieves",
        "finds",
        "obtains",
        "gets",
        "fetches",
        "extracts",
        "pulls",
        "retrieve",
        "find",
        "looks",
    ]);
    if computes {
        return true;
    }
    // The head of the object: before the first "of", "for", "from", "in".
    let object = words[1..]
        .iter()
        .take_while(|word| !word.is(&["of", "for", "from", "in", "at", "on", "by"]));
    retrieves && object.last().is_some_and(|word| word.is(MEASURES))
}
