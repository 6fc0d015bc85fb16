//! What a rubric asks of each of its figures, and whether one figure of an answer meets it (`grading.md`, Numbers).

use rust_decimal::{Decimal, RoundingStrategy};

use super::numeral;
use super::read::{Figure, Sign};
use super::unit::{Scaled, Unit};

/// One thing the rubric asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Criterion {
    /// What is asked.
    pub rule: Rule,
    /// The figure it is about (the first of several), for unit and sign.
    pub figure: Figure,
    /// The rubric's words for it.
    text: String,
}

/// The rules of `grading.md`, Numbers.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// Normal rounding of the rubric's figure.
    Rounding,
    /// "exactly X".
    Exactly,
    /// "X (±d)", "within d of X": the half-width in the base of the figure's unit.
    Band(Decimal),
    /// "between X and Y": both ends belong to it, in the base of the unit.
    Between(Decimal, Decimal),
    /// "at least", "more than", …: the bound in the base of the unit.
    Bound(Bound),
    /// "either X or Y": each with the default rounding.
    Either(Vec<Figure>),
}

/// One-sided bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// "at least".
    AtLeast,
    /// "more than".
    MoreThan,
    /// "at most", "up to".
    AtMost,
    /// "less than".
    LessThan,
}

/// How a figure of the answer stands to a criterion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// It meets it.
    Matches,
    /// Comparable, and it does not meet it.
    Differs,
    /// Arithmetic may not decide; the text continues a sentence that starts with the figure.
    Undecided(&'static str),
    /// Perhaps the same kind of thing under another unit, and far in value: it only counts where it stands on the point.
    Doubtful(&'static str),
    /// Another kind of thing.
    Unrelated,
}

/// The criteria of a rubric, in order. Empty when it holds no figure.
pub fn criteria(rubric: &str, figures: &[Figure]) -> Vec<Criterion> {
    let mut out: Vec<Criterion> = Vec::new();
    let mut i = 0;
    while i < figures.len() {
        let figure = &figures[i];
        let lead = lead(rubric, figure);
        // "46.46% for FY2024 (±0.05pp)": a width that stands apart belongs to every like figure before it.
        if ["±", "+/-", "+/−", "plus or minus", "give or take"]
            .iter()
            .any(|mark| lead.ends_with(mark))
            && !out.is_empty()
        {
            let mut taken = false;
            for criterion in out.iter_mut().rev() {
                if !matches!(criterion.rule, Rule::Rounding) {
                    break;
                }
                let Some(width) = band(figure, &criterion.figure) else {
                    break;
                };
                criterion.rule = Rule::Band(width);
                criterion.text = format!("{} (±{})", criterion.text, figure.seen(rubric).text);
                taken = true;
            }
            if taken {
                i += 1;
                continue;
            }
        }
        let next = figures.get(i + 1);
        let gap = next.map(|n| {
            rubric
                .get(figure.end..n.start)
                .unwrap_or("")
                .trim()
                .to_ascii_lowercase()
        });
        let slice = |from: usize, to: usize| rubric.get(from..to).unwrap_or("").trim().to_owned();
        // "within 0.05 points of 46.46 %"
        if lead.ends_with("within")
            && let (Some(n), Some(gap)) = (next, gap.as_deref())
            && gap.starts_with("of")
            && !gap.contains(['.', ',', ';'])
            && let Some(width) = band(figure, n)
        {
            out.push(Criterion {
                rule: Rule::Band(width),
                figure: n.clone(),
                text: slice(figure.start, n.end),
            });
            i += 2;
            continue;
        }
        if let (Some(n), Some(gap)) = (next, gap.as_deref()) {
            let plus_minus = matches!(
                gap,
                "±" | "(±"
                    | "+/-"
                    | "(+/-"
                    | "+/−"
                    | "(+/−"
                    | "+-"
                    | ", ±"
                    | "plus or minus"
                    | "(plus or minus"
                    | "give or take"
            );
            if plus_minus && let Some(width) = band(n, figure) {
                out.push(Criterion {
                    rule: Rule::Band(width),
                    figure: Figure {
                        in_range: false,
                        ..figure.clone()
                    },
                    text: slice(figure.start, n.end),
                });
                i += 2;
                continue;
            }
            let within = matches!(gap, "(within" | ", within" | "within");
            if within && let Some(width) = band(n, figure) {
                out.push(Criterion {
                    rule: Rule::Band(width),
                    figure: figure.clone(),
                    text: slice(figure.start, n.end),
                });
                i += 2;
                continue;
            }
            let between = lead.ends_with("between") && gap == "and"
                || figure.in_range && n.in_range && matches!(gap, "-" | "–" | "—" | "to");
            if between && let (Some(a), Some(b)) = (signed(figure), signed(n)) {
                out.push(Criterion {
                    rule: Rule::Between(a.min(b), a.max(b)),
                    figure: figure.clone(),
                    text: slice(figure.start, n.end),
                });
                i += 2;
                continue;
            }
            if lead.ends_with("either") || gap == "or" {
                let mut choices = vec![figure.clone()];
                let mut j = i + 1;
                while let Some(choice) = figures.get(j) {
                    let gap = rubric
                        .get(figures[j - 1].end..choice.start)
                        .unwrap_or("")
                        .trim()
                        .to_ascii_lowercase();
                    if !(gap == "or"
                        || gap == ","
                        || gap == ", or"
                        || gap.ends_with(" or") && !gap.contains('.'))
                    {
                        break;
                    }
                    choices.push(choice.clone());
                    j += 1;
                }
                if choices.len() > 1 {
                    // The first of "either 3.1 or 3.3 million" takes the second's scale.
                    let last = choices[choices.len() - 1].clone();
                    for choice in &mut choices {
                        if matches!(choice.scaled.unit, Unit::Bare) && choice.scaled.power == 0 {
                            choice.scaled = last.scaled.clone();
                        }
                    }
                    out.push(Criterion {
                        rule: Rule::Either(choices),
                        figure: figure.clone(),
                        text: slice(figure.start, figures[j - 1].end),
                    });
                    i = j;
                    continue;
                }
            }
        }
        let rule = if ends_with_any(&lead, &["exactly", "precisely"]) {
            Rule::Exactly
        } else if let Some(bound) = bound(&lead, rubric.get(figure.end..).unwrap_or("")) {
            Rule::Bound(bound)
        } else {
            Rule::Rounding
        };
        out.push(Criterion {
            rule,
            figure: figure.clone(),
            text: slice(figure.start, figure.end),
        });
        i += 1;
    }
    out
}

/// The words straight before a figure, lower case.
fn lead(rubric: &str, figure: &Figure) -> String {
    let before = rubric.get(..figure.start).unwrap_or("");
    let from = before.char_indices().rev().nth(39).map_or(0, |(at, _)| at);
    let text = before[from..].to_lowercase();
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == '(' || c == '*');
    ["a total of", "a", "an", "the"]
        .iter()
        .fold(text.to_owned(), |t, w| match t.strip_suffix(w) {
            Some(rest) if rest.ends_with(' ') => rest.trim_end().to_owned(),
            _ => t,
        })
}

fn ends_with_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| {
        text.strip_suffix(w)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with(|c: char| !c.is_alphanumeric()))
    })
}

fn bound(lead: &str, after: &str) -> Option<Bound> {
    let after = after.trim_start().to_ascii_lowercase();
    if ends_with_any(
        lead,
        &[
            "at least",
            "no less than",
            "not less than",
            "no fewer than",
            "minimum of",
            "≥",
        ],
    ) || after.starts_with("or more")
        || after.starts_with("or above")
        || after.starts_with("or higher")
    {
        Some(Bound::AtLeast)
    } else if ends_with_any(
        lead,
        &[
            "at most",
            "no more than",
            "not more than",
            "up to",
            "maximum of",
            "≤",
        ],
    ) || after.starts_with("or less")
        || after.starts_with("or below")
        || after.starts_with("or fewer")
    {
        Some(Bound::AtMost)
    } else if ends_with_any(
        lead,
        &[
            "more than",
            "greater than",
            "over",
            "above",
            "exceeds",
            "exceeded",
            "exceeding",
            ">",
        ],
    ) {
        Some(Bound::MoreThan)
    } else if ends_with_any(lead, &["less than", "fewer than", "below", "under", "<"]) {
        Some(Bound::LessThan)
    } else {
        None
    }
}

/// The half-width of a band in the base of `of`'s unit: on a percentage a `%` is points, on anything else it is relative.
fn band(width: &Figure, of: &Figure) -> Option<Decimal> {
    let amount = width.magnitude(&width.scaled)?;
    match (&of.scaled.unit, &width.scaled.unit) {
        (Unit::Percent | Unit::Points, Unit::Percent | Unit::Points | Unit::Bare) => Some(amount),
        (_, Unit::Percent) => of
            .magnitude(&of.scaled)?
            .checked_mul(amount)?
            .checked_div(Decimal::ONE_HUNDRED),
        // A bare width takes the scale and unit of the figure it stands beside.
        (_, Unit::Bare) if width.scaled.power == 0 && width.also.is_none() => {
            numeral::scale(width.number, of.scaled.power)?.checked_mul(of.scaled.factor)
        }
        (Unit::Bare, Unit::Bare) | (Unit::Currency(_), Unit::Bare | Unit::Currency(_)) => {
            Some(amount)
        }
        (Unit::System(a), Unit::System(b)) if a == b => Some(amount),
        (Unit::Other(a), Unit::Other(b)) if a == b => Some(amount),
        (Unit::Times, Unit::Times) => Some(amount),
        _ => None,
    }
}

fn signed(figure: &Figure) -> Option<Decimal> {
    let magnitude = figure.magnitude(&figure.scaled)?;
    Some(if figure.sign == Sign::Minus {
        -magnitude
    } else {
        magnitude
    })
}

/// How two kinds of figure stand to each other.
enum Kinship {
    Same,
    /// Likely the same thing, but the answer leaves the unit out or writes another one.
    Doubtful(&'static str),
    Apart,
}

fn kinship(asked: &Scaled, given: &Scaled) -> Kinship {
    use Kinship::{Apart, Doubtful, Same};
    match (&asked.unit, &given.unit) {
        (Unit::Bare, Unit::Bare)
        | (Unit::Percent, Unit::Percent)
        | (Unit::Points, Unit::Points)
        | (Unit::Times, Unit::Times) => Same,
        (Unit::Currency(a), Unit::Currency(b)) if a == b || a.is_none() || b.is_none() => Same,
        (Unit::Currency(_), Unit::Currency(_)) => Doubtful("is in another currency"),
        // An amount without its currency is the ordinary way to repeat one.
        (Unit::Currency(_), Unit::Bare) if given.power > 0 || asked.power == 0 => Same,
        (Unit::Currency(_), Unit::Bare) => Doubtful("has no scale or currency"),
        (Unit::Bare, Unit::Currency(_)) => Same,
        (Unit::System(a), Unit::System(b)) if a == b => Same,
        (Unit::Other(a), Unit::Other(b)) if a == b => Same,
        // A level in basis points is a level in percent.
        (Unit::Percent, Unit::Points) if given.factor != Decimal::ONE => Same,
        (Unit::Percent, Unit::Points) | (Unit::Points, Unit::Percent) => {
            Doubtful("may be points or a relative change")
        }
        (Unit::Percent | Unit::Points | Unit::Times, Unit::Bare)
        | (Unit::System(_) | Unit::Other(_), Unit::Bare) => Doubtful("has no unit"),
        (Unit::Bare, Unit::Times) => Doubtful("is a multiple"),
        (Unit::System(_) | Unit::Other(_), Unit::System(_) | Unit::Other(_)) => {
            Doubtful("is in another unit")
        }
        _ => Apart,
    }
}

impl Criterion {
    /// In words, for people: the rubric's own.
    pub fn describe(&self) -> String {
        let text = &self.text;
        match &self.rule {
            Rule::Rounding => text.clone(),
            Rule::Exactly => format!("exactly {text}"),
            Rule::Band(_) => text.clone(),
            Rule::Between(..) => format!("between {text}"),
            Rule::Bound(Bound::AtLeast) => format!("at least {text}"),
            Rule::Bound(Bound::MoreThan) => format!("more than {text}"),
            Rule::Bound(Bound::AtMost) => format!("at most {text}"),
            Rule::Bound(Bound::LessThan) => format!("less than {text}"),
            Rule::Either(_) => format!("either {text}"),
        }
    }

    /// Whether a figure of the answer meets this criterion.
    pub fn fit(&self, given: &Figure) -> Fit {
        if let Rule::Either(choices) = &self.rule {
            let fits: Vec<Fit> = choices
                .iter()
                .map(|c| {
                    Self {
                        rule: Rule::Rounding,
                        figure: c.clone(),
                        text: String::new(),
                    }
                    .fit(given)
                })
                .collect();
            for wanted in [Fit::Matches, Fit::Differs, Fit::Unrelated] {
                if fits.contains(&wanted)
                    && (wanted == Fit::Matches
                        || !fits.iter().any(|f| matches!(f, Fit::Undecided(_))))
                {
                    return wanted;
                }
            }
            return fits
                .into_iter()
                .find(|f| matches!(f, Fit::Undecided(_) | Fit::Doubtful(_)))
                .unwrap_or(Fit::Unrelated);
        }
        let mut best = Fit::Unrelated;
        for asked in self.figure.readings() {
            for reading in given.readings() {
                let fit = self.fit_reading(asked, given, reading);
                best = match (best, fit) {
                    (_, Fit::Matches) => return Fit::Matches,
                    (Fit::Unrelated, other) => other,
                    (Fit::Doubtful(_), other @ (Fit::Differs | Fit::Undecided(_))) => other,
                    (Fit::Differs, other @ Fit::Undecided(_)) => other,
                    (kept, _) => kept,
                };
            }
        }
        best
    }

    fn fit_reading(&self, asked: &Scaled, given: &Figure, reading: &Scaled) -> Fit {
        match kinship(asked, reading) {
            Kinship::Apart => Fit::Unrelated,
            Kinship::Doubtful(why) => match self.compare(asked, given, reading) {
                // Near in value under a doubtful unit: nobody can tell. Far in value: it says nothing here.
                Fit::Matches | Fit::Undecided(_) => Fit::Undecided(why),
                _ if matches!(
                    (&asked.unit, &reading.unit),
                    (
                        Unit::System(_) | Unit::Other(_),
                        Unit::System(_) | Unit::Other(_)
                    )
                ) =>
                {
                    Fit::Undecided(why)
                }
                _ if self.figure.number == given.number => Fit::Undecided(why),
                _ => Fit::Doubtful(why),
            },
            Kinship::Same => {
                if given.unclear || self.figure.unclear {
                    return Fit::Undecided("cannot be read one way only");
                }
                match self.compare(asked, given, reading) {
                    Fit::Matches if given.in_range => Fit::Undecided("is an end of a range"),
                    Fit::Differs if given.in_range => Fit::Undecided("is an end of a range"),
                    other => other,
                }
            }
        }
    }

    fn compare(&self, asked: &Scaled, given: &Figure, reading: &Scaled) -> Fit {
        let (Some(wanted), Some(got)) = (self.figure.magnitude(asked), given.magnitude(reading))
        else {
            return Fit::Undecided("is too large or too fine to hold exactly");
        };
        let sign = match (self.figure.sign, given.sign) {
            (Sign::Unclear, _) | (_, Sign::Unclear) => SignFit::Doubtful,
            (Sign::Minus, Sign::Minus)
            | (Sign::Plus, Sign::Plus)
            | (Sign::Bare, Sign::Bare | Sign::Plus)
            | (Sign::Plus, Sign::Bare) => SignFit::Same,
            (Sign::Minus, Sign::Bare) | (Sign::Bare, Sign::Minus) => SignFit::Doubtful,
            (Sign::Minus, Sign::Plus) | (Sign::Plus, Sign::Minus) => SignFit::Opposite,
        };
        let size = match &self.rule {
            Rule::Rounding | Rule::Either(_) => self.rounding(asked, wanted, given, reading, got),
            Rule::Exactly => {
                if wanted == got {
                    Fit::Matches
                } else {
                    Fit::Differs
                }
            }
            Rule::Band(width) => {
                if (got - wanted).abs() <= *width {
                    Fit::Matches
                } else {
                    Fit::Differs
                }
            }
            Rule::Between(low, high) => {
                let value = if given.sign == Sign::Minus { -got } else { got };
                return if *low <= value && value <= *high {
                    Fit::Matches
                } else {
                    Fit::Differs
                };
            }
            Rule::Bound(bound) => {
                let holds = match bound {
                    Bound::AtLeast => got >= wanted,
                    Bound::MoreThan => got > wanted,
                    Bound::AtMost => got <= wanted,
                    Bound::LessThan => got < wanted,
                };
                if holds { Fit::Matches } else { Fit::Differs }
            }
        };
        match (size, sign) {
            (fit, SignFit::Same) => fit,
            (Fit::Matches | Fit::Undecided(_), SignFit::Doubtful) => {
                Fit::Undecided("has a sign that is not plain")
            }
            (Fit::Matches, SignFit::Opposite) => Fit::Differs,
            (_, SignFit::Doubtful | SignFit::Opposite) => Fit::Differs,
        }
    }

    /// The answer's figure equals the rubric's rounded, half away from zero, to the answer's own significant digits.
    fn rounding(
        &self,
        asked: &Scaled,
        wanted: Decimal,
        given: &Figure,
        reading: &Scaled,
        got: Decimal,
    ) -> Fit {
        if wanted == got {
            return Fit::Matches;
        }
        let Some(in_their_unit) = wanted
            .checked_div(reading.factor)
            .and_then(|v| numeral::scale(v, -reading.power))
        else {
            return Fit::Undecided("is too large or too fine to hold exactly");
        };
        let half_up = RoundingStrategy::MidpointAwayFromZero;
        let mut coarse = false;
        for digits in given.digits_min..=given.digits_max {
            if in_their_unit.round_sf_with_strategy(digits, half_up)
                == Some(given.number.normalize())
                || in_their_unit
                    .round_sf_with_strategy(digits, half_up)
                    .is_some_and(|r| r == given.number)
            {
                if digits >= 3 {
                    return Fit::Matches;
                }
                coarse = true;
            }
        }
        if coarse {
            return Fit::Undecided("has fewer than three significant digits");
        }
        let Some(in_our_unit) = got
            .checked_div(asked.factor)
            .and_then(|v| numeral::scale(v, -asked.power))
        else {
            return Fit::Undecided("is too large or too fine to hold exactly");
        };
        for digits in self.figure.digits_min..=self.figure.digits_max {
            if in_our_unit
                .round_sf_with_strategy(digits, half_up)
                .is_some_and(|r| r == self.figure.number)
            {
                return Fit::Undecided("is more precise than the rubric and rounds to it");
            }
        }
        Fit::Differs
    }
}

enum SignFit {
    Same,
    Doubtful,
    Opposite,
}
