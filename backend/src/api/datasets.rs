//! Datasets: lint facts, sync, fixture bytes.

use axum::Json;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use evalkit_core::api::{Hashes, SyncDone, SyncPost};
use evalkit_core::error::{Code, Fault};
use evalkit_lint::{LintFacts, SourceFile};
use evalkit_store::{SyncReport, SyncRequest};
use futures::StreamExt as _;

use super::ApiState;
use super::reply::{Body, Caller, Place, Reply, invalid};

/// Text of a sync (`cases.md`, bounds).
const SYNC_TEXT: usize = 64 * 1024 * 1024;
/// The same as JSON, whose escapes make it longer.
pub(super) const SYNC_BODY: usize = 2 * SYNC_TEXT;
/// Hashes that are asked for at once.
const HASHES: usize = 10_000;

/// What lint may know of the dataset's surroundings (`evalkit.facts/1`).
#[utoipa::path(
    get, path = "/api/w/{ws}/d/{ds}/facts", tag = "datasets",
    params(("ws" = String, Path, description = "The workspace"), ("ds" = String, Path, description = "The dataset, which need not exist yet")),
    responses((status = 200, description = "Lint facts, schema `evalkit.facts/1`", body = Object))
)]
pub(super) async fn facts(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, dataset)): Place<(String, String)>,
) -> Reply<Json<LintFacts>> {
    Ok(Json(
        state.store.lint_facts(&ctx, &workspace, &dataset).await?,
    ))
}

/// Makes the dataset equal to the files, or changes nothing.
#[utoipa::path(
    post, path = "/api/w/{ws}/d/{ds}/sync", tag = "datasets",
    params(("ws" = String, Path, description = "The workspace"), ("ds" = String, Path, description = "The dataset; made when it is new")),
    request_body = SyncPost,
    responses(
        (status = 200, body = SyncDone),
        (status = 422, description = "`S-LINT` with every error, or `S-FIXTURES` with every key", body = Fault)
    )
)]
pub(super) async fn sync(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, dataset)): Place<(String, String)>,
    Body(body): Body<SyncPost>,
) -> Reply<Json<SyncDone>> {
    let text: usize = body.files.iter().map(|file| file.text.len()).sum();
    if text > SYNC_TEXT {
        return Err(Fault::new(
            Code::TooLarge,
            format!("These files are {text} bytes, and a sync takes {SYNC_TEXT} at most."),
            "Split them into several datasets.",
        )
        .into());
    }
    let request = SyncRequest {
        workspace,
        dataset,
        files: body
            .files
            .into_iter()
            .map(|file| SourceFile::new(file.path, file.text))
            .collect(),
        keep_missing: body.keep_missing,
        archive: body.archive,
        dry_run: body.dry_run,
        jargon: body.jargon,
        subject_terms: body.subject_terms,
    };
    let report = state.store.sync(&ctx, request).await?;
    Ok(Json(done(report)))
}

fn done(report: SyncReport) -> SyncDone {
    SyncDone {
        added: report.added,
        changed: report.changed,
        unchanged: report.unchanged,
        archived: report.archived,
        kept: report.kept,
        overlays: report.overlays,
        overlays_changed: report.overlays_changed,
        fixtures: report.fixtures,
        fixtures_changed: report.fixtures_changed,
        warnings: report
            .warnings
            .iter()
            .filter_map(|warning| serde_json::to_value(warning).ok())
            .collect(),
        dry_run: report.dry_run,
    }
}

/// Which of these hashes the workspace has no bytes for. What other workspaces hold does not count.
#[utoipa::path(
    post, path = "/api/w/{ws}/fixtures/missing", tag = "datasets",
    params(("ws" = String, Path, description = "The workspace")),
    request_body = Hashes,
    responses((status = 200, body = Hashes))
)]
pub(super) async fn missing_fixtures(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place(workspace): Place<String>,
    Body(hashes): Body<Hashes>,
) -> Reply<Json<Hashes>> {
    if hashes.sha256.len() > HASHES {
        return Err(invalid(
            format!("More than {HASHES} hashes were asked for."),
            "Ask for fewer at once.",
        ));
    }
    let sha256 = state
        .store
        .missing_blobs(&ctx, &workspace, &hashes.sha256)
        .await?;
    Ok(Json(Hashes { sha256 }))
}

/// Takes a fixture's bytes as they come; they must have the hash of the address.
#[utoipa::path(
    put, path = "/api/w/{ws}/fixtures/{sha256}", tag = "datasets",
    params(("ws" = String, Path, description = "The workspace"), ("sha256" = String, Path, description = "64 hex digits in lower case")),
    request_body(content = String, content_type = "application/octet-stream"),
    responses((status = 204, description = "Stored"), (status = 422, description = "Another hash arrived", body = Fault))
)]
pub(super) async fn put_fixture(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, sha256)): Place<(String, String)>,
    request: Request,
) -> Reply<StatusCode> {
    let mut writer = state.store.begin_fixture(&ctx, &workspace).await?;
    let mut body = request.into_body().into_data_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(|_| invalid("The upload broke off.", "Send the file again."))?;
        writer.write(&chunk).await?;
    }
    state
        .store
        .finish_fixture(&ctx, &workspace, &sha256, writer)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The limit of bodies on this API: a sync's. An upload counts its bytes itself, as they come.
pub(super) fn limit() -> DefaultBodyLimit {
    DefaultBodyLimit::max(SYNC_BODY)
}
