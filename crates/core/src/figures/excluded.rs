//! What looks like a figure and is none: years, dates, ordinals, list numbers, identifiers, citations.

use rust_decimal::Decimal;

use super::numeral::Numeral;
use super::unit::{Scaled, Unit};
use super::words::{MONTHS, REFERENCES};

fn last_word(before: &str) -> &str {
    let trimmed = before.trim_end_matches(|c: char| c.is_whitespace());
    let from = trimmed
        .rfind(|c: char| !(c.is_alphanumeric() || matches!(c, '.' | '§' | '#' | '№')))
        .map_or(0, |at| {
            at + trimmed[at..].chars().next().map_or(1, char::len_utf8)
        });
    &trimmed[from..]
}

/// `section 4`, `note 21`, `IFRS 16`, `#12`, `[3]`, `14:07`, `3:1`, `10-K`.
pub fn is_reference(before: &str, after: &str) -> bool {
    if before.ends_with('[') && after.starts_with([']', ',', '-', '–'])
        || before.ends_with('#')
        || before.ends_with('§')
        || before.ends_with("§ ")
    {
        return true;
    }
    if before.ends_with(':') && before[..before.len() - 1].ends_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    if after.starts_with(':') && after[1..].starts_with(|c: char| c.is_ascii_digit()) {
        return true;
    }
    if before.ends_with(['/', '\\', '@', '=', '&', '_'])
        || (after.starts_with('/') && after[1..].starts_with(|c: char| c.is_ascii_digit()))
    {
        return true;
    }
    if after.starts_with('_') {
        return true;
    }
    // Glued with a hyphen to letters: `SR-71`, `COVID-19`, `UTF-8`.
    if let Some(head) = before.strip_suffix(['-', '‑'])
        && head.ends_with(|c: char| c.is_alphabetic())
    {
        return true;
    }
    if !before.ends_with(char::is_whitespace) {
        return false;
    }
    let word = last_word(before).to_lowercase();
    REFERENCES.contains(&word.as_str())
}

/// `1.` or `2)` at the start of a line, `(3)` as a list mark.
pub fn is_list_number(before: &str, after: &str, numeral: &Numeral) -> bool {
    if numeral.marked {
        return false;
    }
    let line = before.rsplit('\n').next().unwrap_or("");
    let opens = line
        .trim_start_matches([' ', '\t', '>', '*', '_', '#', '-'])
        .is_empty();
    if opens
        && (after.starts_with(". ")
            || after.starts_with(") ")
            || after.starts_with(".\t")
            || after.starts_with(".)"))
    {
        return true;
    }
    // A lone small number in parentheses is a list mark or a citation, not a negative.
    before.ends_with('(') && after.starts_with(')') && numeral.end - numeral.start <= 2
}

/// `1st`, `22nd`.
pub fn is_ordinal(after: &str) -> bool {
    let word: String = after
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect::<String>()
        .to_ascii_lowercase();
    matches!(word.as_str(), "st" | "nd" | "rd" | "th")
}

/// Whether a word is a month's name, capitalised (`may` the verb is not).
pub fn is_month(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && MONTHS.contains(&word.trim_end_matches('.').to_ascii_lowercase().as_str())
}

/// `31 March`, `March 31`, `2025-03-31`, `31/03/2025`, `31.03.2025`.
pub fn is_date_part(
    before: &str,
    after: &str,
    numeral: &Numeral,
    previous: Option<&Numeral>,
    next: Option<&Numeral>,
) -> bool {
    if numeral.marked {
        return false;
    }
    let after_word: String = after
        .trim_start_matches([' ', '\u{a0}'])
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect();
    let short = numeral.end - numeral.start <= 2;
    if short && is_month(&after_word) && after.starts_with([' ', '\u{a0}']) {
        return true;
    }
    if is_month(last_word(before)) && (short || numeral.end - numeral.start == 4) {
        return true;
    }
    // `31 March and 30 June`, `June 13–14`: a day beside a day.
    if short
        && let Some(p) = previous
        && p.end < numeral.start
        && p.end - p.start <= 2
        && matches!(before.get(p.end..), Some("-" | "–" | " and " | ", "))
        && is_month(last_word(&before[..p.start]))
    {
        return true;
    }
    if short
        && let Some(n) = next
        && matches!(after.get(..n.start - numeral.end), Some("-" | "–"))
        && {
            let word: String = after
                .get(n.end - numeral.end..)
                .unwrap_or("")
                .trim_start()
                .chars()
                .take_while(|c| c.is_alphabetic())
                .collect();
            is_month(&word)
        }
    {
        return true;
    }
    let joined = |other: Option<&Numeral>, gap: Option<&str>| {
        other.is_some_and(|o| !o.marked) && matches!(gap, Some("-" | "/"))
    };
    let next_gap = next.and_then(|n| after.get(..n.start - numeral.end));
    let previous_gap = previous
        .filter(|p| p.end <= numeral.start)
        .and_then(|p| before.get(p.end..));
    let width = numeral.end - numeral.start;
    // Year-month-day in figures joined by dashes: four digits first, or dashes on both sides.
    (width == 4 && joined(next, next_gap) && next.is_some_and(|n| n.end - n.start == 2))
        || (width == 2
            && joined(previous, previous_gap)
            && previous.is_some_and(|p| {
                p.end - p.start == 4
                    || p.end - p.start == 2 && before[..p.start].ends_with(['-', '/'])
            }))
}

/// Four plain digits that read as a year, and nothing that says otherwise.
pub fn is_year(text: &str, numeral: &Numeral, scaled: &Scaled, money: bool) -> bool {
    if numeral.marked
        || numeral.end - numeral.start != 4
        || money
        || !matches!(scaled.unit, Unit::Bare)
        || scaled.power != 0
    {
        return false;
    }
    let value = numeral.value;
    let before = last_word(&text[..numeral.start]).to_ascii_lowercase();
    let usual = value >= Decimal::from(1900) && value <= Decimal::from(2100);
    let early = value >= Decimal::from(1000) && value < Decimal::from(1900);
    let led = matches!(
        before.as_str(),
        "in" | "since"
            | "by"
            | "until"
            | "during"
            | "year"
            | "years"
            | "fy"
            | "fiscal"
            | "circa"
            | "c."
            | "before"
            | "after"
            | "from"
            | "to"
            | "through"
            | "of"
            | "and"
            | "ad"
            | "around"
            | "season"
            | "spring"
            | "summer"
            | "autumn"
            | "winter"
    );
    usual
        || (early
            && led
            && !matches!(
                before.as_str(),
                "of" | "and" | "to" | "by" | "around" | "from"
            ))
}
