//! Runs: begin, look, steer, results.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use evalkit_core::api::{Rerun, RunBegun, RunPost};
use evalkit_core::results::Results;
use evalkit_core::view::experiment::Experiment;
use evalkit_core::view::runs::{Runs, RunsQuery};
use evalkit_engine::NewExperiment;

use super::ApiState;
use super::reply::{Asked, Body, Caller, Place, Reply};

/// Freezes cases, agent and judge, and begins to run.
#[utoipa::path(
    post, path = "/api/w/{ws}/runs", tag = "runs",
    params(("ws" = String, Path, description = "The workspace")),
    request_body = RunPost,
    responses((status = 201, body = RunBegun))
)]
pub(super) async fn begin(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place(workspace): Place<String>,
    Body(body): Body<RunPost>,
) -> Reply<(StatusCode, Json<RunBegun>)> {
    let new = NewExperiment {
        workspace,
        dataset: body.dataset,
        split: body.split,
        case_ids: body.case_ids,
        agent: body.agent,
        trials: body.trials,
        concurrency: body.concurrency,
        include_needs_ground_truth: body.include_needs_ground_truth,
        no_cache: body.no_cache,
    };
    let begun = state.engine.start_experiment(&ctx, new).await?;
    Ok((
        StatusCode::CREATED,
        Json(RunBegun {
            id: begun.id,
            number: begun.run,
            planned: begun.planned,
            left_out: begun.left_out,
            agent: begun.agent,
            judge: begun.judge,
        }),
    ))
}

/// The workspace's runs, newest first.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs", tag = "runs",
    params(
        ("ws" = String, Path, description = "The workspace"),
        ("dataset" = Option<String>, Query, description = "Only of this dataset"),
        ("agent" = Option<String>, Query, description = "Only against this agent"),
        ("page" = Option<u32>, Query, description = "From 1")
    ),
    responses((status = 200, body = Runs))
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place(workspace): Place<String>,
    Asked(query): Asked<RunsQuery>,
) -> Reply<Json<Runs>> {
    Ok(Json(state.store.runs_page(&ctx, &workspace, &query).await?))
}

/// A run as it stands: counts, scores, cells, failures.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 200, body = Experiment))
)]
pub(super) async fn show(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<Json<Experiment>> {
    Ok(Json(
        state.store.experiment_page(&ctx, &workspace, run).await?,
    ))
}

/// Ends a run: open trials become cancelled, what was done stays.
#[utoipa::path(
    post, path = "/api/w/{ws}/runs/{number}/cancel", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 204, description = "Cancelled"))
)]
pub(super) async fn cancel(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<StatusCode> {
    state.engine.cancel(&ctx, &workspace, run).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lets open trials rest; calls in flight end and are kept.
#[utoipa::path(
    post, path = "/api/w/{ws}/runs/{number}/pause", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 204, description = "Paused"))
)]
pub(super) async fn pause(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<StatusCode> {
    state.engine.pause(&ctx, &workspace, run).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Goes on with a paused run.
#[utoipa::path(
    post, path = "/api/w/{ws}/runs/{number}/resume", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 204, description = "Running"))
)]
pub(super) async fn resume(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<StatusCode> {
    state.engine.resume(&ctx, &workspace, run).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Queues the failed trials again, into the same run. A stored answer is graded, not asked for again.
#[utoipa::path(
    post, path = "/api/w/{ws}/runs/{number}/rerun", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 200, body = Rerun))
)]
pub(super) async fn rerun(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<Json<Rerun>> {
    let trials = state.engine.rerun_failed(&ctx, &workspace, run).await?;
    Ok(Json(Rerun { trials }))
}

/// The results (`evalkit.results/1`), scores recomputed from the stored verdicts.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}/results", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 200, body = Results))
)]
pub(super) async fn results(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<Json<Results>> {
    Ok(Json(state.store.results_of(&ctx, &workspace, run).await?))
}
