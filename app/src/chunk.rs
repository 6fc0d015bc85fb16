//! Pages in chunks: the browser gets the code of the page it opens, not of all pages (ADR 0024).
//!
//! The browser half is cut along [`CHUNKS`] after compiling. What two chunks share is a file of its own; what all pages
//! need, the frame among it, is in the main module. On the server a page is called directly.

use std::future::Future;

use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos_router::LazyRoute;

use crate::pages::agents::AgentsPage;
use crate::pages::case::CaseRoute;
use crate::pages::dataset::DatasetPage;
use crate::pages::experiment::ExperimentRoute;
use crate::pages::home::HomePage;
use crate::pages::kit::KitPage;
use crate::pages::result::ResultRoute;
use crate::pages::runs::RunsPage;
use crate::pages::setup::SetupPage;
use crate::pages::sign_in::SignInPage;
use crate::pages::tokens::TokensPage;
use crate::pages::workspace::WorkspacePage;

/// The chunks, as the build names them.
pub const CHUNKS: [&str; 4] = ["account", "browse", "result", "run"];

/// The chunk of the page at `path`; none for a page whose code is in the main module.
pub fn chunk_of(path: &str) -> Option<&'static str> {
    match page_of(path) {
        "" => None,
        "case" | "dataset" | "home" | "runs" | "workspace" => Some("browse"),
        page @ ("result" | "run") => Some(page),
        _ => Some("account"),
    }
}

/// The code of a page did not come.
struct NotLoaded;

impl From<SplitLoaderError> for NotLoaded {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

/// The view of a page whose code was loaded. When the code of the next page does not come, the server is asked for the whole
/// document instead.
async fn arrived(view: impl Future<Output = Result<AnyView, NotLoaded>>) -> AnyView {
    // Where the router is going; the address bar follows when the page stands.
    #[cfg(feature = "hydrate")]
    let to = {
        let location = leptos_router::hooks::use_location();
        untrack(|| {
            let hash = location.hash.get();
            format!(
                "{}{}{hash}",
                location.pathname.get(),
                search(&location.search.get())
            )
        })
    };
    match view.await {
        Ok(view) => view,
        Err(NotLoaded) => {
            #[cfg(feature = "hydrate")]
            let _ = window().location().set_href(&to);
            std::future::pending().await
        }
    }
}

#[cfg(feature = "hydrate")]
fn search(query: &str) -> String {
    match query.trim_start_matches('?') {
        "" => String::new(),
        query => format!("?{query}"),
    }
}

/// Loads the code of the page at `path`; false when it does not come.
#[cfg(feature = "hydrate")]
pub(crate) async fn load(path: &str) -> bool {
    let loaded = match chunk_of(path) {
        Some("account") => load_account().await,
        Some("browse") => load_browse().await,
        Some("result") => load_result().await,
        Some("run") => load_run().await,
        _ => return true,
    };
    loaded.is_ok()
}

/// The route of every page: the address says which. One type for all keeps the main module small.
pub struct Page(&'static str);

impl LazyRoute for Page {
    fn data() -> Self {
        let path = leptos_router::hooks::use_location().pathname;
        Self(path.with_untracked(|path| page_of(path)))
    }

    async fn view(Self(page): Self) -> AnyView {
        arrived(async move {
            match page {
                "case" | "dataset" | "home" | "runs" | "workspace" => browse(page).await,
                "result" => result().await,
                "run" => run().await,
                _ => account(page).await,
            }
        })
        .await
    }
}

/// Which page is at `path`, which is that of a route.
fn page_of(path: &str) -> &'static str {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [] => "home",
        ["sign-in"] => "sign-in",
        ["setup", _] => "setup",
        ["settings", "tokens"] => "tokens",
        ["kit"] => "kit",
        ["w", _] => "workspace",
        ["w", _, "agents"] => "agents",
        ["w", _, "d", _] => "dataset",
        ["w", _, "d", _, "c", _] => "case",
        ["w", _, "runs"] => "runs",
        ["w", _, "runs", _] => "run",
        ["w", _, "runs", _, "c", _] => "result",
        _ => "",
    }
}

#[wasm_split(account, fallible, preload(load_account), wasm_split_path = ::leptos::wasm_split)]
fn account(page: &'static str) -> Result<AnyView, NotLoaded> {
    Ok(match page {
        "agents" => view! { <AgentsPage/> }.into_any(),
        "kit" => view! { <KitPage/> }.into_any(),
        "setup" => view! { <SetupPage/> }.into_any(),
        "tokens" => view! { <TokensPage/> }.into_any(),
        _ => view! { <SignInPage/> }.into_any(),
    })
}

#[wasm_split(browse, fallible, preload(load_browse), wasm_split_path = ::leptos::wasm_split)]
fn browse(page: &'static str) -> Result<AnyView, NotLoaded> {
    Ok(match page {
        "case" => view! { <CaseRoute/> }.into_any(),
        "dataset" => view! { <DatasetPage/> }.into_any(),
        "runs" => view! { <RunsPage/> }.into_any(),
        "workspace" => view! { <WorkspacePage/> }.into_any(),
        _ => view! { <HomePage/> }.into_any(),
    })
}

#[wasm_split(result, fallible, preload(load_result), wasm_split_path = ::leptos::wasm_split)]
fn result() -> Result<AnyView, NotLoaded> {
    Ok(view! { <ResultRoute/> }.into_any())
}

#[wasm_split(run, fallible, preload(load_run), wasm_split_path = ::leptos::wasm_split)]
fn run() -> Result<AnyView, NotLoaded> {
    Ok(view! { <ExperimentRoute/> }.into_any())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_name_their_chunk() {
        for (path, chunk) in [
            ("/", Some("browse")),
            ("/w/demo", Some("browse")),
            ("/w/demo/", Some("browse")),
            ("/sign-in", Some("account")),
            ("/setup/x", Some("account")),
            ("/settings/tokens", Some("account")),
            ("/kit", Some("account")),
            ("/w/demo/agents", Some("account")),
            ("/w/demo/d/world", Some("browse")),
            ("/w/demo/d/world/c/one", Some("browse")),
            ("/w/demo/runs", Some("browse")),
            ("/w/demo/runs/7", Some("run")),
            ("/w/demo/runs/7/c/one", Some("result")),
            ("/nowhere", None),
            ("/w/demo/d", None),
        ] {
            assert_eq!(chunk_of(path), chunk, "{path}");
            assert!(chunk.is_none_or(|chunk| CHUNKS.contains(&chunk)), "{path}");
        }
    }
}
