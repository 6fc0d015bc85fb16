//! Whether the words around a figure speak of the rubric's point, plainly. Arithmetic alone cannot tell a right figure
//! from the right digits about something else; wherever the words leave room, the figure is left undecided.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use super::criterion::{Criterion, Fit};
use super::excluded::is_month;
use super::prose::{content, is_year, names, periods, sentences, stem, words};
use super::read::Figure;
use super::words::{BOUNDING, HOSTILE, MEASURES, QUALIFIERS, TURNING};

/// Why a figure that fits is not taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caution {
    /// A word in the sentence may turn its meaning.
    Word(String),
    /// Another period stands nearer than the rubric's.
    Period,
    /// The sentence names someone or something else.
    Name(String),
    /// A qualifier that the rubric does not have (`operating` for `net`).
    Qualifier(String),
    /// Nothing in the sentence says that it is about the rubric's point.
    OffPoint,
    /// Two figures are offered for one.
    Twofold,
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(
                f,
                "The figure is there, but “{word}” in its sentence may turn the meaning."
            ),
            Self::Period => write!(
                f,
                "The figure is there, but it stands beside another period."
            ),
            Self::Name(name) => write!(f, "The figure is there, but its sentence is about {name}."),
            Self::Qualifier(word) => write!(
                f,
                "The figure is there, but it is called “{word}”, which the rubric does not say."
            ),
            Self::OffPoint => write!(
                f,
                "The figure is there, but its sentence does not speak of the rubric's point."
            ),
            Self::Twofold => write!(f, "The answer offers another figure beside it."),
        }
    }
}

/// What a rubric is about: its words, names, periods and qualifiers.
#[derive(Debug, Clone)]
pub struct Point {
    words: BTreeSet<String>,
    all: BTreeSet<String>,
    names: BTreeSet<String>,
    periods: BTreeSet<String>,
}

/// Why nothing in this answer can be vouched for, or `None`.
pub fn distrusted(rubric: &str, answer: &str) -> Option<&'static str> {
    let lower = answer.to_lowercase();
    if HOSTILE.iter().any(|h| lower.contains(h)) {
        return Some(
            "The answer holds text that speaks to a grader or looks like a verdict or a template.",
        );
    }
    if answer.chars().any(|c| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}' | '\u{ad}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')) {
        return Some("The answer holds invisible characters.");
    }
    if answer
        .chars()
        .any(|c| !c.is_ascii() && c.is_numeric() && !"²³¹⁰⁴⁵⁶⁷⁸⁹½¼¾₀₁₂₃₄₅₆₇₈₉".contains(c))
    {
        return Some("The answer writes digits in another script.");
    }
    let squeeze = |t: &str| {
        t.split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
            .to_lowercase()
    };
    let (echo, whole) = (squeeze(rubric), squeeze(answer));
    let echo = echo.trim_end_matches('.');
    if !echo.is_empty() && echo.split(' ').count() >= 4 && whole.contains(echo) {
        return Some("The answer repeats the rubric's own words.");
    }
    None
}

impl Point {
    /// What the rubric is about.
    pub fn of(rubric: &str) -> Self {
        let all = words(rubric)
            .into_iter()
            .map(|(_, w)| w.to_lowercase())
            .collect();
        Self {
            words: content(rubric),
            all,
            names: names(rubric).into_iter().map(|(_, n)| n).collect(),
            periods: periods(rubric).into_iter().map(|(_, p)| p).collect(),
        }
    }

    /// Share of the rubric's words that stand in `text`, 0 to 1.
    fn coverage(&self, text: &str) -> f64 {
        if self.words.is_empty() {
            return 0.0;
        }
        let given = content(text);
        let shared = self.words.iter().filter(|w| given.contains(*w)).count();
        #[expect(clippy::cast_precision_loss, reason = "word counts are small")]
        let share = shared as f64 / self.words.len() as f64;
        share
    }
}

/// The sentence of a figure.
fn sentence_of<'t>(text: &'t str, sentences: &[Range<usize>], figure: &Figure) -> (usize, &'t str) {
    match sentences.iter().find(|s| s.contains(&figure.digits_at)) {
        Some(range) => (range.start, &text[range.clone()]),
        None => (0, text),
    }
}

/// What speaks against taking a figure that fits, or `None`.
pub fn caution(
    text: &str,
    sentences: &[Range<usize>],
    figure: &Figure,
    given: &[Figure],
    spoken_for: &[bool],
    alike: usize,
    point: &Point,
) -> Option<Caution> {
    let (from, sentence) = sentence_of(text, sentences, figure);
    if let Some(found) = turned(sentence, from, figure, point) {
        return Some(found);
    }
    if let Some(found) = elsewhere(sentence, from, figure, given, point) {
        return Some(found);
    }
    // A terse answer has no other point to be about.
    let terse = content(text).len() <= 2;
    if !terse {
        let before = sentences
            .iter()
            .position(|s| s.start == from)
            .and_then(|i| i.checked_sub(1))
            .map_or("", |i| &text[sentences[i].clone()]);
        let near = point.coverage(sentence);
        let wide = point.coverage(&format!("{before} {sentence}"));
        if near < 0.2 || wide < 0.4 {
            return Some(Caution::OffPoint);
        }
        let rivals: Vec<&Figure> = given
            .iter()
            .zip(spoken_for)
            .filter(|(g, taken)| {
                !**taken && g.scaled.unit == figure.scaled.unit && g.number != figure.number
            })
            .map(|(g, _)| g)
            .collect();
        if let Some(found) = rivalled(text, sentences, figure, &rivals, alike, point) {
            return Some(found);
        }
    }
    None
}

/// `alike` is how many figures of the kind the rubric asks for.
///
/// Another figure of the kind that stands on the rubric's point as well as this one, or better: which one is meant?
fn rivalled(
    text: &str,
    sentences: &[Range<usize>],
    figure: &Figure,
    rivals: &[&Figure],
    alike: usize,
    point: &Point,
) -> Option<Caution> {
    let (from, sentence) = sentence_of(text, sentences, figure);
    let ours = clause_of(text, from, sentence, figure);
    let (near, our_words) = (point.coverage(sentence), content(ours));
    for rival in rivals {
        let (other_from, other) = sentence_of(text, sentences, rival);
        if other_from == from {
            let (a, b) = (
                figure.digits_end.min(rival.digits_end),
                figure.digits_at.max(rival.digits_at),
            );
            if text.get(a..b).is_some_and(|gap| gap.contains(" or ")) {
                return Some(Caution::Twofold);
            }
            // As many figures as the rubric asks for: the rival is another one's answer, and is judged there.
            if alike > 1
                && rivals
                    .iter()
                    .filter(|r| {
                        sentences
                            .iter()
                            .any(|s| s.start == from && s.contains(&r.digits_at))
                    })
                    .count()
                    < alike
            {
                continue;
            }
            let theirs = clause_of(text, from, sentence, rival);
            if theirs == ours {
                continue;
            }
            let their_words = content(theirs);
            let only_theirs = point
                .words
                .iter()
                .any(|w| their_words.contains(w) && !our_words.contains(w));
            if only_theirs
                || (point.coverage(theirs) >= point.coverage(ours)
                    && elsewhere_period(theirs, point).is_none())
            {
                return Some(Caution::Twofold);
            }
        } else if elsewhere_period(other, point).is_none() {
            let wide = point.coverage(other);
            if wide >= 0.6 || wide > near {
                return Some(Caution::Twofold);
            }
        }
    }
    None
}

/// The clause of a sentence that holds a figure: between semicolons, commas and joining words.
fn clause_of<'t>(text: &'t str, from: usize, sentence: &'t str, figure: &Figure) -> &'t str {
    const JOINTS: &[&str] = &[
        "; ",
        ", ",
        " and ",
        " while ",
        " whereas ",
        " but ",
        " | ",
        " compared with ",
        " against ",
        " versus ",
        " than ",
    ];
    let at = figure.digits_at - from;
    let start = JOINTS
        .iter()
        .filter_map(|j| sentence[..at].rfind(j).map(|p| p + j.len()))
        .max()
        .unwrap_or(0);
    let tail = figure.digits_end - from;
    let end = JOINTS
        .iter()
        .filter_map(|j| sentence[tail..].find(j).map(|p| p + tail))
        .min()
        .unwrap_or(sentence.len());
    // The cells of a table row belong together.
    if sentence.trim_start().starts_with('|') {
        sentence
    } else {
        text.get(from + start..from + end).unwrap_or(sentence)
    }
}

/// Whether a figure's sentence speaks of the rubric's point.
pub fn stands_on(text: &str, sentences: &[Range<usize>], figure: &Figure, point: &Point) -> bool {
    point.coverage(sentence_of(text, sentences, figure).1) >= 0.5
}

/// The year that stands nearest to a place in its sentence, when the sentence holds one.
pub fn nearest_period(text: &str, at: usize) -> Option<String> {
    let all = sentences(text);
    let range = all.iter().find(|s| s.contains(&at))?;
    let sentence = &text[range.clone()];
    let place = at - range.start;
    periods(sentence)
        .into_iter()
        .filter(|(_, p)| is_year(p))
        .min_by_key(|(p, _)| {
            if *p >= place {
                (*p - place).saturating_sub(8)
            } else {
                place - *p
            }
        })
        .map(|(_, p)| p)
}

/// Words, marks and constructions that may turn the meaning.
fn turned(sentence: &str, from: usize, figure: &Figure, point: &Point) -> Option<Caution> {
    if sentence
        .trim_end()
        .trim_end_matches(['*', '_', '"', '”', ')'])
        .ends_with('?')
    {
        return Some(Caution::Word("?".to_owned()));
    }
    for (_, word) in words(sentence) {
        let lower = word.to_lowercase().replace('’', "'");
        // `May 2024` is a month.
        if lower == "may" && is_month(word) {
            continue;
        }
        if TURNING.contains(&lower.as_str()) && !point.all.contains(&lower) {
            return Some(Caution::Word(word.to_owned()));
        }
    }
    if let Some(word) = bounded(sentence, from, figure, point) {
        return Some(Caution::Word(word));
    }
    if sentence.contains(['`', '{', '}', '≠', '~']) || sentence.contains("~~") {
        return Some(Caution::Word("a mark".to_owned()));
    }
    let quoted = |open: char, close: char| {
        let at = figure.digits_at - from;
        sentence[..at]
            .rfind(open)
            .is_some_and(|o| !sentence[o + open.len_utf8()..at].contains(close))
            && sentence[at..].contains(close)
    };
    if quoted('“', '”')
        || (sentence.matches('"').count() >= 2
            && sentence[..figure.digits_at - from].matches('"').count() % 2 == 1)
    {
        return Some(Caution::Word("a quotation".to_owned()));
    }
    None
}

/// A word close to the figure that bounds, splits or doubles it: "more than 28.1 %", "28.1 % or 27.9 %", "up to 28.1 %".
fn bounded(sentence: &str, from: usize, figure: &Figure, point: &Point) -> Option<String> {
    let start = (figure.start - from).min(sentence.len());
    let mut open = start.saturating_sub(28);
    while !sentence.is_char_boundary(open) {
        open += 1;
    }
    let mut close = (figure.end - from + 14).min(sentence.len());
    while !sentence.is_char_boundary(close) {
        close -= 1;
    }
    let before: Vec<String> = words(&sentence[open..start])
        .into_iter()
        .map(|(_, w)| w.to_lowercase())
        .collect();
    let after: Vec<String> = words(&sentence[(figure.end - from).min(close)..close])
        .into_iter()
        .map(|(_, w)| w.to_lowercase())
        .collect();
    let ours = |word: &str| point.all.contains(word);
    for (i, word) in before.iter().enumerate() {
        let superlative =
            matches!(word.as_str(), "most" | "least") && !(i > 0 && before[i - 1] == "at");
        let up_to = word == "up" && before.get(i + 1).is_some_and(|next| next == "to");
        if ((BOUNDING.contains(&word.as_str()) && !superlative) || up_to) && !ours(word) {
            return Some(word.clone());
        }
    }
    let first = after.first()?;
    (matches!(first.as_str(), "or" | "minus" | "plus" | "short") && !ours(first))
        .then(|| first.clone())
}

fn elsewhere_period(sentence: &str, point: &Point) -> Option<Caution> {
    let stated: Vec<(usize, String)> = periods(sentence);
    let both_years =
        point.periods.iter().any(|p| is_year(p)) && stated.iter().any(|(_, p)| is_year(p));
    let both_parts =
        point.periods.iter().any(|p| !is_year(p)) && stated.iter().any(|(_, p)| !is_year(p));
    let meets = |year: bool| {
        stated
            .iter()
            .any(|(_, p)| is_year(p) == year && point.periods.contains(p))
    };
    ((both_years && !meets(true)) || (both_parts && !meets(false))).then_some(Caution::Period)
}

/// Another period, name or qualifier than the rubric's.
fn elsewhere(
    sentence: &str,
    from: usize,
    figure: &Figure,
    given: &[Figure],
    point: &Point,
) -> Option<Caution> {
    if let Some(found) = elsewhere_period(sentence, point) {
        return Some(found);
    }
    let at = figure.digits_at - from;
    let siblings = given
        .iter()
        .filter(|g| {
            g.digits_at >= from
                && g.digits_at < from + sentence.len()
                && g.scaled.unit == figure.scaled.unit
        })
        .count();
    // With several years and several figures, the nearest year must be one of the rubric's.
    for year in [true, false] {
        let stated: Vec<(usize, String)> = periods(sentence)
            .into_iter()
            .filter(|(_, p)| is_year(p) == year)
            .collect();
        let distinct: BTreeSet<&String> = stated.iter().map(|(_, p)| p).collect();
        let asked = point.periods.iter().any(|p| is_year(p) == year);
        if distinct.len() > 1 && asked {
            let nearest = stated.iter().min_by_key(|(p, _)| gap(*p, at, figure, from));
            if nearest.is_some_and(|(_, p)| !point.periods.contains(p)) {
                return Some(Caution::Period);
            }
        }
    }
    let stated = names(sentence);
    if !point.names.is_empty() {
        let ours = |n: &String| point.names.contains(n) || point.words.contains(n);
        if !stated.is_empty() && !stated.iter().any(|(_, n)| ours(n)) {
            return stated.first().map(|(_, n)| Caution::Name(n.clone()));
        }
        if siblings > 1
            && let Some((_, nearest)) = stated
                .iter()
                .filter(|(p, _)| *p < at)
                .max_by_key(|(p, _)| *p)
            && !ours(nearest)
        {
            return Some(Caution::Name(nearest.clone()));
        }
    } else if let Some((_, name)) = stated
        .iter()
        .find(|(p, n)| *p < at && !point.words.contains(n))
    {
        // The rubric names nobody: a name that acts may be another's.
        if siblings > 1 {
            return Some(Caution::Name(name.clone()));
        }
    }
    let lower: Vec<(usize, String)> = words(sentence)
        .into_iter()
        .map(|(p, w)| (p, w.to_lowercase()))
        .collect();
    let clause = clause_of(
        sentence,
        0,
        sentence,
        &Figure {
            digits_at: at,
            digits_end: figure.digits_end - from,
            ..figure.clone()
        },
    );
    let near: BTreeSet<String> = words(clause)
        .into_iter()
        .map(|(_, w)| w.to_lowercase())
        .collect();
    for (group, names_measure) in QUALIFIERS
        .iter()
        .map(|g| (g, false))
        .chain(MEASURES.iter().map(|g| (g, true)))
    {
        let ours: Vec<&&str> = group.iter().filter(|q| point.all.contains(**q)).collect();
        let theirs: Vec<&(usize, String)> = lower
            .iter()
            .filter(|(_, w)| group.contains(&w.as_str()))
            .collect();
        if theirs.is_empty() {
            continue;
        }
        let foreign: Vec<&&(usize, String)> = theirs
            .iter()
            .filter(|(_, w)| !point.all.contains(w) && !ours.iter().any(|o| stem(o) == stem(w)))
            .collect();
        if foreign.is_empty()
            || ours.is_empty() && !(names_measure && foreign.iter().any(|(_, w)| near.contains(w)))
        {
            continue;
        }
        // With none of ours beside it, or nearer than ours, the qualifier is the figure's own.
        let distance = |p: usize| p.abs_diff(at);
        let nearest_ours = theirs
            .iter()
            .filter(|(_, w)| point.all.contains(w))
            .map(|(p, _)| distance(*p))
            .min();
        let nearest_foreign = foreign.iter().min_by_key(|(p, _)| distance(*p));
        if let Some((p, word)) = nearest_foreign
            && nearest_ours.is_none_or(|o| distance(*p) <= o || siblings > 1)
        {
            return Some(Caution::Qualifier(word.clone()));
        }
    }
    None
}

/// Bytes between a period and a figure; a period that follows the figure is a little nearer than one before it.
fn gap(period: usize, at: usize, figure: &Figure, from: usize) -> usize {
    if period >= at {
        period.saturating_sub(figure.end - from)
    } else {
        at - period
    }
}

/// The figure that the answer plainly gives on the rubric's point instead, when there is exactly one.
pub fn on_the_point<'f>(
    text: &str,
    sentences: &[Range<usize>],
    others: &[&'f Figure],
    given: &[Figure],
    spoken_for: &[bool],
    point: &Point,
    criterion: &Criterion,
) -> Option<&'f Figure> {
    let mut found: Option<&Figure> = None;
    for range in sentences {
        let sentence = &text[range.clone()];
        let here: Vec<&&Figure> = others
            .iter()
            .filter(|f| range.contains(&f.digits_at))
            .collect();
        let [only] = here.as_slice() else { continue };
        let rivals = given
            .iter()
            .zip(spoken_for)
            .filter(|(g, taken)| {
                !**taken
                    && range.contains(&g.digits_at)
                    && g.digits_at != only.digits_at
                    && matches!(criterion.fit(g), Fit::Differs | Fit::Undecided(_))
            })
            .count();
        let here_words = content(sentence);
        let missing = point.words.iter().any(|w| !here_words.contains(w));
        let foreign = here_words.iter().any(|w| !point.words.contains(w));
        // A word of the rubric replaced by another one is another point.
        if rivals > 0 || point.coverage(sentence) < 0.6 || (missing && foreign) {
            continue;
        }
        if only.in_range
            || only.unclear
            || turned(sentence, range.start, only, point).is_some()
            || elsewhere(sentence, range.start, only, given, point).is_some()
        {
            continue;
        }
        let asked_period = !point.periods.is_empty();
        if asked_period
            && periods(sentence)
                .iter()
                .all(|(_, p)| !point.periods.contains(p))
            && !periods(text).is_empty()
            && periods(text)
                .iter()
                .any(|(_, p)| !point.periods.contains(p))
        {
            continue;
        }
        if found.is_some_and(|f| f.number != only.number) {
            return None;
        }
        found = Some(only);
    }
    found
}
