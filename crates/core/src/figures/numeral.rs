//! Digits on the page to exact decimals.

use rust_decimal::Decimal;

/// A numeral as written, without sign and unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Numeral {
    /// Byte range in the text.
    pub start: usize,
    /// End of the range.
    pub end: usize,
    /// The value, without sign.
    pub value: Decimal,
    /// Fewest significant digits it may be read with: trailing zeros of a whole number may be read either way.
    pub digits_min: u32,
    /// Most significant digits it may be read with.
    pub digits_max: u32,
    /// Written with a decimal mark, grouping or exponent: no year, no ordinal.
    pub marked: bool,
    /// The digits cannot be read one way only (`1,23,4`).
    pub unclear: bool,
}

/// Whether a rubric writes decimals with a comma; only then does an answer's comma count as one (`grading.md`, Numbers).
pub fn uses_decimal_comma(rubric: &str) -> bool {
    runs(rubric).into_iter().any(|(start, end)| {
        let text = &rubric[start..end];
        match text.rsplit_once(',') {
            Some((whole, fraction)) => {
                !whole.contains(',')
                    && !fraction.contains('.')
                    && fraction.len() != 3
                    && fraction.bytes().all(|b| b.is_ascii_digit())
            }
            None => false,
        }
    })
}

/// The numerals of a text, in order. Digits glued into words (`FY2024`, `RFC9110`, `1.2.3`) are none.
pub fn numerals(text: &str, decimal_comma: bool) -> Vec<Numeral> {
    let mut out: Vec<Numeral> = Vec::new();
    for (start, end) in runs(text) {
        // What an exponent has taken is no numeral of its own.
        if out.last().is_some_and(|n| start < n.end) {
            continue;
        }
        out.extend(read(text, start, end, decimal_comma));
    }
    out
}

/// Longest stretches of digits with marks between them.
fn runs(text: &str) -> Vec<(usize, usize)> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let digit = |i: usize| chars.get(i).is_some_and(|(_, c)| c.is_ascii_digit());
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if !digit(i) {
            i += 1;
            continue;
        }
        let leading_dot = i > 0
            && chars[i - 1].1 == '.'
            && (i < 2 || !(chars[i - 2].1.is_alphanumeric() || chars[i - 2].1 == '.'));
        let from = if leading_dot { i - 1 } else { i };
        let mut j = i + 1;
        loop {
            if digit(j) {
                j += 1;
            } else if chars.get(j).is_some_and(|(_, c)| is_mark(*c))
                && digit(j + 1)
                && (chars[j].1 != ' ' && !is_space_mark(chars[j].1) || group_of_three(&chars, j))
            {
                j += 2;
            } else {
                break;
            }
        }
        let end = chars.get(j).map_or(text.len(), |(at, _)| *at);
        out.push((chars[from].0, end));
        i = j;
    }
    out
}

fn is_mark(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’') || is_space_mark(c)
}

fn is_space_mark(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{202f}' | '\u{2009}')
}

/// Exactly three digits follow the mark at `j`.
fn group_of_three(chars: &[(usize, char)], j: usize) -> bool {
    let digit = |i: usize| chars.get(i).is_some_and(|(_, c)| c.is_ascii_digit());
    digit(j + 1) && digit(j + 2) && digit(j + 3) && !digit(j + 4)
}

fn read(text: &str, start: usize, end: usize, decimal_comma: bool) -> Option<Numeral> {
    let before = text[..start].chars().next_back();
    if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
        return None;
    }
    let raw = &text[start..end];
    let unclear = |marked| {
        Some(Numeral {
            start,
            end,
            value: Decimal::ZERO,
            digits_min: 0,
            digits_max: 0,
            marked,
            unclear: true,
        })
    };
    if raw.matches('.').count() > 1 && !(decimal_comma && grouped(raw, '.')) {
        return None;
    }
    let Some((plain, marked)) = plain(raw, decimal_comma) else {
        return unclear(true);
    };
    let (whole, fraction) = plain.split_once('.').unwrap_or((&plain, ""));
    if plain.len() > 24 {
        return unclear(true);
    }
    let Ok(mut value) = plain.parse::<Decimal>() else {
        return unclear(true);
    };
    let significant = format!("{whole}{fraction}");
    let significant = significant.trim_start_matches('0');
    let digits_max = u32::try_from(significant.len()).unwrap_or(u32::MAX).max(1);
    let digits_min = if fraction.is_empty() {
        u32::try_from(significant.trim_end_matches('0').len())
            .unwrap_or(1)
            .max(1)
    } else {
        digits_max
    };
    let mut end = end;
    let mut marked = marked;
    if let Some((power, length)) = exponent(&text[end..]) {
        marked = true;
        end += length;
        match scale(value, power) {
            Some(scaled) => value = scaled,
            None => return unclear(true),
        }
    }
    Some(Numeral {
        start,
        end,
        value,
        digits_min,
        digits_max,
        marked,
        unclear: false,
    })
}

/// The digits with `.` as decimal mark and no grouping, and whether any mark was there.
fn plain(raw: &str, decimal_comma: bool) -> Option<(String, bool)> {
    let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
    if digits(raw) {
        return Some((raw.to_owned(), false));
    }
    let (group, point) = if decimal_comma {
        ('.', ',')
    } else {
        (',', '.')
    };
    if decimal_comma && raw.matches(',').count() == 1 && !raw.contains('.') {
        let (whole, fraction) = raw.split_once(',')?;
        // Three digits after a comma may be a group or a fraction: nobody can tell.
        if fraction.len() == 3 && whole.len() <= 3 {
            return None;
        }
        return (digits(whole) && digits(fraction)).then(|| (format!("{whole}.{fraction}"), true));
    }
    let (whole, fraction) = match raw.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (raw, None),
    };
    if fraction.is_some_and(|f| !digits(f)) {
        return None;
    }
    let bare: String = if whole.is_empty() {
        "0".to_owned()
    } else if digits(whole) {
        whole.to_owned()
    } else {
        let mark = whole.chars().find(|c| !c.is_ascii_digit())?;
        let allowed = mark == group || matches!(mark, '\'' | '’') || is_space_mark(mark);
        if !allowed || !(grouped(whole, mark) || (mark == ',' && indian(whole))) {
            return None;
        }
        whole.chars().filter(char::is_ascii_digit).collect()
    };
    Some((
        fraction.map_or_else(|| bare.clone(), |f| format!("{bare}.{f}")),
        true,
    ))
}

/// `1,234,567`: one to three digits, then groups of three.
fn grouped(text: &str, mark: char) -> bool {
    let mut parts = text.split(mark);
    let first = parts.next().unwrap_or("");
    let mut any = false;
    (1..=3).contains(&first.len())
        && first.bytes().all(|b| b.is_ascii_digit())
        && parts.all(|p| {
            any = true;
            p.len() == 3 && p.bytes().all(|b| b.is_ascii_digit())
        })
        && any
}

/// `12,34,567`: one or two digits, groups of two, then three.
fn indian(text: &str) -> bool {
    let parts: Vec<&str> = text.split(',').collect();
    let Some((last, rest)) = parts.split_last() else {
        return false;
    };
    last.len() == 3
        && rest.len() >= 2
        && (1..=2).contains(&rest[0].len())
        && rest[1..].iter().all(|p| p.len() == 2)
        && parts.iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()))
}

/// `e9`, `E-3`, ` × 10^9`, `×10⁹` after a numeral: the power of ten and the bytes it takes.
fn exponent(rest: &str) -> Option<(i32, usize)> {
    let number = |s: &str| -> Option<(i32, usize)> {
        let sign = usize::from(s.starts_with(['+', '-', '−']));
        let sign_len = s
            .chars()
            .next()
            .filter(|_| sign == 1)
            .map_or(0, char::len_utf8);
        let digits: usize = s[sign_len..].bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 || digits > 3 {
            return None;
        }
        let value: i32 = s[sign_len..sign_len + digits].parse().ok()?;
        Some((
            if s.starts_with(['-', '−']) {
                -value
            } else {
                value
            },
            sign_len + digits,
        ))
    };
    if let Some(after) = rest.strip_prefix(['e', 'E']) {
        let (power, length) = number(after)?;
        let follows = after[length..].chars().next();
        return (!follows.is_some_and(char::is_alphanumeric)).then_some((power, 1 + length));
    }
    let trimmed = rest.trim_start_matches([' ', '\u{a0}']);
    let blanks = rest.len() - trimmed.len();
    let cross = trimmed
        .chars()
        .next()
        .filter(|c| matches!(c, '×' | 'x' | '*' | '·'))?;
    let after_cross = &trimmed[cross.len_utf8()..];
    let ten = after_cross.trim_start_matches([' ', '\u{a0}']);
    let power_text = ten.strip_prefix("10")?;
    let used = blanks + cross.len_utf8() + (after_cross.len() - ten.len()) + 2;
    if let Some(caret) = power_text.strip_prefix('^') {
        let open = usize::from(caret.starts_with('{') || caret.starts_with('('));
        let (power, length) = number(&caret[open..])?;
        return Some((power, used + 1 + open + length + open));
    }
    let mut power = String::new();
    let mut length = 0;
    for c in power_text.chars() {
        let plain = match c {
            '⁻' => '-',
            '⁰' => '0',
            '¹' => '1',
            '²' => '2',
            '³' => '3',
            '⁴' => '4',
            '⁵' => '5',
            '⁶' => '6',
            '⁷' => '7',
            '⁸' => '8',
            '⁹' => '9',
            _ => break,
        };
        power.push(plain);
        length += c.len_utf8();
    }
    power.parse().ok().map(|p| (p, used + length))
}

/// `value × 10^power`, when it can be held exactly.
pub fn scale(value: Decimal, power: i32) -> Option<Decimal> {
    if !(-27..=27).contains(&power) {
        return None;
    }
    let ten = Decimal::TEN;
    let mut factor = Decimal::ONE;
    for _ in 0..power.unsigned_abs() {
        factor = factor.checked_mul(ten)?;
    }
    if power >= 0 {
        value.checked_mul(factor)
    } else {
        value.checked_div(factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        numerals(text, false)
            .into_iter()
            .filter(|n| !n.unclear)
            .map(|n| n.value.normalize().to_string())
            .collect()
    }

    #[test]
    fn reads_western_indian_and_spaced_groups() {
        assert_eq!(
            values("3,172.6 and 12,34,567 and 1\u{202f}234\u{202f}567 and 1'000"),
            ["3172.6", "1234567", "1234567", "1000"]
        );
        assert_eq!(values(".5 and 0.05, then 7."), ["0.5", "0.05", "7"]);
        assert_eq!(
            values("1.5e9, 6.02 × 10^23, 3×10⁸"),
            ["1500000000", "602000000000000000000000", "300000000"]
        );
    }

    #[test]
    fn leaves_what_is_no_number() {
        assert!(values("FY2024 RFC9110 1.2.3 10.0.0.1").is_empty());
        assert!(numerals("1,23,4", false)[0].unclear);
    }

    #[test]
    fn a_comma_is_a_decimal_mark_only_when_the_rubric_says_so() {
        assert!(uses_decimal_comma("eine Marge von 28,1 %"));
        assert!(!uses_decimal_comma("revenue of 3,172.6 or 1,234"));
        assert_eq!(numerals("28,1", true)[0].value.to_string(), "28.1");
        assert_eq!(numerals("3.172,6", true)[0].value.to_string(), "3172.6");
        assert!(numerals("28,1", false)[0].unclear);
    }

    #[test]
    fn counts_significant_digits() {
        let digits = |t: &str| {
            numerals(t, false)
                .first()
                .map(|n| (n.digits_min, n.digits_max))
        };
        assert_eq!(digits("3,170"), Some((3, 4)));
        assert_eq!(digits("3.170"), Some((4, 4)));
        assert_eq!(digits("0.0052"), Some((2, 2)));
    }

    proptest::proptest! {
        #[test]
        fn never_panics_and_spans_lie_in_the_text(text in "[0-9.,' e+\\-×^ a-z\u{a0}⁹]{0,40}", comma: bool) {
            for n in numerals(&text, comma) {
                proptest::prop_assert!(text.get(n.start..n.end).is_some());
            }
        }
    }
}
