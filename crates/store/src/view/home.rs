//! Home: what waits, what runs, your workspaces, the first-run guide.

use std::collections::HashMap;

use evalkit_core::policy::Action;
use evalkit_core::view::home::{
    FinishedExperiment, Guide, Home, RedCase, RunningExperiment, WorkspaceCard,
};
use evalkit_core::view::workspace::AgentColours;

use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::score::ScoreCache;
use crate::settings::Settings;
use crate::store::Store;
use crate::view::run_rows::{self, slot};
use crate::workspace::require_server;

/// Rows of each list at most.
const LIST: u32 = 20;
/// Points of a sparkline at most.
pub(crate) const SPARK: usize = 12;

/// Adds `n` cases of a colour.
pub(crate) fn add_colour(colours: &mut AgentColours, stored: &str, n: u64) {
    *match slot(colour::parse(stored)) {
        0 => &mut colours.green,
        1 => &mut colours.red,
        2 => &mut colours.flaky,
        _ => &mut colours.neither,
    } += n;
}

struct Mine {
    id: String,
    slug: String,
    personal: bool,
}

impl Store {
    /// The Home page of the person who asks.
    ///
    /// # Errors
    /// `S-SIGN-IN` for nobody.
    pub async fn home_page(&self, ctx: &Ctx) -> Result<Home, StoreError> {
        require_server(ctx, Action::Read)?;
        let mut tx = self.read().await?;
        let mine = mine(&mut tx, ctx).await?;
        let ids: Vec<String> = mine.iter().map(|w| w.id.clone()).collect();
        let slugs: HashMap<&str, &str> = mine
            .iter()
            .map(|w| (w.id.as_str(), w.slug.as_str()))
            .collect();
        let slug_of = |id: &str| slugs.get(id).copied().unwrap_or_default().to_owned();
        if ids.is_empty() {
            return Ok(Home {
                red: Vec::new(),
                running: Vec::new(),
                finished: Vec::new(),
                workspaces: Vec::new(),
                guide: None,
            });
        }
        let red = red(&mut tx, ctx, &mine, &slug_of).await?;
        let (running, finished) = experiments(&mut tx, &self.inner.scores, &ids, &slug_of).await?;
        let workspaces = cards(&mut tx, &mine, &ids).await?;
        let guide = guide(&mut tx, self.settings(), &mine, &workspaces, &red).await?;
        Ok(Home {
            red,
            running,
            finished,
            workspaces,
            guide,
        })
    }
}

async fn mine(tx: &mut Tx, ctx: &Ctx) -> Result<Vec<Mine>, StoreError> {
    tx.all(
        "SELECT w.id, w.slug, w.personal_of FROM workspace w WHERE w.personal_of = $1 \
         OR EXISTS (SELECT 1 FROM member m WHERE m.workspace_id = w.id AND m.person_id = $1) \
         ORDER BY CASE WHEN w.personal_of IS NULL THEN 1 ELSE 0 END, w.slug",
        args![ctx.person_id().unwrap_or_default()],
    )
    .await?
    .iter()
    .map(|row| {
        Ok(Mine {
            id: row.text("id")?,
            slug: row.text("slug")?,
            personal: row.maybe_text("personal_of")?.is_some(),
        })
    })
    .collect()
}

/// Red cases of the personal workspace, and in shared ones those whose newest version is the caller's.
async fn red(
    tx: &mut Tx,
    ctx: &Ctx,
    mine: &[Mine],
    slug_of: &impl Fn(&str) -> String,
) -> Result<Vec<RedCase>, StoreError> {
    let personal = mine
        .iter()
        .find(|w| w.personal)
        .map(|w| w.id.as_str())
        .unwrap_or_default();
    let mut values = args![personal, ctx.actor_name(), LIST];
    values.extend(mine.iter().map(|w| Arg::from(&w.id)));
    let sql = format!(
        "SELECT l.workspace_id, d.slug AS dataset, l.case_id, l.agent, l.run, l.satisfied, l.asked, l.what, l.at \
         FROM latest_result l JOIN dataset d ON d.id = l.dataset_id \
         JOIN case_head h ON h.workspace_id = l.workspace_id AND h.case_id = l.case_id \
         JOIN case_version v ON v.id = h.version_id \
         WHERE l.colour = 'red' AND h.archived_at IS NULL AND (l.workspace_id = $1 OR v.author = $2) \
         AND l.workspace_id IN ({}) ORDER BY l.at DESC LIMIT $3",
        places(4, mine.len())
    );
    tx.all(sql, values)
        .await?
        .iter()
        .map(|row| {
            Ok(RedCase {
                workspace: slug_of(&row.text("workspace_id")?),
                dataset: row.text("dataset")?,
                case_id: row.text("case_id")?,
                agent: row.text("agent")?,
                run: row.int("run")?,
                satisfied: row.count("satisfied")?,
                of: row.count("asked")?,
                what: row.text("what")?,
                at: row.int("at")?,
            })
        })
        .collect()
}

async fn experiments(
    tx: &mut Tx,
    scores: &ScoreCache,
    ids: &[String],
    slug_of: &impl Fn(&str) -> String,
) -> Result<(Vec<RunningExperiment>, Vec<FinishedExperiment>), StoreError> {
    let mut running = Vec::new();
    let mut finished = Vec::new();
    for open in [true, false] {
        let mut values = args![if open { LIST } else { LIST / 2 }];
        values.extend(ids.iter().map(Arg::from));
        let sql = format!(
            "SELECT {}, e.workspace_id FROM experiment e JOIN dataset d ON d.id = e.dataset_id \
             WHERE {} AND e.workspace_id IN ({}) ORDER BY {} DESC LIMIT $1",
            run_rows::COLUMNS,
            if open {
                "e.finished_at IS NULL"
            } else {
                "e.finished_at IS NOT NULL"
            },
            places(2, ids.len()),
            if open {
                "e.created_at"
            } else {
                "e.finished_at"
            }
        );
        let heads = tx.all(sql, values).await?;
        for (head, row) in heads
            .iter()
            .zip(run_rows::rows(tx, scores, ids, &heads).await?)
        {
            let workspace = slug_of(&head.text("workspace_id")?);
            if open {
                running.push(RunningExperiment {
                    workspace,
                    run: row.run,
                    dataset: row.dataset,
                    agent: row.agent,
                    counts: row.counts,
                    started_at: row.started_at,
                });
            } else {
                finished.push(FinishedExperiment {
                    workspace,
                    run: row.run,
                    dataset: row.dataset,
                    agent: row.agent,
                    green: row.colours[0],
                    red: row.colours[1],
                    neither: row.colours[2] + row.colours[3],
                    at: row.finished_at.unwrap_or(row.started_at),
                });
            }
        }
    }
    Ok((running, finished))
}

async fn cards(
    tx: &mut Tx,
    mine: &[Mine],
    ids: &[String],
) -> Result<Vec<WorkspaceCard>, StoreError> {
    let list = places(1, ids.len());
    let values: Vec<Arg> = ids.iter().map(Arg::from).collect();
    let mut datasets: HashMap<String, u64> = HashMap::new();
    for row in tx
        .all(
            format!(
                "SELECT workspace_id, COUNT(*) AS n FROM dataset WHERE workspace_id IN ({list}) GROUP BY workspace_id"
            ),
            values.clone(),
        )
        .await?
    {
        datasets.insert(row.text("workspace_id")?, row.count("n")?);
    }
    let mut cases: HashMap<String, u64> = HashMap::new();
    for row in tx
        .all(
            format!(
                "SELECT workspace_id, COUNT(*) AS n FROM case_head WHERE archived_at IS NULL \
                 AND workspace_id IN ({list}) GROUP BY workspace_id"
            ),
            values.clone(),
        )
        .await?
    {
        cases.insert(row.text("workspace_id")?, row.count("n")?);
    }
    let mut colours: HashMap<String, AgentColours> = HashMap::new();
    for row in tx
        .all(
            format!(
                "SELECT l.workspace_id, l.colour, COUNT(*) AS n FROM latest_result l \
                 JOIN case_head h ON h.workspace_id = l.workspace_id AND h.case_id = l.case_id \
                 WHERE h.archived_at IS NULL AND l.workspace_id IN ({list}) GROUP BY l.workspace_id, l.colour"
            ),
            values.clone(),
        )
        .await?
    {
        add_colour(
            colours.entry(row.text("workspace_id")?).or_default(),
            &row.text("colour")?,
            row.count("n")?,
        );
    }
    let mut sparks = sparks(tx, ids, Spark::Workspace).await?;
    Ok(mine
        .iter()
        .map(|w| WorkspaceCard {
            name: w.slug.clone(),
            personal: w.personal,
            datasets: datasets.get(&w.id).copied().unwrap_or_default(),
            cases: cases.get(&w.id).copied().unwrap_or_default(),
            sparkline: sparks.remove(&w.id).unwrap_or_default(),
            colours: colours.get(&w.id).copied().unwrap_or_default(),
        })
        .collect())
}

/// What a sparkline is of.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Spark {
    /// All runs of a workspace.
    Workspace,
    /// All runs of a dataset.
    Dataset,
}

/// Pooled answer rubric scores of the last runs that have one, oldest first, by workspace or dataset id.
pub(crate) async fn sparks(
    tx: &mut Tx,
    workspaces: &[String],
    by: Spark,
) -> Result<HashMap<String, Vec<f64>>, StoreError> {
    let column = match by {
        Spark::Workspace => "workspace_id",
        Spark::Dataset => "dataset_id",
    };
    // The newest runs first, then only those: scores of old runs are never summed.
    let sql = format!(
        "SELECT r.owner, r.number, SUM(s.num) AS num, SUM(s.den) AS den FROM \
         (SELECT e.id, e.{column} AS owner, e.number, ROW_NUMBER() OVER (PARTITION BY e.{column} ORDER BY e.number DESC) AS place \
          FROM experiment e WHERE e.workspace_id IN ({})) r \
         JOIN trial_score s ON s.experiment_id = r.id AND s.name = 'answer_rubric_score' \
         WHERE r.place <= {SPARK} GROUP BY r.owner, r.number ORDER BY r.owner, r.number",
        places(1, workspaces.len())
    );
    let mut sparks: HashMap<String, Vec<f64>> = HashMap::new();
    for row in tx
        .all(sql, workspaces.iter().map(Arg::from).collect())
        .await?
    {
        if let (Some(num), Some(den)) = (row.maybe_real("num")?, row.maybe_real("den")?)
            && den > 0.0
        {
            sparks
                .entry(row.text("owner")?)
                .or_default()
                .push(num / den);
        }
    }
    Ok(sparks)
}

/// The two clicks; gone once both are done and something else exists.
async fn guide(
    tx: &mut Tx,
    settings: &Settings,
    mine: &[Mine],
    cards: &[WorkspaceCard],
    red: &[RedCase],
) -> Result<Option<Guide>, StoreError> {
    let Some(personal) = mine.iter().find(|w| w.personal) else {
        return Ok(None);
    };
    if settings.demo_cases == 0 {
        return Ok(None);
    }
    let dataset = tx
        .optional(
            "SELECT id FROM dataset WHERE workspace_id = $1 AND slug = $2",
            args![&personal.id, &settings.demo_dataset],
        )
        .await?;
    let Some(dataset) = dataset else {
        return Ok(Some(Guide {
            synced: false,
            ran: false,
            cases: settings.demo_cases,
        }));
    };
    let ran = tx
        .optional(
            "SELECT id FROM experiment WHERE workspace_id = $1 AND dataset_id = $2 LIMIT 1",
            args![&personal.id, dataset.text("id")?],
        )
        .await?
        .is_some();
    let more = cards.iter().map(|card| card.datasets).sum::<u64>() > 1 || !red.is_empty();
    Ok((!(ran && more)).then_some(Guide {
        synced: true,
        ran,
        cases: settings.demo_cases,
    }))
}
