//! Making an experiment: what it will measure is frozen in one transaction (`runs.md`, Experiments).

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use evalkit_core::canonical;
use evalkit_core::case::{Case, Evaluators};
use evalkit_core::error::Code;
use evalkit_core::experiment::ExperimentState;
use evalkit_core::overlay::{NamedOverlay, Overlay, bare_agent};
use evalkit_core::policy::Action;
use evalkit_core::results::ResultsJudge;
use evalkit_core::score;
use serde_json::Value;

use crate::agent::ResolvedAgent;
use crate::audit::{self, Record};
use crate::blob::Limits;
use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args};
use crate::error::StoreError;
use crate::experiment::{Frozen, event};
use crate::row::to_json;
use crate::store::Store;
use crate::view::dataset;

/// The tag that keeps a case out of every run unless asked for (`cases.md`, A case).
const NEEDS_GROUND_TRUTH: &str = "needs-ground-truth";

/// An experiment to be made.
#[derive(Debug, Clone)]
pub struct NewExperiment {
    /// Where it runs and where its cases are.
    pub workspace: String,
    /// The dataset's slug.
    pub dataset: String,
    /// The agent, found by [`Store::resolve_agent`].
    pub agent: ResolvedAgent,
    /// The judge as results name it.
    pub judge: ResultsJudge,
    /// The judge's settings without secrets.
    pub judge_settings: Value,
    /// Only cases with this tag, overlay tags for this agent included.
    pub split: Option<String>,
    /// Only these cases; empty = all.
    pub case_ids: Vec<String>,
    /// Also cases tagged `needs-ground-truth`.
    pub include_needs_ground_truth: bool,
    /// Trials a case, at least 1.
    pub trials: u32,
    /// Calls at once; the agent's own limit holds beside it. Absent = the agent's.
    pub concurrency: Option<u32>,
    /// Ask for every verdict anew.
    pub no_cache: bool,
}

/// An experiment that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreatedExperiment {
    /// Its id.
    pub id: String,
    /// Its number in the workspace.
    pub run: i64,
    /// Trials planned.
    pub planned: u64,
    /// Cases left out because they need ground truth.
    pub left_out: Vec<String>,
}

struct Candidate {
    case_id: String,
    scores: Vec<String>,
    version: i64,
    version_id: String,
    tags: Vec<String>,
}

struct Chosen {
    cases: Vec<(Candidate, Vec<NamedOverlay>)>,
    left_out: Vec<String>,
    overlay_datasets: Vec<String>,
}

impl Store {
    /// Makes an experiment and queues its trials.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for the workspace or dataset, `S-FORBIDDEN` without the right to run, `S-INVALID` when no case fits
    /// or an id is unknown, `S-LIMIT` beyond the deployment's bounds.
    pub async fn create_experiment(
        &self,
        ctx: &Ctx,
        new: NewExperiment,
    ) -> Result<CreatedExperiment, StoreError> {
        let input = (new, self.settings().limits);
        self.write(ctx, input, |tx, ctx, (new, limits)| {
            Box::pin(create(tx, ctx, new, *limits))
        })
        .await
    }
}

async fn create(
    tx: &mut Tx,
    ctx: &Ctx,
    new: &NewExperiment,
    limits: Limits,
) -> Result<CreatedExperiment, StoreError> {
    let workspace = tx.enter(ctx, &new.workspace, Action::Run).await?;
    let dataset = dataset::head(tx, &workspace.id, &new.dataset).await?;
    check_open(tx, &workspace.id, limits).await?;
    let chosen = choose(tx, &workspace.id, &dataset.id, new).await?;
    let trials = u64::from(new.trials.max(1));
    let planned = chosen.cases.len() as u64 * trials;
    if planned == 0 {
        return Err(nothing_to_run(new, &chosen.left_out));
    }
    if planned > limits.trials {
        return Err(StoreError::fault(
            Code::Limit,
            format!(
                "This would be {planned} trials, and {} are allowed.",
                limits.trials
            ),
            "Run a split, fewer cases or fewer trials a case.",
        ));
    }
    let id = Store::new_id();
    let run = tx
        .one(
            "UPDATE workspace SET next_run = next_run + 1 WHERE id = $1 RETURNING next_run - 1 AS run",
            args![&workspace.id],
        )
        .await?
        .int("run")?;
    let frozen = Frozen {
        agent: new.agent.config.clone(),
        agent_home: new.agent.home.clone(),
        secret: new.agent.secret.clone(),
        judge: new.judge.clone(),
        judge_settings: new.judge_settings.clone(),
        case_ids: new.case_ids.clone(),
        left_out: chosen.left_out.clone(),
        overlays: chosen.overlay_datasets,
        no_cache: new.no_cache,
        bars: BTreeMap::new(),
    };
    let concurrency = new
        .concurrency
        .unwrap_or(new.agent.config.concurrency)
        .clamp(1, 1_000);
    tx.execute(
        "INSERT INTO experiment (id, workspace_id, number, dataset_id, agent, split, trials, concurrency, state, frozen, \
         created_by, created_by_id, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9, $10, $11, $12)",
        args![
            &id,
            &workspace.id,
            run,
            &dataset.id,
            &new.agent.name,
            new.split.as_deref(),
            trials,
            concurrency,
            to_json(&frozen)?,
            ctx.actor_name(),
            ctx.person_id(),
            ctx.now
        ],
    )
    .await?;
    insert_cases(tx, &workspace.id, &id, &chosen.cases).await?;
    insert_trials(tx, &workspace.id, &id, &chosen.cases, trials).await?;
    insert_scores(tx, &workspace.id, &id, &chosen.cases, trials).await?;
    tx.execute(
        "INSERT INTO latest_result (workspace_id, case_id, agent, dataset_id, experiment_id, run, colour, satisfied, asked, what, at) \
         SELECT workspace_id, case_id, $2, $3, experiment_id, $4, 'open', 0, 0, '', $5 FROM experiment_case \
         WHERE experiment_id = $1 AND workspace_id = $6 \
         ON CONFLICT (workspace_id, case_id, agent) DO UPDATE SET dataset_id = excluded.dataset_id, \
         experiment_id = excluded.experiment_id, run = excluded.run, colour = excluded.colour, \
         satisfied = excluded.satisfied, asked = excluded.asked, what = excluded.what, at = excluded.at",
        args![&id, &new.agent.name, &dataset.id, run, ctx.now, &workspace.id],
    )
    .await?;
    tx.wake_queue();
    event::experiment(tx, &workspace.id, &id, ExperimentState::Running, ctx.now).await?;
    audit::write(
        tx,
        ctx,
        Some(&workspace.id),
        Record::new("experiment.create", run.to_string())
            .with("dataset", &new.dataset)
            .with("agent", &new.agent.name)
            .with("planned", planned),
    )
    .await?;
    Ok(CreatedExperiment {
        id,
        run,
        planned,
        left_out: chosen.left_out,
    })
}

async fn check_open(tx: &mut Tx, workspace_id: &str, limits: Limits) -> Result<(), StoreError> {
    let open = tx
        .one(
            "SELECT COUNT(*) AS n FROM experiment WHERE workspace_id = $1 AND finished_at IS NULL",
            args![workspace_id],
        )
        .await?
        .count("n")?;
    if open >= limits.open_experiments {
        return Err(StoreError::fault(
            Code::Limit,
            format!(
                "{open} runs of this workspace are under way, and no more are allowed at once."
            ),
            "Wait until one ends, or cancel one on the Runs page.",
        ));
    }
    Ok(())
}

fn nothing_to_run(new: &NewExperiment, left_out: &[String]) -> StoreError {
    let which = match &new.split {
        Some(split) => format!("The dataset `{}` has no case tagged `{split}`", new.dataset),
        None => format!("The dataset `{}` has no case", new.dataset),
    };
    let why = if left_out.is_empty() {
        String::new()
    } else {
        format!(" that can run; {} need ground truth first", left_out.len())
    };
    StoreError::invalid(
        format!("{which}{why}."),
        if left_out.is_empty() {
            "Choose another split, or sync cases first."
        } else {
            "Add `--include-needs-ground-truth` to run them all the same."
        },
    )
}

async fn choose(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
    new: &NewExperiment,
) -> Result<Chosen, StoreError> {
    let mut candidates = Vec::new();
    for row in tx
        .all(
            "SELECT case_id, version, version_id, tags, scores FROM case_head \
             WHERE dataset_id = $1 AND workspace_id = $2 AND archived_at IS NULL ORDER BY case_id",
            args![dataset_id, workspace_id],
        )
        .await?
    {
        candidates.push(Candidate {
            case_id: row.text("case_id")?,
            scores: row.json("scores")?,
            version: row.int("version")?,
            version_id: row.text("version_id")?,
            tags: row.json("tags")?,
        });
    }
    check_ids(new, &candidates)?;
    let mut overlays = overlays_for(tx, workspace_id, &new.agent.name).await?;
    let wanted: HashSet<&str> = new.case_ids.iter().map(String::as_str).collect();
    let mut chosen = Chosen {
        cases: Vec::new(),
        left_out: Vec::new(),
        overlay_datasets: Vec::new(),
    };
    let mut datasets = BTreeSet::new();
    for candidate in candidates {
        if !wanted.is_empty() && !wanted.contains(candidate.case_id.as_str()) {
            continue;
        }
        let overlays = overlays.remove(&candidate.case_id).unwrap_or_default();
        let has = |tag: &str| {
            candidate.tags.iter().any(|t| t == tag)
                || overlays
                    .iter()
                    .any(|o| o.overlay.tags.iter().any(|t| t == tag))
        };
        if new.split.as_deref().is_some_and(|split| !has(split)) {
            continue;
        }
        if has(NEEDS_GROUND_TRUTH) && !new.include_needs_ground_truth && wanted.is_empty() {
            chosen.left_out.push(candidate.case_id);
            continue;
        }
        datasets.extend(overlays.iter().map(|o| o.dataset.clone()));
        chosen.cases.push((candidate, overlays));
    }
    chosen.overlay_datasets = datasets.into_iter().collect();
    Ok(chosen)
}

fn check_ids(new: &NewExperiment, candidates: &[Candidate]) -> Result<(), StoreError> {
    let known: HashSet<&str> = candidates.iter().map(|c| c.case_id.as_str()).collect();
    let unknown: Vec<String> = new
        .case_ids
        .iter()
        .filter(|id| !known.contains(id.as_str()))
        .map(|id| id.escape_debug().to_string())
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    Err(StoreError::invalid(
        format!(
            "The dataset `{}` has no case {}.",
            new.dataset,
            unknown.join(", ")
        ),
        "See the Dataset page for its ids.",
    ))
}

/// Overlays of the workspace that name this agent, by the case they extend.
async fn overlays_for(
    tx: &mut Tx,
    workspace_id: &str,
    agent: &str,
) -> Result<HashMap<String, Vec<NamedOverlay>>, StoreError> {
    let agent = bare_agent(agent);
    let mut overlays: HashMap<String, Vec<NamedOverlay>> = HashMap::new();
    for row in tx
        .all(
            "SELECT d.slug, o.extends, o.content FROM overlay o JOIN dataset d ON d.id = o.dataset_id \
             WHERE o.workspace_id = $1 ORDER BY d.slug, o.position",
            args![workspace_id],
        )
        .await?
    {
        let overlay: Overlay = row.json("content")?;
        if overlay.agents.iter().any(|name| name == agent) {
            overlays
                .entry(row.text("extends")?)
                .or_default()
                .push(NamedOverlay {
                    dataset: row.text("slug")?,
                    overlay,
                });
        }
    }
    Ok(overlays)
}

async fn insert_cases(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    cases: &[(Candidate, Vec<NamedOverlay>)],
) -> Result<(), StoreError> {
    let mut rows: Vec<Vec<Arg>> = Vec::with_capacity(cases.len());
    for (position, (case, overlays)) in cases.iter().enumerate() {
        let overlays = if overlays.is_empty() {
            None
        } else {
            Some(to_json(overlays)?)
        };
        rows.push(args![
            experiment_id,
            &case.case_id,
            workspace_id,
            position,
            case.version,
            &case.version_id,
            overlays
        ]);
    }
    tx.insert_many(
        "INSERT INTO experiment_case (experiment_id, case_id, workspace_id, position, version, version_id, overlays) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

/// Every case once, then every case again: the first verdicts cover the whole dataset.
async fn insert_trials(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    cases: &[(Candidate, Vec<NamedOverlay>)],
    trials: u64,
) -> Result<(), StoreError> {
    let mut rows: Vec<Vec<Arg>> = Vec::new();
    let mut position = 0_u64;
    for trial in 1..=trials {
        for (case, _) in cases {
            let key = format!("{experiment_id}/{}/{trial}", case.case_id);
            rows.push(args![
                Store::new_id(),
                workspace_id,
                experiment_id,
                &case.case_id,
                trial,
                position,
                canonical::hash_bytes(key.as_bytes())
            ]);
            position += 1;
        }
    }
    tx.insert_many(
        "INSERT INTO trial (id, workspace_id, experiment_id, case_id, trial, position, idempotency_key, state) VALUES",
        rows.into_iter()
            .map(|mut row| {
                row.push(Arg::from("queued"));
                row
            })
            .collect(),
        "",
    )
    .await
    .map(drop)
}

/// How many planned trials can have each score, overlays folded in.
async fn insert_scores(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    cases: &[(Candidate, Vec<NamedOverlay>)],
    trials: u64,
) -> Result<(), StoreError> {
    let mut planned: BTreeMap<&str, u64> = BTreeMap::new();
    let mut added: BTreeMap<String, u64> = BTreeMap::new();
    for (case, overlays) in cases {
        for name in &case.scores {
            *planned.entry(name).or_default() += trials;
        }
        for name in overlay_scores(overlays) {
            if !case.scores.contains(&name) {
                *added.entry(name).or_default() += trials;
            }
        }
    }
    for (name, n) in &added {
        *planned.entry(name).or_default() += n;
    }
    let rows = planned
        .into_iter()
        .map(|(name, n)| args![experiment_id, name, workspace_id, n])
        .collect();
    tx.insert_many(
        "INSERT INTO experiment_score (experiment_id, name, workspace_id, planned) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

/// The scores that overlays bring to a case: those of a case that carries nothing else.
fn overlay_scores(overlays: &[NamedOverlay]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for named in overlays {
        let checks = &named.overlay.evaluators;
        let mut evaluators = Evaluators {
            custom: checks.custom.clone(),
            ..Evaluators::default()
        };
        evaluators.trajectory.required_tools_called =
            checks.trajectory.required_tools_called.clone();
        evaluators.trajectory.tool_trajectory_match =
            checks.trajectory.tool_trajectory_match.clone();
        names.extend(score::names(&Case::bare(
            named.overlay.extends.clone(),
            evaluators,
        )));
    }
    names
}
