//! What a trial's grades come to, as the columns that tables show.

use evalkit_core::case::RubricType;
use evalkit_core::experiment::TrialState;
use evalkit_core::explanation::{entry_verdicts, rubric_verdicts, tool_match, tools_called};
use evalkit_core::grade::{Colour, Grade, Outcome, ScoreValue};
use evalkit_core::score::trial_colour;
use evalkit_core::verdict::{CheckVerdict, RubricVerdict, Verdict};

/// Denormalised for lists; always recomputable from the grades.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Summary {
    pub(super) colour: Colour,
    pub(super) satisfied: u64,
    pub(super) asked: u64,
    /// Evaluators that left something unscored.
    pub(super) unscored: u64,
    pub(super) needs_a_look: bool,
    pub(super) what: String,
    /// Name, numerator, denominator.
    pub(super) scores: Vec<(String, f64, f64)>,
}

pub(super) fn summarise(grades: &[Grade]) -> Summary {
    let rubrics = rubric_verdicts(grades);
    let satisfied = rubrics
        .iter()
        .filter(|v| v.verdict == Some(Verdict::Satisfied))
        .count();
    let looks = rubrics.iter().filter(|v| v.needs_a_look).count();
    Summary {
        colour: trial_colour(TrialState::Done, grades),
        satisfied: satisfied as u64,
        asked: rubrics.len() as u64,
        unscored: grades
            .iter()
            .filter(|g| matches!(g.outcome, Outcome::Unscored { .. }))
            .count() as u64,
        needs_a_look: looks > 0,
        what: what(grades, &rubrics, looks),
        scores: scores(grades),
    }
}

/// Only evaluators that scored feed the pool (`grading.md`: what is unscored is out of it, and counted apart).
fn scores(grades: &[Grade]) -> Vec<(String, f64, f64)> {
    let mut scores = Vec::new();
    for grade in grades {
        if !matches!(grade.outcome, Outcome::Scored { .. }) {
            continue;
        }
        for (name, value) in &grade.scores {
            let (num, den) = match value {
                #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
                ScoreValue::Share(share) => (share.num as f64, share.den as f64),
                ScoreValue::Number(number) => (*number, 1.0),
            };
            scores.push((name.clone(), num, den));
        }
    }
    scores
}

/// One line on what fell: "R2 and R5 incorrect; T1 unsatisfied; one verdict needs a look".
fn what(grades: &[Grade], rubrics: &[RubricVerdict], looks: usize) -> String {
    let mut parts = Vec::new();
    let mut add = |labels: Vec<String>, word: &str| {
        if !labels.is_empty() {
            parts.push(format!("{} {word}", listed(&labels)));
        }
    };
    let with = |keep: &dyn Fn(&RubricVerdict) -> bool| numbered('R', rubrics.iter().map(keep));
    add(
        with(&|v| v.verdict == Some(Verdict::Incorrect)),
        "incorrect",
    );
    add(with(&|v| v.verdict == Some(Verdict::Absent)), "absent");
    let source = |v: &RubricVerdict, wanted| {
        v.kind == RubricType::FactualRetrieval
            && v.source.as_ref().is_some_and(|s| s.verdict == Some(wanted))
    };
    add(with(&|v| source(v, Verdict::Incorrect)), "misattributed");
    for (evaluator, letter) in [("trajectory_rubrics", 'T'), ("presentation_judge", 'P')] {
        let entries = entry_verdicts(grades, evaluator);
        let labels = numbered(
            letter,
            entries
                .iter()
                .map(|v| v.verdict == Some(CheckVerdict::Unsatisfied)),
        );
        add(labels, "unsatisfied");
    }
    if let Some(tools) = tools_called(grades) {
        add(tools.missing, "not called");
    }
    if let Some(calls) = tool_match(grades) {
        add(
            numbered('C', calls.entries.iter().map(|entry| !entry.matched)),
            "not matched",
        );
    }
    for grade in grades {
        match &grade.outcome {
            Outcome::Scored { met: false } if grade.evaluator == "max_response_time" => {
                parts.push("too slow".to_owned());
            }
            Outcome::Scored { met: false }
                if grade.evaluator == "expect" || grade.evaluator.contains(':') =>
            {
                parts.push(format!("{} not met", grade.evaluator));
            }
            Outcome::Unscored { entries, of, .. } => {
                parts.push(format!("{entries} of {of} in {} unscored", grade.evaluator));
            }
            Outcome::Error { .. } => parts.push(format!("{} failed", grade.evaluator)),
            Outcome::Scored { .. } | Outcome::Skipped { .. } => {}
        }
    }
    match looks {
        0 => {}
        1 => parts.push("one verdict needs a look".to_owned()),
        n => parts.push(format!("{n} verdicts need a look")),
    }
    parts.join("; ")
}

/// `R2`, `R5`: the places, from 1, where `keep` says so.
fn numbered(letter: char, keep: impl Iterator<Item = bool>) -> Vec<String> {
    keep.enumerate()
        .filter(|(_, keep)| *keep)
        .map(|(index, _)| format!("{letter}{}", index + 1))
        .collect()
}

fn listed(labels: &[String]) -> String {
    match labels {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
