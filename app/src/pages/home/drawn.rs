//! What the server draws of Home: everything but the guide of a first visit.

use evalkit_core::view::home::{FinishedExperiment, RedCase, RunningExperiment, WorkspaceCard};
use leptos::prelude::*;

use crate::pages::count;
use crate::ui::{ColourBar, Empty, Mark, MarkShape, Sparkline, Time, grouped, percent};

/// Red cases shown before the rest folds into "more".
const SHOWN: usize = 6;

/// What waits for the reader: red cases, what runs, what ended lately.
#[component]
pub fn Waiting(
    /// Red cases.
    mut red: Vec<RedCase>,
    /// Under way.
    running: Vec<RunningExperiment>,
    /// Newest first.
    finished: Vec<FinishedExperiment>,
    /// Cases whose latest trial failed, was not scored or was cancelled.
    neither: u64,
) -> impl IntoView {
    let quiet = red.is_empty() && running.is_empty() && neither == 0;
    let total_red = red.len();
    let waiting = total_red as u64;
    let more_red = red.split_off(total_red.min(SHOWN));
    view! {
        <section>
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-2">
                <h1 class="text-title font-semibold">"What waits for you"</h1>
                <span class="meta">
                    {if waiting == 0 { "nothing red".to_owned() } else { count(waiting, "red case", "red cases") }}
                    {(neither > 0).then(|| format!(", {} failed or unscored", grouped(neither)))}
                </span>
            </div>
            {quiet
                .then(|| {
                    view! {
                        <div class="mt-6">
                            <Empty
                                title="Nothing waits for you"
                                text="When a case of yours turns red, or a run of yours is under way, it appears here."
                            />
                        </div>
                    }
                })}
            <Group title="Red among your cases" n=total_red>
                {red.into_iter().map(|case| view! { <Red case/> }).collect_view()}
                {(!more_red.is_empty())
                    .then(|| {
                        let n = more_red.len();
                        view! {
                            <li class="rule-t">
                                <details>
                                    <summary class="text-sm text-accent py-2.5">{n} " more"</summary>
                                    <ul>{more_red.into_iter().map(|case| view! { <Red case/> }).collect_view()}</ul>
                                </details>
                            </li>
                        }
                    })}
            </Group>
            <Group title="Running" n=running.len()>
                {running.into_iter().map(|run| view! { <Running run/> }).collect_view()}
            </Group>
            <Group title="Finished lately" n=finished.len()>
                {finished.into_iter().map(|run| view! { <Finished run/> }).collect_view()}
            </Group>
        </section>
    }
}

/// The reader's workspaces.
#[component]
pub fn Workspaces(
    /// In order.
    workspaces: Vec<WorkspaceCard>,
) -> impl IntoView {
    view! {
        <section>
            <h2 class="h2 mb-1">"Your workspaces"</h2>
            {workspaces.into_iter().map(|card| view! { <Card card/> }).collect_view()}
        </section>
    }
}

#[component]
fn Group(title: &'static str, n: usize, children: Children) -> impl IntoView {
    (n > 0).then(|| {
        view! {
            <h2 class="text-sm font-semibold mt-7 mb-1.5">
                {title} " " <span class="text-ink-3 font-normal">{n}</span>
            </h2>
            <ul class="rule-b">{children()}</ul>
        }
    })
}

/// One line of a list: mark, what, remark, when.
#[component]
fn Line(
    mark: Mark,
    href: String,
    #[prop(into)] what: ViewFn,
    #[prop(into)] meta: String,
    at: i64,
) -> impl IntoView {
    view! {
        <li class="rule-t">
            <a data-row class="row-link grid-cols-[20px_minmax(0,1fr)_auto] gap-x-3" href=href>
                <span class=format!("v {}", mark.tone().class())>
                    <MarkShape mark/>
                    <span class="sr-only">{mark.word()}</span>
                </span>
                <span class="min-w-0">
                    <span class="block break-words">{what.run()}</span>
                    <span class="meta block">{meta}</span>
                </span>
                <span class="meta text-right whitespace-nowrap"><Time at/></span>
            </a>
        </li>
    }
}

#[component]
fn Red(case: RedCase) -> impl IntoView {
    let href = format!("/w/{}/runs/{}/c/{}", case.workspace, case.run, case.case_id);
    let share = if case.of > 0 {
        format!(", {} of {}", case.satisfied, case.of)
    } else {
        String::new()
    };
    let (id, agent) = (case.case_id, case.agent);
    view! {
        <Line
            mark=Mark::Red
            href
            what=move || {
                view! { <span class="id">{id.clone()}</span> " on " <span class="id">{agent.clone()}</span> {share.clone()} }
            }
            meta=format!("{} in {}. {}", case.dataset, case.workspace, case.what)
            at=case.at
        />
    }
}

#[component]
fn Running(run: RunningExperiment) -> impl IntoView {
    let ended = run.counts.planned() - run.counts.open();
    let meta = format!(
        "{} of {} ended",
        grouped(ended),
        grouped(run.counts.planned())
    );
    let (number, dataset, agent) = (run.run, run.dataset, run.agent);
    view! {
        <Line
            mark=Mark::Running
            href=format!("/w/{}/runs/{number}", run.workspace)
            what=move || {
                view! {
                    "Run " {number} ", " <span class="id">{dataset.clone()}</span> " on " <span class="id">{agent.clone()}</span>
                }
            }
            meta
            at=run.started_at
        />
    }
}

#[component]
fn Finished(run: FinishedExperiment) -> impl IntoView {
    let mut parts = vec![
        format!("{} green", grouped(run.green)),
        format!("{} red", grouped(run.red)),
    ];
    if run.neither > 0 {
        parts.push(format!("{} failed or unscored", grouped(run.neither)));
    }
    let mark = if run.neither > 0 {
        Mark::NeedsALook
    } else {
        Mark::Done
    };
    let (number, dataset, agent) = (run.run, run.dataset, run.agent);
    view! {
        <Line
            mark
            href=format!("/w/{}/runs/{number}", run.workspace)
            what=move || {
                view! {
                    "Run " {number} ", " <span class="id">{dataset.clone()}</span> " on " <span class="id">{agent.clone()}</span>
                }
            }
            meta=parts.join(", ")
            at=run.at
        />
    }
}

#[component]
fn Card(card: WorkspaceCard) -> impl IntoView {
    let score = card.sparkline.last().copied();
    let ran = card.colours.green + card.colours.red + card.colours.flaky + card.colours.neither > 0;
    let held = format!(
        "{}{}, {}",
        if card.personal { "yours alone, " } else { "" },
        count(card.datasets, "dataset", "datasets"),
        count(card.cases, "case", "cases"),
    );
    view! {
        <div class="rule-t py-4">
            <div class="flex items-start justify-between gap-4">
                <div class="min-w-0">
                    <a class="font-semibold text-ink quiet" href=format!("/w/{}", card.name)>{card.name.clone()}</a>
                    <p class="meta">{held}</p>
                </div>
                <div class="flex items-center gap-3">
                    <Sparkline values=card.sparkline/>
                    {score.map(|score| view! { <span class="text-base font-semibold num">{percent(score)}</span> })}
                </div>
            </div>
            {ran.then(|| view! { <div class="mt-3"><ColourBar colours=card.colours/></div> })}
        </div>
    }
}
