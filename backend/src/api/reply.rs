//! What handlers take and give: the caller, typed parts of a request whose refusals are faults, and failures.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use evalkit_core::error::{Code, Fault};
use evalkit_store::{Ctx, StoreError};
use serde::de::DeserializeOwned;

/// A failure on its way out; the guard turns it into the answer.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) fault: Fault,
    /// For the log, when the fault does not say it all.
    pub(super) cause: Option<String>,
}

/// What a handler fails with.
#[derive(Debug)]
pub(super) struct Failure(Failed);

/// What a handler gives.
pub(super) type Reply<T> = Result<T, Failure>;

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self(Failed { fault, cause: None })
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let cause = match &error {
            StoreError::Fault(_) => None,
            other => Some(other.to_string()),
        };
        Self(Failed {
            fault: error.into(),
            cause,
        })
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

/// A field of the request that is not valid.
pub(super) fn invalid(message: impl Into<String>, next: impl Into<String>) -> Failure {
    Fault::new(Code::Invalid, message, next).into()
}

/// Who calls.
pub(super) struct Caller(pub(super) Ctx);

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Reply<Self> {
        parts
            .extensions
            .get::<Ctx>()
            .cloned()
            .map(Self)
            .ok_or_else(|| {
                Failure(Failed {
                    fault: Fault::new(
                        Code::Internal,
                        "The server does not know who asks.",
                        "Give the request id to whoever runs the server.",
                    ),
                    cause: Some("a request came without its context".to_owned()),
                })
            })
    }
}

/// Parameters of the path. A path that does not fit is one where nothing is.
pub(super) struct Place<T>(pub(super) T);

impl<T, S> FromRequestParts<S> for Place<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Reply<Self> {
        axum::extract::Path::<T>::from_request_parts(parts, state)
            .await
            .map(|axum::extract::Path(place)| Self(place))
            .map_err(|_| Fault::not_found().into())
    }
}

/// What stands behind the `?`.
pub(super) struct Asked<T>(pub(super) T);

impl<T, S> FromRequestParts<S> for Asked<T>
where
    T: DeserializeOwned + Send,
    S: Send + Sync,
{
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Reply<Self> {
        axum::extract::Query::<T>::from_request_parts(parts, state)
            .await
            .map(|axum::extract::Query(asked)| Self(asked))
            .map_err(|refused| {
                invalid(
                    format!(
                        "The address has a parameter that is not valid: {}.",
                        refused.body_text()
                    ),
                    "See docs/http-api.md for the parameters of this address.",
                )
            })
    }
}

/// A JSON body, up to the limit of its route.
pub(super) struct Body<T>(pub(super) T);

impl<T, S> FromRequest<S> for Body<T>
where
    T: DeserializeOwned,
    S: Send + Sync,
{
    type Rejection = Failure;

    async fn from_request(request: Request, state: &S) -> Reply<Self> {
        let bytes = axum::body::Bytes::from_request(request, state)
            .await
            .map_err(|refused| {
                if refused.status() == StatusCode::PAYLOAD_TOO_LARGE {
                    Failure::from(Fault::new(
                        Code::TooLarge,
                        "The request is larger than this address takes.",
                        "Send less at once.",
                    ))
                } else {
                    invalid("The request broke off.", "Send it again.")
                }
            })?;
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            invalid(
                format!("The body is not the JSON that this address takes: {error}."),
                "See docs/openapi.json for the body of this request.",
            )
        })
    }
}
