//! Plain scalars by the YAML 1.2 core schema (`cases.md`, YAML rules): `no`, `on`, `1:30` and `1_000` stay text.

use serde_json::Number;

use crate::node::Kind;

/// What a plain scalar means.
pub(crate) fn resolve(text: &str) -> Kind {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Kind::Null,
        "true" | "True" | "TRUE" => return Kind::Bool(true),
        "false" | "False" | "FALSE" => return Kind::Bool(false),
        _ => {}
    }
    integer(text)
        .or_else(|| float(text))
        .unwrap_or_else(|| Kind::Text(text.into()))
}

/// `[-+]?[0-9]+`, `0o[0-7]+`, `0x[0-9a-fA-F]+`. A whole number beyond 64 bits becomes a float.
pub(crate) fn integer(text: &str) -> Option<Kind> {
    let radix = |digits: &str, radix: u32| -> Option<Kind> {
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return None;
        }
        Some(match u64::from_str_radix(digits, radix) {
            Ok(value) => Kind::Number(value.into()),
            Err(_) => finite(digits.chars().fold(0.0, |sum, digit| {
                sum * f64::from(radix) + f64::from(digit.to_digit(radix).unwrap_or(0))
            })),
        })
    };
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let signed = text.strip_prefix('+').unwrap_or(text);
    if let Ok(value) = signed.parse::<i64>() {
        return Some(Kind::Number(value.into()));
    }
    if let Ok(value) = signed.parse::<u64>() {
        return Some(Kind::Number(value.into()));
    }
    signed.parse::<f64>().ok().map(finite)
}

/// `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`, infinities and not-a-number.
pub(crate) fn float(text: &str) -> Option<Kind> {
    let (negative, body) = match text.strip_prefix('-') {
        Some(body) => (true, body),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    match body {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Kind::NotFinite(if negative {
                f64::NEG_INFINITY
            } else {
                f64::INFINITY
            }));
        }
        ".nan" | ".NaN" | ".NAN" if body.len() == text.len() => {
            return Some(Kind::NotFinite(f64::NAN));
        }
        _ => {}
    }
    let (mantissa, exponent) = match body.find(['e', 'E']) {
        Some(at) => (&body[..at], Some(&body[at + 1..])),
        None => (body, None),
    };
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    let shaped = digits(whole)
        && fraction.is_none_or(digits)
        && !(whole.is_empty() && fraction.is_none_or(str::is_empty));
    let powered = exponent.is_none_or(|exponent| {
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !exponent.is_empty() && digits(exponent)
    });
    if !shaped || !powered {
        return None;
    }
    let value: f64 = body.parse().ok()?;
    Some(finite(if negative { -value } else { value }))
}

fn finite(value: f64) -> Kind {
    Number::from_f64(value).map_or(Kind::NotFinite(value), Kind::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn core_schema() {
        for text in [
            "no",
            "on",
            "yes",
            "off",
            "y",
            "N",
            "1:30",
            "1_000",
            "0b1",
            "012a",
            "1.2.3",
            "-",
            "+",
            ".",
            "e5",
            "1e",
            "0x",
            "0o8",
            "+.nan",
            "-.nan",
            "2024-01-01",
            "1,000",
            "0x1G",
            "--1",
            "nUll",
            "tRue",
            "Infinity",
            "NaN",
            "inf",
            "-0x1F",
        ] {
            assert_eq!(resolve(text), Kind::Text(text.into()), "{text}");
        }
        for (text, value) in [
            ("0", 0.0),
            ("007", 7.0),
            ("-12", -12.0),
            ("+3", 3.0),
            ("0o17", 15.0),
            ("0xFf", 255.0),
            ("1.", 1.0),
            (".5", 0.5),
            ("-1.5e3", -1500.0),
            ("1E+2", 100.0),
            ("18446744073709551615", 18_446_744_073_709_551_615.0),
            ("99999999999999999999", 1e20),
        ] {
            match resolve(text) {
                Kind::Number(number) => assert_eq!(number.as_f64(), Some(value), "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        for text in [".inf", "-.Inf", "+.INF", ".nan", "1e400"] {
            assert!(matches!(resolve(text), Kind::NotFinite(_)), "{text}");
        }
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), Kind::Null, "{text}");
        }
    }
}
