//! Home: what waits for you, what runs, your workspaces, and the first-run guide.

#[cfg(feature = "ssr")]
mod drawn;

use evalkit_core::view::home::Guide;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;

use super::count;
use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::load::{self, Answer};
use crate::session::use_session;
use crate::ui::{Button, ButtonSize, FormFault, Mark, Marked, StillPart};

/// The page's data.
///
/// # Errors
/// `S-SIGN-IN`.
#[server(prefix = "/fn", endpoint = "home-page", input = Json)]
pub async fn home_page() -> Answer<Option<Guide>> {
    use evalkit_core::view::home::Home;
    crate::server::drawn(
        |store, ctx| async move { store.home_page(&ctx).await },
        |now, home: Home| {
            let Home {
                red,
                running,
                finished,
                workspaces,
                guide,
            } = home;
            // Cases whose latest trial failed, was not scored or was cancelled wait as well, though nobody knows yet for what.
            let neither: u64 = workspaces.iter().map(|card| card.colours.neither).sum();
            let waiting = crate::ui::draw(now, move || {
                view! { <drawn::Waiting red running finished neither/> }
            });
            let workspaces =
                crate::ui::draw(now, move || view! { <drawn::Workspaces workspaces/> });
            (guide, vec![waiting, workspaces])
        },
    )
    .await
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
    let sync = Act::of::<SyncDemo>();
    let run = Act::of::<RunDemo>();
    let page = load::resource(move || sync.done(), |_| HomePage {});
    load::page(
        page,
        "Loading what waits for you",
        move |guide: Option<Guide>, parts| {
            view! {
                <Title text="Home"/>
                <div class="wrap pb-24">
                    <div class="grid gap-x-14 gap-y-10 pt-8 lg:grid-cols-[minmax(0,1fr)_minmax(0,440px)]">
                        <StillPart part=parts.part(0) class="min-w-0"/>
                        <aside class="min-w-0 space-y-10">
                            {guide.map(|guide| view! { <FirstRun guide sync run/> })}
                            <StillPart part=parts.part(1)/>
                        </aside>
                    </div>
                </div>
            }
        },
    )
}

/// The two clicks of a first visit.
#[component]
fn FirstRun(guide: Guide, sync: Act, run: Act) -> impl IntoView {
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
                            <ActForm act=sync>
                                <Button size=ButtonSize::Small disabled=sync.pending()>"Sync"</Button>
                            </ActForm>
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
                            <ActForm act=run>
                                <Button size=ButtonSize::Small disabled=run.pending()>"Run"</Button>
                            </ActForm>
                        }
                            .into_any()
                    } else {
                        view! { <span class="meta">"after the sync"</span> }.into_any()
                    }}
                </li>
            </ol>
            <FormFault fault=sync.refused()/>
            <FormFault fault=run.refused()/>
            {(!judge.quality_signal)
                .then(|| {
                    view! {
                        <p class="meta mt-4">"New runs are graded by the " {judge.provider} " judge: not a quality signal."</p>
                    }
                })}
        </section>
    }
}
