//! How the browser asks the server: one function for every server function, by the address and the plain text that each has.
//!
//! The client that `#[server]` makes for each function is not used, so it does not reach the browser (ADR 0024). On the
//! server a page's function is called directly.

use std::future::Future;
use std::pin::Pin;

use leptos::server_fn::ServerFn;
use serde::Serialize;

use crate::failure::Failure;
use crate::load::{Answer, Loaded};

/// An answer on its way.
pub type Asked<T> = Pin<Box<dyn Future<Output = Answer<T>> + Send>>;

/// Asks for a page's data. Answers what the server function answers; `S-BUSY` when no answer comes.
pub fn page<S, T>(input: S) -> Asked<T>
where
    S: ServerFn<Output = Loaded<T>, Error = Failure> + Serialize + 'static,
    T: 'static,
{
    #[cfg(feature = "ssr")]
    let answer = input.run_body();
    // A browser has one thread, and its promises stay on it.
    #[cfg(feature = "hydrate")]
    let answer = send_wrapper::SendWrapper::new(async move {
        let body = serde_json::to_string(&input).map_err(|_| Failure::internal())?;
        let answer = browser::post(S::url(), "application/json", &body).await?;
        serde_json::from_str(&answer.text).map_err(|_| Failure::other_version())
    });
    #[cfg(not(any(feature = "ssr", feature = "hydrate")))]
    let answer = {
        drop(input);
        std::future::ready(Err(Failure::internal()))
    };
    Box::pin(answer)
}

#[cfg(feature = "hydrate")]
pub(crate) mod browser {
    use leptos::prelude::window;
    use wasm_bindgen::{JsCast, JsValue};
    use wasm_bindgen_futures::JsFuture;

    use crate::failure::Failure;

    /// What came back.
    pub struct Reply {
        /// The body.
        pub text: String,
        /// Where to go on.
        pub redirect: Option<String>,
    }

    /// Sends `body` and waits for the whole answer.
    pub async fn post(url: &str, kind: &str, body: &str) -> Result<Reply, Failure> {
        let (status, reply) = sent(url, kind, body).await.map_err(|_| Failure::away())?;
        if (200..400).contains(&status) {
            return Ok(reply);
        }
        Err(serde_json::from_str(&reply.text).unwrap_or_else(|_| Failure::away()))
    }

    async fn sent(url: &str, kind: &str, body: &str) -> Result<(u16, Reply), JsValue> {
        let headers = web_sys::Headers::new()?;
        headers.set("Content-Type", kind)?;
        headers.set("Accept", "application/json")?;
        let init = web_sys::RequestInit::new();
        init.set_method("POST");
        init.set_headers(&headers);
        init.set_body(&JsValue::from_str(body));
        let response: web_sys::Response =
            JsFuture::from(window().fetch_with_str_and_init(url, &init))
                .await?
                .dyn_into()?;
        let text = JsFuture::from(response.text()?).await?;
        let headers = response.headers();
        let redirect = if headers.has(leptos::server_fn::redirect::REDIRECT_HEADER)? {
            headers.get("location")?
        } else {
            None
        };
        let reply = Reply {
            text: text.as_string().unwrap_or_default(),
            redirect,
        };
        Ok((response.status(), reply))
    }
}
