//! Mounts the app: pages, server functions, site files, and the headers that every answer carries (`reliability.md`, D8).

use axum::Router;
use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::request::Parts;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use evalkit_app::App;
use evalkit_app::server::State;
use evalkit_app::shell::shell;
use evalkit_core::error::{Code, Fault};
use evalkit_core::view::session::Session;
use evalkit_store::Ctx;
use leptos::config::LeptosOptions;
use leptos::prelude::{provide_context, use_context};
use leptos_axum::LeptosRoutes as _;

use crate::session::{Sessions, fault_response, welcome};
use crate::site::Site;

/// Pages and server functions; what no route knows is a page that says so.
pub fn router(state: State, sessions: Sessions, site: &Site) -> Router {
    let options = LeptosOptions::builder().output_name("evalkit").build();
    let routes = leptos_axum::generate_route_list(App);
    let assets = site.assets();
    // One closure for pages, server functions and the fallback.
    let context = move || {
        provide_context(state.clone());
        provide_context(assets.clone());
        if let Some(session) =
            use_context::<Parts>().and_then(|parts| parts.extensions.get::<Session>().cloned())
        {
            provide_context(session);
        }
    };
    let nothing = leptos_axum::render_app_async_with_context(context.clone(), shell);
    let pages = Router::new()
        .leptos_routes_with_context(&options, routes, context, shell)
        .fallback(move |request: Request| {
            let nothing = nothing.clone();
            async move { nowhere(request, nothing).await }
        })
        .layer(middleware::from_fn_with_state(sessions, welcome))
        .with_state(options);
    let site = site.clone();
    pages.layer(middleware::from_fn(move |request: Request, next: Next| {
        let site = site.clone();
        async move {
            match site.answer(request.uri().path(), request.headers()) {
                Some(file) if request.method().is_safe() => file,
                _ => next.run(request).await,
            }
        }
    }))
}

/// A person gets the page; a program gets the fault.
async fn nowhere<F, R>(request: Request, page: F) -> Response
where
    F: Fn(Request) -> R,
    R: Future<Output = Response>,
{
    let path = request.uri().path();
    let for_programs =
        path.starts_with("/api/") || path.starts_with("/fn/") || path.starts_with("/assets/");
    if request.method().is_safe() && !for_programs {
        return page(request).await;
    }
    let id = request
        .extensions()
        .get::<Ctx>()
        .map(|ctx| ctx.request_id.clone())
        .unwrap_or_default();
    fault_response(Fault::not_found(), &id)
}

/// Headers for every answer. A page has set its own policy, with its nonce; anything else may do nothing at all.
pub async fn headers(https: bool, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "same-origin"),
        (
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ),
        (
            HeaderName::from_static("permissions-policy"),
            "camera=(), microphone=(), geolocation=(), payment=()",
        ),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if https {
        headers.insert(
            STRICT_TRANSPORT_SECURITY,
            HeaderValue::from_static("max-age=31536000"),
        );
    }
    headers
        .entry(CONTENT_SECURITY_POLICY)
        .or_insert(HeaderValue::from_static(
            "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        ));
    headers
        .entry(CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    response
}

/// A panic became an answer: the log has it under the request's id.
pub fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    let fault = Fault::new(
        Code::Internal,
        "This failed on our side.",
        "Load the page again; the server's log has the cause.",
    );
    let status = axum::http::StatusCode::INTERNAL_SERVER_ERROR;
    (status, axum::Json(fault)).into_response()
}
