//! Pooled scores from the counts of ended trials (`grading.md`: Σs ÷ Σn, over N of M), with their intervals.
//!
//! An interval takes thousands of resamples, so what was computed is kept until the experiment's newest event changes.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use evalkit_core::results::PooledScore;
use evalkit_core::score::{Contribution, pool};

use crate::db::{Arg, Tx, places};
use crate::error::StoreError;

/// What a trial adds to a score: its case, numerator and denominator.
type Counted = (String, f64, f64);

/// Corpus scores by name.
pub(crate) type Scores = Arc<BTreeMap<String, PooledScore>>;

/// Experiments whose scores are kept at most.
const KEPT: usize = 2_000;

/// Computed scores by experiment, each with the newest event they stand for.
#[derive(Debug, Default)]
pub(crate) struct ScoreCache(Mutex<HashMap<String, (i64, Scores)>>);

impl ScoreCache {
    /// Corpus scores of these experiments, all of `workspaces`. An experiment without any is left out.
    pub(crate) async fn pooled(
        &self,
        tx: &mut Tx,
        workspaces: &[String],
        experiments: &[String],
    ) -> Result<HashMap<String, Scores>, StoreError> {
        let mut pooled = HashMap::new();
        if experiments.is_empty() {
            return Ok(pooled);
        }
        let newest = newest_events(tx, workspaces, experiments).await?;
        let mut stale = Vec::new();
        {
            let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            for id in experiments {
                match (known.get(id), newest.get(id)) {
                    (Some((event, scores)), Some(now)) if event == now => {
                        pooled.insert(id.clone(), Arc::clone(scores));
                    }
                    _ => stale.push(id.clone()),
                }
            }
        }
        if stale.is_empty() {
            return Ok(pooled);
        }
        let mut computed = compute(tx, workspaces, &stale).await?;
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() > KEPT {
            known.clear();
        }
        for id in stale {
            let scores: Scores = Arc::new(computed.remove(&id).unwrap_or_default());
            let event = newest.get(&id).copied().unwrap_or_default();
            known.insert(id.clone(), (event, Arc::clone(&scores)));
            pooled.insert(id, scores);
        }
        Ok(pooled)
    }
}

async fn newest_events(
    tx: &mut Tx,
    workspaces: &[String],
    experiments: &[String],
) -> Result<HashMap<String, i64>, StoreError> {
    let sql = format!(
        "SELECT e.id, COALESCE((SELECT MAX(v.id) FROM event v WHERE v.experiment_id = e.id), 0) AS newest \
         FROM experiment e WHERE e.workspace_id IN ({}) AND e.id IN ({})",
        places(1, workspaces.len()),
        places(workspaces.len() + 1, experiments.len())
    );
    let values = workspaces
        .iter()
        .chain(experiments)
        .map(Arg::from)
        .collect();
    tx.all(sql, values)
        .await?
        .iter()
        .map(|row| Ok((row.text("id")?, row.int("newest")?)))
        .collect()
}

async fn compute(
    tx: &mut Tx,
    workspaces: &[String],
    experiments: &[String],
) -> Result<HashMap<String, BTreeMap<String, PooledScore>>, StoreError> {
    let inside = format!(
        "workspace_id IN ({}) AND experiment_id IN ({})",
        places(1, workspaces.len()),
        places(workspaces.len() + 1, experiments.len())
    );
    let values: Vec<Arg> = workspaces
        .iter()
        .chain(experiments)
        .map(Arg::from)
        .collect();
    let mut planned: HashMap<(String, String), u64> = HashMap::new();
    for row in tx
        .all(
            format!("SELECT experiment_id, name, planned FROM experiment_score WHERE {inside}"),
            values.clone(),
        )
        .await?
    {
        planned.insert(
            (row.text("experiment_id")?, row.text("name")?),
            row.count("planned")?,
        );
    }
    let mut given: BTreeMap<(String, String), Vec<Counted>> = BTreeMap::new();
    for row in tx
        .all(
            format!(
                "SELECT experiment_id, name, case_id, num, den FROM trial_score WHERE {inside} ORDER BY trial_id"
            ),
            values,
        )
        .await?
    {
        given
            .entry((row.text("experiment_id")?, row.text("name")?))
            .or_default()
            .push((row.text("case_id")?, row.real("num")?, row.real("den")?));
    }
    let mut pooled: HashMap<String, BTreeMap<String, PooledScore>> = HashMap::new();
    for ((experiment, name), counts) in given {
        let contributions: Vec<Contribution<'_>> = counts
            .iter()
            .map(|(case, num, den)| Contribution {
                case,
                num: *num,
                den: *den,
            })
            .collect();
        let of = planned
            .get(&(experiment.clone(), name.clone()))
            .copied()
            .unwrap_or(contributions.len() as u64);
        if let Some(score) = pool(&contributions, of) {
            pooled.entry(experiment).or_default().insert(name, score);
        }
    }
    Ok(pooled)
}
