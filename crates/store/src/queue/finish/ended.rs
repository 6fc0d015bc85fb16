//! What the end of a trial changes beside its own rows: its row, the latest colour of its case, live events, the run.

use std::collections::{BTreeMap, HashMap, HashSet};

use evalkit_core::grade::Colour;
use evalkit_core::score::case_colour;
use evalkit_core::view::experiment::TrialCell;

use super::Home;
use crate::colour;
use crate::db::{Tx, args, given};
use crate::error::StoreError;
use crate::experiment::event::{self, Moved};
use crate::queue::Fence;
use crate::queue::outcome::Summary;
use crate::queue::plan::end_if_done;

/// A trial that ends.
pub(super) struct Ended<'a> {
    pub(super) fence: &'a Fence,
    pub(super) home: Home,
    pub(super) cell: TrialCell,
    pub(super) summary: Summary,
    pub(super) now: i64,
}

/// Marks trials as done with what their grades come down to.
pub(super) async fn end(tx: &mut Tx, ended: &[Ended<'_>]) -> Result<(), StoreError> {
    if ended.is_empty() {
        return Ok(());
    }
    let rows = ended
        .iter()
        .map(|trial| {
            args![
                &trial.fence.trial_id,
                trial.fence.epoch,
                colour::as_str(trial.summary.colour),
                trial.summary.satisfied,
                trial.summary.asked,
                trial.summary.unscored,
                trial.summary.needs_a_look,
                &trial.summary.what,
                trial.now
            ]
        })
        .collect();
    let columns = [
        "of_trial",
        "of_epoch",
        "to_colour",
        "to_satisfied",
        "to_asked",
        "to_unscored",
        "to_look",
        "to_what",
        "to_ended",
    ];
    let (ends, values) = given("ends", &columns, rows);
    tx.execute(
        format!(
            "WITH {ends} UPDATE trial SET state = 'done', colour = to_colour, satisfied = to_satisfied, asked = to_asked, \
             unscored = to_unscored, needs_a_look = to_look, what = to_what, ended_at = to_ended, lease_owner = NULL, \
             lease_until = NULL, stage = NULL FROM ends WHERE id = of_trial AND epoch = of_epoch"
        ),
        values,
    )
    .await
    .map(drop)
}

/// What follows the end of trials, whichever: the latest colours of their cases, the live events, perhaps the ends of
/// their experiments.
pub(super) async fn after_end(tx: &mut Tx, ended: Vec<Ended<'_>>) -> Result<(), StoreError> {
    if ended.is_empty() {
        return Ok(());
    }
    show_latest(tx, &ended).await?;
    let moved = ended
        .iter()
        .map(|trial| Moved {
            workspace_id: &trial.home.workspace_id,
            experiment_id: &trial.home.experiment_id,
            cell: trial.cell.clone(),
            now: trial.now,
        })
        .collect();
    event::trials(tx, moved).await?;
    let mut looked = HashSet::new();
    for trial in &ended {
        if looked.insert(&trial.home.experiment_id) {
            end_if_done(
                tx,
                &trial.home.workspace_id,
                &trial.home.experiment_id,
                trial.now,
            )
            .await?;
        }
    }
    Ok(())
}

/// Cases of ended trials, with the colours of all their trials.
async fn colours_of(
    tx: &mut Tx,
    ended: &[Ended<'_>],
) -> Result<HashMap<(String, String), Vec<Colour>>, StoreError> {
    let cases: HashSet<(&str, &str)> = ended
        .iter()
        .map(|trial| {
            (
                trial.home.experiment_id.as_str(),
                trial.home.case_id.as_str(),
            )
        })
        .collect();
    let rows = cases
        .into_iter()
        .map(|(experiment, case)| args![experiment, case])
        .collect();
    let (cases, values) = given("cases", &["of_experiment", "of_case"], rows);
    let mut colours: HashMap<(String, String), Vec<Colour>> = HashMap::new();
    for row in tx
        .all(
            format!(
                "WITH {cases} SELECT experiment_id, case_id, colour FROM trial \
                 JOIN cases ON experiment_id = of_experiment AND case_id = of_case"
            ),
            values,
        )
        .await?
    {
        colours
            .entry((row.text("experiment_id")?, row.text("case_id")?))
            .or_default()
            .push(colour::parse(&row.text("colour")?));
    }
    Ok(colours)
}

/// How a case stands after its trials ended, and which of them its page opens with.
struct Latest<'a> {
    home: &'a Home,
    colour: Colour,
    shown: Option<&'a Summary>,
    now: i64,
}

/// The counts shown are those of the trial that a page opens with: the first that is not green, or the newest.
async fn show_latest(tx: &mut Tx, ended: &[Ended<'_>]) -> Result<(), StoreError> {
    let colours = colours_of(tx, ended).await?;
    let mut latest: BTreeMap<(&str, &str), Latest<'_>> = BTreeMap::new();
    for trial in ended {
        let home = &trial.home;
        let all = colours
            .get(&(home.experiment_id.clone(), home.case_id.clone()))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let shown = trial.cell.colour != Colour::Green || all.iter().all(|c| *c == Colour::Green);
        let entry = latest
            .entry((&home.experiment_id, &home.case_id))
            .or_insert_with(|| Latest {
                home,
                colour: case_colour(all),
                shown: None,
                now: trial.now,
            });
        entry.now = trial.now;
        if shown {
            entry.shown = Some(&trial.summary);
        }
    }
    let rows = latest
        .into_values()
        .map(|latest| {
            args![
                &latest.home.workspace_id,
                &latest.home.case_id,
                &latest.home.experiment_id,
                colour::as_str(latest.colour),
                latest.shown.is_some(),
                latest.shown.map_or(0, |s| s.satisfied),
                latest.shown.map_or(0, |s| s.asked),
                latest.shown.map(|s| s.what.as_str()).unwrap_or_default(),
                latest.now
            ]
        })
        .collect();
    let columns = [
        "of_workspace",
        "of_case",
        "of_experiment",
        "to_colour",
        "is_shown",
        "to_satisfied",
        "to_asked",
        "to_what",
        "to_at",
    ];
    let (news, values) = given("news", &columns, rows);
    tx.execute(
        format!(
            "WITH {news} UPDATE latest_result SET colour = to_colour, \
             satisfied = CASE WHEN is_shown = 1 THEN to_satisfied ELSE satisfied END, \
             asked = CASE WHEN is_shown = 1 THEN to_asked ELSE asked END, \
             what = CASE WHEN is_shown = 1 THEN to_what ELSE what END, at = to_at FROM news \
             WHERE workspace_id = of_workspace AND case_id = of_case AND experiment_id = of_experiment"
        ),
        values,
    )
    .await
    .map(drop)
}
