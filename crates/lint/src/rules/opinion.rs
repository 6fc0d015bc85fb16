//! `H-OPINION`: a rubric that picks a side.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Word, answer_rubrics, place, words};

pub(crate) const RULE: Rule = Rule {
    code: "H-OPINION",
    severity: Severity::Hint,
    what: "A rubric asks for one side of a question on which reasonable people differ.",
    why: "A sound answer that comes down on the other side would count as wrong. Grade what it weighs instead.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"Is the share fairly valued at the price of 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Concludes that the share is overvalued.\"\n          type: analysis_interpretation\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"Is the share fairly valued at the price of 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Weighs the price against the earnings of the year.\"\n          type: analysis_interpretation\n",
        )],
        facts: "",
    },
};

/// Every answer rubric.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for rubric in answer_rubrics(unit) {
        let text = rubric.sentence.text;
        let Some(range) = verdict(&words(text)) else {
            continue;
        };
        let shown = &text[range.clone()];
        let message = format!("\u{201c}{shown}\u{201d} is one of several reasonable answers.");
        let span = place(unit.source, rubric.sentence.node, text, range);
        let help = "Ask for what has to be weighed, or for the figures that an opinion needs.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&rubric.sentence.path),
            message,
            help,
        );
    }
}

/// The words of an opinion, unless the rubric only asks to weigh them or quotes whose they are.
fn verdict(words: &[Word<'_>]) -> Option<std::ops::Range<usize>> {
    let first = words.first()?;
    let open = words.iter().any(|word| {
        word.is(&[
            "whether",
            "weighs",
            "both",
            "sides",
            "depends",
            "consensus",
            "analysts",
            "analyst",
            "rated",
            "rating",
        ])
    });
    if open || first.is(&["discusses", "compares"]) {
        return None;
    }
    (0..words.len()).find_map(|i| {
        let at = |n: usize| words.get(i + n).map_or("", |word| word.lower.as_str());
        let length = match at(0) {
            "overvalued" | "undervalued" | "overpriced" | "underpriced" => 1,
            "fairly" | "attractively" if matches!(at(1), "valued" | "priced") => 2,
            "should" if matches!(at(1), "buy" | "sell" | "invest" | "hold") => 2,
            "better" | "best" | "superior" | "worse" | "good" | "bad" | "attractive"
                if matches!(
                    at(1),
                    "company" | "investment" | "business" | "stock" | "bet"
                ) =>
            {
                2
            }
            "recommends" | "advises" if matches!(at(1), "buying" | "selling" | "investing") => 2,
            "is" if at(1) == "a" && matches!(at(2), "buy" | "sell") => 3,
            "worth" if matches!(at(1), "buying" | "investing") => 2,
            _ => return None,
        };
        Some(words[i].start..words[i + length - 1].end)
    })
}
