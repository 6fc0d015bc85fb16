//! The HTML document around the app, written by the server alone.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::nonce::use_nonce;
use leptos::prelude::*;
use leptos_meta::MetaTags;

use crate::App;
use crate::chunk::chunk_of;
use crate::theme;

/// The addresses of hashed files, from the site's `manifest.json`. Provided by context.
#[derive(Debug, Clone, Default)]
pub struct Assets(Arc<Site>);

#[derive(Debug, Default)]
struct Site {
    files: BTreeMap<String, String>,
    chunks: BTreeMap<String, Vec<String>>,
}

impl Assets {
    /// From logical name to address, and from a chunk of pages to the addresses of its modules.
    pub fn new(files: BTreeMap<String, String>, chunks: BTreeMap<String, Vec<String>>) -> Self {
        Self(Arc::new(Site { files, chunks }))
    }

    /// The address of a file; absent when it was not built.
    pub fn url(&self, name: &str) -> Option<String> {
        self.0.files.get(name).cloned()
    }

    /// The modules that the page at `path` needs beside the main one.
    pub fn modules(&self, path: &str) -> Vec<String> {
        chunk_of(path)
            .and_then(|chunk| self.0.chunks.get(chunk))
            .cloned()
            .unwrap_or_default()
    }
}

/// The document. The policy's nonce is the one that Leptos gives to its own scripts.
pub fn shell() -> impl IntoView {
    let assets = use_context::<Assets>().unwrap_or_default();
    let nonce = use_nonce();
    let parts = use_context::<http::request::Parts>();
    // The code of this very page, fetched beside the main module and not after it.
    let modules = parts
        .as_ref()
        .map(|parts| assets.modules(parts.uri.path()))
        .unwrap_or_default();
    let theme = parts.and_then(|parts| {
        parts
            .headers
            .get(http::header::COOKIE)
            .and_then(|header| header.to_str().ok())
            .and_then(theme::from_cookies)
    });
    if let (Some(response), Some(nonce)) = (use_context::<leptos_axum::ResponseOptions>(), &nonce)
        && let Ok(policy) = policy(nonce).parse()
    {
        response.insert_header(http::header::CONTENT_SECURITY_POLICY, policy);
    }
    let fonts = ["fonts/sans.woff2", "fonts/serif.woff2", "fonts/mono.woff2"];
    let start = assets.url("app.js").zip(assets.url("app.wasm"));
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=theme>
            <head>
                <meta charset="utf-8"/>
                <meta name="viewport" content="width=device-width, initial-scale=1"/>
                <meta name="robots" content="noindex"/>
                <link rel="icon" href="/favicon.svg" type="image/svg+xml"/>
                {fonts
                    .into_iter()
                    .filter_map(|name| assets.url(name))
                    .map(|href| view! { <link rel="preload" href=href r#as="font" r#type="font/woff2" crossorigin="anonymous"/> })
                    .collect_view()}
                {assets.url("app.css").map(|href| view! { <link rel="stylesheet" href=href/> })}
                {start
                    .map(|(js, wasm)| {
                        let script = format!(
                            "import init,{{hydrate}} from {js:?};await init({{module_or_path:{wasm:?}}});await hydrate();",
                        );
                        view! {
                            <link rel="modulepreload" href=js nonce=nonce.clone()/>
                            <link rel="preload" href=wasm r#as="fetch" r#type="application/wasm" crossorigin="anonymous"/>
                            {modules
                                .into_iter()
                                .map(|href| view! { <link rel="preload" href=href r#as="fetch" r#type="application/wasm" crossorigin="anonymous"/> })
                                .collect_view()}
                            <script type="module" nonce=nonce.clone() inner_html=script></script>
                        }
                    })}
                <MetaTags/>
            </head>
            <body>
                <App/>
                // After the app, so that hydration, which walks the body from its start, does not meet it.
                <svg width="0" height="0" class="absolute" aria-hidden="true" inner_html=include_str!("ui/sprite.svg")></svg>
            </body>
        </html>
    }
}

/// The Content-Security-Policy of a page (`reliability.md`, D8).
fn policy(nonce: &str) -> String {
    format!(
        "default-src 'none'; script-src 'nonce-{nonce}' 'strict-dynamic' 'wasm-unsafe-eval'; style-src 'self' 'nonce-{nonce}'; \
         img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'; object-src 'none'; worker-src 'self'; manifest-src 'self'"
    )
}
