//! How a server function reaches the store: state by context, the caller from the request, writes that outlive a dropped
//! connection, faults with their status and request id. A server function's body is one call of [`read`] or [`write`].

use std::future::Future;

use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Actor;
use evalkit_core::view::session::NewToken;
use evalkit_engine::Engine;
use evalkit_store::{Ctx, Store, StoreError};
use http::header::{ACCEPT, COOKIE, HeaderMap, HeaderValue, SET_COOKIE};
use http::request::Parts;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::Serialize;

use crate::failure::Failure;
use crate::load::{Answer, Loaded};

/// What server functions need of the server; provided by context to every page and server function.
#[derive(Clone)]
pub struct State {
    /// The store.
    pub store: Store,
    /// The engine.
    pub engine: Engine,
    /// How the session cookie is written.
    pub cookie: SessionCookie,
    /// Tokens that a form without script has just made.
    pub made_tokens: MadeTokens,
}

/// Tokens made by a form without script, kept in memory for the one page that shows them: at most a minute, one a person.
#[derive(Debug, Clone, Default)]
pub struct MadeTokens(
    std::sync::Arc<std::sync::Mutex<std::collections::HashMap<String, (i64, NewToken)>>>,
);

impl MadeTokens {
    const KEPT: i64 = 60_000_000;

    fn keep(&self, person: String, now: i64, token: NewToken) {
        if let Ok(mut kept) = self.0.lock() {
            kept.retain(|_, (at, _)| now - *at < Self::KEPT);
            kept.insert(person, (now, token));
        }
    }

    fn take(&self, person: &str, now: i64) -> Option<NewToken> {
        let (at, token) = self.0.lock().ok()?.remove(person)?;
        (now - at < Self::KEPT).then_some(token)
    }
}

fn person_of(ctx: &Ctx) -> String {
    match &ctx.actor {
        Actor::Person { user_id, .. } => user_id.clone(),
        Actor::Anonymous | Actor::System => String::new(),
    }
}

/// Keeps a token for the page that the form leads to.
///
/// # Errors
/// `S-INTERNAL` outside of a request.
pub fn keep_made_token(token: NewToken) -> Result<(), Failure> {
    let (state, ctx) = (state()?, ctx()?);
    state.made_tokens.keep(person_of(&ctx), ctx.now, token);
    Ok(())
}

/// The token that the caller's form has just made; only once.
///
/// # Errors
/// `S-INTERNAL` outside of a request.
pub fn take_made_token() -> Result<Option<NewToken>, Failure> {
    let (state, ctx) = (state()?, ctx()?);
    Ok(state.made_tokens.take(&person_of(&ctx), ctx.now))
}

/// The session cookie (`review.md`, Sign-in): HttpOnly, SameSite=Lax; `__Host-` and Secure when `public_url` is https.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionCookie {
    /// `public_url` is https.
    pub secure: bool,
}

impl SessionCookie {
    /// Its name.
    pub const fn name(self) -> &'static str {
        if self.secure {
            "__Host-evalkit"
        } else {
            "evalkit_session"
        }
    }

    /// The secret that a request carries.
    pub fn read(self, headers: &HeaderMap) -> Option<&str> {
        headers
            .get_all(COOKIE)
            .iter()
            .filter_map(|header| header.to_str().ok())
            .flat_map(|header| header.split(';'))
            .find_map(|pair| {
                pair.trim()
                    .split_once('=')
                    .filter(|(name, _)| *name == self.name())
                    .map(|(_, value)| value)
            })
    }

    /// Begins a session in the browser; `None` when the secret is no header value, which ours always is.
    pub fn begin(self, secret: &str) -> Option<HeaderValue> {
        self.header(secret, evalkit_store::COOKIE_SECONDS)
    }

    /// Ends it.
    pub fn end(self) -> Option<HeaderValue> {
        self.header("", 0)
    }

    fn header(self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let secure = if self.secure { "; Secure" } else { "" };
        let text = format!(
            "{}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}",
            self.name()
        );
        let mut header = HeaderValue::from_str(&text).ok()?;
        header.set_sensitive(true);
        Some(header)
    }
}

/// The state of this server.
///
/// # Errors
/// `S-INTERNAL` outside of a request.
pub fn state() -> Result<State, Failure> {
    use_context::<State>().ok_or_else(|| Failure(outside()))
}

/// Who calls, under which request, and when: made by the session layer, once a request.
///
/// # Errors
/// `S-INTERNAL` outside of a request.
pub fn ctx() -> Result<Ctx, Failure> {
    use_context::<Parts>()
        .and_then(|parts| parts.extensions.get::<Ctx>().cloned())
        .ok_or_else(|| Failure(outside()))
}

fn outside() -> Fault {
    Fault::new(
        Code::Internal,
        "This was asked outside of a request.",
        "Load the page again.",
    )
}

/// Answers a page: one call of the store, with the clock of the request.
///
/// # Errors
/// What the call answers, with its status and the request's id.
pub async fn read<T: Serialize, F>(ask: impl FnOnce(Store, Ctx) -> F) -> Answer<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    drawn(ask, |_, data| (data, Vec::new())).await
}

/// Answers a page of which parts are drawn here: `draw` gets the clock (microseconds) and what the store said, and gives what
/// the browser needs as data and the parts in order.
///
/// # Errors
/// What the call answers, with its status and the request's id.
pub async fn drawn<T, L: Serialize, F>(
    ask: impl FnOnce(Store, Ctx) -> F,
    draw: impl FnOnce(i64, T) -> (L, Vec<String>),
) -> Answer<L>
where
    F: Future<Output = Result<T, StoreError>>,
{
    let (state, ctx) = (state()?, ctx()?);
    match ask(state.store, ctx.clone()).await {
        Ok(data) => {
            let (live, parts) = draw(ctx.now, data);
            Loaded::new(ctx.now, &live, parts)
        }
        Err(error) => Err(fail(&ctx, error)),
    }
}

/// Changes something: the call runs in a task of its own, so that a connection that drops half-way loses nothing.
///
/// # Errors
/// What the call answers, with its status and the request's id.
pub async fn write<T, E, F>(change: impl FnOnce(State, Ctx) -> F) -> Result<T, Failure>
where
    T: Send + 'static,
    E: Into<Fault> + std::fmt::Display + Send + 'static,
    F: Future<Output = Result<T, E>> + Send + 'static,
{
    let (state, ctx) = (state()?, ctx()?);
    match tokio::spawn(change(state, ctx.clone())).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(fail(&ctx, error)),
        Err(error) => {
            tracing::error!(request_id = %ctx.request_id, %error, "a write ended without an answer");
            Err(fault(&ctx, Failure::internal().0))
        }
    }
}

/// An error on its way to a person: logged when it is ours, with the request's id and the response's status.
pub fn fail<E: Into<Fault> + std::fmt::Display>(ctx: &Ctx, error: E) -> Failure {
    let text = error.to_string();
    let it = error.into();
    if it.code == Code::Internal {
        // The text of a database or file error; it never holds an answer, a prompt or a secret.
        tracing::error!(request_id = %ctx.request_id, error = %text, "a request failed");
    }
    fault(ctx, it)
}

fn fault(ctx: &Ctx, mut fault: Fault) -> Failure {
    fault.request_id = Some(ctx.request_id.clone());
    set_status(fault.code);
    Failure(fault)
}

/// The status of a fault. A plain form post is answered with a redirect to its page instead, which then shows the fault.
fn set_status(code: Code) {
    if is_plain_form() {
        return;
    }
    if let (Some(response), Ok(status)) = (
        use_context::<ResponseOptions>(),
        http::StatusCode::from_u16(code.status()),
    ) {
        response.set_status(status);
    }
}

/// Whether this is a form posted without script.
pub fn is_plain_form() -> bool {
    use_context::<Parts>().is_some_and(|parts| {
        parts.method == http::Method::POST
            && parts
                .headers
                .get(ACCEPT)
                .and_then(|accept| accept.to_str().ok())
                .is_some_and(|accept| accept.contains("text/html"))
    })
}

/// Begins a session in the caller's browser.
pub fn begin_session(secret: &str) {
    set_cookie(state().ok().and_then(|state| state.cookie.begin(secret)));
}

/// Ends the session of the caller's browser.
pub fn end_session() {
    set_cookie(state().ok().and_then(|state| state.cookie.end()));
}

fn set_cookie(cookie: Option<HeaderValue>) {
    if let (Some(response), Some(cookie)) = (use_context::<ResponseOptions>(), cookie) {
        response.append_header(SET_COOKIE, cookie);
    }
}

/// The secret of the caller's session.
pub fn session_secret() -> Option<String> {
    let cookie = state().ok()?.cookie;
    use_context::<Parts>().and_then(|parts| cookie.read(&parts.headers).map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_is_found_among_others() {
        let cookie = SessionCookie { secure: false };
        let mut headers = HeaderMap::new();
        headers.append(
            COOKIE,
            HeaderValue::from_static("a=b; evalkit_session=s3cret; c=d"),
        );
        assert_eq!(cookie.read(&headers), Some("s3cret"));
        assert_eq!(SessionCookie { secure: true }.read(&headers), None);
        let begun = SessionCookie { secure: true }
            .begin("abc")
            .expect("plain text");
        assert_eq!(
            begun.to_str().unwrap_or_default(),
            "__Host-evalkit=abc; Path=/; Max-Age=2592000; HttpOnly; SameSite=Lax; Secure"
        );
    }
}
