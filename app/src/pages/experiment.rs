//! Experiment (`web.md`): live progress, scores with intervals, the case grid, failures, and what it was frozen on.

mod control;
mod failures;
mod grid;
mod live;
mod progress;
mod scores;
mod side;

use evalkit_core::experiment::ExperimentState;
use evalkit_core::view::experiment::Experiment;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::load::{Answer, page};
use crate::ui::{Mark, Marked, Time, grouped};
use live::Live;

/// A run as it stands.
///
/// # Errors
/// `S-NOT-FOUND` when it is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "experiment-page", input = Json)]
pub async fn experiment_page(
    /// The workspace.
    workspace: String,
    /// Its number in the workspace.
    run: i64,
) -> Answer<Experiment> {
    crate::server::read(
        |store, ctx| async move { store.experiment_page(&ctx, &workspace, run).await },
    )
    .await
}

/// The route.
#[component]
pub fn ExperimentRoute() -> impl IntoView {
    let params = use_params_map();
    let key = Memo::new(move |_| {
        let params = params.read();
        (
            params.get("ws").unwrap_or_default(),
            params
                .get("id")
                .and_then(|id| id.parse::<i64>().ok())
                .unwrap_or(0),
        )
    });
    let data = Resource::new(
        move || key.get(),
        move |(workspace, run)| experiment_page(workspace, run),
    );
    page(
        data,
        "Loading the run",
        move |experiment| view! { <ExperimentView experiment/> },
    )
}

/// The page, once its data is there. It follows the run in place.
#[component]
pub fn ExperimentView(
    /// Its data.
    experiment: Experiment,
) -> impl IntoView {
    let title = format!("Run {}", experiment.row.run);
    let live = Live::new(experiment);
    live::follow(live);
    view! {
        <Title text=title/>
        <div class="wrap pb-24">
            <Head live/>
            <progress::RunProgress live/>
            <div class="grid gap-x-12 gap-y-10 mt-8 xl:grid-cols-[minmax(0,1fr)_352px]">
                <div class="min-w-0 space-y-11">
                    <scores::Scores live/>
                    <grid::CaseGrid live/>
                    <failures::Failures live/>
                </div>
                <aside class="space-y-9 min-w-0" aria-label="About this run">
                    <side::Exit live/>
                    <side::Errors live/>
                    <side::Distributions live/>
                    <side::FrozenOn live/>
                </aside>
            </div>
        </div>
    }
}

#[component]
fn Head(live: Live) -> impl IntoView {
    let row = live.page.with_untracked(|page| page.row.clone());
    let (workspace, trials) = live
        .page
        .with_untracked(|page| (page.workspace.clone(), page.trials));
    let cases = live.page.with_untracked(|page| page.frozen.cases);
    let mut size = format!(
        "{} {}",
        grouped(cases),
        if cases == 1 { "case" } else { "cases" }
    );
    if trials > 1 {
        size.push_str(&format!(", {trials} trials each"));
    }
    // "dataset", or "dataset: case ids" when only some were chosen; the link goes to the dataset alone.
    let slug = row
        .dataset
        .split([':', ' ', '/'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let state = move || {
        let state = live.state.get();
        let word = match state {
            ExperimentState::Running => "running",
            ExperimentState::Paused => "paused",
            ExperimentState::Finished => "finished",
            ExperimentState::Cancelled => "cancelled",
        };
        view! { <Marked mark=Mark::from(state) text=word/> }
    };
    let finished = move || {
        live.page
            .with(|page| page.row.finished_at)
            .map(|at| view! { ", ended " <Time at/> })
    };
    view! {
        <div class="pt-5 text-sm text-ink-3">
            <nav aria-label="Breadcrumb">
                <a class="quiet" href=format!("/w/{workspace}")>{workspace.clone()}</a>
                " / "
                <a class="quiet" href=format!("/w/{workspace}/runs")>"runs"</a>
            </nav>
        </div>
        <div class="pt-1 flex flex-wrap items-center gap-x-4 gap-y-2">
            <h1 class="text-title font-semibold">"Run " {row.run}</h1>
            {state}
            <span class="meta min-w-0 break-words">
                <a class="id" href=format!("/w/{workspace}/d/{slug}")>{row.dataset.clone()}</a>
                {row.split.map(|split| view! { ", split " <span class="id text-ink-2">{split}</span> })}
                " on " <span class="id text-ink-2">{row.agent}</span> ", " {size} ", by " {row.by} ", started " <Time at=row.started_at/> {finished}
            </span>
            <control::Controls live/>
        </div>
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests;
