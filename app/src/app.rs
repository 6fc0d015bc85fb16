//! The root component: session, frame, routes.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

use crate::frame::Frame;
use crate::pages::agents::AgentsPage;
use crate::pages::case::CaseRoute;
use crate::pages::dataset::DatasetPage;
use crate::pages::errors::NotFoundPage;
use crate::pages::experiment::ExperimentRoute;
use crate::pages::home::HomePage;
use crate::pages::kit::KitPage;
use crate::pages::result::ResultRoute;
use crate::pages::runs::RunsPage;
use crate::pages::setup::SetupPage;
use crate::pages::sign_in::SignInPage;
use crate::pages::tokens::TokensPage;
use crate::pages::workspace::WorkspacePage;
use crate::session;

/// The whole app. Every route's data decides its status and title, so every route is rendered whole (`SsrMode::Async`).
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let session = session::provide();
    let (is_routing, set_is_routing) = signal(false);
    mark_hydrated();
    view! {
        <Title formatter=|title: String| if title.is_empty() { "Evalkit".to_owned() } else { format!("{title} · Evalkit") }/>
        <Router set_is_routing>
            <Frame session is_routing>
                <FlatRoutes fallback=|| view! { <NotFoundPage/> }>
                    <Route path=path!("/") view=HomePage ssr=SsrMode::Async/>
                    <Route path=path!("/sign-in") view=SignInPage ssr=SsrMode::Async/>
                    <Route path=path!("/setup/:link") view=SetupPage ssr=SsrMode::Async/>
                    <Route path=path!("/settings/tokens") view=TokensPage ssr=SsrMode::Async/>
                    <Route path=path!("/kit") view=KitPage ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws") view=WorkspacePage ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs") view=RunsPage ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs/:id") view=ExperimentRoute ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs/:id/c/:case") view=ResultRoute ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/agents") view=AgentsPage ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/d/:ds") view=DatasetPage ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/d/:ds/c/:id") view=CaseRoute ssr=SsrMode::Async/>
                </FlatRoutes>
            </Frame>
        </Router>
    }
}

/// Sets `<html data-hydrated>` once the page answers to script: styles and browser tests wait for it. Two frames later every
/// boundary whose data came with the page has been taken over.
fn mark_hydrated() {
    #[cfg(feature = "hydrate")]
    Effect::new(|_| {
        request_animation_frame(|| {
            request_animation_frame(|| {
                if let Some(root) = document().document_element() {
                    let _ = root.set_attribute("data-hydrated", "");
                }
            });
        });
    });
}
