//! Runs: the experiments of a workspace, newest first, on one shared axis.

#[cfg(feature = "ssr")]
mod drawn;

use evalkit_core::view::runs::RunsQuery;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_router::hooks::{use_params_map, use_query_map};

use crate::load::{self, Answer};

/// The page, drawn, with its title.
///
/// # Errors
/// `S-NOT-FOUND` when the workspace is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "runs-page", input = Json)]
pub async fn runs_page(
    /// The workspace.
    workspace: String,
    /// What the address asks for.
    query: RunsQuery,
) -> Answer<String> {
    use evalkit_core::view::runs::Runs;
    let asked = query.clone();
    crate::server::drawn(
        |store, ctx| async move { store.runs_page(&ctx, &workspace, &query).await },
        |now, runs: Runs| {
            let title = format!("Runs in {}", runs.workspace);
            let page = crate::ui::draw(now, move || view! { <drawn::Whole runs query=asked/> });
            (title, vec![page])
        },
    )
    .await
}

/// The page.
#[component]
pub fn RunsPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let key = Memo::new(move |_| {
        let query = query.read();
        let filled = |key: &str| query.get(key).filter(|value| !value.is_empty());
        let wanted = RunsQuery {
            dataset: filled("dataset"),
            agent: filled("agent"),
            page: filled("page")
                .and_then(|page| page.parse().ok())
                .unwrap_or(1)
                .max(1),
        };
        (params.read().get("ws").unwrap_or_default(), wanted)
    });
    let page = load::resource(
        move || key.get(),
        |(workspace, query)| RunsPage { workspace, query },
    );
    load::still_page(page, "Loading runs")
}
