//! Scores from verdicts, colours from grades (`grading.md`, Answer rubrics and Evaluators). Pure arithmetic: every
//! published number is a count over a count.

mod pool;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::case::{Case, RubricType};
use crate::experiment::TrialState;
use crate::grade::{Colour, Grade, Outcome, ScoreValue, Share};
use crate::verdict::{CheckVerdict, EntryVerdict, RubricVerdict, Unscored, Verdict};

pub use pool::{Contribution, RESAMPLES, pool};

/// The bar of each score that the dataset's settings name, frozen in the experiment; every other bar is 1.0.
pub type Bars = BTreeMap<String, f64>;

/// Counts of three-way verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The answer asserts it.
    pub satisfied: u64,
    /// It asserts something else.
    pub incorrect: u64,
    /// It does not engage the point.
    pub absent: u64,
    /// No verdict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unscored: u64,
    /// Asked.
    pub total: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    fn of(verdicts: impl Iterator<Item = Option<Verdict>>) -> Self {
        let mut counts = Self::default();
        for verdict in verdicts {
            counts.total += 1;
            *match verdict {
                Some(Verdict::Satisfied) => &mut counts.satisfied,
                Some(Verdict::Incorrect) => &mut counts.incorrect,
                Some(Verdict::Absent) => &mut counts.absent,
                None => &mut counts.unscored,
            } += 1;
        }
        counts
    }

    /// Those with a verdict.
    pub const fn decided(&self) -> u64 {
        self.total - self.unscored
    }

    /// What is said where not everything was decided and there is no score: "decided 5 of 8, 4 of 5 decided satisfied".
    pub fn words(&self) -> String {
        format!(
            "decided {0} of {1}, {2} of {0} decided satisfied",
            self.decided(),
            self.total,
            self.satisfied
        )
    }
}

/// Counts of two-way verdicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckCounts {
    /// Holds.
    pub satisfied: u64,
    /// Does not hold.
    pub unsatisfied: u64,
    /// No verdict.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unscored: u64,
    /// Asked.
    pub total: u64,
}

/// What a set of verdicts comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Scored, or unscored when any entry has no verdict.
    pub outcome: Outcome,
    /// Published scores; none while anything is unscored.
    pub scores: BTreeMap<String, ScoreValue>,
    /// Scores that skip, and why.
    pub skipped: BTreeMap<String, String>,
    /// The block of `formats.md`, Results.
    pub explanation: Value,
}

/// The score name of a rubric type.
pub fn type_score(kind: RubricType) -> String {
    format!("answer_rubric_{}", kind.as_str())
}

/// All scores of `answer_rubrics` on one trial.
pub fn answer_rubrics(verdicts: &[RubricVerdict], bars: &Bars) -> Scored {
    let counts = Counts::of(verdicts.iter().map(|v| v.verdict));
    let by_type: Vec<(RubricType, Counts)> = RubricType::ALL
        .into_iter()
        .map(|kind| {
            let of_kind = verdicts.iter().filter(|v| v.kind == kind);
            (kind, Counts::of(of_kind.map(|v| v.verdict)))
        })
        .collect();
    // Only facts the answer stated have a source to judge.
    let stated =
        |v: &&RubricVerdict| matches!(v.verdict, Some(Verdict::Satisfied | Verdict::Incorrect));
    let sources = verdicts
        .iter()
        .filter(stated)
        .filter_map(|v| v.source.as_ref());
    let citation = Counts::of(sources.map(|s| s.verdict));

    let mut scores = BTreeMap::new();
    let mut skipped = BTreeMap::new();
    let mut publish = |name: &str, num: u64, den: u64, why: &str| {
        if den > 0 {
            scores.insert(name.to_owned(), ScoreValue::Share(Share { num, den }));
        } else {
            skipped.insert(name.to_owned(), why.to_owned());
        }
    };
    let engaged = counts.satisfied + counts.incorrect;
    const NONE: &str = "the case has no answer rubrics";
    publish("answer_rubric_score", counts.satisfied, counts.total, NONE);
    publish("answer_rubric_coverage", engaged, counts.total, NONE);
    publish(
        "answer_rubric_accuracy",
        counts.satisfied,
        engaged,
        "the answer engaged no rubric",
    );
    for (kind, counts) in &by_type {
        let why = format!("the case has no {} rubric", kind.as_str());
        publish(&type_score(*kind), counts.satisfied, counts.total, &why);
    }
    let why = if citation.unscored > 0 {
        format!(
            "no verdict on {} of {} sources",
            citation.unscored, citation.total
        )
    } else if verdicts.iter().any(|v| v.source.is_some()) {
        "no sourced rubric was stated".to_owned()
    } else {
        "no rubric asks for a source".to_owned()
    };
    // A source without a verdict counts neither way, so the share of the others is not published.
    let judged = if citation.unscored > 0 {
        0
    } else {
        citation.total
    };
    publish("answer_rubric_citation", citation.satisfied, judged, &why);

    let by_type: serde_json::Map<String, Value> = by_type
        .iter()
        .filter(|(_, counts)| counts.total > 0)
        .map(|(kind, counts)| (kind.as_str().to_owned(), json!(counts)))
        .collect();
    let explanation =
        json!({"counts": counts, "by_type": by_type, "citation": citation, "verdicts": verdicts});
    finish(
        verdicts.iter().map(|v| (v.verdict.is_some(), v.unscored)),
        (scores, skipped, explanation),
        "answer_rubric_score",
        bars,
    )
}

/// The score of `presentation_judge` or `trajectory_rubrics`, named as the evaluator.
pub fn entries(evaluator: &str, verdicts: &[EntryVerdict], bars: &Bars) -> Scored {
    let count = |wanted: Option<CheckVerdict>| {
        verdicts.iter().filter(|v| v.verdict == wanted).count() as u64
    };
    let counts = CheckCounts {
        satisfied: count(Some(CheckVerdict::Satisfied)),
        unsatisfied: count(Some(CheckVerdict::Unsatisfied)),
        unscored: count(None),
        total: verdicts.len() as u64,
    };
    let mut scores = BTreeMap::new();
    let mut skipped = BTreeMap::new();
    if counts.total > 0 {
        let share = Share {
            num: counts.satisfied,
            den: counts.total,
        };
        scores.insert(evaluator.to_owned(), ScoreValue::Share(share));
    } else {
        skipped.insert(evaluator.to_owned(), "the case has no entries".to_owned());
    }
    finish(
        verdicts.iter().map(|v| (v.verdict.is_some(), v.unscored)),
        (
            scores,
            skipped,
            json!({"counts": counts, "verdicts": verdicts}),
        ),
        evaluator,
        bars,
    )
}

fn finish(
    states: impl Iterator<Item = (bool, Option<Unscored>)>,
    (scores, skipped, explanation): (
        BTreeMap<String, ScoreValue>,
        BTreeMap<String, String>,
        Value,
    ),
    main: &str,
    bars: &Bars,
) -> Scored {
    let mut of = 0;
    let mut entries = 0;
    let mut reason = None;
    for (decided, why) in states {
        of += 1;
        if !decided {
            entries += 1;
            reason = reason.or(Some(why.unwrap_or(Unscored::ParseFailure)));
        }
    }
    if let Some(reason) = reason {
        return Scored {
            outcome: Outcome::Unscored {
                reason,
                entries,
                of,
            },
            scores: BTreeMap::new(),
            skipped: BTreeMap::new(),
            explanation,
        };
    }
    let outcome = match scores.get(main) {
        Some(_) => Outcome::Scored {
            met: met(&scores, main, bars),
        },
        None => Outcome::Skipped {
            reason: skipped.get(main).cloned().unwrap_or_default(),
        },
    };
    Scored {
        outcome,
        scores,
        skipped,
        explanation,
    }
}

/// Whether an evaluator met its bar: its main score reaches 1.0 or the bar set for it, and every other score of it that
/// has a bar of its own reaches that.
pub fn met(scores: &BTreeMap<String, ScoreValue>, main: &str, bars: &Bars) -> bool {
    scores.iter().all(|(name, score)| {
        let bar = match bars.get(name) {
            Some(bar) => *bar,
            None if name == main => 1.0,
            None => return true,
        };
        // A share such as 0.7 is not exact in binary; a bar of 0.7 is met by 7 of 10.
        score.value().is_some_and(|value| value + 1e-9 >= bar)
    })
}

/// Every score that a trial of this case can have, whatever becomes of it; what "over N of M" counts M by.
pub fn names(case: &Case) -> Vec<String> {
    let mut names = Vec::new();
    let rubrics = case.rubrics();
    if !rubrics.is_empty() {
        for name in ["score", "coverage", "accuracy"] {
            names.push(format!("answer_rubric_{name}"));
        }
        for kind in RubricType::ALL {
            if rubrics.iter().any(|r| r.kind == kind) {
                names.push(type_score(kind));
            }
        }
        if rubrics.iter().any(|r| r.source.is_some()) {
            names.push("answer_rubric_citation".to_owned());
        }
    }
    names.extend(
        evaluators(case)
            .into_iter()
            .filter(|name| name != "answer_rubrics"),
    );
    names
}

/// The evaluators of a case, in the order of `grading.md`.
pub fn evaluators(case: &Case) -> Vec<String> {
    let output = &case.evaluators.output;
    let trajectory = &case.evaluators.trajectory;
    let mut names = Vec::new();
    let mut add = |there: bool, name: &str| {
        if there {
            names.push(name.to_owned());
        }
    };
    add(output.answer_rubrics.is_some(), "answer_rubrics");
    add(output.presentation_judge.is_some(), "presentation_judge");
    add(case.max_response_time.is_some(), "max_response_time");
    add(!case.expect.is_empty(), "expect");
    for name in case.metrics.keys() {
        add(true, &format!("metric:{name}"));
    }
    add(
        trajectory.trajectory_rubrics.is_some(),
        "trajectory_rubrics",
    );
    add(
        trajectory.required_tools_called.is_some(),
        "required_tools_called",
    );
    add(
        trajectory.tool_trajectory_match.is_some(),
        "tool_trajectory_match",
    );
    for name in case.evaluators.custom.keys() {
        add(true, &format!("custom:{name}"));
    }
    names
}

/// The colour of one trial: green when at least one evaluator scored and each that scored met its bar, red when one
/// missed it, otherwise the reason why it is neither. Whatever is broken or unscored outweighs green and red.
pub fn trial_colour(state: TrialState, grades: &[Grade]) -> Colour {
    match state {
        TrialState::Done => {}
        TrialState::Error => return Colour::Error,
        TrialState::Cancelled | TrialState::Budget => return Colour::Cancelled,
        TrialState::Queued | TrialState::Running | TrialState::Recorded | TrialState::Grading => {
            return Colour::Open;
        }
    }
    let any = |wanted: fn(&Outcome) -> bool| grades.iter().any(|g| wanted(&g.outcome));
    if any(|o| matches!(o, Outcome::Error { .. })) {
        Colour::Error
    } else if any(|o| matches!(o, Outcome::Unscored { .. })) {
        Colour::Unscored
    } else if any(|o| matches!(o, Outcome::Scored { met: false })) {
        Colour::Red
    } else if any(|o| matches!(o, Outcome::Scored { met: true })) {
        Colour::Green
    } else {
        Colour::Skipped
    }
}

/// The colour of a case over its trials: green when all are, red when none is, else flaky. A case none of whose trials
/// is green or red has the most pressing of their colours; while one is open, so is the case.
pub fn case_colour(trials: &[Colour]) -> Colour {
    let has = |colour: Colour| trials.contains(&colour);
    if has(Colour::Open) {
        return Colour::Open;
    }
    if has(Colour::Green) {
        return if trials.iter().all(|c| *c == Colour::Green) {
            Colour::Green
        } else {
            Colour::Flaky
        };
    }
    [
        Colour::Flaky,
        Colour::Red,
        Colour::Error,
        Colour::Unscored,
        Colour::Cancelled,
    ]
    .into_iter()
    .find(|colour| has(*colour))
    .unwrap_or(Colour::Skipped)
}
