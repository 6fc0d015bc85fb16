//! Running text as figures need it: sentences, words, periods, names. No grammar, no dictionary.

use std::collections::BTreeSet;
use std::ops::Range;

use super::excluded::is_month;
use super::words::{NUMBERS, STOP};

/// Byte ranges of sentences, list items and table rows.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (i, (at, c)) in chars.iter().enumerate() {
        let next = chars.get(i + 1).map(|(_, c)| *c);
        let ends = match c {
            '\n' => true,
            '.' | '!' | '?' => {
                let closes = next
                    .is_none_or(|n| n.is_whitespace() || matches!(n, '"' | '”' | ')' | '*' | '_'));
                let opens_new = chars[i + 1..].iter().map(|(_, c)| *c).find(|c| {
                    !c.is_whitespace() && !matches!(c, '"' | '”' | ')' | '*' | '_' | '“' | '(')
                });
                let initial = i >= 1
                    && chars[i - 1].1.is_uppercase()
                    && (i < 2 || !chars[i - 2].1.is_alphabetic());
                closes && !initial && opens_new.is_none_or(|o| !o.is_lowercase())
            }
            _ => false,
        };
        if ends {
            let end = at + c.len_utf8();
            if !text[start..end].trim().is_empty() {
                out.push(start..end);
            }
            start = end;
        }
    }
    if !text[start..].trim().is_empty() {
        out.push(start..text.len());
    }
    out
}

/// Words of a text with their offsets: letters, digits, inner hyphens and apostrophes.
pub fn words(text: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let mut start = None;
    for (at, c) in text
        .char_indices()
        .chain(std::iter::once((text.len(), ' ')))
    {
        let part = c.is_alphanumeric() || (matches!(c, '-' | '\'' | '’') && start.is_some());
        match (part, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                out.push((from, text[from..at].trim_end_matches(['-', '\'', '’'])));
                start = None;
            }
            _ => {}
        }
    }
    out
}

/// A word's stem: lower case, without a possessive or a plain plural.
pub fn stem(word: &str) -> String {
    let lower = word.to_lowercase().replace('’', "'");
    let lower = lower.strip_suffix("'s").unwrap_or(&lower).to_owned();
    match lower.strip_suffix("ies") {
        Some(rest) if rest.len() > 2 => format!("{rest}y"),
        _ => match lower.strip_suffix('s') {
            Some(rest) if rest.len() > 3 && !rest.ends_with('s') => rest.to_owned(),
            _ => lower,
        },
    }
}

/// The words of a text that say what it is about, as stems.
pub fn content(text: &str) -> BTreeSet<String> {
    words(text)
        .into_iter()
        .filter(|(_, w)| w.chars().count() > 2 && !w.chars().any(|c| c.is_ascii_digit()))
        .map(|(_, w)| (w.to_lowercase(), stem(w)))
        .filter(|(lower, _)| !STOP.contains(&lower.as_str()))
        .map(|(_, stem)| stem)
        .collect()
}

/// Periods with where they stand: four-digit years (also of `FY2024`, `FY24`), quarters, halves, months.
pub fn periods(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    for (at, word) in words(text) {
        let upper = word.to_uppercase();
        let digits: String = upper.chars().filter(char::is_ascii_digit).collect();
        let letters: String = upper.chars().filter(char::is_ascii_alphabetic).collect();
        if letters.is_empty()
            && digits.len() == 4
            && digits.len() == word.len()
            && ("1000".."2101").contains(&digits.as_str())
        {
            let after = &text[at + word.len()..];
            let unit_follows = after.trim_start().starts_with(['%', '°']);
            // `3.1726` and `1,963.5` hold no year.
            let inside = text[..at].ends_with(['.', ','])
                && text[..at - 1].ends_with(|c: char| c.is_ascii_digit())
                || after.starts_with(['.', ','])
                    && after[1..].starts_with(|c: char| c.is_ascii_digit());
            if !unit_follows && !inside {
                out.push((at, digits));
            }
        } else if matches!(letters.as_str(), "FY" | "CY" | "F") && matches!(digits.len(), 2 | 4) {
            out.push((
                at,
                if digits.len() == 2 {
                    format!("20{digits}")
                } else {
                    digits
                },
            ));
        } else if matches!(letters.as_str(), "Q" | "H") && digits.len() == 1 && upper.len() == 2 {
            out.push((at, upper));
        } else if upper.len() == 2 && upper.ends_with(['Q', 'H']) && digits.len() == 1 {
            out.push((at, upper.chars().rev().collect()));
        } else if is_month(word) && word.len() > 2 {
            let name: String = word.to_lowercase().chars().take(3).collect();
            out.push((at, name));
        }
    }
    out
}

/// Whether a period is a year.
pub fn is_year(period: &str) -> bool {
    period.len() == 4 && period.bytes().all(|b| b.is_ascii_digit())
}

/// Capitalised words inside a sentence, which are names more often than not.
pub fn names(text: &str) -> Vec<(usize, String)> {
    const TITLES: &[&str] = &[
        "FY", "CY", "The", "In", "On", "At", "For", "By", "As", "It", "This", "That", "These",
        "Those", "I", "A", "An", "Its", "Our", "We", "Per", "From", "And", "But", "Or", "With",
        "Total", "Note",
    ];
    let all = words(text);
    all.iter()
        .enumerate()
        .filter(|(i, (at, word))| {
            let capital = word.chars().next().is_some_and(char::is_uppercase);
            let opens = *i == 0
                || text[..*at]
                    .trim_end_matches(['*', '_', '"', '“', '(', ' ', '-', '|', '#', '\t'])
                    .ends_with(['.', '!', '?', ':', '\n', '|'])
                || text[..*at]
                    .trim_matches(['*', '_', '"', '“', '(', ' ', '-', '|', '#', '\n', '\t'])
                    .is_empty();
            let acts = all.get(i + 1).is_some_and(|(_, next)| {
                matches!(
                    *next,
                    "reported"
                        | "posted"
                        | "had"
                        | "recorded"
                        | "earned"
                        | "generated"
                        | "has"
                        | "won"
                        | "scored"
                        | "finished"
                        | "shipped"
                        | "announced"
                        | "said"
                        | "employs"
                        | "employed"
                        | "operates"
                )
            }) || word.ends_with("'s")
                || word.ends_with("’s");
            let measures = text[..*at]
                .trim_end()
                .ends_with(|c: char| c.is_ascii_digit());
            capital
                && !measures
                && !word.chars().any(|c| c.is_ascii_digit())
                && word.chars().count() > 1
                && !is_month(word)
                && !TITLES.contains(word)
                && (!opens || acts)
        })
        .map(|(_, (at, word))| (*at, stem(word)))
        .collect()
}

/// Number words, which arithmetic does not read (`one` and ordinals aside).
pub fn has_number_words(text: &str) -> bool {
    words(text).iter().any(|(at, w)| {
        let lower = w.to_lowercase();
        lower.split('-').any(|part| NUMBERS.contains(&part))
            && !text[..*at]
                .trim_end()
                .ends_with(|c: char| c.is_ascii_digit())
    })
}
