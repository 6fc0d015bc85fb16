//! Result (`web.md`): why. The verdict first, then the answer with its evidence beside the rubrics, tool checks, and the steps.

mod answer;
#[cfg(feature = "ssr")]
mod answered;
#[cfg(feature = "ssr")]
mod band;
#[cfg(feature = "ssr")]
mod checkpoints;
#[cfg(feature = "ssr")]
mod checks;
#[cfg(feature = "ssr")]
mod drawn;
#[cfg(feature = "ssr")]
mod evidence;
#[cfg(feature = "ssr")]
mod explained;
#[cfg(feature = "ssr")]
mod failure;
#[cfg(feature = "ssr")]
mod head;
mod linking;
mod query;
#[cfg(feature = "ssr")]
mod raw;
mod rubrics;
mod step;
#[cfg(feature = "ssr")]
mod steps;
#[cfg(feature = "ssr")]
mod timeline;
#[cfg(feature = "ssr")]
mod tools;
mod trajectory;
#[cfg(feature = "ssr")]
mod words;

use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_navigate, use_params_map, use_query_map};
use serde::{Deserialize, Serialize};

use crate::load::{Answer, Parts, page, resource};
use crate::ui::StillPart;
use linking::{Linking, chosen_under, is_plain_click};
use query::ResultQuery;

/// What the browser needs of the page beside its drawn parts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultData {
    title: String,
    /// There is an answer.
    answered: bool,
    rubrics: Option<rubrics::RubricList>,
    trajectory: Option<trajectory::TrajectoryData>,
}

/// The result of a case in a run.
///
/// # Errors
/// `S-NOT-FOUND` when it is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "result-page", input = Json)]
pub async fn load_result(
    /// The workspace.
    workspace: String,
    /// The run's number.
    run: i64,
    /// The case.
    case_id: String,
    /// The address: its trial (absent: the first that is not green), and the rubric whose evidence is lit at first paint.
    query: ResultQuery,
) -> Answer<ResultData> {
    let trial = query.trial;
    crate::server::drawn(
        |store, ctx| async move {
            store
                .result_page(&ctx, &workspace, run, &case_id, trial)
                .await
        },
        |now, page| drawn::parts_of(now, page, query),
    )
    .await
}

/// The route.
#[component]
pub fn ResultRoute() -> impl IntoView {
    let params = use_params_map();
    let map = use_query_map();
    let location = use_location();
    let query = Memo::new(move |_| ResultQuery::read(location.pathname.get(), &map.read()));
    let key = Memo::new(move |_| {
        let params = params.read();
        (
            params.get("ws").unwrap_or_default(),
            params
                .get("id")
                .and_then(|id| id.parse::<i64>().ok())
                .unwrap_or(0),
            params.get("case").unwrap_or_default(),
            query.with(|q| q.trial),
        )
    });
    let data = resource(
        move || key.get(),
        move |(workspace, run, case_id, _)| {
            // What is lit at first paint; later the browser lights it without asking.
            LoadResult {
                workspace,
                run,
                case_id,
                query: query.get_untracked(),
            }
        },
    );
    page(
        data,
        "Loading the result",
        move |data, parts| view! { <ResultView data parts query/> },
    )
}

/// The page, once its data is there.
#[component]
pub fn ResultView(
    /// Its data.
    data: ResultData,
    /// Its drawn parts.
    parts: Parts,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let ResultData {
        title,
        answered,
        rubrics,
        trajectory,
    } = data;
    let linking = Linking::new(query);
    let grid = if rubrics.is_some() {
        "lg:grid-cols-[minmax(0,10fr)_minmax(0,11fr)]"
    } else {
        ""
    };
    let navigate = use_navigate();
    view! {
        <Title text=title/>
        <div
            class="wrap pb-24"
            // Links of drawn parts were written for the address at that time; what was chosen since then is kept.
            on:click=move |event| {
                if is_plain_click(&event)
                    && let Some(href) = query.with_untracked(|query| chosen_under(&event, query))
                {
                    event.prevent_default();
                    navigate(&href, linking::without_scrolling());
                }
            }
        >
            <StillPart part=parts.part(0)/>
            <div class=format!("grid gap-x-12 gap-y-8 mt-7 {grid}")>
                {if answered {
                    view! { <answer::Answer part=parts.part(1) linking/> }.into_any()
                } else {
                    view! { <StillPart part=parts.part(1)/> }.into_any()
                }}
                {rubrics.map(|list| view! { <rubrics::Rubrics list linking query/> })}
            </div>
            <StillPart part=parts.part(2)/>
            {trajectory
                .map(|data| {
                    let checkpoints = parts.part(3);
                    view! { <trajectory::Trajectory data checkpoints query/> }
                })}
            <StillPart part=parts.part(4) class="mt-12 grid md:grid-cols-2 gap-x-12 gap-y-10 items-start"/>
        </div>
    }
}

#[cfg(all(test, feature = "ssr"))]
pub mod tests;
