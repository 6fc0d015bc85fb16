//! Case (`web.md`): the contract, a document with a margin. What the case demands reads down the page; what agents did stands
//! beside each sentence.

#[cfg(feature = "ssr")]
mod checks;
#[cfg(feature = "ssr")]
mod columns;
#[cfg(feature = "ssr")]
mod contract;
#[cfg(feature = "ssr")]
mod drawn;
#[cfg(feature = "ssr")]
mod entries;
#[cfg(feature = "ssr")]
mod history;
#[cfg(feature = "ssr")]
mod question;

use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::{use_params_map, use_query_map};
use serde::{Deserialize, Serialize};

use crate::load::{Answer, Parts, page, resource};
use crate::pages::run_form::RunForm;
use crate::ui::{Icon, StillPart, Tag};

/// What the browser needs of the page beside the drawn document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseHead {
    workspace: String,
    dataset: String,
    id: String,
    version: u32,
    /// How many there are.
    versions: usize,
    archived: bool,
    tags: Vec<String>,
    may_run: bool,
    runnable_agents: Vec<String>,
}

#[cfg(feature = "ssr")]
impl From<&evalkit_core::view::case::Case> for CaseHead {
    fn from(case: &evalkit_core::view::case::Case) -> Self {
        Self {
            workspace: case.workspace.clone(),
            dataset: case.dataset.clone(),
            id: case.case.id.clone(),
            version: case.version,
            versions: case.versions.len(),
            archived: case.archived,
            tags: case.case.tags.clone(),
            may_run: case.may_run,
            runnable_agents: case.runnable_agents.clone(),
        }
    }
}

/// A case at a version, the newest when none is named.
///
/// # Errors
/// `S-NOT-FOUND` when it is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "case-page", input = Json)]
pub async fn case_page(
    /// The workspace.
    workspace: String,
    /// The dataset.
    dataset: String,
    /// The case.
    case_id: String,
    /// From 1.
    version: Option<u32>,
) -> Answer<CaseHead> {
    crate::server::drawn(
        |store, ctx| async move {
            store
                .case_page(&ctx, &workspace, &dataset, &case_id, version)
                .await
        },
        |now, case| {
            let head = CaseHead::from(&case);
            let document = crate::ui::draw(now, move || view! { <drawn::Document case/> });
            (head, vec![document])
        },
    )
    .await
}

/// The route.
#[component]
pub fn CaseRoute() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let key = Memo::new(move |_| {
        let params = params.read();
        (
            params.get("ws").unwrap_or_default(),
            params.get("ds").unwrap_or_default(),
            params.get("id").unwrap_or_default(),
            query
                .read()
                .get("v")
                .and_then(|version| version.parse::<u32>().ok()),
        )
    });
    let data = resource(
        move || key.get(),
        move |(workspace, dataset, case_id, version)| CasePage {
            workspace,
            dataset,
            case_id,
            version,
        },
    );
    page(
        data,
        "Loading the case",
        move |head, parts| view! { <CaseView head parts/> },
    )
}

/// The page, once its data is there.
#[component]
pub fn CaseView(
    /// Its head.
    head: CaseHead,
    /// The document.
    parts: Parts,
) -> impl IntoView {
    view! {
        <Title text=head.id.clone()/>
        <div class="wrap pb-24">
            <Head case=head/>
            <StillPart part=parts.part(0)/>
        </div>
    }
}

#[component]
fn Head(case: CaseHead) -> impl IntoView {
    let dataset = format!("/w/{}/d/{}", case.workspace, case.dataset);
    let tags = case.tags.clone();
    let versions = case.versions;
    let case_id = case.id.clone();
    let can_run = case.may_run && !case.archived;
    view! {
        <div class="pt-5 flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
            <nav aria-label="Breadcrumb" class="text-ink-3 min-w-0 break-words">
                <a class="quiet" href=format!("/w/{}", case.workspace)>{case.workspace.clone()}</a>
                " / "
                <a class="quiet" href=dataset.clone()>{case.dataset.clone()}</a>
                " / "
                <span class="id text-ink">{case.id}</span>
            </nav>
            <span class="chip">"v" {case.version}</span>
            {case.archived.then(|| view! { <span class="chip">"archived"</span> })}
            {(!tags.is_empty())
                .then(|| {
                    view! {
                        <span class="flex flex-wrap gap-1.5">
                            {tags
                                .into_iter()
                                .map(|tag| {
                                    let href = format!("{dataset}?tag={}", crate::pages::escape(&tag));
                                    view! { <a class="quiet" href=href><Tag name=tag/></a> }
                                })
                                .collect_view()}
                        </span>
                    }
                })}
            <span class="ml-auto flex flex-wrap items-center gap-1">
                <a class="btn plain sm" href="#versions"><Icon name="clock"/>"Versions " <span class="text-ink-3">{versions}</span></a>
                {can_run
                    .then(|| {
                        view! {
                            <RunForm
                                workspace=case.workspace.clone()
                                dataset=case.dataset.clone()
                                agents=case.runnable_agents.clone()
                                case_id=Some(case_id)
                                cases=1
                            />
                        }
                    })}
                {(!case.may_run).then(|| view! { <span class="meta">"Someone with the author role can run it."</span> })}
            </span>
        </div>
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests;
