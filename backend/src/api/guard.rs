//! Around every route of the API: nothing that is not registered is served, nobody who is not signed in gets further,
//! and what failed is answered as a fault with the request's id.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::http::HeaderValue;
use axum::http::header::RETRY_AFTER;
use axum::middleware::Next;
use axum::response::Response;
use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Actor;
use evalkit_store::Ctx;

use super::registry::{Access, access};
use super::reply::Failed;
use crate::session::fault_response;

/// Seconds after which a busy server may be asked again.
const RETRY_S: u64 = 5;

pub(super) async fn guard(request: Request, next: Next) -> Response {
    let ctx = request.extensions().get::<Ctx>().cloned();
    let id = ctx
        .as_ref()
        .map_or("", |ctx| ctx.request_id.as_str())
        .to_owned();
    let registered = request
        .extensions()
        .get::<MatchedPath>()
        .and_then(|path| access(request.method().as_str(), path.as_str()));
    let signed_in = ctx.is_some_and(|ctx| ctx.actor != Actor::Anonymous);
    match registered {
        None => {
            tracing::error!(request_id = %id, path = request.uri().path(), "a route is not registered");
            return fault_response(Fault::not_found(), &id);
        }
        Some(Access::SignedIn) if !signed_in => {
            let fault = Fault::new(
                Code::SignIn,
                "You are not signed in.",
                "Send `Authorization: Bearer evk_…` with an access token that is still valid.",
            );
            return fault_response(fault, &id);
        }
        Some(Access::SignedIn | Access::SignedAddress) => {}
    }
    let mut response = next.run(request).await;
    let Some(failed) = response.extensions_mut().remove::<Arc<Failed>>() else {
        return response;
    };
    if let Some(cause) = &failed.cause {
        tracing::error!(request_id = %id, %cause, "a request failed");
    }
    let code = failed.fault.code;
    let mut response = fault_response(failed.fault.clone(), &id);
    if matches!(code, Code::Busy | Code::RateLimited) {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(RETRY_S));
    }
    response
}
