//! The HTTP API (`docs/http-api.md`): what the `evalkit` command, CI and the browser's streams call.
//!
//! A handler reads its request, calls one function of store or engine, and answers. Who calls was settled before
//! ([`crate::session::identify`]). Every route stands in [`registry::ROUTES`]; one that does not is not served, and
//! the program does not start with it.

mod account;
mod agents;
mod datasets;
mod downloads;
mod events;
mod guard;
pub mod registry;
mod reply;
mod runs;

use axum::Router;
use axum::middleware;
use evalkit_engine::Engine;
use evalkit_store::Store;
use tokio::sync::watch;
use utoipa::OpenApi as _;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::session::Sessions;
use events::Streams;

/// What handlers need.
#[derive(Clone)]
pub struct ApiState {
    store: Store,
    engine: Engine,
    sessions: Sessions,
    streams: Streams,
    stopping: watch::Receiver<bool>,
}

impl ApiState {
    /// `stopping` turns true when the server is to end: live streams end then.
    pub fn new(
        store: Store,
        engine: Engine,
        sessions: Sessions,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        Self {
            store,
            engine,
            sessions,
            streams: Streams::default(),
            stopping,
        }
    }
}

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "Evalkit",
        description = "The server's HTTP API. Requests carry `Authorization: Bearer evk_…`. An error is a `Fault` with the status of its code.",
        license(name = "Apache-2.0")
    ),
    components(schemas(evalkit_core::error::Fault)),
    modifiers(&Bearer),
    security(("token" = []))
)]
struct Document;

/// Says how requests are signed in.
struct Bearer;

impl utoipa::Modify for Bearer {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
        let components = document.components.get_or_insert_default();
        components.add_security_scheme(
            "token",
            SecurityScheme::Http(HttpBuilder::new().scheme(HttpAuthScheme::Bearer).build()),
        );
    }
}

fn parts() -> (Router<ApiState>, utoipa::openapi::OpenApi) {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(account::whoami))
        .routes(routes!(account::revoke_token))
        .routes(routes!(agents::list))
        .routes(routes!(agents::put, agents::remove))
        .routes(routes!(agents::check))
        .routes(routes!(datasets::facts))
        .routes(routes!(datasets::sync))
        .routes(routes!(datasets::missing_fixtures))
        .routes(routes!(datasets::put_fixture, downloads::fixture))
        .routes(routes!(downloads::agent_fixture))
        .routes(routes!(runs::begin, runs::list))
        .routes(routes!(runs::show))
        .routes(routes!(events::stream))
        .routes(routes!(runs::cancel))
        .routes(routes!(runs::pause))
        .routes(routes!(runs::resume))
        .routes(routes!(runs::rerun))
        .routes(routes!(runs::results))
        .routes(routes!(downloads::recorded))
        .routes(routes!(downloads::answer))
        .routes(routes!(downloads::trajectory))
        .split_for_parts()
}

/// The OpenAPI document, as `docs/openapi.json` holds it.
pub fn openapi() -> utoipa::openapi::OpenApi {
    parts().1
}

/// The routes, guarded. `identify` goes around it.
///
/// # Panics
/// When a route is not in the registry, or the registry names one that does not exist: a fault of the program, seen at
/// its first start and by every test.
pub fn router(state: ApiState) -> Router {
    let (router, document) = parts();
    registry::assert_complete(&document);
    router
        .route_layer(datasets::limit())
        .route_layer(middleware::from_fn(guard::guard))
        .with_state(state)
}
