//! Bytes out: what trials recorded, and fixtures. Always as an attachment that a browser neither runs nor guesses at
//! (`reliability.md`, D15).

use std::path::PathBuf;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{
    CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::{HeaderValue, Response, StatusCode};
use evalkit_core::error::{Code, Fault};
use evalkit_store::{Ctx, Download, Store, StoreError};
use futures::stream::{self, TryStreamExt as _};
use serde::Deserialize;
use tokio::io::AsyncReadExt as _;

use super::ApiState;
use super::reply::{Asked, Caller, Place, Reply};

/// Bytes read from a file at once.
const CHUNK: usize = 64 * 1024;

/// Recorded runs, one a line: what `evalkit grade` and `collect --format runs` work on.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}/recorded", tag = "runs",
    params(("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number")),
    responses((status = 200, description = "One `RecordedRun` a line", content_type = "application/x-ndjson", body = evalkit_core::run::RecordedRun))
)]
pub(super) async fn recorded(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
) -> Reply<Response<Body>> {
    let trials = state.store.recorded_trials(&ctx, &workspace, run).await?;
    let name = format!("{workspace}-run-{run}.jsonl");
    let lines = Lines {
        store: state.store,
        ctx,
        workspace,
        run,
    };
    // One trial in memory at a time, however many there are. A failure in the middle breaks the body off, which a
    // reader notices; half a file never looks whole.
    let body = stream::iter(trials.into_iter().map(Ok::<_, StoreError>)).and_then(
        move |(case_id, trial)| {
            let lines = lines.clone();
            async move { lines.line(&case_id, trial).await }
        },
    );
    attachment(&name, "application/x-ndjson", None, Body::from_stream(body))
}

#[derive(Clone)]
struct Lines {
    store: Store,
    ctx: Ctx,
    workspace: String,
    run: i64,
}

impl Lines {
    async fn line(&self, case_id: &str, trial: u32) -> Result<Bytes, StoreError> {
        let run = self
            .store
            .recorded_run_of(&self.ctx, &self.workspace, self.run, case_id, trial)
            .await?;
        let mut line = serde_json::to_vec(&run)
            .map_err(|error| StoreError::Unreadable(format!("a recorded run: {error}")))?;
        line.push(b'\n');
        Ok(line.into())
    }
}

/// A trial's answer, as the agent gave it.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}/c/{case}/{trial}/answer", tag = "runs",
    params(
        ("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number"),
        ("case" = String, Path, description = "The case id"), ("trial" = u32, Path, description = "From 1")
    ),
    responses((status = 200, content_type = "text/markdown", body = String))
)]
pub(super) async fn answer(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run, case_id, trial)): Place<(String, i64, String, u32)>,
) -> Reply<Response<Body>> {
    let file = state
        .store
        .answer_file(&ctx, &workspace, run, &case_id, trial)
        .await?;
    whole(file)
}

/// A trial's trajectory, byte for byte as it was received.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}/c/{case}/{trial}/trajectory", tag = "runs",
    params(
        ("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number"),
        ("case" = String, Path, description = "The case id"), ("trial" = u32, Path, description = "From 1")
    ),
    responses((status = 200, content_type = "application/json", body = Object))
)]
pub(super) async fn trajectory(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run, case_id, trial)): Place<(String, i64, String, u32)>,
) -> Reply<Response<Body>> {
    let file = state
        .store
        .trajectory_file(&ctx, &workspace, run, &case_id, trial)
        .await?;
    whole(file)
}

/// What a download is called.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    #[serde(default)]
    name: Option<String>,
}

/// A fixture's bytes.
#[utoipa::path(
    get, path = "/api/w/{ws}/fixtures/{sha256}", tag = "datasets",
    params(
        ("ws" = String, Path, description = "The workspace"), ("sha256" = String, Path, description = "64 hex digits in lower case"),
        ("name" = Option<String>, Query, description = "What the download is called")
    ),
    responses((status = 200, content_type = "application/octet-stream", body = String))
)]
pub(super) async fn fixture(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, sha256)): Place<(String, String)>,
    Asked(named): Asked<Named>,
) -> Reply<Response<Body>> {
    let (path, bytes) = state.store.fixture_file(&ctx, &workspace, &sha256).await?;
    file(named.name.as_deref().unwrap_or(&sha256), path, bytes).await
}

/// What the signed address of a fixture carries.
#[derive(Debug, Deserialize)]
pub(super) struct Signed {
    expires: u64,
    signature: String,
}

/// A fixture for the agent that a trial calls, at the address it was given.
#[utoipa::path(
    get, path = "/agent/runs/{run}/fixtures/{sha256}/{key}", tag = "agents", security(()),
    params(
        ("run" = String, Path, description = "The `run_id` of the call"), ("sha256" = String, Path, description = "64 hex digits"),
        ("key" = String, Path, description = "The fixture's key"),
        ("expires" = u64, Query, description = "Unix seconds"), ("signature" = String, Query, description = "Of all of these")
    ),
    responses((status = 200, content_type = "application/octet-stream", body = String))
)]
pub(super) async fn agent_fixture(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((run, sha256, key)): Place<(String, String, String)>,
    signed: Result<Asked<Signed>, super::reply::Failure>,
) -> Reply<Response<Body>> {
    // An address without its signature is one where nothing is, like any other that does not fit.
    let Ok(Asked(signed)) = signed else {
        return Err(Fault::not_found().into());
    };
    let now_s = u64::try_from(ctx.now / 1_000_000).unwrap_or(0);
    let (path, bytes) = state
        .engine
        .agent_fixture(
            &run,
            &key,
            &sha256,
            signed.expires,
            &signed.signature,
            now_s,
        )
        .await?;
    file(&key, path, bytes).await
}

#[expect(
    clippy::result_large_err,
    reason = "every route answers with the same kind of reply"
)]
fn whole(file: Download) -> Reply<Response<Body>> {
    let bytes = file.bytes.len() as u64;
    attachment(&file.name, file.mime, Some(bytes), Body::from(file.bytes))
}

async fn file(name: &str, path: PathBuf, bytes: u64) -> Reply<Response<Body>> {
    let missing = |error: std::io::Error| {
        tracing::error!(%error, path = %path.display(), "stored bytes cannot be read");
        Fault::new(
            Code::Internal,
            "The server cannot read these bytes, although it has stored them.",
            "Have whoever runs the server look at its log.",
        )
    };
    let file = tokio::fs::File::open(&path).await.map_err(missing)?;
    let body = stream::try_unfold(file, |mut file| async move {
        let mut chunk = vec![0; CHUNK];
        let read = file.read(&mut chunk).await?;
        chunk.truncate(read);
        Ok::<_, std::io::Error>((read > 0).then_some((Bytes::from(chunk), file)))
    });
    attachment(
        name,
        "application/octet-stream",
        Some(bytes),
        Body::from_stream(body),
    )
}

#[expect(
    clippy::result_large_err,
    reason = "every route answers with the same kind of reply"
)]
fn attachment(
    name: &str,
    mime: &'static str,
    bytes: Option<u64>,
    body: Body,
) -> Reply<Response<Body>> {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(mime));
    headers.insert(
        CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("sandbox; default-src 'none'"),
    );
    if let Some(bytes) = bytes {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes));
    }
    let disposition = format!("attachment; filename*=UTF-8''{}", escaped(name));
    if let Ok(value) = HeaderValue::from_str(&disposition) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// A file name for `filename*` (RFC 8187): all but the plainest characters percent-encoded, 255 bytes at most.
fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes().take(255) {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn names_hold_nothing_that_a_header_or_a_file_system_minds() {
        assert_eq!(escaped("10-K 2024.txt"), "10-K%202024.txt");
        assert_eq!(escaped("a\"\r\n/../b"), "a%22%0D%0A%2F..%2Fb");
        assert_eq!(escaped("Ü"), "%C3%9C");
    }
}
