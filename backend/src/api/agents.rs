//! Agents of a workspace.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use evalkit_core::api::AgentPut;
use evalkit_core::view::agents::{AgentCheck, Agents};
use evalkit_store::{NewAgent, SecretText};

use super::ApiState;
use super::reply::{Body, Caller, Place, Reply, invalid};

/// The agents that can be run here, with their last check.
#[utoipa::path(
    get, path = "/api/w/{ws}/agents", tag = "agents",
    params(("ws" = String, Path, description = "The workspace")),
    responses((status = 200, body = Agents))
)]
pub(super) async fn list(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place(workspace): Place<String>,
) -> Reply<Json<Agents>> {
    Ok(Json(state.store.agents_page(&ctx, &workspace).await?))
}

/// Registers an agent, or changes the one of that name. A changed address voids its stored secret.
#[utoipa::path(
    put, path = "/api/w/{ws}/agents/{name}", tag = "agents",
    params(("ws" = String, Path, description = "The workspace"), ("name" = String, Path, description = "The agent")),
    request_body = AgentPut,
    responses((status = 204, description = "Stored"))
)]
pub(super) async fn put(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, name)): Place<(String, String)>,
    Body(body): Body<AgentPut>,
) -> Reply<StatusCode> {
    if body.config.name != name {
        return Err(invalid(
            "The name in the body is not the one of the address.",
            "Send the same name in both.",
        ));
    }
    let agent = NewAgent {
        config: body.config,
        secret: body.secret.map(SecretText::new),
    };
    state.engine.add_agent(&ctx, &workspace, agent).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Forgets an agent and its secret.
#[utoipa::path(
    delete, path = "/api/w/{ws}/agents/{name}", tag = "agents",
    params(("ws" = String, Path, description = "The workspace"), ("name" = String, Path, description = "The agent")),
    responses((status = 204, description = "Removed"))
)]
pub(super) async fn remove(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, name)): Place<(String, String)>,
) -> Reply<StatusCode> {
    state.engine.remove_agent(&ctx, &workspace, &name).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends one probe to the agent and tells what came back. An agent that fails is a result, not an error.
#[utoipa::path(
    post, path = "/api/w/{ws}/agents/{name}/check", tag = "agents",
    params(("ws" = String, Path, description = "The workspace"), ("name" = String, Path, description = "The agent, or `name@workspace`")),
    responses((status = 200, body = AgentCheck))
)]
pub(super) async fn check(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, name)): Place<(String, String)>,
) -> Reply<Json<AgentCheck>> {
    Ok(Json(
        state.engine.check_agent(&ctx, &workspace, &name).await?,
    ))
}
