//! The figures of a text: numerals with sign and unit, without what only looks like one
//! (`grading.md`, Numbers: "Years, dates, quarters, ordinals, list numbers, identifiers and citations are not figures").

use rust_decimal::Decimal;

use super::SeenFigure;
use super::excluded::{is_date_part, is_list_number, is_ordinal, is_reference, is_year};
use super::numeral::{self, Numeral};
use super::sign::{closes_at_once, is_accounting, strip_sign, tail, word_sign};
use super::unit::{self, Scaled, Unit};

/// A figure as read from a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// Byte range with currency, sign and unit.
    pub start: usize,
    /// End of the range.
    pub end: usize,
    /// Where the digits begin.
    pub digits_at: usize,
    /// Where the digits end.
    pub digits_end: usize,
    /// The digits' value as written, without sign.
    pub number: Decimal,
    /// Fewest significant digits.
    pub digits_min: u32,
    /// Most significant digits.
    pub digits_max: u32,
    /// What it counts.
    pub scaled: Scaled,
    /// A second reading: `5m` as five million where it may be metres.
    pub also: Option<Scaled>,
    /// What carries its sign.
    pub sign: Sign,
    /// It is an end of a range (`28–30 %`, `between 28 and 30`).
    pub in_range: bool,
    /// The digits cannot be read one way only.
    pub unclear: bool,
}

/// The sign of a figure and how plainly it is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Nothing says.
    Bare,
    /// A plus, or a word that plainly carries it (gain, rose by).
    Plus,
    /// A minus, parentheses, or a word that plainly carries it (loss, fell by).
    Minus,
    /// Signs that speak against each other (`a loss of -5`).
    Unclear,
}

impl Figure {
    /// The value in the base of its unit, without sign; `None` when it cannot be held exactly.
    pub fn magnitude(&self, scaled: &Scaled) -> Option<Decimal> {
        numeral::scale(self.number, scaled.power)?.checked_mul(scaled.factor)
    }

    /// The readings of its unit.
    pub fn readings(&self) -> impl Iterator<Item = &Scaled> {
        std::iter::once(&self.scaled).chain(self.also.as_ref())
    }

    /// As it stands in `text`.
    pub fn seen(&self, text: &str) -> SeenFigure {
        SeenFigure {
            text: text
                .get(self.start..self.end)
                .unwrap_or_default()
                .to_owned(),
            start: self.start,
            end: self.end,
        }
    }

    /// As it stands in `text`, in quotation marks.
    pub fn quoted(&self, text: &str) -> String {
        format!("“{}”", text.get(self.start..self.end).unwrap_or_default())
    }
}

/// The figures of a text, in order.
pub fn figures(text: &str, decimal_comma: bool) -> Vec<Figure> {
    let numerals = numeral::numerals(text, decimal_comma);
    let mut out: Vec<Figure> = Vec::with_capacity(numerals.len());
    let mut reference_end = None;
    for (i, n) in numerals.iter().enumerate() {
        let previous = i.checked_sub(1).map(|p| &numerals[p]);
        // `note 2024-7`, `CVE-2024-31497`: what a dash joins to a reference belongs to it.
        let joined = reference_end.is_some_and(|end| text.get(end..n.start) == Some("-"));
        if joined || is_reference(&text[..n.start], &text[n.end..]) {
            reference_end = Some(n.end);
            continue;
        }
        out.extend(figure(text, n, previous, numerals.get(i + 1)));
    }
    spread_ranges(text, &mut out);
    out
}

fn figure(
    text: &str,
    numeral: &Numeral,
    previous: Option<&Numeral>,
    next: Option<&Numeral>,
) -> Option<Figure> {
    let mut before = &text[..numeral.start];
    let mut after = &text[numeral.end..];
    if is_list_number(before, after, numeral)
        || is_ordinal(after)
        || is_date_part(before, after, numeral, previous, next)
    {
        return None;
    }
    // `$(48.2) million`: the parentheses stand between the currency and the scale.
    let wrapped = before
        .strip_suffix('(')
        .filter(|outer| after.starts_with(')') && unit::currency_before(outer).is_some());
    let digits_end = numeral.end + usize::from(wrapped.is_some());
    if let Some(outer) = wrapped {
        before = outer;
        after = &after[1..];
    }
    let (before_sign, sign_before_currency) = strip_sign(before);
    let (money, money_len) = match unit::currency_before(before_sign) {
        Some((code, length)) => (Some(code), length),
        None => (None, 0),
    };
    let mut start = before_sign.len() - money_len;
    let (outer, outer_sign) = strip_sign(&text[..start]);
    let symbol = sign_before_currency.or(if money.is_some() { outer_sign } else { None });
    if symbol.is_some() && money.is_some() {
        start = if sign_before_currency.is_some() {
            start
        } else {
            outer.len()
        };
    }
    let (scaled, unit_len) = unit::after(after, money)?;
    if is_year(text, numeral, &scaled, money.is_some()) {
        return None;
    }
    let end = digits_end + unit_len;
    let also = unit::million_too(after, money.is_some());
    let parenthesised = wrapped.is_some()
        || text[..start].ends_with('(')
            && closes_at_once(&text[end..])
            && is_accounting(numeral, money.is_some(), &scaled);
    let word = word_sign(text, start, end);
    let symbol = match (symbol, parenthesised) {
        (Some(sign), _) => Some(sign),
        (None, true) => Some(Sign::Minus),
        (None, false) => None,
    };
    let sign = match (symbol, word) {
        (Some(Sign::Minus), Some(Sign::Minus | Sign::Plus)) => Sign::Unclear,
        (Some(sign), _) => sign,
        (None, Some(sign)) => sign,
        (None, None) => Sign::Bare,
    };
    Some(Figure {
        start: if symbol.is_some() && sign_before_currency.is_none() && money.is_none() {
            before_sign.len()
        } else {
            start
        },
        end,
        digits_at: numeral.start,
        digits_end: numeral.end,
        number: numeral.value,
        digits_min: numeral.digits_min,
        digits_max: numeral.digits_max,
        scaled,
        also,
        sign,
        in_range: false,
        unclear: numeral.unclear,
    })
}

/// Marks the ends of ranges, and gives the first end the unit of the second: `28–30 %`, `between 3.1 and 3.3 million`.
fn spread_ranges(text: &str, figures: &mut [Figure]) {
    for i in 0..figures.len().saturating_sub(1) {
        let gap = &text[figures[i].end..figures[i + 1].start.max(figures[i].end)];
        let joiner = gap.trim();
        let lead = tail(&text[..figures[i].start], 24).to_ascii_lowercase();
        let lead = lead.trim_end_matches([' ', '*', '_']);
        let dash = matches!(joiner, "-" | "–" | "—" | "‑") && gap.len() <= 5;
        let between = lead.ends_with("between") && matches!(joiner, "and" | "&");
        // "from A to B" is a movement, not a range.
        let kin = figures[i].scaled.unit == figures[i + 1].scaled.unit
            || matches!(figures[i].scaled.unit, Unit::Bare)
            || matches!(
                (&figures[i].scaled.unit, &figures[i + 1].scaled.unit),
                (Unit::Currency(_), Unit::Bare)
            );
        let to = joiner == "to" && kin && !lead.contains("from");
        if !(dash || between || to) {
            continue;
        }
        if matches!(figures[i].scaled.unit, Unit::Bare | Unit::Currency(_))
            && figures[i].scaled.power == 0
        {
            let next = figures[i + 1].scaled.clone();
            let keep = figures[i].scaled.unit.clone();
            figures[i].scaled = match (&keep, &next.unit) {
                (Unit::Currency(_), Unit::Bare | Unit::Currency(_)) => {
                    Scaled { unit: keep, ..next }
                }
                (Unit::Bare, _) => next,
                _ => figures[i].scaled.clone(),
            };
        }
        figures[i].in_range = true;
        figures[i + 1].in_range = true;
        if matches!(figures[i].scaled.unit, Unit::Currency(_))
            && matches!(figures[i + 1].scaled.unit, Unit::Bare)
        {
            figures[i + 1].scaled.unit = figures[i].scaled.unit.clone();
        }
        // The dash of a range is no minus.
        if dash && figures[i + 1].sign == Sign::Minus && gap.trim_end() == gap {
            figures[i + 1].sign = figures[i].sign;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> Vec<String> {
        figures(text, false)
            .iter()
            .map(|f| f.seen(text).text)
            .collect()
    }

    #[test]
    fn years_dates_quarters_ordinals_lists_and_identifiers_are_no_figures() {
        let text = "As of 31 March 2025 (Q3 FY2024, note 21, IFRS 16, RFC 9110, COVID-19, 10-K, [4], 2nd place, 14:07, 2025-03-31, March 3, 2025):\n1. in 1648\n2) x";
        assert_eq!(seen(text), Vec::<String>::new());
    }

    #[test]
    fn figures_keep_sign_currency_and_unit() {
        assert_eq!(
            seen("It lost -$5.2 million, 28.1%, 102 bps, (1,234.5), 5m, £412.6m and 1.5 h."),
            [
                "-$5.2 million",
                "28.1%",
                "102 bps",
                "1,234.5",
                "5m",
                "£412.6m",
                "1.5 h"
            ]
        );
        let figures = figures("a loss of $5.2 million; rose by 3%; fell to 28.1%", false);
        assert_eq!(
            figures.iter().map(|f| f.sign).collect::<Vec<_>>(),
            [Sign::Minus, Sign::Plus, Sign::Bare]
        );
    }

    #[test]
    fn ranges_share_their_unit() {
        let figures = figures("between 3.1 and 3.3 million, 28–30%", false);
        assert!(figures.iter().all(|f| f.in_range));
        assert_eq!(figures[0].scaled.power, 6);
        assert_eq!(figures[2].scaled.unit, Unit::Percent);
        assert!(
            super::figures("from 45.44% to 46.46%", false)
                .iter()
                .all(|f| !f.in_range)
        );
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in ".{0,80}", comma: bool) {
            for f in figures(&text, comma) {
                proptest::prop_assert!(text.get(f.start..f.end).is_some());
            }
        }

        #[test]
        fn never_panics_on_figure_like_text(text in "([0-9]{1,4}|[.,()%$€−–-]| |m|bn|bps|March|to|and|±|between|Q|FY|\\[|\\]|\n){0,30}", comma: bool) {
            for f in figures(&text, comma) {
                proptest::prop_assert!(text.get(f.start..f.end).is_some());
            }
        }
    }
}
