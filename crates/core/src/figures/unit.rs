//! Scale words, currencies, percents, points and plain unit systems (`grading.md`, Numbers).

use rust_decimal::Decimal;

/// What a figure counts. Figures compare only within one variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unit {
    /// A bare number, perhaps followed by a noun.
    Bare,
    /// `%`.
    Percent,
    /// Percentage points; a basis point is a hundredth of one.
    Points,
    /// Money; the code where the sign or code tells it.
    Currency(Option<&'static str>),
    /// `2.4x`, `3 times`.
    Times,
    /// Within one plain system: its name. Values are held in its base unit.
    System(&'static str),
    /// Any other unit, by its canonical spelling. It converts to nothing.
    Other(&'static str),
}

/// A unit with the power of ten of its scale word and the factor to its base.
#[derive(Debug, Clone, PartialEq)]
pub struct Scaled {
    /// What is counted.
    pub unit: Unit,
    /// Power of ten of the scale word.
    pub power: i32,
    /// Factor from the written unit to the system's base.
    pub factor: Decimal,
}

impl Scaled {
    fn plain(unit: Unit) -> Self {
        Self {
            unit,
            power: 0,
            factor: Decimal::ONE,
        }
    }
}

/// Scale words and their powers. Letters alone (`k`, `m`, `b`, `t`) count only when glued or beside a currency.
#[rustfmt::skip]
const SCALES: &[(&str, i32)] = &[
    ("thousand", 3), ("thousands", 3), ("million", 6), ("millions", 6), ("mn", 6), ("mio", 6), ("billion", 9), ("billions", 9), ("bn", 9),
    ("trillion", 12), ("trillions", 12), ("tn", 12), ("trn", 12), ("lakh", 5), ("lakhs", 5), ("lac", 5), ("crore", 7), ("crores", 7), ("cr", 7),
];

#[rustfmt::skip]
const LETTER_SCALES: &[(&str, i32)] = &[
    ("k", 3), ("K", 3), ("m", 6), ("M", 6), ("MM", 6), ("mm", 6), ("b", 9), ("B", 9), ("t", 12), ("T", 12),
];

/// Signs and codes of currencies.
#[rustfmt::skip]
const CURRENCIES: &[(&str, &str)] = &[
    ("US$", "USD"), ("A$", "AUD"), ("C$", "CAD"), ("HK$", "HKD"), ("S$", "SGD"), ("$", "USD"), ("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("₹", "INR"),
    ("Rs.", "INR"), ("Rs", "INR"), ("USD", "USD"), ("EUR", "EUR"), ("GBP", "GBP"), ("JPY", "JPY"), ("INR", "INR"), ("CHF", "CHF"), ("CAD", "CAD"),
    ("AUD", "AUD"), ("CNY", "CNY"), ("RMB", "CNY"), ("HKD", "HKD"), ("SGD", "SGD"), ("SEK", "SEK"), ("NOK", "NOK"), ("DKK", "DKK"), ("KRW", "KRW"),
    ("₩", "KRW"), ("BRL", "BRL"), ("R$", "BRL"), ("ZAR", "ZAR"),
];

#[rustfmt::skip]
const CURRENCY_WORDS: &[(&str, &str)] = &[
    ("dollars", "USD"), ("dollar", "USD"), ("euros", "EUR"), ("euro", "EUR"), ("pounds", "GBP"), ("yen", "JPY"), ("rupees", "INR"), ("yuan", "CNY"),
    ("renminbi", "CNY"), ("francs", "CHF"), ("won", "KRW"),
];

/// Units of the plain systems: spelling, system, factor to the base as numerator and denominator.
#[rustfmt::skip]
const SYSTEMS: &[(&str, &str, i64, i64)] = &[
    ("µg", "mass", 1, 1_000_000), ("mcg", "mass", 1, 1_000_000), ("micrograms", "mass", 1, 1_000_000), ("mg", "mass", 1, 1000),
    ("milligram", "mass", 1, 1000), ("milligrams", "mass", 1, 1000), ("g", "mass", 1, 1), ("gram", "mass", 1, 1), ("grams", "mass", 1, 1),
    ("kg", "mass", 1000, 1), ("kilogram", "mass", 1000, 1), ("kilograms", "mass", 1000, 1), ("mm", "length", 1, 1000),
    ("millimetres", "length", 1, 1000), ("millimeters", "length", 1, 1000), ("cm", "length", 1, 100), ("centimetres", "length", 1, 100),
    ("centimeters", "length", 1, 100), ("m", "length", 1, 1), ("metre", "length", 1, 1), ("metres", "length", 1, 1), ("meter", "length", 1, 1),
    ("meters", "length", 1, 1), ("km", "length", 1000, 1), ("kilometre", "length", 1000, 1), ("kilometres", "length", 1000, 1),
    ("kilometer", "length", 1000, 1), ("kilometers", "length", 1000, 1), ("min", "time", 60, 1), ("mins", "time", 60, 1), ("minute", "time", 60, 1),
    ("minutes", "time", 60, 1), ("h", "time", 3600, 1), ("hr", "time", 3600, 1), ("hrs", "time", 3600, 1), ("hour", "time", 3600, 1),
    ("hours", "time", 3600, 1), ("s", "time", 1, 1), ("sec", "time", 1, 1), ("second", "time", 1, 1), ("seconds", "time", 1, 1),
    ("KB", "data", 1000, 1), ("kB", "data", 1000, 1), ("MB", "data", 1_000_000, 1), ("GB", "data", 1_000_000_000, 1),
    ("TB", "data", 1_000_000_000_000, 1), ("kilobytes", "data", 1000, 1), ("megabytes", "data", 1_000_000, 1),
    ("gigabytes", "data", 1_000_000_000, 1),
];

/// Units that convert to nothing here: spelling, canonical name.
#[rustfmt::skip]
const OTHERS: &[(&str, &str)] = &[
    ("°C", "°C"), ("℃", "°C"), ("°F", "°F"), ("℉", "°F"), ("°", "degree"), ("degrees", "degree"), ("K", "K"), ("kelvin", "K"), ("kelvins", "K"),
    ("miles", "mile"), ("mile", "mile"), ("mi", "mile"), ("feet", "foot"), ("foot", "foot"), ("ft", "foot"), ("inches", "inch"), ("inch", "inch"),
    ("yards", "yard"), ("lb", "pound"), ("lbs", "pound"), ("oz", "ounce"), ("ounces", "ounce"), ("t", "tonne"), ("tonne", "tonne"),
    ("tonnes", "tonne"), ("tons", "ton"), ("ton", "ton"), ("L", "litre"), ("litre", "litre"), ("litres", "litre"), ("liter", "litre"),
    ("liters", "litre"), ("mL", "millilitre"), ("ml", "millilitre"), ("gallons", "gallon"), ("barrels", "barrel"), ("ha", "hectare"),
    ("hectares", "hectare"), ("acres", "acre"), ("km²", "km²"), ("km2", "km²"), ("m²", "m²"), ("m³", "m³"), ("years", "year"), ("year", "year"),
    ("months", "month"), ("month", "month"), ("weeks", "week"), ("week", "week"), ("days", "day"), ("day", "day"), ("quarters", "quarter"),
    ("ms", "millisecond"), ("milliseconds", "millisecond"), ("W", "W"), ("kW", "kW"), ("MW", "MW"), ("GW", "GW"), ("TW", "TW"), ("Wh", "Wh"),
    ("kWh", "kWh"), ("MWh", "MWh"), ("GWh", "GWh"), ("TWh", "TWh"), ("V", "V"), ("A", "A"), ("Hz", "Hz"), ("kHz", "kHz"), ("MHz", "MHz"),
    ("GHz", "GHz"), ("J", "J"), ("kJ", "kJ"), ("kcal", "kcal"), ("Pa", "Pa"), ("hPa", "hPa"), ("kPa", "kPa"), ("bar", "bar"), ("mmHg", "mmHg"),
    ("mph", "mph"), ("km/h", "km/h"), ("kph", "km/h"), ("m/s", "m/s"), ("km/s", "km/s"), ("knots", "knot"), ("kt", "knot"), ("mol", "mol"),
    ("mmol/L", "mmol/L"), ("mg/dL", "mg/dL"), ("mg/kg", "mg/kg"), ("mcg/kg", "mcg/kg"), ("mL/min", "mL/min"), ("ppm", "ppm"), ("ppb", "ppb"),
    ("AU", "AU"), ("bytes", "byte"), ("bits", "bit"), ("bit", "bit"), ("KiB", "KiB"), ("MiB", "MiB"), ("GiB", "GiB"), ("Mbps", "Mbps"),
    ("Gbps", "Gbps"), ("Mb/s", "Mbps"), ("TEU", "TEU"), ("dB", "dB"),
];

fn find<'t, T: Copy>(table: &'t [(&'t str, T)], word: &str) -> Option<T> {
    table
        .iter()
        .find(|(spelling, _)| *spelling == word)
        .map(|(_, value)| *value)
}

/// The currency whose sign or code ends `before` (the text up to a numeral), and the bytes it takes with blanks.
pub fn currency_before(before: &str) -> Option<(&'static str, usize)> {
    let trimmed = before.trim_end_matches([' ', '\u{a0}']);
    if before.len() - trimmed.len() > 2 {
        return None;
    }
    CURRENCIES.iter().find_map(|(sign, code)| {
        let rest = trimmed.strip_suffix(sign)?;
        let glued = sign.starts_with(|c: char| c.is_ascii_alphabetic())
            && rest.ends_with(|c: char| c.is_alphanumeric());
        (!glued).then_some((*code, before.len() - rest.len()))
    })
}

/// What stands after a numeral: the unit, and the bytes it takes. `money` says a currency stands before it.
/// `None` when letters are glued to the digits that are no unit: an identifier, not a figure.
pub fn after(rest: &str, money: Option<&'static str>) -> Option<(Scaled, usize)> {
    let base = money.map_or(Unit::Bare, |code| Unit::Currency(Some(code)));
    let glued = word(rest);
    if !glued.is_empty() {
        let scaled = measure(glued, money, true)?;
        return Some(more(rest, glued.len(), scaled, money));
    }
    let blank: usize = rest
        .chars()
        .take_while(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}'))
        .map(char::len_utf8)
        .sum();
    let dash = if blank == 0 {
        rest.chars()
            .next()
            .filter(|c| matches!(c, '-' | '‑'))
            .map_or(0, char::len_utf8)
    } else {
        0
    };
    let skip = if blank > 0 { blank } else { dash };
    if skip == 0 {
        return Some((Scaled::plain(base), 0));
    }
    let spaced = word(&rest[skip..]);
    if dash > 0
        && !spaced.is_empty()
        && (spaced.len() == 1 && spaced.starts_with(|c: char| c.is_ascii_uppercase())
            || measure(spaced, money, false).is_none())
    {
        // `10-K`, `COVID`-like tails are identifiers; a lower-case noun (`12-lead`) is not a unit we know.
        return None;
    }
    match measure(spaced, money, false) {
        Some(scaled) => Some(more(rest, skip + spaced.len(), scaled, money)),
        None => {
            let two: &str = &rest[skip..];
            for (phrase, unit) in [
                ("percentage points", Unit::Points),
                ("percentage point", Unit::Points),
                ("basis points", Unit::Points),
                ("basis point", Unit::Points),
                ("per cent", Unit::Percent),
                ("square kilometres", Unit::Other("km²")),
                ("square kilometers", Unit::Other("km²")),
                ("square km", Unit::Other("km²")),
                ("sq km", Unit::Other("km²")),
                ("square miles", Unit::Other("mile²")),
                ("sq mi", Unit::Other("mile²")),
                ("square metres", Unit::Other("m²")),
                ("square meters", Unit::Other("m²")),
                ("square feet", Unit::Other("foot²")),
                ("cubic metres", Unit::Other("m³")),
                ("cubic meters", Unit::Other("m³")),
                ("nautical miles", Unit::Other("nautical mile")),
                ("light-years", Unit::Other("light-year")),
                ("light years", Unit::Other("light-year")),
            ] {
                if two.to_ascii_lowercase().starts_with(phrase) {
                    let factor = if phrase.starts_with("basis") {
                        Decimal::new(1, 2)
                    } else {
                        Decimal::ONE
                    };
                    return Some((
                        Scaled {
                            unit,
                            power: 0,
                            factor,
                        },
                        skip + phrase.len(),
                    ));
                }
            }
            Some((Scaled::plain(base), 0))
        }
    }
}

/// A unit after a scale word: `3 million km`, `5 billion dollars`, `2.5 million %`.
fn more(rest: &str, used: usize, scaled: Scaled, money: Option<&'static str>) -> (Scaled, usize) {
    if scaled.power == 0
        || scaled.power > 24
        || !matches!(scaled.unit, Unit::Bare | Unit::Currency(_))
    {
        return (scaled, used);
    }
    let tail = &rest[used..];
    let blank: usize = tail
        .chars()
        .take_while(|c| matches!(c, ' ' | '\u{a0}'))
        .map(char::len_utf8)
        .sum();
    if blank == 0 {
        return (scaled, used);
    }
    let next = word(&tail[blank..]);
    if let Some(power) = find(SCALES, next.to_ascii_lowercase().as_str()) {
        // `lakh crore`.
        return more(
            rest,
            used + blank + next.len(),
            Scaled {
                power: scaled.power + power,
                ..scaled
            },
            money,
        );
    }
    if money.is_some() {
        return (scaled, used);
    }
    if let Some(code) =
        find(CURRENCIES, next).or_else(|| find(CURRENCY_WORDS, next.to_ascii_lowercase().as_str()))
    {
        return (
            Scaled {
                unit: Unit::Currency(Some(code)),
                ..scaled
            },
            used + blank + next.len(),
        );
    }
    if next == "times" {
        // Two million times is a count, no multiple.
        return (scaled, used);
    }
    match measure(next, money, false) {
        Some(unit) if unit.power == 0 => (
            Scaled {
                power: scaled.power,
                ..unit
            },
            used + blank + next.len(),
        ),
        _ => (scaled, used),
    }
}

/// The letters and unit signs at the start of `text`.
fn word(text: &str) -> &str {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let inner_slash = c == '/' && at > 0 && text[at + 1..].starts_with(char::is_alphabetic);
        if c.is_alphabetic()
            || matches!(c, '%' | '°' | '℃' | '℉' | 'µ' | '²' | '³' | '×' | '€' | '₹')
            || inner_slash
            || (c == '2' && text[..at].ends_with("km"))
        {
            end = at + c.len_utf8();
            if c == '%' || c == '×' {
                break;
            }
        } else {
            break;
        }
    }
    &text[..end]
}

fn measure(word: &str, money: Option<&'static str>, glued: bool) -> Option<Scaled> {
    if word.is_empty() {
        return None;
    }
    let lower = word.to_ascii_lowercase();
    let base = || money.map_or(Unit::Bare, |code| Unit::Currency(Some(code)));
    match lower.as_str() {
        "%" | "percent" | "pct" => return Some(Scaled::plain(Unit::Percent)),
        "pp" | "ppt" | "ppts" | "pps" => return Some(Scaled::plain(Unit::Points)),
        "bps" | "bp" => {
            return Some(Scaled {
                unit: Unit::Points,
                power: 0,
                factor: Decimal::new(1, 2),
            });
        }
        "x" | "×" => return Some(Scaled::plain(Unit::Times)),
        _ => {}
    }
    if let Some(power) = find(SCALES, &lower) {
        return Some(Scaled {
            unit: base(),
            power,
            factor: Decimal::ONE,
        });
    }
    if (glued || money.is_some())
        && let Some(power) = find(LETTER_SCALES, word)
        // `5m` and `5mm` without a currency may be metres or a million: the reader keeps both open.
        && (money.is_some() || !matches!(word, "m" | "mm" | "K" | "t" | "T"))
    {
        return Some(Scaled {
            unit: base(),
            power,
            factor: Decimal::ONE,
        });
    }
    if let Some(code) = find(CURRENCIES, word).or_else(|| find(CURRENCY_WORDS, &lower)) {
        return Some(Scaled::plain(Unit::Currency(Some(code))));
    }
    if let Some((_, system, numerator, denominator)) = SYSTEMS
        .iter()
        .find(|(spelling, ..)| *spelling == word || (spelling.len() > 3 && *spelling == lower))
    {
        return Decimal::from(*numerator)
            .checked_div(Decimal::from(*denominator))
            .map(|factor| Scaled {
                unit: Unit::System(system),
                power: 0,
                factor,
            });
    }
    let other = find(OTHERS, word).or_else(|| {
        if word.len() > 3 {
            find(OTHERS, &lower)
        } else {
            None
        }
    });
    other.map(|name| Scaled::plain(Unit::Other(name)))
}

/// `5m` and `5M` without a currency: also readable as a million (`m` as metres is the first reading), of the unit that follows.
pub fn million_too(rest: &str, money: bool) -> Option<Scaled> {
    if money || !matches!(word(rest), "m" | "M") {
        return None;
    }
    let unit = measure(word(rest[1..].trim_start()), None, false)
        .filter(|s| s.power == 0)
        .map_or(Unit::Bare, |s| s.unit);
    Some(Scaled {
        unit,
        power: 6,
        factor: Decimal::ONE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(text: &str) -> Option<(Unit, i32)> {
        after(text, None).map(|(s, _)| (s.unit, s.power))
    }

    #[test]
    fn reads_units() {
        assert_eq!(unit(" million km"), Some((Unit::System("length"), 6)));
        assert_eq!(unit("%"), Some((Unit::Percent, 0)));
        assert_eq!(unit(" percentage points"), Some((Unit::Points, 0)));
        assert_eq!(unit("bn"), Some((Unit::Bare, 9)));
        assert_eq!(unit(" employees"), Some((Unit::Bare, 0)));
        assert_eq!(unit("-K filing"), None);
        assert_eq!(unit("ABC"), None);
        assert_eq!(unit(" °C"), Some((Unit::Other("°C"), 0)));
        assert_eq!(after("m", Some("GBP")).map(|(s, _)| s.power), Some(6));
    }

    #[test]
    fn reads_currencies_before() {
        assert_eq!(currency_before("was US$").map(|c| c.0), Some("USD"));
        assert_eq!(currency_before("EUR ").map(|c| c.0), Some("EUR"));
        assert_eq!(currency_before("hours ").map(|c| c.0), None);
    }
}
