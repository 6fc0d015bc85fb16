//! Workspace: its datasets with colours per agent, scores over time, members, what happened lately.

#[cfg(feature = "ssr")]
mod drawn;

use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_router::hooks::use_params_map;

use crate::load::{self, Answer};

/// The page, drawn, with its title.
///
/// # Errors
/// `S-NOT-FOUND` when it is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "workspace-page", input = Json)]
pub async fn workspace_page(
    /// Which.
    workspace: String,
) -> Answer<String> {
    use evalkit_core::view::workspace::Workspace;
    crate::server::drawn(
        |store, ctx| async move { store.workspace_page(&ctx, &workspace).await },
        |now, workspace: Workspace| {
            let title = workspace.name.clone();
            let page = crate::ui::draw(now, move || view! { <drawn::Whole workspace/> });
            (title, vec![page])
        },
    )
    .await
}

/// The page.
#[component]
pub fn WorkspacePage() -> impl IntoView {
    let params = use_params_map();
    let page = load::resource(
        move || params.read().get("ws").unwrap_or_default(),
        |workspace| WorkspacePage { workspace },
    );
    load::still_page(page, "Loading the workspace")
}
