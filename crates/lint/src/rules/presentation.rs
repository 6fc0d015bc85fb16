//! `W-PRESENTATION`: an answer rubric about display.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{self, answer_rubrics, place, words};

pub(crate) const RULE: Rule = Rule {
    code: "W-PRESENTATION",
    severity: Severity::Warning,
    what: "An answer rubric asks for a table, an order, a number format or another matter of display.",
    why: "How an answer looks is graded apart from what it says. Mixed together, a right answer in the wrong layout counts as wrong.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Shows the heights in a table.\"\n          type: analysis_interpretation\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n    presentation_judge:\n      - \"The heights stand in a table\"\n",
        )],
        facts: "",
    },
};

/// Every answer rubric.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for rubric in answer_rubrics(unit) {
        let text = rubric.sentence.text;
        let Some(range) = display(text) else { continue };
        let shown = &text[range.clone()];
        let message =
            format!("\u{201c}{shown}\u{201d} asks how the answer looks, not what it says.");
        let span = place(unit.source, rubric.sentence.node, text, range);
        let help = "Move it to `presentation_judge`, and keep here what the answer has to say.";
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

/// Expressions of layout, wherever they stand.
const ALWAYS: &[&[&str]] = &[
    &["in", "a", "table"],
    &["as", "a", "table"],
    &["in", "table", "form"],
    &["in", "tabular", "form"],
    &["in", "a", "tabular"],
    &["as", "bullets"],
    &["as", "bullet", "points"],
    &["in", "bullet", "points"],
    &["in", "bullets"],
    &["bullet", "list"],
    &["bulleted", "list"],
    &["numbered", "list"],
    &["in", "bold"],
    &["in", "descending", "order"],
    &["in", "ascending", "order"],
    &["in", "alphabetical", "order"],
    &["in", "chronological", "order"],
    &["in", "reverse", "order"],
    &["with", "a", "percent", "sign"],
    &["percent", "sign"],
    &["in", "markdown"],
    &["as", "a", "chart"],
    &["in", "a", "chart"],
    &["as", "a", "list"],
    &["in", "italics"],
    &["under", "headings"],
    &["with", "headings"],
    &["thousands", "separators"],
    &["currency", "symbol"],
    &["currency", "sign"],
];

/// Verbs of layout at the head of a rubric, and what they lay out.
const VERBS: &[&str] = &[
    "shows",
    "presents",
    "displays",
    "formats",
    "lists",
    "orders",
    "sorts",
    "arranges",
    "renders",
    "writes",
    "lays",
    "structures",
    "includes",
    "uses",
    "provides",
    "highlights",
    "begins",
    "opens",
    "gives",
];
const THINGS: &[&str] = &[
    "table",
    "column",
    "columns",
    "rows",
    "bullet",
    "bullets",
    "heading",
    "headings",
    "chart",
    "markdown",
    "bold",
    "layout",
    "formatting",
];

fn display(text: &str) -> Option<std::ops::Range<usize>> {
    let words = words(text);
    for i in 0..words.len() {
        for phrase in ALWAYS {
            let Some(found) = words.get(i..i + phrase.len()) else {
                continue;
            };
            if found
                .iter()
                .zip(*phrase)
                .all(|(word, wanted)| word.lower == *wanted)
            {
                return Some(found[0].start..found[phrase.len() - 1].end);
            }
        }
    }
    let first = words.first()?;
    if !first.is(VERBS) {
        return None;
    }
    let at = words.iter().position(|word| word.is(THINGS))?;
    // "a table saw", "the columns of the temple": a thing of the subject has a word after it that says so.
    let next = words.get(at + 1);
    let layout = next.is_none_or(|word| {
        word.is(&[
            "with", "of", "for", "that", "and", "on", "in", "showing", "rather", "to",
        ])
    });
    let article = at > 0
        && words[at - 1].is(&[
            "a",
            "an",
            "one",
            "two",
            "three",
            "as",
            "in",
            "with",
            "bullet",
            "comparison",
            "summary",
        ]);
    (layout && article && prose::figures(text).is_empty())
        .then(|| words[at - 1].start..words[at].end)
}

#[cfg(test)]
mod tests {
    use super::display;

    #[test]
    fn layout_and_its_lookalikes() {
        for text in [
            "Presents a comparison table with both years.",
            "Lists the offices in alphabetical order.",
            "The months stand in bold.",
        ] {
            assert!(display(text).is_some(), "{text}");
        }
        for text in [
            "States that the table saw weighs 40 kg.",
            "Names the timetable of 4 May as the source.",
            "Lists the three causes.",
            "Gives the order number as 5512.",
        ] {
            assert_eq!(display(text), None, "{text}");
        }
    }
}
