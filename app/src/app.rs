//! The root component: session, frame, routes.

use leptos::prelude::*;
use leptos_meta::{Title, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{Lazy, SsrMode, path};

use crate::chunk;
use crate::frame::Frame;
use crate::pages::errors::NotFoundPage;
use crate::session;

/// The whole app. Every route's data decides its status and title, so every route is rendered whole (`SsrMode::Async`).
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let session = session::provide();
    let (is_routing, set_is_routing) = signal(false);
    view! {
        <Title formatter=|title: String| if title.is_empty() { "Evalkit".to_owned() } else { format!("{title} · Evalkit") }/>
        <Router set_is_routing>
            <Frame session is_routing>
                <FlatRoutes fallback=|| view! { <NotFoundPage/> }>
                    <Route path=path!("/") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/sign-in") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/setup/:link") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/settings/tokens") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/kit") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs/:id") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/runs/:id/c/:case") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/agents") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/d/:ds") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                    <Route path=path!("/w/:ws/d/:ds/c/:id") view={Lazy::<chunk::Page>::new()} ssr=SsrMode::Async/>
                </FlatRoutes>
            </Frame>
        </Router>
    }
}

/// The mark on `<html>` that a page answers to script.
#[cfg(feature = "hydrate")]
const HYDRATED: &str = "data-hydrated";

/// Takes over the page that the server rendered, once the code of its page is there, and sets `<html data-hydrated>`: styles
/// and browser tests wait for it. Two frames later every boundary whose data came with the page has been taken over.
#[cfg(feature = "hydrate")]
pub async fn take_over() {
    let Some(body) = document().body() else {
        return;
    };
    let path = window().location().pathname().unwrap_or_default();
    if !chunk::load(&path).await {
        // The page stays as the server sent it: it reads, and its links are links.
        return;
    }
    leptos::mount::hydrate_from_async(body, App).await.forget();
    request_animation_frame(|| {
        request_animation_frame(|| {
            if let Some(root) = document().document_element() {
                let _ = root.set_attribute(HYDRATED, "");
            }
        });
    });
}
