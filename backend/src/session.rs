//! Who calls: every request gets an id, a caller and a time ([`Ctx`] in its extensions), and a request that changes something
//! and carries a cookie must come from this site (`reliability.md`, D4).

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{
    AUTHORIZATION, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN, SET_COOKIE,
};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use evalkit_app::server::SessionCookie;
use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Actor;
use evalkit_store::{Ctx, Store, StoreError};

/// What the layer needs.
#[derive(Debug, Clone)]
pub struct Sessions {
    /// The store.
    pub store: Store,
    /// How the cookie is written.
    pub cookie: SessionCookie,
    /// Origins that a browser's request may come from.
    pub origins: Arc<[String]>,
    /// The person that visitors of a demo are signed in as.
    pub demo_person: Option<Arc<str>>,
}

impl Sessions {
    /// Who a request's token or cookie belongs to; nobody without either.
    ///
    /// # Errors
    /// `S-SIGN-IN` for a token that does not work; when the database fails.
    pub async fn actor(&self, headers: &HeaderMap) -> Result<Actor, StoreError> {
        if let Some(token) = bearer(headers) {
            return match self.store.actor_by_token(&token).await? {
                Actor::Anonymous => Err(StoreError::from(Fault::new(
                    Code::SignIn,
                    "This token is unknown, has ended or was revoked.",
                    "Make a new one under your account, Access tokens, and sign in again with `evalkit login --token-stdin`.",
                ))),
                actor => Ok(actor),
            };
        }
        match self.cookie.read(headers) {
            Some(secret) => self.store.actor_by_session(secret).await,
            None => Ok(Actor::Anonymous),
        }
    }
}

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// A fault as an API answer: its status and its JSON.
pub fn fault_response(mut fault: Fault, request_id: &str) -> Response {
    fault.request_id = Some(request_id.to_owned());
    let status =
        StatusCode::from_u16(fault.code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(fault)).into_response()
}

/// Puts a [`Ctx`] into the request's extensions; refuses writes that come from elsewhere.
pub async fn identify(
    State(sessions): State<Sessions>,
    mut request: Request,
    next: Next,
) -> Response {
    let request_id = uuid::Uuid::now_v7().simple().to_string().split_off(20);
    let ip = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or_else(String::new, |ConnectInfo(address)| address.ip().to_string());
    let from_elsewhere = bearer(request.headers()).is_none()
        && !is_same_site(request.method(), request.headers(), &sessions.origins);
    let actor = sessions.actor(request.headers()).await;
    let mut response = match actor {
        Err(error) => fault_response(error.into(), &request_id),
        Ok(_) if from_elsewhere => fault_response(
            Fault::new(
                Code::CrossSite,
                "This change was asked for by another site.",
                "Open Evalkit itself and do it there.",
            ),
            &request_id,
        ),
        Ok(actor) => {
            let ctx = sessions.store.ctx(actor, request_id.as_str(), ip);
            request.extensions_mut().insert(ctx);
            next.run(request).await
        }
    };
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

fn bearer(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then(|| token.trim().to_owned())
}

/// Whether a request names this server by its own address. Another name that leads here may be that of a hostile page, whose
/// visitor must not become the demo person (DNS rebinding).
fn is_own_host(headers: &HeaderMap, origins: &[String]) -> bool {
    let Some(host) = headers.get(HOST).and_then(|host| host.to_str().ok()) else {
        return false;
    };
    origins
        .iter()
        .filter_map(|origin| origin.split_once("://"))
        .any(|(_, own)| own.trim_end_matches('/').eq_ignore_ascii_case(host))
}

/// Reading is free. A change must be asked for by a page of this site: `Sec-Fetch-Site` says so, or else `Origin`.
fn is_same_site(method: &Method, headers: &HeaderMap, origins: &[String]) -> bool {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return true;
    }
    if let Some(site) = headers.get("sec-fetch-site") {
        return site == "same-origin" || site == "none";
    }
    match headers.get(ORIGIN).and_then(|origin| origin.to_str().ok()) {
        Some(origin) => origins.iter().any(|known| known == origin),
        None => false,
    }
}

/// Pages that nobody has to sign in for.
/// The component sheet.
const SHEET: &str = "/kit";

fn is_open(path: &str) -> bool {
    path == "/sign-in" || path == SHEET || path.starts_with("/setup/")
}

/// In front of pages: loads the session for the frame; who is not signed in goes to the sign-in page, or, in a demo, becomes
/// the demo person.
pub async fn welcome(
    State(sessions): State<Sessions>,
    mut request: Request,
    next: Next,
) -> Response {
    let Some(mut ctx) = request.extensions().get::<Ctx>().cloned() else {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    // Server functions answer for themselves.
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if !reads || request.uri().path().starts_with("/fn/") {
        return next.run(request).await;
    }
    let mut cookie = None;
    if ctx.actor == Actor::Anonymous {
        let path = request.uri().path();
        let open = is_open(path);
        // The component sheet is open to everyone, and yet a visitor of the demo is a demo person there as well.
        let begins = !open || path == SHEET;
        let here = is_own_host(request.headers(), &sessions.origins);
        if let Some(name) = sessions.demo_person.as_ref().filter(|_| begins && here) {
            match begin_demo(&sessions, &ctx, name).await {
                Ok((actor, header)) => {
                    ctx.actor = actor;
                    cookie = header;
                    request.extensions_mut().insert(ctx.clone());
                }
                Err(error) => tracing::warn!(%error, "the demo person could not be signed in"),
            }
        }
        if ctx.actor == Actor::Anonymous && !open {
            let here = request.uri().path_and_query().map_or("/", |it| it.as_str());
            let to = if here == "/" {
                "/sign-in".to_owned()
            } else {
                format!("/sign-in?return_to={}", escape(here))
            };
            return Redirect::to(&to).into_response();
        }
    }
    let mut response = match sessions.store.session(&ctx).await {
        Ok(session) => {
            request.extensions_mut().insert(session);
            next.run(request).await
        }
        Err(error) => {
            tracing::error!(request_id = %ctx.request_id, %error, "a session could not be read");
            fault_response(error.into(), &ctx.request_id)
        }
    };
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

async fn begin_demo(
    sessions: &Sessions,
    ctx: &Ctx,
    name: &str,
) -> Result<(Actor, Option<HeaderValue>), StoreError> {
    let signed_in = sessions.store.sign_in_as_demo(ctx, name).await?;
    let actor = sessions.store.actor_by_session(&signed_in.secret).await?;
    Ok((actor, sessions.cookie.begin(&signed_in.secret)))
}

/// Percent-encodes all but the plainest characters.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asks(method: &Method, pairs: &[(&'static str, &'static str)]) -> bool {
        let mut headers = HeaderMap::new();
        for (key, value) in pairs {
            headers.insert(
                HeaderName::from_static(key),
                HeaderValue::from_static(value),
            );
        }
        is_same_site(method, &headers, &["https://evals.example".to_owned()])
    }

    #[test]
    fn changes_come_from_this_site() {
        assert!(asks(&Method::GET, &[("sec-fetch-site", "cross-site")]));
        assert!(asks(&Method::POST, &[("sec-fetch-site", "same-origin")]));
        assert!(asks(&Method::POST, &[("sec-fetch-site", "none")]));
        assert!(!asks(&Method::POST, &[("sec-fetch-site", "same-site")]));
        assert!(!asks(
            &Method::POST,
            &[
                ("sec-fetch-site", "cross-site"),
                ("origin", "https://evals.example")
            ]
        ));
        assert!(asks(&Method::POST, &[("origin", "https://evals.example")]));
        assert!(!asks(&Method::POST, &[("origin", "https://evil.example")]));
        assert!(!asks(&Method::POST, &[("origin", "null")]));
        assert!(!asks(&Method::DELETE, &[]));
    }

    #[test]
    fn a_demo_knows_its_own_names() {
        let origins = [
            "http://127.0.0.1:3000".to_owned(),
            "http://localhost:3000".to_owned(),
        ];
        let own = |host: Option<&'static str>| {
            let host = host.map(|host| (HOST, HeaderValue::from_static(host)));
            is_own_host(&host.into_iter().collect(), &origins)
        };
        assert!(own(Some("127.0.0.1:3000")));
        assert!(own(Some("LOCALHOST:3000")));
        for foreign in [
            "evil.example:3000",
            "127.0.0.1",
            "127.0.0.1:3001",
            "localhost:3000.evil.example",
            "",
        ] {
            assert!(!own(Some(foreign)), "{foreign}");
        }
        assert!(!own(None));
    }

    #[test]
    fn addresses_to_return_to_are_escaped() {
        assert_eq!(escape("/w/a?q=b&c=d#x"), "/w/a%3Fq%3Db%26c%3Dd%23x");
    }
}
