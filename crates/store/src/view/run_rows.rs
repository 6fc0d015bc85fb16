//! Rows of experiments with their counts, colours and pooled score, for any list of experiments in four statements.

use std::collections::HashMap;

use evalkit_core::experiment::{ExperimentState, TrialCounts, TrialState};
use evalkit_core::grade::Colour;
use evalkit_core::score::case_colour;
use evalkit_core::view::runs::RunRow;

use crate::colour;
use crate::db::{Arg, Tx, places};
use crate::error::StoreError;
use crate::experiment::Frozen;
use crate::row::Row;
use crate::score::ScoreCache;

/// Columns that [`rows`] needs of `experiment e JOIN dataset d`.
pub(crate) const COLUMNS: &str = "e.id, e.number, d.slug AS dataset, e.split, e.agent, e.trials, e.state, e.frozen, \
     e.created_by, e.created_at, e.finished_at";

/// What the trials of one experiment add up to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    pub(crate) counts: TrialCounts,
    /// Cases: green, red, flaky, neither.
    pub(crate) colours: [u64; 4],
    /// Trials with something unscored.
    pub(crate) unscored: u64,
}

/// Completes rows of `SELECT {COLUMNS}`; keeps their order. All are of `workspaces` (ids).
pub(crate) async fn rows(
    tx: &mut Tx,
    scores: &ScoreCache,
    workspaces: &[String],
    experiments: &[Row],
) -> Result<Vec<RunRow>, StoreError> {
    let mut ids = Vec::with_capacity(experiments.len());
    let mut several = Vec::new();
    for row in experiments {
        let id = row.text("id")?;
        if row.int("trials")? > 1 {
            several.push(id.clone());
        }
        ids.push(id);
    }
    let tallies = tallies(tx, workspaces, &ids, &several).await?;
    let pooled = scores.pooled(tx, workspaces, &ids).await?;
    experiments
        .iter()
        .zip(&ids)
        .map(|(row, id)| {
            let tally = tallies.get(id).cloned().unwrap_or_default();
            let frozen: Frozen = row.json("frozen")?;
            let score = pooled
                .get(id)
                .and_then(|scores| scores.get("answer_rubric_score").copied());
            Ok(RunRow {
                run: row.int("number")?,
                dataset: row.text("dataset")?,
                split: row.maybe_text("split")?,
                agent: row.text("agent")?,
                state: state(&row.text("state")?, &tally.counts),
                counts: tally.counts,
                colours: tally.colours,
                unscored: tally.unscored,
                score,
                judge: frozen.judge,
                by: row.text("created_by")?,
                started_at: row.int("created_at")?,
                finished_at: row.maybe_int("finished_at")?,
            })
        })
        .collect()
}

/// The state as people see it: finished is what the rows say, the rest is what a person asked for.
pub(crate) fn state(stored: &str, counts: &TrialCounts) -> ExperimentState {
    match stored {
        "cancelled" => ExperimentState::Cancelled,
        _ if counts.open() == 0 => ExperimentState::Finished,
        "paused" => ExperimentState::Paused,
        _ => ExperimentState::Running,
    }
}

/// Counts and colours of these experiments, from their trials. `several` names those with more than one trial a case.
pub(crate) async fn tallies(
    tx: &mut Tx,
    workspaces: &[String],
    ids: &[String],
    several: &[String],
) -> Result<HashMap<String, Tally>, StoreError> {
    let mut tallies: HashMap<String, Tally> = HashMap::new();
    if ids.is_empty() {
        return Ok(tallies);
    }
    let values = workspaces.iter().chain(ids).map(Arg::from).collect();
    let sql = format!(
        "SELECT experiment_id, state, colour, COUNT(*) AS n, CAST(SUM(CASE WHEN unscored > 0 THEN 1 ELSE 0 END) AS BIGINT) AS unscored \
         FROM trial WHERE workspace_id IN ({}) AND experiment_id IN ({}) GROUP BY experiment_id, state, colour",
        places(1, workspaces.len()),
        places(workspaces.len() + 1, ids.len())
    );
    for row in tx.all(sql, values).await? {
        let id = row.text("experiment_id")?;
        let n = row.count("n")?;
        let tally = tallies.entry(id.clone()).or_default();
        if let Some(state) = TrialState::parse(&row.text("state")?) {
            tally.counts.add(state, n);
        }
        tally.unscored += row.count("unscored")?;
        if !several.contains(&id) {
            tally.colours[slot(colour::parse(&row.text("colour")?))] += n;
        }
    }
    if several.is_empty() {
        return Ok(tallies);
    }
    let values = workspaces.iter().chain(several).map(Arg::from).collect();
    let sql = format!(
        "SELECT experiment_id, case_id, colour FROM trial WHERE workspace_id IN ({}) AND experiment_id IN ({}) \
         ORDER BY experiment_id, case_id",
        places(1, workspaces.len()),
        places(workspaces.len() + 1, several.len())
    );
    let mut cases: HashMap<(String, String), Vec<Colour>> = HashMap::new();
    for row in tx.all(sql, values).await? {
        cases
            .entry((row.text("experiment_id")?, row.text("case_id")?))
            .or_default()
            .push(colour::parse(&row.text("colour")?));
    }
    for ((id, _), colours) in cases {
        tallies.entry(id).or_default().colours[slot(case_colour(&colours))] += 1;
    }
    Ok(tallies)
}

/// Green, red, flaky, neither.
pub(crate) const fn slot(colour: Colour) -> usize {
    match colour {
        Colour::Green => 0,
        Colour::Red => 1,
        Colour::Flaky => 2,
        _ => 3,
    }
}
