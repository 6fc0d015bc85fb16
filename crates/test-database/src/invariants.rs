//! I1 to I8 of `reliability.md`, section 4: what must be true of the database, and of the agent's own log of calls,
//! after any disturbance. Pure over a [`History`], so that each rule is shown to fail on a history that breaks it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use crate::history::{History, Score};

/// A call as the agent logged it, before it answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `Idempotency-Key`.
    pub key: String,
    /// What it answered, when it did; different at every call.
    pub answer: String,
}

/// What a test set out to do.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Trials of all experiments together.
    pub trials: usize,
    /// Evaluators of every case.
    pub evaluators: usize,
    /// Calls that may be in flight at one moment.
    pub at_once: usize,
    /// Kills, pauses and stops that may each have cut the calls in flight.
    pub disturbances: usize,
}

/// How an ended history may differ from the plan: by nothing. Each line names the invariant that does not hold.
pub fn broken(history: &History, calls: &[Call], plan: Plan) -> Vec<String> {
    let mut found = Vec::new();
    let mut say = |holds: bool, what: String| {
        if !holds {
            found.push(what);
        }
    };
    let done = history.trials.iter().filter(|t| t.state == "done").count();
    say(
        history.trials.len() == plan.trials && done == plan.trials,
        format!(
            "I1: {} planned, {} there, {done} done",
            plan.trials,
            history.trials.len()
        ),
    );
    let mut grades: HashMap<&str, Vec<&str>> = HashMap::new();
    for (trial, evaluator) in &history.grades {
        grades.entry(trial).or_default().push(evaluator);
    }
    for trial in history.trials.iter().filter(|t| t.state == "done") {
        let mut names = grades.get(&*trial.id).cloned().unwrap_or_default();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        say(
            all == plan.evaluators && names.len() == all,
            format!(
                "I2: {} has {all} grades, {} of them different, of {}",
                trial.case,
                names.len(),
                plan.evaluators
            ),
        );
        say(
            trial.recorded,
            format!("I1: {} is done without an answer", trial.case),
        );
    }
    let mut rows: BTreeMap<(&str, &str, &str), usize> = BTreeMap::new();
    for trial in &history.trials {
        *rows
            .entry((&trial.experiment, &trial.case, &trial.trial))
            .or_default() += 1;
    }
    for (row, n) in &rows {
        say(*n == 1, format!("I3: {row:?} is there {n} times"));
    }
    // The rows show only the last write; the moves, which nothing rewrites, show a second one.
    let mut moves: BTreeMap<(&str, &str, &str, &str), usize> = BTreeMap::new();
    for (experiment, case, trial, state) in &history.moves {
        *moves.entry((experiment, case, trial, state)).or_default() += 1;
    }
    for trial in &history.trials {
        for (state, due) in [
            ("recorded", trial.recorded),
            ("done", trial.state == "done"),
        ] {
            let n = moves
                .get(&(&*trial.experiment, &*trial.case, &*trial.trial, state))
                .copied()
                .unwrap_or_default();
            say(
                n == usize::from(due),
                format!("I3: {} became {state} {n} times", trial.case),
            );
        }
        let open = matches!(&*trial.state, "running" | "recorded" | "grading");
        say(
            !open || trial.lease_left.is_none_or(|left| left >= 0),
            format!("I4: {} is {} past its lease", trial.case, trial.state),
        );
    }
    let totals = |scores: &[Score]| {
        let mut totals: BTreeMap<(String, String), (f64, f64)> = BTreeMap::new();
        for score in scores {
            let total = totals
                .entry((score.trial.clone(), score.name.clone()))
                .or_default();
            total.0 += score.num;
            total.1 += score.den;
        }
        totals
    };
    let (graded, stored) = (totals(&history.graded), totals(&history.scores));
    for (at, counts) in &graded {
        say(
            stored.get(at) == Some(counts),
            format!(
                "I5: {at:?} is {counts:?} by its grades and {:?} as stored",
                stored.get(at)
            ),
        );
    }
    say(
        history.begun == history.experiments.len(),
        format!(
            "I6: {} experiments, {} audit rows of their beginning",
            history.experiments.len(),
            history.begun
        ),
    );
    found.extend(calls_broken(history, calls, plan));
    found
}

/// I8, which also holds in the middle of a run.
pub fn calls_broken(history: &History, calls: &[Call], plan: Plan) -> Vec<String> {
    let mut found = Vec::new();
    let mut by_key: HashMap<&str, Vec<&str>> = HashMap::new();
    for call in calls {
        by_key.entry(&call.key).or_default().push(&call.answer);
    }
    for trial in &history.trials {
        let made = by_key.remove(&*trial.key).unwrap_or_default();
        if made.len() as u64 > trial.attempts {
            found.push(format!(
                "I8: {} was called {} times, {} are in the journal",
                trial.case,
                made.len(),
                trial.attempts
            ));
        }
        if let Some(answer) = trial
            .answer
            .as_deref()
            .filter(|answer| !made.contains(answer))
        {
            found.push(format!(
                "I8: {} holds `{answer}`, which no call answered",
                trial.case
            ));
        }
    }
    if !by_key.is_empty() {
        found.push(format!("I8: {} keys that no trial has", by_key.len()));
    }
    let most = plan.trials + plan.at_once * plan.disturbances;
    if calls.len() > most {
        found.push(format!("I8: {} calls, {most} at most", calls.len()));
    }
    found
}

/// Answers that were there and are gone, and answers that became others: what was lost and what was done twice.
pub fn lost_and_twice(before: &History, after: &History) -> (usize, usize) {
    let now: HashMap<&str, Option<&str>> = after
        .trials
        .iter()
        .filter(|t| t.recorded)
        .map(|t| (&*t.id, t.answer.as_deref()))
        .collect();
    let (mut lost, mut twice) = (0, 0);
    for trial in before.trials.iter().filter(|t| t.recorded) {
        match now.get(&*trial.id) {
            None => lost += 1,
            Some(answer) if *answer != trial.answer.as_deref() => twice += 1,
            Some(_) => {}
        }
    }
    (lost, twice)
}

/// I7: every hash that rows refer to has its file, whose bytes have that hash.
///
/// # Panics
/// When the folder cannot be read.
pub fn blobs_broken(history: &History, folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    for sha256 in &history.blobs {
        let (Some(first), Some(second)) = (sha256.get(..2), sha256.get(2..4)) else {
            found.push(format!("I7: `{sha256}` is no hash"));
            continue;
        };
        let path = folder.join("blobs").join(first).join(second).join(sha256);
        match std::fs::read(&path) {
            Ok(bytes) if evalkit_core::canonical::hash_bytes(&bytes) == *sha256 => {}
            Ok(bytes) => found.push(format!(
                "I7: the {} bytes of {sha256} have another hash",
                bytes.len()
            )),
            Err(error) => found.push(format!("I7: {sha256}: {error}")),
        }
    }
    found
}
