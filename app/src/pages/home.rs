//! Home: what waits for you, what runs, your workspaces, and the first-run guide.

use evalkit_core::view::home::{
    FinishedExperiment, Guide, Home, RedCase, RunningExperiment, WorkspaceCard,
};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;

use super::count;
use crate::failure::Failure;
use crate::load::{self, Answer};
use crate::session::use_session;
use crate::ui::{
    Button, ButtonSize, ColourBar, Empty, FormFault, Mark, MarkShape, Marked, Sparkline, Time,
    grouped, percent,
};

/// The page's data.
///
/// # Errors
/// `S-SIGN-IN`.
#[server(prefix = "/fn", endpoint = "home-page", input = Json)]
pub async fn home_page() -> Answer<Home> {
    crate::server::read(|store, ctx| async move { store.home_page(&ctx).await }).await
}

/// The first click of a first visit: the demo dataset comes into one's own workspace.
///
/// # Errors
/// `S-SIGN-IN`, and those of a sync.
#[server(prefix = "/fn", endpoint = "sync-demo")]
pub async fn sync_demo() -> Result<(), Failure> {
    crate::server::write(|state, ctx| async move {
        state.engine.sync_demo_dataset(&ctx).await.map(drop)
    })
    .await
}

/// The second click: the demo agent runs on it. Leads to the run.
///
/// # Errors
/// Those of starting a run.
#[server(prefix = "/fn", endpoint = "run-demo")]
pub async fn run_demo() -> Result<(), Failure> {
    use evalkit_core::error::Fault;
    use evalkit_core::policy::Actor;
    use evalkit_engine::NewExperiment;
    let (workspace, run) = crate::server::write::<_, Fault, _>(|state, ctx| async move {
        let Actor::Person {
            name: workspace, ..
        } = &ctx.actor
        else {
            return Err(Fault::not_found());
        };
        let wanted = NewExperiment {
            workspace: workspace.clone(),
            dataset: state.store.settings().demo_dataset.clone(),
            agent: state
                .store
                .settings()
                .builtin_agents
                .first()
                .map(|agent| agent.name.clone())
                .unwrap_or_default(),
            ..NewExperiment::default()
        };
        Ok((
            workspace.clone(),
            state.engine.start_experiment(&ctx, wanted).await?.run,
        ))
    })
    .await?;
    leptos_axum::redirect(&format!("/w/{workspace}/runs/{run}"));
    Ok(())
}

/// The page.
#[component]
pub fn HomePage() -> impl IntoView {
    let sync = ServerAction::<SyncDemo>::new();
    let run = ServerAction::<RunDemo>::new();
    let page = Resource::new(move || sync.version().get(), |_| home_page());
    load::page(page, "Loading what waits for you", move |home: Home| {
        view! { <Title text="Home"/> <Whole home sync run/> }
    })
}

/// Red cases shown before the rest folds into "more".
const SHOWN: usize = 6;

#[component]
fn Whole(home: Home, sync: ServerAction<SyncDemo>, run: ServerAction<RunDemo>) -> impl IntoView {
    let Home {
        mut red,
        running,
        finished,
        workspaces,
        guide,
    } = home;
    // Cases whose latest trial failed, was not scored or was cancelled wait as well, though nobody knows yet for what.
    let neither: u64 = workspaces.iter().map(|card| card.colours.neither).sum();
    let quiet = red.is_empty() && running.is_empty() && neither == 0;
    let total_red = red.len();
    let waiting = total_red as u64;
    let more_red = red.split_off(total_red.min(SHOWN));
    view! {
        <div class="wrap pb-24">
            <div class="grid gap-x-14 gap-y-10 pt-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,440px)]">
                <section class="min-w-0">
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
                <aside class="min-w-0 space-y-10">
                    {guide.map(|guide| view! { <FirstRun guide sync run/> })}
                    <section>
                        <h2 class="h2 mb-1">"Your workspaces"</h2>
                        {workspaces.into_iter().map(|card| view! { <Card card/> }).collect_view()}
                    </section>
                </aside>
            </div>
        </div>
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

/// The two clicks of a first visit.
#[component]
fn FirstRun(
    guide: Guide,
    sync: ServerAction<SyncDemo>,
    run: ServerAction<RunDemo>,
) -> impl IntoView {
    let judge = use_session().with_value(|session| session.judge.clone());
    view! {
        <section class="well p-5">
            <h2 class="h2">"New here? Two clicks"</h2>
            <ol class="mt-3 space-y-3 text-base">
                <li class="grid grid-cols-[22px_minmax(0,1fr)_auto] gap-2 items-baseline">
                    <span class="text-ink-3">"1"</span>
                    <span>
                        "Sync the demo dataset, " {count(guide.cases, "case", "cases")}
                        <span class="meta block">"into your own workspace; nobody else sees it"</span>
                    </span>
                    {if guide.synced {
                        view! { <Marked mark=Mark::Satisfied text="done"/> }.into_any()
                    } else {
                        view! {
                            <ActionForm action=sync>
                                <Button size=ButtonSize::Small disabled=sync.pending()>"Sync"</Button>
                            </ActionForm>
                        }
                            .into_any()
                    }}
                </li>
                <li class="grid grid-cols-[22px_minmax(0,1fr)_auto] gap-2 items-baseline">
                    <span class="text-ink-3">"2"</span>
                    <span>
                        "Run the demo agent on it"
                        <span class="meta block">"right, wrong, silent and miscited answers"</span>
                    </span>
                    {if guide.ran {
                        view! { <Marked mark=Mark::Satisfied text="done"/> }.into_any()
                    } else if guide.synced {
                        view! {
                            <ActionForm action=run>
                                <Button size=ButtonSize::Small disabled=run.pending()>"Run"</Button>
                            </ActionForm>
                        }
                            .into_any()
                    } else {
                        view! { <span class="meta">"after the sync"</span> }.into_any()
                    }}
                </li>
            </ol>
            <FormFault fault=super::refused(sync)/>
            <FormFault fault=super::refused(run)/>
            {(!judge.quality_signal)
                .then(|| {
                    view! {
                        <p class="meta mt-4">"New runs are graded by the " {judge.provider} " judge: not a quality signal."</p>
                    }
                })}
        </section>
    }
}
