//! Numbers: tabular, with their denominator.

use leptos::prelude::*;

/// `12,480`: groups of three, the same on server and browser.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `71.4%` of a share between 0 and 1.
pub fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// `410 ms`, `31.4 s`, `2 min 5 s` of milliseconds.
pub fn seconds(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        _ => format!(
            "{} min {} s",
            milliseconds / 60_000,
            milliseconds % 60_000 / 1_000
        ),
    }
}

/// A whole number, grouped.
#[component]
pub fn Num(
    /// Which.
    value: u64,
) -> impl IntoView {
    view! { <span class="num">{grouped(value)}</span> }
}

/// "5 of 9".
#[component]
pub fn Share(
    /// How many held.
    num: u64,
    /// How many were asked.
    den: u64,
) -> impl IntoView {
    view! { <span class="num">{grouped(num)} " of " {grouped(den)}</span> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_as_people_read_them() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_000), "1,000");
        assert_eq!(grouped(12_480_017), "12,480,017");
        assert_eq!(percent(0.7142), "71.4%");
        assert_eq!(percent(1.0), "100.0%");
        assert_eq!(seconds(410), "410 ms");
        assert_eq!(seconds(31_449), "31.4 s");
        assert_eq!(seconds(125_000), "2 min 5 s");
    }
}
