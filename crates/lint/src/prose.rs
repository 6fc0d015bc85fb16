//! The running text of cases as the rules of wording need it: which texts there are, their words, and where in the
//! file a part of a text stands. Sentences, stems, periods and figures come from `evalkit_core::figures`, so that lint
//! and grading read a text alike.

mod place;
mod texts;

use std::collections::BTreeSet;

use evalkit_core::figures::numeral::{numerals, uses_decimal_comma};
use evalkit_core::figures::prose;
use evalkit_core::figures::read::{Figure, figures as read_figures};

pub(crate) use place::place;
pub(crate) use texts::{Part, Passage, Rubric, answer_rubrics, passages, presentation, trajectory};

/// A longer text is no sentence that a rule could speak of; the rules of wording leave it alone, so that lint stays
/// linear in the size of a file.
pub(crate) const LONGEST: usize = 8 * 1024;

/// A word with its place in its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// As written.
    pub text: &'a str,
    /// In lower case, with a plain apostrophe.
    pub lower: String,
}

impl Word<'_> {
    /// Whether it is one of these, in lower case.
    pub(crate) fn is(&self, any: &[&str]) -> bool {
        any.contains(&self.lower.as_str())
    }
}

/// The words of a text; hyphens and apostrophes inside belong to the word.
pub(crate) fn words(text: &str) -> Vec<Word<'_>> {
    prose::words(text)
        .into_iter()
        .filter(|(_, word)| !word.is_empty())
        .map(|(start, word)| Word {
            start,
            end: start + word.len(),
            text: word,
            lower: word.to_lowercase().replace('’', "'"),
        })
        .collect()
}

/// The figures of a text: without years, dates, ordinals and identifiers.
pub(crate) fn figures(text: &str) -> Vec<Figure> {
    read_figures(text, uses_decimal_comma(text))
}

/// Every number of a text, identifiers included, without zeros at its end.
pub(crate) fn numbers(text: &str) -> Vec<String> {
    numerals(text, uses_decimal_comma(text))
        .into_iter()
        .map(|numeral| numeral.value.normalize().to_string())
        .collect()
}

/// Whether a text gives a value: a figure, a number word, a clock time, or anything after "as" or a colon.
pub(crate) fn gives_a_value(text: &str) -> bool {
    !figures(text).is_empty()
        || prose::has_number_words(text)
        || words(text).iter().any(|word| word.lower == "as")
        || text.contains(": ")
        || clock_time(text)
}

fn clock_time(text: &str) -> bool {
    text.as_bytes().windows(4).any(|w| {
        w[0].is_ascii_digit() && w[1] == b':' && w[2].is_ascii_digit() && w[3].is_ascii_digit()
    })
}

/// Years in a text, of whatever spelling: `2024`, `FY2024`, `FY24`, `2025-03-31`.
pub(crate) fn years(text: &str) -> BTreeSet<u16> {
    let mut found: BTreeSet<u16> = prose::periods(text)
        .into_iter()
        .filter(|(_, period)| prose::is_year(period))
        .filter_map(|(_, period)| period.parse().ok())
        .collect();
    // Dates in one word, `2025-03-31` or `31.03.2025`, and spans such as `2021-2024`.
    for run in text.split(|c: char| !c.is_ascii_digit()) {
        if run.len() == 4
            && let Ok(year) = run.parse::<u16>()
            && (1800..2100).contains(&year)
        {
            found.insert(year);
        }
    }
    found
}

/// Words that open a rubric and say what the answer does, not what about.
const ASSERTING: &[&str] = &[
    "states",
    "state",
    "says",
    "say",
    "notes",
    "note",
    "reports",
    "names",
    "identifies",
    "gives",
    "mentions",
    "retrieves",
    "retrieve",
    "finds",
    "obtains",
    "gets",
    "calculates",
    "calculate",
    "computes",
    "derives",
    "works",
    "out",
    "counts",
    "concludes",
    "explains",
    "cites",
    "quotes",
    "shows",
    "confirms",
];

/// Words without a meaning of their own.
const EMPTY: &[&str] = &[
    "a",
    "an",
    "the",
    "that",
    "this",
    "these",
    "those",
    "is",
    "are",
    "was",
    "were",
    "be",
    "been",
    "has",
    "have",
    "had",
    "of",
    "in",
    "on",
    "at",
    "for",
    "by",
    "as",
    "and",
    "it",
    "its",
    "with",
    "there",
    "explicitly",
    "clearly",
    "correctly",
];

/// What a text asserts, apart from order, small words and the verb that opens it: two texts of one key say the same.
/// `None` when too little is left to compare.
pub(crate) fn assertion(text: &str) -> Option<String> {
    let ordered = words(text);
    let directed = ordered.iter().any(|word| {
        word.is(&[
            "than", "from", "to", "before", "after", "over", "against", "under", "above", "below",
            "into", "not",
        ])
    });
    let mut kept: Vec<String> = Vec::new();
    for (i, word) in ordered.iter().enumerate() {
        if word.is(EMPTY) || i < 2 && word.is(ASSERTING) {
            continue;
        }
        kept.push(number_at(text, word).unwrap_or_else(|| prose::stem(word.text)));
    }
    if kept.len() < 2 {
        return None;
    }
    // "A is larger than B" is not "B is larger than A": there the order counts.
    if !directed {
        kept.sort_unstable();
        kept.dedup();
    }
    Some(kept.join(" "))
}

/// A numeral whole, with sign, unit sign and the digits after a point or comma, of which `words` makes two words.
fn number_at(text: &str, word: &Word<'_>) -> Option<String> {
    if !word.text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let before: String = text[..word.start]
        .chars()
        .rev()
        .take_while(|c| matches!(c, '.' | ',' | '-' | '−' | '$' | '€' | '£' | '±'))
        .collect();
    let after = text[word.end..]
        .chars()
        .next()
        .filter(|c| matches!(c, '%' | '°'));
    Some(format!(
        "{}{}{}",
        before.chars().rev().collect::<String>(),
        word.text,
        after.map(String::from).unwrap_or_default()
    ))
}

/// Verbs that are finite however they are used: enough to see that a clause is a statement.
pub(crate) const FINITE: &[&str] = &[
    "is",
    "are",
    "was",
    "were",
    "has",
    "have",
    "had",
    "does",
    "did",
    "will",
    "would",
    "can",
    "may",
    "must",
    "should",
    "rose",
    "fell",
    "grew",
    "shrank",
    "pays",
    "paid",
    "lasts",
    "costs",
    "cost",
    "leaves",
    "left",
    "includes",
    "covers",
    "requires",
    "runs",
    "ended",
    "began",
    "starts",
    "ends",
    "came",
    "went",
    "reported",
    "increased",
    "decreased",
    "declined",
    "remained",
    "became",
    "applies",
    "bears",
    "holds",
    "owns",
    "sells",
    "sold",
    "needs",
    "allows",
];

/// Verbs with which a rubric asserts something.
pub(crate) const ASSERTS: &[&str] = &[
    "states",
    "explains",
    "calculates",
    "computes",
    "identifies",
    "names",
    "notes",
    "concludes",
    "describes",
    "mentions",
    "discusses",
    "compares",
    "says",
    "retrieves",
    "derives",
    "lists",
    "attributes",
    "assesses",
    "weighs",
    "cites",
    "reports",
    "recommends",
    "acknowledges",
    "points",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assertions_are_compared_by_what_they_say() {
        let same = |a: &str, b: &str| assertion(a) == assertion(b);
        assert!(same(
            "States that a book is kept at the desk for 7 days.",
            "A book is kept for 7 days at the desk"
        ));
        assert!(!same(
            "States that it was 7 days.",
            "States that it was 8 days."
        ));
        assert!(!same("Margin was 3.5% here.", "Margin was 3.6% here."));
        assert!(!same(
            "Brest is larger than Lyon.",
            "Lyon is larger than Brest."
        ));
        assert_eq!(assertion("It is."), None);
    }

    #[test]
    fn years_of_every_spelling() {
        let of = |text: &str| years(text).into_iter().collect::<Vec<_>>();
        assert_eq!(of("FY24 and 2023"), [2023, 2024]);
        assert_eq!(of("on 2025-03-31"), [2025]);
        assert_eq!(of("on 31.03.2025"), [2025]);
        assert_eq!(of("room 12"), [0u16; 0]);
    }
}
