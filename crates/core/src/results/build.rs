//! Building `results.json` from graded trials: one function for `collect`, `grade` and the experiment page.

use std::collections::{BTreeMap, BTreeSet};

use super::{CaseResult, PooledScore, Results, ResultsCounts, ResultsJudge};
use crate::experiment::TrialState;
use crate::grade::{Colour, Grade, Outcome, ScoreValue};
use crate::run::{RunError, Usage};
use crate::score::{self, Contribution};

/// What stands at the head of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResultsHead {
    /// `slug@workspace`, or the path's name offline.
    pub dataset: String,
    /// The agent graded.
    pub agent: Option<String>,
    /// The experiment's id; absent for `grade`.
    pub experiment: Option<String>,
    /// RFC 3339, UTC.
    pub started_at: Option<String>,
    /// RFC 3339, UTC; absent while trials are open.
    pub finished_at: Option<String>,
    /// Who judged.
    pub judge: ResultsJudge,
}

/// One planned trial, whatever became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct TrialInput {
    /// The case id.
    pub case_id: String,
    /// The case version graded; absent offline.
    pub version: Option<u32>,
    /// From 1.
    pub trial: u32,
    /// Where it stands.
    pub state: TrialState,
    /// The scores its effective case can have ([`score::names`]).
    pub names: Vec<String>,
    /// Empty unless graded.
    pub grades: Vec<Grade>,
    /// Milliseconds.
    pub latency_ms: Option<u64>,
    /// Tokens and cost.
    pub usage: Option<Usage>,
    /// Why it ended in an error.
    pub error: Option<RunError>,
}

impl TrialInput {
    /// Its colour.
    pub fn colour(&self) -> Colour {
        score::trial_colour(self.state, &self.grades)
    }

    fn holds_unscored(&self) -> bool {
        let unscored = |g: &Grade| matches!(g.outcome, Outcome::Unscored { .. });
        self.state == TrialState::Done && self.grades.iter().any(unscored)
    }
}

/// The whole file. Cases stand in the order given.
pub fn build(head: ResultsHead, trials: &[TrialInput]) -> Results {
    Results {
        schema: "evalkit.results/1".to_owned(),
        dataset: head.dataset,
        agent: head.agent,
        experiment: head.experiment,
        started_at: head.started_at,
        finished_at: head.finished_at,
        judge: head.judge,
        counts: counts(trials),
        scores: pooled(trials),
        cases: trials.iter().map(case_result).collect(),
    }
}

/// Trials by end and by colour.
pub fn counts(trials: &[TrialInput]) -> ResultsCounts {
    let mut counts = ResultsCounts {
        planned: trials.len() as u64,
        ..ResultsCounts::default()
    };
    for trial in trials {
        *match trial.state {
            TrialState::Done => &mut counts.done,
            TrialState::Error => &mut counts.error,
            TrialState::Cancelled => &mut counts.cancelled,
            TrialState::Budget => &mut counts.budget,
            _ => &mut counts.open,
        } += 1;
        counts.unscored += u64::from(trial.holds_unscored());
        match trial.colour() {
            Colour::Green => counts.green += 1,
            Colour::Red => counts.red += 1,
            _ => {}
        }
    }
    counts
}

/// Corpus scores by name. A trial that ended in an error, or whose evaluator left something unscored, is out of that
/// score's pool; it still counts among the planned trials of cases that have such a score.
pub fn pooled(trials: &[TrialInput]) -> BTreeMap<String, PooledScore> {
    let mut planned: BTreeMap<&str, u64> = BTreeMap::new();
    let mut pools: BTreeMap<&str, Vec<Contribution<'_>>> = BTreeMap::new();
    for trial in trials {
        let scored = scores_of(trial);
        let names: BTreeSet<&str> = trial
            .names
            .iter()
            .map(String::as_str)
            .chain(scored.iter().map(|(name, _)| *name))
            .collect();
        for name in names {
            *planned.entry(name).or_default() += 1;
        }
        for (name, score) in scored {
            let (num, den) = match score {
                #[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
                ScoreValue::Share(share) => (share.num as f64, share.den as f64),
                ScoreValue::Number(number) => (number, 1.0),
            };
            pools.entry(name).or_default().push(Contribution {
                case: &trial.case_id,
                num,
                den,
            });
        }
    }
    pools
        .into_iter()
        .filter_map(|(name, contributions)| {
            let of_cases = planned.get(name).copied().unwrap_or(0);
            Some((name.to_owned(), score::pool(&contributions, of_cases)?))
        })
        .collect()
}

fn scores_of(trial: &TrialInput) -> Vec<(&str, ScoreValue)> {
    if trial.state != TrialState::Done {
        return Vec::new();
    }
    trial
        .grades
        .iter()
        .filter(|grade| matches!(grade.outcome, Outcome::Scored { .. }))
        .flat_map(|grade| {
            grade
                .scores
                .iter()
                .map(|(name, score)| (name.as_str(), *score))
        })
        .collect()
}

fn case_result(trial: &TrialInput) -> CaseResult {
    let mut scores: BTreeMap<String, Option<f64>> = BTreeMap::new();
    let mut skipped: BTreeMap<String, String> = BTreeMap::new();
    for grade in &trial.grades {
        for (name, score) in &grade.scores {
            scores.insert(name.clone(), score.value());
        }
        for (name, why) in &grade.skipped {
            scores.insert(name.clone(), None);
            skipped.insert(name.clone(), why.clone());
        }
        if let Outcome::Skipped { reason } = &grade.outcome {
            skipped
                .entry(grade.evaluator.clone())
                .or_insert_with(|| reason.clone());
        }
    }
    // A score that an evaluator did not reach is there, and null.
    if trial.state == TrialState::Done {
        for name in &trial.names {
            scores.entry(name.clone()).or_insert(None);
        }
    }
    CaseResult {
        id: trial.case_id.clone(),
        version: trial.version,
        trial: trial.trial,
        status: trial.state.as_str().to_owned(),
        green: match trial.colour() {
            Colour::Green => Some(true),
            Colour::Red => Some(false),
            _ => None,
        },
        scores,
        skipped,
        evaluators: trial
            .grades
            .iter()
            .map(|grade| (grade.evaluator.clone(), grade.explanation.clone()))
            .collect(),
        latency_ms: trial.latency_ms,
        usage: trial.usage.clone(),
        error: trial.error.clone(),
    }
}
