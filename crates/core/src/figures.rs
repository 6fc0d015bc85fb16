//! Figures by arithmetic (`grading.md`, Numbers): does an answer give the figures of a rubric?
//!
//! It serves the offline judge, the second opinion on every judge's verdict, and `evalkit figures`. It never claims
//! more than it knows: wherever the text around a figure could turn its meaning, the result is `undecided`.
//!
//! - [`numeral`]: digits on the page to exact decimals, with the number of significant digits as written
//! - [`unit`]: scale words, currencies, percents, points, plain unit systems
//! - [`read`]: the figures of a text, without years, dates, ordinals, list numbers and identifiers
//! - [`criterion`]: what the rubric asks of each figure (default rounding, exact, band, range, bound, either–or)
//! - [`context`]: whether the sentence around an answer's figure speaks of the rubric's point, plainly
//!
//! There is no reading of number words, no conversion between unit systems, and no knowledge of any domain.

pub mod context;
pub mod criterion;
mod excluded;
pub mod numeral;
pub mod prose;
pub mod read;
mod sign;
pub mod unit;
mod words;

use serde::{Deserialize, Serialize};

use crate::verdict::FigureResult;
use context::{Caution, Point};
use criterion::{Criterion, Fit};
use read::Figure;

/// What arithmetic says, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Opinion {
    /// The result over all figures of the rubric.
    pub result: FigureResult,
    /// One or two sentences for a person.
    pub why: String,
    /// What the rubric asks, one entry a criterion, e.g. `46.46% (±0.05 points)`.
    pub criteria: Vec<String>,
    /// The figures seen in the rubric.
    pub rubric_figures: Vec<SeenFigure>,
    /// The figures seen in the answer.
    pub answer_figures: Vec<SeenFigure>,
    /// Byte ranges in the answer of the figures that matched, one a criterion, for highlights; empty unless `matches`.
    pub matched: Vec<(usize, usize)>,
}

/// A figure as it stands in a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFigure {
    /// As written, with its unit.
    pub text: String,
    /// Byte range in the text.
    pub start: usize,
    /// End of the range.
    pub end: usize,
}

/// How one criterion fared.
enum Finding {
    Matches(Figure),
    Contradicts(Figure),
    NotFound,
    Undecided(String),
}

/// Answers longer than this are left undecided: no case needs them, and the cost stays bounded.
const LONGEST: usize = 256 * 1024;

/// Compares an answer with a rubric's figures (`grading.md`, Numbers).
pub fn judge(rubric: &str, answer: &str) -> Opinion {
    let decimal_comma = numeral::uses_decimal_comma(rubric);
    let asked = read::figures(rubric, decimal_comma);
    let criteria = criterion::criteria(rubric, &asked);
    let given = if answer.len() > LONGEST {
        Vec::new()
    } else {
        read::figures(answer, decimal_comma)
    };
    let opinion = Opinion {
        result: FigureResult::Undecided,
        why: String::new(),
        criteria: criteria.iter().map(Criterion::describe).collect(),
        rubric_figures: asked.iter().map(|f| f.seen(rubric)).collect(),
        answer_figures: given.iter().map(|f| f.seen(answer)).collect(),
        matched: Vec::new(),
    };
    let undecided = |mut opinion: Opinion, why: &str| {
        opinion.why = why.to_owned();
        opinion
    };
    if criteria.is_empty() {
        return undecided(opinion, "The rubric holds no figure.");
    }
    if answer.len() > LONGEST {
        return undecided(
            opinion,
            "The answer is too long for arithmetic to vouch for.",
        );
    }
    if let Some(why) = context::distrusted(rubric, answer) {
        return undecided(opinion, why);
    }
    let point = Point::of(rubric);
    let mut findings = examine(&criteria, &given, answer, &point);
    check_order(rubric, &criteria, answer, &mut findings);
    combine(opinion, &criteria, findings, answer)
}

fn examine(criteria: &[Criterion], given: &[Figure], answer: &str, point: &Point) -> Vec<Finding> {
    let sentences = prose::sentences(answer);
    let fits: Vec<Vec<Fit>> = criteria
        .iter()
        .map(|c| given.iter().map(|f| c.fit(f)).collect())
        .collect();
    // A figure that meets one criterion is not evidence against another.
    let spoken_for: Vec<bool> = (0..given.len())
        .map(|i| fits.iter().any(|row| matches!(row[i], Fit::Matches)))
        .collect();
    criteria
        .iter()
        .zip(&fits)
        .map(|(criterion, row)| {
            let mut caution: Option<Caution> = None;
            let mut unsure: Option<String> = None;
            for (figure, fit) in given.iter().zip(row) {
                match fit {
                    Fit::Matches => match context::caution(answer, &sentences, figure, given, &spoken_for, criteria.iter().filter(|c| c.figure.scaled.unit == criterion.figure.scaled.unit).count(), point) {
                        None => return Finding::Matches(figure.clone()),
                        Some(found) => caution = caution.or(Some(found)),
                    },
                    Fit::Undecided(why) => unsure = unsure.or_else(|| Some(format!("{} {why}", figure.quoted(answer)))),
                    Fit::Differs | Fit::Doubtful(_) | Fit::Unrelated => {}
                }
            }
            if let Some(caution) = caution {
                return Finding::Undecided(caution.to_string());
            }
            if let Some(why) = unsure {
                return Finding::Undecided(why);
            }
            let others: Vec<&Figure> = given
                .iter()
                .enumerate()
                .filter(|(i, _)| matches!(row[*i], Fit::Differs) && !spoken_for[*i])
                .map(|(_, figure)| figure)
                .collect();
            if others.is_empty() {
                let doubtful = given.iter().zip(row).find_map(|(figure, fit)| match fit {
                    Fit::Doubtful(why) if context::stands_on(answer, &sentences, figure, point) => Some(format!("{} {why}.", figure.quoted(answer))),
                    _ => None,
                });
                if let Some(why) = doubtful {
                    return Finding::Undecided(why);
                }
                return if prose::has_number_words(answer) {
                    Finding::Undecided("The answer writes numbers as words, which arithmetic does not read.".to_owned())
                } else {
                    Finding::NotFound
                };
            }
            match context::on_the_point(answer, &sentences, &others, given, &spoken_for, point, criterion) {
                Some(figure) => Finding::Contradicts(figure.clone()),
                None => Finding::Undecided("The answer gives other figures, and it is not plain that one of them is meant as this one.".to_owned()),
            }
        })
        .collect()
}

/// Figures of a kind that change places ("from 45 % to 46 %", "218 to 204") meet every criterion, and yet say something
/// else: with as many periods as figures each must stand beside its own, otherwise they must keep their order.
fn check_order(rubric: &str, criteria: &[Criterion], answer: &str, findings: &mut [Finding]) {
    let placed: Vec<(usize, usize)> = findings
        .iter()
        .enumerate()
        .filter_map(|(i, f)| match f {
            Finding::Matches(figure) => Some((i, figure.digits_at)),
            _ => None,
        })
        .collect();
    let mut swapped = false;
    for (n, (i, at)) in placed.iter().enumerate() {
        for (j, other) in &placed[n + 1..] {
            let alike = criteria[*i].figure.scaled.unit == criteria[*j].figure.scaled.unit;
            if !alike || at == other {
                swapped |= alike
                    && at == other
                    && criteria[*i].figure.number != criteria[*j].figure.number;
                continue;
            }
            let asked = (
                context::nearest_period(rubric, criteria[*i].figure.digits_at),
                context::nearest_period(rubric, criteria[*j].figure.digits_at),
            );
            let given = (
                context::nearest_period(answer, *at),
                context::nearest_period(answer, *other),
            );
            swapped |= match (asked, given) {
                ((Some(a), Some(b)), (Some(c), Some(d))) if a != b && c != d => a != c || b != d,
                _ => at > other,
            };
        }
    }
    if swapped {
        for (i, _) in placed {
            findings[i] = Finding::Undecided("The figures are there, but not plainly in the order or beside the periods that the rubric gives.".to_owned());
        }
    }
}

fn combine(
    mut opinion: Opinion,
    criteria: &[Criterion],
    findings: Vec<Finding>,
    answer: &str,
) -> Opinion {
    let wanted = |i: usize| criteria[i].describe();
    if let Some((i, figure)) = findings.iter().enumerate().find_map(|(i, f)| match f {
        Finding::Contradicts(figure) => Some((i, figure)),
        _ => None,
    }) {
        opinion.result = FigureResult::Contradicts;
        opinion.why = format!(
            "The answer gives {} where the rubric asks for {}.",
            figure.quoted(answer),
            wanted(i)
        );
    } else if let Some(why) = findings.iter().find_map(|f| match f {
        Finding::Undecided(why) => Some(why),
        _ => None,
    }) {
        opinion.result = FigureResult::Undecided;
        opinion.why.clone_from(why);
    } else if let Some(i) = findings.iter().position(|f| matches!(f, Finding::NotFound)) {
        opinion.result = FigureResult::NotFound;
        opinion.why = format!("The answer gives no figure that could be {}.", wanted(i));
    } else {
        opinion.result = FigureResult::Matches;
        let pairs: Vec<String> = findings
            .iter()
            .enumerate()
            .filter_map(|(i, f)| match f {
                Finding::Matches(figure) => {
                    Some(format!("{} meets {}", figure.quoted(answer), wanted(i)))
                }
                _ => None,
            })
            .collect();
        opinion.why = format!("{}.", pairs.join("; "));
        opinion.matched = findings
            .iter()
            .filter_map(|f| match f {
                Finding::Matches(figure) => Some((figure.start, figure.end)),
                _ => None,
            })
            .collect();
    }
    opinion
}
