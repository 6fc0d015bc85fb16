//! Experiment (`web.md`): live progress, scores with intervals, the case grid, failures, and what it was frozen on.

mod control;
#[cfg(feature = "ssr")]
mod failures;
mod grid;
mod live;
mod progress;
#[cfg(feature = "ssr")]
mod scores;
#[cfg(feature = "ssr")]
mod side;

use evalkit_core::experiment::ExperimentState;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::load::{Answer, Parts, page, resource};
use crate::ui::{Mark, Marked, StillPart, Time, grouped};
use live::{Live, Watched};

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
) -> Answer<Watched> {
    crate::server::drawn(
        |store, ctx| async move { store.experiment_page(&ctx, &workspace, run).await },
        parts_of,
    )
    .await
}

/// What the page watches, and its drawn parts: scores, failures, the column beside them.
#[cfg(feature = "ssr")]
fn parts_of(
    now: i64,
    experiment: evalkit_core::view::experiment::Experiment,
) -> (Watched, Vec<String>) {
    use crate::ui::draw;
    let run = Watched::from(&experiment);
    let open = run.state == ExperimentState::Running || run.counts.open() > 0;
    let base = format!("/w/{}/runs/{}/c", run.workspace, run.run);
    let (judge, unscored) = (experiment.row.judge.clone(), experiment.row.unscored);
    let (scores, groups) = (experiment.scores.clone(), experiment.failures.clone());
    let parts = vec![
        draw(
            now,
            move || view! { <scores::Scores scores judge unscored open/> },
        ),
        draw(
            now,
            move || view! { <failures::Failures groups base open/> },
        ),
        draw(now, move || view! { <side::Side experiment open/> }),
    ];
    (run, parts)
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
    let data = resource(
        move || key.get(),
        move |(workspace, run)| ExperimentPage { workspace, run },
    );
    page(
        data,
        "Loading the run",
        move |run, parts| view! { <ExperimentView run parts/> },
    )
}

/// The page, once its data is there. It follows the run in place.
#[component]
pub fn ExperimentView(
    /// Its data.
    run: Watched,
    /// Its drawn parts.
    parts: Parts,
) -> impl IntoView {
    let title = format!("Run {}", run.run);
    let live = Live::new(run, parts);
    live::follow(live);
    let part = move |place| Signal::derive(move || live.parts.with(|parts| parts.part(place)));
    view! {
        <Title text=title/>
        <div class="wrap pb-24">
            <Head live/>
            <progress::RunProgress live/>
            <div class="grid gap-x-12 gap-y-10 mt-8 xl:grid-cols-[minmax(0,1fr)_352px]">
                <div class="min-w-0 space-y-11">
                    <StillPart part=part(0)/>
                    <grid::CaseGrid live/>
                    <StillPart part=part(1)/>
                </div>
                <aside class="min-w-0" aria-label="About this run">
                    <StillPart part=part(2) class="space-y-9"/>
                </aside>
            </div>
        </div>
    }
}

#[component]
fn Head(live: Live) -> impl IntoView {
    let row = live.page.get_untracked();
    let (workspace, trials, cases) = (row.workspace.clone(), row.trials, row.cases);
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
            .with(|page| page.finished_at)
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
