//! Results of an experiment in the published format, and what its trials recorded (`formats.md`, Results, Recorded runs).

use chrono::{DateTime, SecondsFormat};
use evalkit_core::experiment::TrialState;
use evalkit_core::policy::Action;
use evalkit_core::results::{Results, ResultsHead, TrialInput, build};
use evalkit_core::run::{AgentErrorClass, RecordedRun, RunError, RunStatus};
use evalkit_core::score;

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::Frozen;
use crate::queue::effective_cases;
use crate::row::Row;
use crate::store::Store;
use crate::view::case::grades_of;
use crate::view::experiment;

/// Microseconds as RFC 3339 in UTC.
pub(crate) fn rfc3339(micros: i64) -> Option<String> {
    DateTime::from_timestamp_micros(micros)
        .map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Bytes to download, as they were received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// A file name made of the case and the trial.
    pub name: String,
    /// What they are.
    pub mime: &'static str,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl Store {
    /// The results of run `run`, scores recomputed from the stored grades.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a run that is not there or not the caller's to see.
    pub async fn results_of(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<Results, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let head = experiment::head(&mut tx, &workspace.id, run).await?;
        let id = head.text("id")?;
        let frozen: Frozen = head.json("frozen")?;
        let trials = trial_inputs(&mut tx, &workspace.id, &id).await?;
        let head = ResultsHead {
            dataset: format!("{}@{}", head.text("dataset")?, workspace.slug),
            agent: Some(head.text("agent")?),
            experiment: Some(id),
            started_at: rfc3339(head.int("created_at")?),
            finished_at: head.maybe_int("finished_at")?.and_then(rfc3339),
            judge: frozen.judge,
        };
        drop(tx);
        tokio::task::spawn_blocking(move || build(head, &trials))
            .await
            .map_err(|_| StoreError::Closed)
    }

    /// Case and trial of everything that a run recorded or that ended in an error, in the order of results.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a run that is not there or not the caller's to see.
    pub async fn recorded_trials(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
    ) -> Result<Vec<(String, u32)>, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Download).await?;
        let head = experiment::head(&mut tx, &workspace.id, run).await?;
        tx.all(
            "SELECT t.case_id, t.trial FROM trial t WHERE t.workspace_id = $1 AND t.experiment_id = $2 AND \
             (t.state = 'error' OR EXISTS (SELECT 1 FROM recorded_run r WHERE r.trial_id = t.id)) ORDER BY t.case_id, t.trial",
            args![&workspace.id, head.text("id")?],
        )
        .await?
        .iter()
        .map(|row| Ok((row.text("case_id")?, row.number("trial")?)))
        .collect()
    }

    /// What a trial recorded, its trajectory included; for one that ended in an error, that error.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when nothing is recorded, or the trial is not the caller's to see.
    pub async fn recorded_run_of(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        case_id: &str,
        trial: u32,
    ) -> Result<RecordedRun, StoreError> {
        let mut tx = self.read().await?;
        let (row, workspace_id, agent) =
            recorded(&mut tx, ctx, workspace, run, case_id, trial).await?;
        let mut recorded: RecordedRun = row.maybe_json("run")?.unwrap_or_default();
        if row.text("state")? == TrialState::Error.as_str() {
            recorded.status = RunStatus::Error;
            recorded.error = error_of(&row)?;
        }
        recorded.case_id = case_id.to_owned();
        recorded.trial = trial;
        recorded.agent = Some(agent);
        recorded.answer = row.maybe_text("answer")?;
        recorded.trajectory = self
            .trajectory_bytes(
                &mut tx,
                &workspace_id,
                row.maybe_text("trajectory_sha256")?,
                row.maybe_bytes("trajectory")?,
            )
            .await?
            .and_then(|bytes| serde_json::from_slice(&bytes).ok());
        Ok(recorded)
    }

    /// A trial's answer as text, to download.
    ///
    /// # Errors
    /// `S-NOT-FOUND` without one.
    pub async fn answer_file(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        case_id: &str,
        trial: u32,
    ) -> Result<Download, StoreError> {
        let mut tx = self.read().await?;
        let (row, ..) = recorded(&mut tx, ctx, workspace, run, case_id, trial).await?;
        let answer = row
            .maybe_text("answer")?
            .ok_or_else(StoreError::not_found)?;
        Ok(Download {
            name: format!("{case_id}.{trial}.answer.md"),
            mime: "text/markdown; charset=utf-8",
            bytes: answer.into_bytes(),
        })
    }

    /// A trial's trajectory, byte for byte as received, to download.
    ///
    /// # Errors
    /// `S-NOT-FOUND` without one.
    pub async fn trajectory_file(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        case_id: &str,
        trial: u32,
    ) -> Result<Download, StoreError> {
        let mut tx = self.read().await?;
        let (row, workspace_id, _) = recorded(&mut tx, ctx, workspace, run, case_id, trial).await?;
        let bytes = self
            .trajectory_bytes(
                &mut tx,
                &workspace_id,
                row.maybe_text("trajectory_sha256")?,
                row.maybe_bytes("trajectory")?,
            )
            .await?
            .ok_or_else(StoreError::not_found)?;
        Ok(Download {
            name: format!("{case_id}.{trial}.trajectory.json"),
            mime: "application/json",
            bytes,
        })
    }
}

/// Why a trial ended in an error.
pub(crate) fn error_of(row: &Row) -> Result<Option<RunError>, StoreError> {
    let Some(class) = row.maybe_text("error_class")? else {
        return Ok(None);
    };
    Ok(Some(RunError {
        class: serde_json::from_value(serde_json::Value::String(class))
            .unwrap_or(AgentErrorClass::AgentReported),
        message: row.maybe_text("error_message")?.unwrap_or_default(),
    }))
}

async fn recorded(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace: &str,
    run: i64,
    case_id: &str,
    trial: u32,
) -> Result<(Row, String, String), StoreError> {
    let workspace = tx.enter(ctx, workspace, Action::Download).await?;
    let row = tx
        .optional(
            "SELECT r.run, r.answer, r.trajectory_sha256, r.trajectory, e.agent, t.state, t.error_class, t.error_message \
             FROM trial t JOIN experiment e ON e.id = t.experiment_id \
             LEFT JOIN recorded_run r ON r.trial_id = t.id AND r.workspace_id = t.workspace_id \
             WHERE e.workspace_id = $1 AND e.number = $2 AND t.case_id = $3 AND t.trial = $4 \
             AND (t.state = 'error' OR r.trial_id IS NOT NULL)",
            args![&workspace.id, run, case_id, trial],
        )
        .await?
        .ok_or_else(StoreError::not_found)?;
    let agent = row.text("agent")?;
    Ok((row, workspace.id, agent))
}

async fn trial_inputs(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
) -> Result<Vec<TrialInput>, StoreError> {
    let rows = tx
        .all(
            "SELECT t.id, t.case_id, t.trial, t.state, t.latency_ms, t.error_class, t.error_message, r.run \
             FROM trial t LEFT JOIN recorded_run r ON r.trial_id = t.id \
             WHERE t.workspace_id = $1 AND t.experiment_id = $2 ORDER BY t.case_id, t.trial",
            args![workspace_id, experiment_id],
        )
        .await?;
    let mut ids = Vec::with_capacity(rows.len());
    let mut case_ids = Vec::new();
    for row in &rows {
        ids.push(row.text("id")?);
        let case_id = row.text("case_id")?;
        if case_ids.last() != Some(&case_id) {
            case_ids.push(case_id);
        }
    }
    let mut grades = grades_of(tx, workspace_id, &ids).await?;
    let cases = effective_cases(tx, experiment_id, &case_ids).await?;
    rows.iter()
        .zip(ids)
        .map(|(row, id)| {
            let case_id = row.text("case_id")?;
            let state = row.text("state")?;
            let state = TrialState::parse(&state)
                .ok_or_else(|| StoreError::Unreadable(format!("trial state {state}")))?;
            let case = cases.get(&case_id);
            let run: Option<RecordedRun> = row.maybe_json("run")?;
            let error = if state == TrialState::Error {
                error_of(row)?
            } else {
                None
            };
            Ok(TrialInput {
                version: case.map(|(_, version)| *version),
                names: case
                    .map(|(case, _)| score::names(&case.case))
                    .unwrap_or_default(),
                trial: row.number("trial")?,
                state,
                grades: grades.remove(&id).unwrap_or_default(),
                latency_ms: row
                    .maybe_int("latency_ms")?
                    .and_then(|ms| u64::try_from(ms).ok()),
                usage: run.and_then(|run| run.usage),
                error,
                case_id,
            })
        })
        .collect()
}
