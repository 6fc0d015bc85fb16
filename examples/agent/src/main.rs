//! `facts-bot`: a small agent in its own process, to try Evalkit against something real.
//!
//! It speaks the Agent Run API `evalkit.agent/1` over plain HTTP, answers from attached files and a few notes, and is partly wrong
//! on purpose. It never sees a rubric or an expected answer. See `README.md` beside `Cargo.toml`.

mod answering;
mod calls;
mod fixture;
mod notes;
mod options;
mod planets;
mod protocol;
mod statements;
mod trajectory;

use std::process::ExitCode;
use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::JsonRejection;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::json;

use crate::calls::{Arrival, Calls};
use crate::notes::Notes;
use crate::options::{Options, USAGE};
use crate::protocol::{API, RunRequest};

/// What every request needs.
struct Bot {
    options: Options,
    notes: Notes,
    calls: Calls,
}

#[expect(
    clippy::disallowed_methods,
    reason = "the secret comes from the environment, which is read here alone"
)]
#[tokio::main]
async fn main() -> ExitCode {
    let options = match Options::read(std::env::args().skip(1), |name| std::env::var(name).ok()) {
        Ok(options) => options,
        Err(why) => {
            eprintln!("{why}\n\n{USAGE}");
            return ExitCode::from(if why.is_empty() { 0 } else { 3 });
        }
    };
    match serve(options).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("facts-bot: {why}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), String> {
    let calls =
        Calls::open(options.log.clone()).map_err(|why| format!("cannot open the log: {why}"))?;
    let notes = Notes::bundled().map_err(|why| format!("the notes are not valid: {why}"))?;
    let address = options.bind;
    let listener = tokio::net::TcpListener::bind(address)
        .await
        .map_err(|why| format!("cannot listen on {address}: {why}. Choose another --port."))?;
    let bound = listener.local_addr().map_err(|why| why.to_string())?;
    eprintln!("facts-bot listens on http://{bound}/run");
    let bot = Arc::new(Bot {
        options,
        notes,
        calls,
    });
    axum::serve(listener, router(bot))
        .with_graceful_shutdown(async {
            // Without a signal handler the process simply runs until it is killed.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
        })
        .await
        .map_err(|why| why.to_string())
}

fn router(bot: Arc<Bot>) -> Router {
    Router::new()
        .route("/run", post(run))
        .route("/health", get(|| async { "ok" }))
        .with_state(bot)
}

async fn run(
    State(bot): State<Arc<Bot>>,
    headers: HeaderMap,
    body: Result<Json<RunRequest>, JsonRejection>,
) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(secret) = &bot.options.secret {
        let given = header("authorization").and_then(|value| value.strip_prefix("Bearer "));
        if given != Some(secret.as_str()) {
            return refuse(
                StatusCode::UNAUTHORIZED,
                "the bearer secret is missing or wrong",
            );
        }
    }
    let request = match body {
        Ok(Json(request)) => request,
        Err(why) => return refuse(why.status(), &why.body_text()),
    };
    if request.api != API {
        return refuse(
            StatusCode::BAD_REQUEST,
            &format!("this agent speaks {API}, not {}", request.api),
        );
    }
    let key = header("idempotency-key");
    let pending = match bot.calls.arrive(key, &request.run_id, &request.case_id) {
        Ok(Arrival::Answer(pending)) => pending,
        Ok(Arrival::KeyReused) => {
            return refuse(
                StatusCode::UNPROCESSABLE_ENTITY,
                "this Idempotency-Key was used for another run or case",
            );
        }
        Err(why) => {
            return refuse(
                StatusCode::INTERNAL_SERVER_ERROR,
                &format!("cannot write the log: {why}"),
            );
        }
    };
    // Only an answer is kept: after a failure, such as a file that could not be fetched, the same key may try again.
    let reply = pending
        .get_or_try_init(|| async {
            tokio::time::sleep(bot.options.delay).await;
            let reply = answering::answer(&bot.notes, &request).await;
            if reply.error.is_none() {
                Ok(reply)
            } else {
                Err(reply)
            }
        })
        .await;
    match reply {
        Ok(reply) => Json(reply).into_response(),
        Err(reply) => Json(reply).into_response(),
    }
}

fn refuse(status: StatusCode, why: &str) -> Response {
    (status, Json(json!({ "error": why }))).into_response()
}
