//! Times: relative to the page's clock, exact on hover. No wall clock is read while rendering, so that server and browser
//! write the same words.

use leptos::prelude::*;

/// The moment a page was made, microseconds since 1970-01-01 UTC: the server's clock at the newest answer.
#[derive(Debug, Clone, Copy)]
pub struct Clock(pub RwSignal<i64>);

impl Clock {
    /// The clock of the page around; 0 outside of one.
    pub fn now() -> i64 {
        use_context::<Self>().map_or(0, |clock| clock.0.get_untracked())
    }
}

const SECOND: i64 = 1_000_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// "just now", "8 min ago", "3 h ago", "6 d ago", then "11 Mar", then "11 Mar 2024"; "in 5 d" for what is to come.
pub fn ago(at: i64, now: i64) -> String {
    let (distance, past) = (at.abs_diff(now).try_into().unwrap_or(i64::MAX), at <= now);
    let span = match distance {
        d if d < 45 * SECOND => {
            // What ended while the page was on its way is not in the future.
            return if past || d < 5 * SECOND {
                "just now".to_owned()
            } else {
                "in a moment".to_owned()
            };
        }
        d if d < HOUR => format!("{} min", (d / MINUTE).max(1)),
        d if d < DAY => format!("{} h", d / HOUR),
        d if d < 10 * DAY || !past => format!("{} d", d / DAY),
        _ => {
            let (year, month, day) = date(at);
            let name = MONTHS[month as usize - 1];
            return if year == date(now).0 {
                format!("{day} {name}")
            } else {
                format!("{day} {name} {year}")
            };
        }
    };
    if past {
        format!("{span} ago")
    } else {
        format!("in {span}")
    }
}

/// "11 Mar 2025, 16:02:07 UTC".
pub fn exact(at: i64) -> String {
    let (year, month, day) = date(at);
    let second = at.div_euclid(SECOND).rem_euclid(86_400);
    format!(
        "{day} {} {year}, {:02}:{:02}:{:02} UTC",
        MONTHS[month as usize - 1],
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// RFC 3339 for the `datetime` attribute.
fn machine(at: i64) -> String {
    let (year, month, day) = date(at);
    let second = at.div_euclid(SECOND).rem_euclid(86_400);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60
    )
}

/// Year, month from 1, day from 1, of the proleptic Gregorian calendar (Howard Hinnant's `civil_from_days`).
fn date(at: i64) -> (i64, u32, u32) {
    let z = at.div_euclid(DAY) + 719_468;
    let era = z.div_euclid(146_097);
    let day_of_era = z.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    // Both lie within 1 to 31 by construction.
    (
        year,
        u32::try_from(month).unwrap_or(1),
        u32::try_from(day).unwrap_or(1),
    )
}

/// A moment: relative words, the exact time on hover.
#[component]
pub fn Time(
    /// Microseconds since 1970-01-01 UTC.
    at: i64,
) -> impl IntoView {
    view! { <time datetime=machine(at) title=exact(at)>{ago(at, Clock::now())}</time> }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 11 March 2025, 16:02:07 UTC.
    const THEN: i64 = 1_741_708_927 * SECOND;

    #[test]
    fn exact_times() {
        assert_eq!(exact(THEN), "11 Mar 2025, 16:02:07 UTC");
        assert_eq!(exact(0), "1 Jan 1970, 00:00:00 UTC");
        assert_eq!(exact(951_782_400 * SECOND), "29 Feb 2000, 00:00:00 UTC");
        assert_eq!(machine(-1), "1969-12-31T23:59:59Z");
    }

    #[test]
    fn relative_times() {
        assert_eq!(ago(THEN, THEN), "just now");
        assert_eq!(ago(THEN, THEN + 50 * SECOND), "1 min ago");
        assert_eq!(ago(THEN, THEN + 8 * MINUTE), "8 min ago");
        assert_eq!(ago(THEN, THEN + 3 * HOUR + MINUTE), "3 h ago");
        assert_eq!(ago(THEN, THEN + 6 * DAY), "6 d ago");
        assert_eq!(ago(THEN, THEN + 40 * DAY), "11 Mar");
        assert_eq!(ago(THEN, THEN + 400 * DAY), "11 Mar 2025");
        assert_eq!(ago(THEN + 5 * DAY, THEN), "in 5 d");
        assert!(!ago(i64::MIN, i64::MAX).is_empty());
    }
}
