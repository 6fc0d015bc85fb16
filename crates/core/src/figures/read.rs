//! The figures of a text: numerals with sign and unit, without what only looks like one
//! (`grading.md`, Numbers: "Years, dates, quarters, ordinals, list numbers, identifiers and citations are not figures").

use rust_decimal::Decimal;

use super::SeenFigure;
use super::numeral::{self, Numeral};
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

/// `-`, `−`, `+` or `±` straight before the digits, where it is a sign and no dash: the text before it, and the sign.
fn strip_sign(before: &str) -> (&str, Option<Sign>) {
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
fn is_accounting(numeral: &Numeral, money: bool, scaled: &Scaled) -> bool {
    (money || numeral.marked)
        && (scaled.power == 0 || money)
        && matches!(scaled.unit, Unit::Bare | Unit::Currency(_) | Unit::Percent)
}

fn closes_at_once(after: &str) -> bool {
    after.starts_with(')')
}

/// Words that plainly carry a sign, straight before or after the figure: "a loss of $5m", "fell by 3 %", "5 % lower".
fn word_sign(text: &str, start: usize, end: usize) -> Option<Sign> {
    const MINUS_BEFORE: &[&str] = &[
        "loss of",
        "losses of",
        "deficit of",
        "decline of",
        "decrease of",
        "drop of",
        "fall of",
        "reduction of",
        "shortfall of",
        "contraction of",
        "fell by",
        "fell",
        "declined by",
        "declined",
        "decreased by",
        "decreased",
        "dropped by",
        "dropped",
        "down by",
        "down",
        "shrank by",
        "shrank",
        "contracted by",
        "contracted",
        "lost",
        "reduced by",
        "minus",
        "negative",
        "slipped by",
        "slipped",
        "slid by",
        "net loss was",
        "cut by",
        "outflow of",
        "lower by",
    ];
    const PLUS_BEFORE: &[&str] = &[
        "gain of",
        "gains of",
        "increase of",
        "rise of",
        "growth of",
        "surplus of",
        "profit of",
        "rose by",
        "rose",
        "grew by",
        "grew",
        "increased by",
        "increased",
        "gained",
        "up by",
        "up",
        "climbed by",
        "climbed",
        "jumped by",
        "jumped",
        "expanded by",
        "expanded",
        "improved by",
        "improved",
        "plus",
        "positive",
        "higher by",
        "inflow of",
    ];
    const MINUS_AFTER: &[&str] = &[
        "decline",
        "decrease",
        "drop",
        "fall",
        "lower",
        "loss",
        "reduction",
        "less",
        "below",
        "fewer",
        "contraction",
        "deficit",
    ];
    const PLUS_AFTER: &[&str] = &[
        "increase", "rise", "higher", "gain", "growth", "more", "above", "surplus", "jump",
    ];
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
        const MINUS: &[&str] = &[
            "lowered",
            "reduced",
            "cut",
            "decreased",
            "fell",
            "declined",
            "dropped",
            "shrank",
            "narrowed",
            "trimmed",
            "slipped",
            "lowers",
            "reduces",
            "cuts",
            "lost",
        ];
        const PLUS: &[&str] = &[
            "raised",
            "lifted",
            "increased",
            "rose",
            "grew",
            "climbed",
            "widened",
            "gained",
            "improved",
            "boosted",
            "expanded",
            "raises",
            "increases",
        ];
        let verb = before
            .rsplit(|c: char| !c.is_alphabetic())
            .take(8)
            .find_map(|w| match w {
                w if MINUS.contains(&w) => Some(Sign::Minus),
                w if PLUS.contains(&w) => Some(Sign::Plus),
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
fn tail(text: &str, n: usize) -> &str {
    let mut from = text.len().saturating_sub(n);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..]
}

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
fn is_reference(before: &str, after: &str) -> bool {
    const WORDS: &[&str] = &[
        "section",
        "sections",
        "sec.",
        "§",
        "article",
        "articles",
        "art.",
        "note",
        "notes",
        "page",
        "pages",
        "p.",
        "pp.",
        "figure",
        "fig.",
        "table",
        "tables",
        "chapter",
        "no.",
        "nos.",
        "number",
        "item",
        "items",
        "rule",
        "rfc",
        "ifrs",
        "ias",
        "iso",
        "en",
        "ieee",
        "din",
        "line",
        "lines",
        "step",
        "version",
        "v",
        "v.",
        "form",
        "exhibit",
        "clause",
        "act",
        "amendment",
        "title",
        "part",
        "appendix",
        "annex",
        "paragraph",
        "para.",
        "phase",
        "type",
        "stage",
        "grade",
        "apollo",
        "room",
        "flight",
        "route",
        "highway",
        "interstate",
        "schedule",
        "regulation",
        "directive",
        "resolution",
        "case",
        "docket",
        "footnote",
        "ref.",
        "reference",
        "refs.",
        "week",
        "day",
        "level",
        "tier",
        "class",
        "category",
        "port",
        "error",
        "status",
        "code",
        "group",
        "lane",
        "gate",
        "unit",
        "block",
        "question",
        "q",
        "pep",
        "cve",
        "jis",
        "asc",
        "asu",
        "topic",
        "sku",
        "id",
        "isbn",
        "lap",
        "round",
        "game",
        "matchday",
        "stint",
        "windows",
        "python",
        "java",
        "postgresql",
        "http",
        "tls",
        "utf",
        "sha",
        "base",
        "pier",
        "berth",
        "dose",
        "cycle",
        "cohort",
        "arm",
        "model",
        "boeing",
        "airbus",
    ];
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
    WORDS.contains(&word.as_str())
}

/// `1.` or `2)` at the start of a line, `(3)` as a list mark.
fn is_list_number(before: &str, after: &str, numeral: &Numeral) -> bool {
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

fn is_ordinal(after: &str) -> bool {
    let word: String = after
        .chars()
        .take_while(|c| c.is_alphabetic())
        .collect::<String>()
        .to_ascii_lowercase();
    matches!(word.as_str(), "st" | "nd" | "rd" | "th")
}

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
    "jan",
    "feb",
    "mar",
    "apr",
    "jun",
    "jul",
    "aug",
    "sep",
    "sept",
    "oct",
    "nov",
    "dec",
];

/// Whether a word is a month's name, capitalised (`may` the verb is not).
pub fn is_month(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
        && MONTHS.contains(&word.trim_end_matches('.').to_ascii_lowercase().as_str())
}

/// `31 March`, `March 31`, `2025-03-31`, `31/03/2025`, `31.03.2025`.
fn is_date_part(
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
fn is_year(text: &str, numeral: &Numeral, scaled: &Scaled, money: bool) -> bool {
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
        let to = joiner == "to" && !lead.contains("from");
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
