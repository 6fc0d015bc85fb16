//! Case: the contract, with the latest verdicts per agent beside each sentence.

use std::collections::{BTreeMap, HashMap};

use evalkit_core::case::Case as CaseModel;
use evalkit_core::grade::{Colour, Grade};
use evalkit_core::overlay::NamedOverlay;
use evalkit_core::policy::Action;
use evalkit_core::score::case_colour;
use evalkit_core::view::case::{
    AgentVerdicts, Case, FixtureFile, HistoryCell, HistoryRow, VersionRow,
};

use crate::blob::FIXTURE;
use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::experiment::Frozen;
use crate::row::Row;
use crate::store::Store;
use crate::view::{self, cells, dataset};

/// Agents whose verdicts stand beside the text; the page scrolls beyond four.
const AGENTS: u32 = 12;
const VERSIONS: u32 = 200;
/// Trials that the history strip goes back.
const HISTORY: u32 = 600;

impl Store {
    /// The Case page; `version` absent shows the newest.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a case or version that is not there or not the caller's to see.
    pub async fn case_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        dataset: &str,
        case_id: &str,
        version: Option<u32>,
    ) -> Result<Case, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let head = dataset::head(&mut tx, &workspace.id, dataset).await?;
        let row = tx
            .optional(
                "SELECT h.id, h.version AS newest, h.archived_at, v.number, v.canonical, v.content_hash, v.yaml \
                 FROM case_head h JOIN case_version v ON v.head_id = h.id AND v.workspace_id = h.workspace_id \
                 WHERE h.workspace_id = $1 AND h.dataset_id = $2 AND h.case_id = $3 \
                 AND v.number = CASE WHEN $4 = 0 THEN h.version ELSE $4 END",
                args![&workspace.id, &head.id, case_id, version.unwrap_or(0)],
            )
            .await?
            .ok_or_else(StoreError::not_found)?;
        let case: CaseModel = row.json("canonical")?;
        let head_id = row.text("id")?;
        Ok(Case {
            files: files(&mut tx, &workspace.id, &case).await?,
            overlays: overlays(&mut tx, &workspace.id, case_id).await?,
            agents: agents(&mut tx, &workspace.id, &case).await?,
            versions: versions(&mut tx, &workspace.id, &head_id).await?,
            history: history(&mut tx, &workspace.id, case_id).await?,
            may_run: workspace.may(ctx, Action::Run),
            runnable_agents: view::runnable_agents(&mut tx, ctx, self.settings(), &workspace)
                .await?,
            workspace: workspace.slug,
            dataset: dataset.to_owned(),
            version: row.number("number")?,
            newest: row.number("newest")?,
            archived: row.maybe_int("archived_at")?.is_some(),
            yaml: row.text("yaml")?,
            content_hash: row.text("content_hash")?,
            case,
        })
    }
}

async fn files(
    tx: &mut Tx,
    workspace_id: &str,
    case: &CaseModel,
) -> Result<Vec<FixtureFile>, StoreError> {
    let hashes: Vec<&str> = case
        .fixtures
        .iter()
        .filter_map(|fixture| fixture.sha256.as_deref())
        .collect();
    let mut sizes: HashMap<String, u64> = HashMap::new();
    if !hashes.is_empty() {
        let mut values = args![workspace_id, FIXTURE];
        values.extend(hashes.iter().map(|hash| Arg::from(*hash)));
        let sql = format!(
            "SELECT sha256, bytes FROM blob_ref WHERE workspace_id = $1 AND kind = $2 AND sha256 IN ({})",
            places(3, hashes.len())
        );
        for row in tx.all(sql, values).await? {
            sizes.insert(row.text("sha256")?, row.count("bytes")?);
        }
    }
    Ok(case
        .fixtures
        .iter()
        .map(|fixture| {
            let sha256 = fixture.sha256.clone().unwrap_or_default();
            FixtureFile {
                key: fixture.key.clone(),
                context: fixture.context.clone().unwrap_or_default(),
                bytes: sizes.get(&sha256).copied(),
                sha256,
            }
        })
        .collect())
}

async fn overlays(
    tx: &mut Tx,
    workspace_id: &str,
    case_id: &str,
) -> Result<Vec<NamedOverlay>, StoreError> {
    tx.all(
        "SELECT d.slug, o.content FROM overlay o JOIN dataset d ON d.id = o.dataset_id \
         WHERE o.workspace_id = $1 AND o.extends = $2 ORDER BY d.slug, o.position",
        args![workspace_id, case_id],
    )
    .await?
    .iter()
    .map(|row| {
        Ok(NamedOverlay {
            dataset: row.text("slug")?,
            overlay: row.json("content")?,
        })
    })
    .collect()
}

async fn versions(
    tx: &mut Tx,
    workspace_id: &str,
    head_id: &str,
) -> Result<Vec<VersionRow>, StoreError> {
    tx.all(
        "SELECT number, origin, author, created_at FROM case_version WHERE workspace_id = $1 AND head_id = $2 \
         ORDER BY number DESC LIMIT $3",
        args![workspace_id, head_id, VERSIONS],
    )
    .await?
    .iter()
    .map(|row| {
        Ok(VersionRow {
            version: row.number("number")?,
            origin: row.text("origin")?,
            by: row.text("author")?,
            at: row.int("created_at")?,
        })
    })
    .collect()
}

/// The trial that a page opens with: the first that is not green, else the first. Rows come in the order of trials.
pub(crate) fn shown_trial(rows: &[Row]) -> Result<Option<usize>, StoreError> {
    for (index, row) in rows.iter().enumerate() {
        if colour::parse(&row.text("colour")?) != Colour::Green {
            return Ok(Some(index));
        }
    }
    Ok((!rows.is_empty()).then_some(0))
}

/// Grades of many trials at once, in evaluator order.
pub(crate) async fn grades_of(
    tx: &mut Tx,
    workspace_id: &str,
    trials: &[String],
) -> Result<HashMap<String, Vec<Grade>>, StoreError> {
    let mut grades: HashMap<String, Vec<Grade>> = HashMap::new();
    for chunk in trials.chunks(500) {
        let mut values = args![workspace_id];
        values.extend(chunk.iter().map(Arg::from));
        let sql = format!(
            "SELECT trial_id, grade FROM grade WHERE workspace_id = $1 AND trial_id IN ({}) ORDER BY position, evaluator",
            places(2, chunk.len())
        );
        for row in tx.all(sql, values).await? {
            grades
                .entry(row.text("trial_id")?)
                .or_default()
                .push(row.json("grade")?);
        }
    }
    Ok(grades)
}

async fn agents(
    tx: &mut Tx,
    workspace_id: &str,
    case: &CaseModel,
) -> Result<Vec<AgentVerdicts>, StoreError> {
    let latest = tx
        .all(
            "SELECT l.agent, l.colour, l.satisfied, l.asked, l.run, l.at, l.experiment_id, c.version, c.overlays, e.frozen \
             FROM latest_result l JOIN experiment e ON e.id = l.experiment_id \
             JOIN experiment_case c ON c.experiment_id = l.experiment_id AND c.case_id = l.case_id \
             WHERE l.workspace_id = $1 AND l.case_id = $2 ORDER BY l.run DESC LIMIT $3",
            args![workspace_id, &case.id, AGENTS],
        )
        .await?;
    if latest.is_empty() {
        return Ok(Vec::new());
    }
    let mut values = args![workspace_id, &case.id];
    for row in &latest {
        values.push(row.text("experiment_id")?.into());
    }
    let sql = format!(
        "SELECT id, experiment_id, trial, colour, latency_ms, stage, error_class, error_message, state FROM trial \
         WHERE workspace_id = $1 AND case_id = $2 AND experiment_id IN ({}) ORDER BY trial",
        places(3, latest.len())
    );
    let mut trials: HashMap<String, Vec<Row>> = HashMap::new();
    for row in tx.all(sql, values).await? {
        trials
            .entry(row.text("experiment_id")?)
            .or_default()
            .push(row);
    }
    let mut shown: HashMap<String, Row> = HashMap::new();
    for (experiment, mut rows) in trials {
        if let Some(index) = shown_trial(&rows)? {
            shown.insert(experiment, rows.swap_remove(index));
        }
    }
    let mut ids = Vec::with_capacity(shown.len());
    for row in shown.values() {
        ids.push(row.text("id")?);
    }
    let mut grades = grades_of(tx, workspace_id, &ids).await?;
    let mut agents = Vec::with_capacity(latest.len());
    for row in &latest {
        let Some(trial) = shown.get(&row.text("experiment_id")?) else {
            continue;
        };
        let grades = grades.remove(&trial.text("id")?).unwrap_or_default();
        agents.push(verdicts(row, trial, case, &grades)?);
    }
    Ok(agents)
}

fn verdicts(
    latest: &Row,
    trial: &Row,
    case: &CaseModel,
    grades: &[Grade],
) -> Result<AgentVerdicts, StoreError> {
    let agent = latest.text("agent")?;
    let overlays: Option<Vec<NamedOverlay>> = latest.maybe_json("overlays")?;
    let frozen: Frozen = latest.json("frozen")?;
    let steps: Vec<&str> = case
        .trajectory_rubrics()
        .iter()
        .map(String::as_str)
        .collect();
    let looks: Vec<&str> = case
        .evaluators
        .output
        .presentation_judge
        .iter()
        .flat_map(|p| p.require.iter().chain(&p.forbid))
        .map(String::as_str)
        .collect();
    let latency = trial
        .maybe_int("latency_ms")?
        .and_then(|ms| u64::try_from(ms).ok());
    let error = if trial.text("state")? == "error" {
        Some(format!(
            "{}: {}",
            trial.maybe_text("error_class")?.unwrap_or_default(),
            trial.maybe_text("error_message")?.unwrap_or_default()
        ))
    } else {
        None
    };
    Ok(AgentVerdicts {
        cell: dataset::cell(latest)?,
        trial: trial.number("trial")?,
        version: latest.number("version")?,
        judge: frozen.judge,
        rubrics: cells::rubrics(case, grades),
        trajectory: cells::entries(&steps, grades, "trajectory_rubrics"),
        presentation: cells::entries(&looks, grades, "presentation_judge"),
        checks: cells::checks(
            grades,
            overlays.as_deref().unwrap_or_default(),
            &agent,
            latency,
        ),
        error,
        agent,
    })
}

async fn history(
    tx: &mut Tx,
    workspace_id: &str,
    case_id: &str,
) -> Result<Vec<HistoryRow>, StoreError> {
    struct Run {
        agent: String,
        version: u32,
        at: i64,
        colours: Vec<Colour>,
    }
    let mut runs: BTreeMap<i64, Run> = BTreeMap::new();
    for row in tx
        .all(
            "SELECT e.agent, e.number, e.created_at, c.version, t.colour FROM trial t \
             JOIN experiment e ON e.id = t.experiment_id \
             JOIN experiment_case c ON c.experiment_id = t.experiment_id AND c.case_id = t.case_id \
             WHERE t.workspace_id = $1 AND t.case_id = $2 ORDER BY e.number DESC LIMIT $3",
            args![workspace_id, case_id, HISTORY],
        )
        .await?
    {
        let colour = colour::parse(&row.text("colour")?);
        let number = row.int("number")?;
        match runs.get_mut(&number) {
            Some(run) => run.colours.push(colour),
            None => {
                runs.insert(
                    number,
                    Run {
                        agent: row.text("agent")?,
                        version: row.number("version")?,
                        at: row.int("created_at")?,
                        colours: vec![colour],
                    },
                );
            }
        }
    }
    let mut rows: Vec<HistoryRow> = Vec::new();
    for (run, of) in runs {
        let cell = HistoryCell {
            run,
            colour: case_colour(&of.colours),
            version: of.version,
            at: of.at,
        };
        match rows.iter_mut().find(|row| row.agent == of.agent) {
            Some(row) => row.cells.push(cell),
            None => rows.push(HistoryRow {
                agent: of.agent,
                cells: vec![cell],
            }),
        }
    }
    // The agent that ran last stands first, as in the columns beside the text.
    rows.sort_by_key(|row| std::cmp::Reverse(row.cells.last().map_or(0, |cell| cell.run)));
    Ok(rows)
}
