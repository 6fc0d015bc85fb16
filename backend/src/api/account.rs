//! Who the token belongs to, and its end.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use evalkit_core::api::Whoami;
use evalkit_core::error::Fault;
use evalkit_core::policy::{Actor, Scope};

use super::ApiState;
use super::reply::{Caller, Reply};

/// Whose token or session it is, what it may do, and the workspaces they see.
#[utoipa::path(get, path = "/api/whoami", tag = "account", responses((status = 200, body = Whoami)))]
pub(super) async fn whoami(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
) -> Reply<Json<Whoami>> {
    let session = state.store.session(&ctx).await?;
    let person = session.person.ok_or_else(Fault::not_found)?;
    let scopes = match &ctx.actor {
        Actor::Person {
            scopes: Some(scopes),
            ..
        } => scopes.clone(),
        _ => Scope::ALL.to_vec(),
    };
    Ok(Json(Whoami {
        name: person.name,
        display_name: person.display_name,
        owner: person.owner,
        scopes: scopes.iter().map(|s| s.as_str().to_owned()).collect(),
        workspaces: session.workspaces,
        version: session.version,
    }))
}

/// Revokes the token of this request.
#[utoipa::path(delete, path = "/api/token", tag = "account", responses((status = 204, description = "It no longer works")))]
pub(super) async fn revoke_token(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
) -> Reply<StatusCode> {
    state.store.revoke_own_token(&ctx).await?;
    Ok(StatusCode::NO_CONTENT)
}
