//! Pooled scores from the counts of ended trials (`grading.md`: Σs ÷ Σn, over N of M).

use std::collections::{BTreeMap, HashMap};

use evalkit_core::results::PooledScore;

use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;

/// Pooled scores of experiments by id and score name; `only` restricts them to one name.
pub(crate) async fn pooled_many(
    tx: &mut Tx,
    workspaces: &[String],
    experiments: &[String],
    only: Option<&str>,
) -> Result<HashMap<String, BTreeMap<String, PooledScore>>, StoreError> {
    let mut pooled: HashMap<String, BTreeMap<String, PooledScore>> = HashMap::new();
    if experiments.is_empty() {
        return Ok(pooled);
    }
    let mut values = args![only.unwrap_or_default()];
    values.extend(workspaces.iter().chain(experiments).map(Arg::from));
    let sql = format!(
        "SELECT experiment_id, name, SUM(num) AS num, SUM(den) AS den, COUNT(*) AS trials FROM trial_score \
         WHERE ($1 = '' OR name = $1) AND workspace_id IN ({}) AND experiment_id IN ({}) GROUP BY experiment_id, name",
        places(2, workspaces.len()),
        places(workspaces.len() + 2, experiments.len())
    );
    for row in tx.all(sql, values).await? {
        let (Some(num), Some(den)) = (row.maybe_real("num")?, row.maybe_real("den")?) else {
            continue;
        };
        if den <= 0.0 {
            continue;
        }
        let trials = row.count("trials")?;
        pooled
            .entry(row.text("experiment_id")?)
            .or_default()
            .insert(
                row.text("name")?,
                PooledScore {
                    value: num / den,
                    num,
                    den,
                    low: None,
                    high: None,
                    cases: trials,
                    of_cases: trials,
                },
            );
    }
    Ok(pooled)
}
