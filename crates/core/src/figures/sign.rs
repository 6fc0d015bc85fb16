//! What carries a figure's sign: symbols, parentheses, words (`grading.md`, Numbers: "in doubt, `undecided`").

use super::numeral::Numeral;
use super::read::Sign;
use super::unit::{Scaled, Unit};
use super::words::{MINUS_AFTER, MINUS_BEFORE, MINUS_VERBS, PLUS_AFTER, PLUS_BEFORE, PLUS_VERBS};

/// `-`, `−`, `+` or `±` straight before the digits, where it is a sign and no dash: the text before it, and the sign.
pub fn strip_sign(before: &str) -> (&str, Option<Sign>) {
    for (mark, sign) in [
        ("-", Sign::Minus),
        ("−", Sign::Minus),
        ("‑", Sign::Minus),
        ("+", Sign::Plus),
    ] {
        if let Some(rest) = before.strip_suffix(mark) {
            let opens = rest.is_empty()
                || rest.ends_with(|c: char| {
                    c.is_whitespace()
                        || matches!(
                            c,
                            '(' | '[' | '|' | ':' | '*' | '_' | '"' | '“' | '~' | '≈' | '='
                        )
                });
            if opens && !rest.ends_with("+/") {
                return (rest, Some(sign));
            }
        }
    }
    (before, None)
}

/// `(1,234)`: parentheses for negatives hold money, a grouped or a decimal figure, and nothing else.
pub fn is_accounting(numeral: &Numeral, money: bool, scaled: &Scaled) -> bool {
    (money || numeral.marked && scaled.power == 0)
        && matches!(scaled.unit, Unit::Bare | Unit::Currency(_) | Unit::Percent)
}

/// Whether a parenthesis closes straight after the figure.
pub fn closes_at_once(after: &str) -> bool {
    after.starts_with(')')
}

/// Words that plainly carry a sign, straight before or after the figure: "a loss of $5m", "fell by 3 %", "5 % lower".
pub fn word_sign(text: &str, start: usize, end: usize) -> Option<Sign> {
    let before = tail(&text[..start], 40);
    let before =
        before.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_' | '~' | '('));
    let before = [
        "about",
        "around",
        "approximately",
        "roughly",
        "nearly",
        "almost",
        "a",
        "exactly",
        "some",
    ]
    .iter()
    .fold(before.to_ascii_lowercase(), |text, word| {
        match text.strip_suffix(word) {
            Some(rest) if rest.ends_with(' ') => rest.trim_end().to_owned(),
            _ => text,
        }
    });
    let ends = |words: &[&str]| {
        words.iter().any(|w| {
            before.strip_suffix(w).is_some_and(|rest| {
                rest.is_empty() || rest.ends_with(|c: char| !c.is_alphanumeric())
            })
        })
    };
    if ends(MINUS_BEFORE) {
        return Some(Sign::Minus);
    }
    if ends(PLUS_BEFORE) {
        return Some(Sign::Plus);
    }
    if before.ends_with(" by") {
        let verb = before
            .rsplit(|c: char| !c.is_alphabetic())
            .take(8)
            .find_map(|w| match w {
                w if MINUS_VERBS.contains(&w) => Some(Sign::Minus),
                w if PLUS_VERBS.contains(&w) => Some(Sign::Plus),
                _ => None,
            });
        if verb.is_some() {
            return verb;
        }
    }
    let after = text[end..]
        .trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '*' | '_'))
        .to_ascii_lowercase();
    let next: String = after.chars().take_while(|c| c.is_alphabetic()).collect();
    if MINUS_AFTER.contains(&next.as_str()) {
        return Some(Sign::Minus);
    }
    if PLUS_AFTER.contains(&next.as_str()) {
        return Some(Sign::Plus);
    }
    None
}

/// The last `n` bytes or a little fewer, on a character boundary.
pub fn tail(text: &str, n: usize) -> &str {
    let mut from = text.len().saturating_sub(n);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}
