//! `W-DATE-ANCHOR`: a question whose answer changes with time, without a date.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Part, Word, passages, place, words, years};

pub(crate) const RULE: Rule = Rule {
    code: "W-DATE-ANCHOR",
    severity: Severity::Warning,
    what: "A question asks for what is latest, current or of this year, and no year stands beside it.",
    why: "The right answer changes from day to day, and the rubrics do not. A date keeps the case true.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the latest tower?\"}\nmax_response_time: 60\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the latest tower, as of 1 May 2025?\"}\nmax_response_time: 60\n",
        )],
        facts: "",
    },
};

/// Every question, unless a year stands in one of them, or the case brings its own material.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let brings = |key: &str| {
        unit.node
            .get(key)
            .is_some_and(|node| node.list().is_some_and(|l| !l.is_empty()) || node.text().is_some())
    };
    if brings("fixtures") || brings("context") {
        return;
    }
    let questions: Vec<_> = passages(unit)
        .into_iter()
        .filter(|passage| passage.part == Part::Question)
        .collect();
    if questions
        .iter()
        .any(|question| !years(question.text).is_empty())
    {
        return;
    }
    for question in &questions {
        let found = words(question.text);
        let Some((from, to)) = (0..found.len()).find_map(|i| relative(&found, i).map(|to| (i, to)))
        else {
            continue;
        };
        let range = found[from].start..found[to].end;
        let phrase = &question.text[range.clone()];
        let message =
            format!("\u{201c}{phrase}\u{201d} changes with time, and the question names no date.");
        let span = place(unit.source, question.node, question.text, range);
        let help = "Add a date, such as \u{201c}As of 31 March 2025\u{201d}, or name the period.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&question.path),
            message,
            help,
        );
        return;
    }
}

/// The last word of an expression of relative time that begins at `i`.
fn relative(words: &[Word<'_>], i: usize) -> Option<usize> {
    let at = |n: usize| words.get(n).map_or("", |word| word.lower.as_str());
    let before = |n: usize| i.checked_sub(n).map_or("", at);
    const UNITS: &[&str] = &[
        "day", "week", "month", "quarter", "year", "season", "decade", "night",
    ];
    match at(i) {
        "latest" => !(before(1) == "the" && before(2) == "at"),
        "currently" | "today" | "today's" | "nowadays" | "presently" | "recently" | "ytd"
        | "yesterday" | "tomorrow" => true,
        "current" => {
            // The adjective, not the stream and not the terms of bookkeeping.
            let owned = before(1).ends_with("'s")
                || matches!(
                    before(1),
                    "the"
                        | "its"
                        | "their"
                        | "our"
                        | "your"
                        | "my"
                        | "his"
                        | "her"
                        | "whose"
                        | "under"
                );
            let noun = matches!(
                at(i + 1),
                "" | "of"
                    | "in"
                    | "at"
                    | "is"
                    | "are"
                    | "was"
                    | "may"
                    | "can"
                    | "through"
                    | "flows"
                    | "that"
                    | "which"
                    | "and"
                    | "or"
                    | "per"
                    | "does"
                    | "do"
                    | "assets"
                    | "liabilities"
                    | "ratio"
                    | "account"
                    | "accounts"
                    | "density"
                    | "on"
                    | "from"
                    | "to"
                    | "for"
                    | "drawn"
                    | "limit"
                    | "transformer"
                    | "rating"
            );
            owned && !noun
        }
        "most" if matches!(at(i + 1), "recent" | "recently") => return Some(i + 1),
        "right" | "by" if at(i + 1) == "now" => return Some(i + 1),
        "at" if matches!(at(i + 1), "present") => return Some(i + 1),
        "at" if at(i + 1) == "the" && at(i + 2) == "moment" => return Some(i + 2),
        "this" | "last" | "past" | "next" if UNITS.contains(&at(i + 1)) => {
            // "the last day for notice" and "the last week of May" say which by themselves.
            let own = at(i) != "this" && (before(1) == "the" || matches!(at(i + 2), "of" | "for"));
            return (!own).then_some(i + 1);
        }
        _ => false,
    }
    .then_some(i)
}
