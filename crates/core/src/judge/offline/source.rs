//! The citation axis offline: a credit that names the source word for word, or no credit of any kind.

use std::ops::Range;

use crate::quote;
use crate::verdict::Verdict;

/// What credits a fact, right before a source's name.
const CREDITS: [&str; 8] = [
    "according to",
    "as reported in",
    "as stated in",
    "source:",
    "sources:",
    "per",
    "(source:",
    "(",
];

/// Words that may hint at any attribution at all.
const HINTS: [&str; 34] = [
    "according",
    "attributed",
    "based",
    "by",
    "cite",
    "cited",
    "citing",
    "credit",
    "data",
    "disclosed",
    "disclosure",
    "doc",
    "document",
    "filing",
    "filings",
    "from",
    "http",
    "https",
    "per",
    "published",
    "record",
    "records",
    "reference",
    "release",
    "report",
    "reports",
    "said",
    "says",
    "source",
    "sources",
    "statement",
    "statements",
    "table",
    "via",
];

/// Where a sentence credits the fact to the source, as a byte range of the sentence: from the credit to the source's end.
pub(super) fn credit(source: &str, sentence: &str) -> Option<Range<usize>> {
    let name = bare(source);
    let place = quote::find(sentence, name)?;
    // A longer name would be another source.
    let after = sentence[place.end..].chars().next();
    if after.is_some_and(|c| c.is_alphanumeric() || matches!(c, '-' | '\'' | '’' | '/')) {
        return None;
    }
    let before = sentence[..place.start].trim_end();
    let lower = before.to_lowercase();
    if lower.len() != before.len() {
        return None;
    }
    let lead = ["the", "its", "their", "a", "an"]
        .iter()
        .find_map(|article| {
            let rest = lower.strip_suffix(article)?;
            (rest.is_empty() || rest.ends_with([' ', '('])).then_some(rest)
        })
        .unwrap_or(&lower)
        .trim_end();
    let credit = CREDITS.iter().find(|credit| {
        lead.strip_suffix(**credit).is_some_and(|rest| {
            credit.starts_with('(') || rest.is_empty() || rest.ends_with([' ', '(', ','])
        })
    })?;
    let start = lead.len() - credit.len();
    let end = if before[start..].starts_with('(') || before[..start].ends_with('(') {
        // The bracket must hold the source and nothing else.
        place.end + sentence[place.end..].starts_with(')').then_some(1)?
    } else {
        place.end
    };
    Some(start..end)
}

/// The source's name without a leading article.
fn bare(source: &str) -> &str {
    let source = source.trim();
    ["the ", "The ", "its ", "a ", "an "]
        .iter()
        .find_map(|article| source.strip_prefix(article))
        .unwrap_or(source)
}

/// The verdict on a source, and what was cited. `None` wherever an attribution may be meant that is not plain.
pub(super) fn verdict(
    source: &str,
    sentence: &str,
    answer: &str,
) -> (Option<Verdict>, Option<String>) {
    if credit(source, sentence).is_some() {
        return (Some(Verdict::Satisfied), Some(bare(source).to_owned()));
    }
    let own: Vec<String> = words(source);
    let hinted = words(answer)
        .iter()
        .any(|word| HINTS.contains(&word.as_str()) || (word.len() > 2 && own.contains(word)));
    if hinted || answer.contains(['(', '[', '{', '<', '"', '“', '|', '#', ':', '†', '¹', '/'])
    {
        return (None, None);
    }
    (Some(Verdict::Absent), None)
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric() && c != '-')
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}
