//! Experiment: live progress, scores, case grid, failures grouped, what it was frozen on.

use std::collections::HashMap;

use evalkit_core::experiment::{ExperimentState, TrialCounts};
use evalkit_core::failures::Failure;
use evalkit_core::policy::Action;
use evalkit_core::view::experiment::{
    ExitNow, Experiment, FailureGroup, Frozen as FrozenView, TrialCell, TrialError,
};
use evalkit_core::view::judging::{UnscoredCount, unscored_in_words};

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::{Frozen, event};
use crate::judging;
use crate::row::Row;
use crate::store::Store;
use crate::view::agents::shown_endpoint;
use crate::view::run_rows;

const ERRORS: u32 = 20;
/// Groups that the page lists.
const GROUPS: usize = 50;

/// Finds run `run` of a workspace with the columns of [`run_rows::COLUMNS`].
pub(crate) async fn head(tx: &mut Tx, workspace_id: &str, run: i64) -> Result<Row, StoreError> {
    tx.optional(
        format!(
            "SELECT {}, e.dataset_id, e.concurrency, e.created_by_id FROM experiment e JOIN dataset d ON d.id = e.dataset_id \
             WHERE e.workspace_id = $1 AND e.number = $2",
            run_rows::COLUMNS
        ),
        args![workspace_id, run],
    )
    .await?
    .ok_or_else(StoreError::not_found)
}

impl Store {
    /// The Experiment page of run `run` of the workspace.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a run that is not there or not the caller's to see.
    pub async fn experiment_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<Experiment, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let head = head(&mut tx, &workspace.id, run).await?;
        let id = head.text("id")?;
        let frozen: Frozen = head.json("frozen")?;
        let concurrency = head.number("concurrency")?;
        let trials = head.number("trials")?;
        let here = std::slice::from_ref(&workspace.id);
        let row = run_rows::rows(&mut tx, &self.inner.scores, here, &[head])
            .await?
            .pop()
            .ok_or_else(StoreError::not_found)?;
        let scores = self
            .inner
            .scores
            .pooled(&mut tx, here, std::slice::from_ref(&id))
            .await?
            .remove(&id)
            .map(|scores| (*scores).clone())
            .unwrap_or_default();
        let grid = grid(&mut tx, &workspace.id, &id).await?;
        let last_event = tx
            .one(
                "SELECT COALESCE(MAX(id), 0) AS last FROM event WHERE experiment_id = $1 AND workspace_id = $2",
                args![&id, &workspace.id],
            )
            .await?
            .int("last")?;
        let unscored = judging::unscored(&mut tx, &workspace.id, &id).await?;
        let judge_pause = match row.state {
            ExperimentState::Running => judging::pause(&mut tx, &frozen.judge, ctx.now).await?,
            _ => None,
        };
        Ok(Experiment {
            judging: judging::spend(&mut tx, &workspace.id, &id).await?,
            exit: exit(&row.counts, row.unscored, &unscored),
            unscored,
            judge_pause,
            failures: failures(&mut tx, &workspace.id, &id).await?,
            errors: errors(&mut tx, &workspace.id, &id).await?,
            frozen: FrozenView {
                cases: grid.cases,
                left_out: frozen.left_out,
                overlays: frozen.overlays,
                agent: format!(
                    "{}, {}",
                    frozen.agent.adapter.as_str(),
                    shown_endpoint(&frozen.agent)
                ),
                concurrency,
                templates: frozen.judge.templates,
            },
            may_control: workspace.may(ctx, Action::Run),
            workspace: workspace.slug,
            id,
            row,
            trials,
            scores,
            cells: grid.cells,
            latencies_ms: grid.latencies_ms,
            costs_usd: grid.costs_usd,
            last_event,
        })
    }
}

struct Grid {
    cells: Vec<TrialCell>,
    cases: u64,
    latencies_ms: Vec<u64>,
    costs_usd: Vec<f64>,
}

async fn grid(tx: &mut Tx, workspace_id: &str, id: &str) -> Result<Grid, StoreError> {
    let rows = tx
        .all(
            "SELECT case_id, trial, state, colour, satisfied, asked, needs_a_look, latency_ms, cost_usd FROM trial \
             WHERE experiment_id = $1 AND workspace_id = $2 ORDER BY case_id, trial",
            args![id, workspace_id],
        )
        .await?;
    let mut grid = Grid {
        cells: Vec::with_capacity(rows.len()),
        cases: 0,
        latencies_ms: Vec::new(),
        costs_usd: Vec::new(),
    };
    for row in &rows {
        let cell = event::cell(row)?;
        if grid
            .cells
            .last()
            .is_none_or(|last| last.case_id != cell.case_id)
        {
            grid.cases += 1;
        }
        grid.cells.push(cell);
        if let Some(ms) = row.maybe_int("latency_ms")? {
            grid.latencies_ms.push(u64::try_from(ms).unwrap_or(0));
        }
        grid.costs_usd.extend(row.maybe_real("cost_usd")?);
    }
    Ok(grid)
}

async fn failures(
    tx: &mut Tx,
    workspace_id: &str,
    id: &str,
) -> Result<Vec<FailureGroup>, StoreError> {
    let mut groups: HashMap<String, FailureGroup> = HashMap::new();
    for row in tx
        .all(
            "SELECT failure, case_id, trial FROM trial_failure WHERE experiment_id = $1 AND workspace_id = $2 \
             ORDER BY case_id, trial",
            args![id, workspace_id],
        )
        .await?
    {
        let text = row.text("failure")?;
        let place = (row.text("case_id")?, row.number("trial")?);
        if let Some(group) = groups.get_mut(&text) {
            group.cases.push(place);
            continue;
        }
        let failure: Failure = row.json("failure")?;
        groups.insert(
            text,
            FailureGroup {
                evaluator: failure.evaluator,
                rubric_type: failure.rubric_type.map(|kind| kind.as_str().to_owned()),
                verdict: failure.verdict,
                what: failure.what,
                cases: vec![place],
            },
        );
    }
    let mut groups: Vec<FailureGroup> = groups.into_values().collect();
    groups.sort_by(|a, b| {
        b.cases.len().cmp(&a.cases.len()).then_with(|| {
            (&a.evaluator, &a.rubric_type, &a.verdict, &a.what).cmp(&(
                &b.evaluator,
                &b.rubric_type,
                &b.verdict,
                &b.what,
            ))
        })
    });
    groups.truncate(GROUPS);
    Ok(groups)
}

async fn errors(tx: &mut Tx, workspace_id: &str, id: &str) -> Result<Vec<TrialError>, StoreError> {
    tx.all(
        "SELECT case_id, trial, stage, error_class, error_message, attempts, COALESCE(ended_at, started_at, 0) AS at \
         FROM trial WHERE experiment_id = $1 AND workspace_id = $2 AND error_class IS NOT NULL ORDER BY at DESC, id LIMIT $3",
        args![id, workspace_id, ERRORS],
    )
    .await?
    .iter()
    .map(|row| {
        Ok(TrialError {
            case_id: row.text("case_id")?,
            trial: row.number("trial")?,
            stage: row.maybe_text("stage")?.unwrap_or_default(),
            class: row.maybe_text("error_class")?.unwrap_or_default(),
            message: row.maybe_text("error_message")?.unwrap_or_default(),
            attempts: row.number("attempts")?,
            at: row.int("at")?,
        })
    })
    .collect()
}

/// What `collect` would exit with now, without a threshold (`runs.md`, Results).
fn exit(counts: &TrialCounts, unscored: u64, reasons: &[UnscoredCount]) -> ExitNow {
    let mut why = Vec::new();
    for (n, what) in [
        (counts.open(), "still open"),
        (counts.error, "ended in an error"),
        (counts.cancelled, "cancelled"),
        (counts.budget, "over budget"),
        (unscored, "with something unscored"),
    ] {
        if n > 0 {
            why.push(format!("{n} {what}"));
        }
    }
    if let Some(last) = why.last_mut()
        && unscored > 0
        && !reasons.is_empty()
    {
        last.push_str(&format!(" ({})", unscored_in_words(reasons)));
    }
    if why.is_empty() {
        ExitNow {
            code: 0,
            why: format!("All {} trials are done and scored.", counts.planned()),
        }
    } else {
        ExitNow {
            code: 2,
            why: format!("Of {} trials {}.", counts.planned(), why.join(", ")),
        }
    }
}
