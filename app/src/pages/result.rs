//! Result (`web.md`): why. The verdict first, then the answer with its evidence beside the rubrics, tool checks, and the steps.

mod answer;
mod band;
mod checkpoints;
mod checks;
#[cfg(feature = "ssr")]
mod evidence;
mod failure;
mod linking;
mod query;
mod raw;
mod rubrics;
mod step;
mod timeline;
mod tools;
mod trajectory;
mod words;

use std::collections::BTreeSet;

use evalkit_core::explanation::{find, rubric_verdicts};
use evalkit_core::grade::{Colour, Outcome};
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::{use_location, use_params_map, use_query_map};
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
use crate::load::Loaded;
use crate::load::{Answer, page};
use crate::ui::{Kbd, Mark, MarkShape, SafeHtml, Tab, Tabs, Time};
use linking::Linking;
use query::ResultQuery;
use words::unscored_words;

/// The page's data: the view, and the answer rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultData {
    /// Everything but the answer's HTML.
    pub page: ResultPage,
    /// With evidence marked.
    pub answer: SafeHtml,
    /// Label and quote of evidence that is not marked in it.
    pub loose: Vec<(String, String)>,
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
    /// From 1; absent: the first that is not green.
    trial: Option<u32>,
    /// The rubric whose evidence is lit at first paint.
    selected: Option<String>,
) -> Answer<ResultData> {
    let loaded = crate::server::read(|store, ctx| async move {
        store
            .result_page(&ctx, &workspace, run, &case_id, trial)
            .await
    })
    .await?;
    Ok(Loaded {
        now: loaded.now,
        data: rendered(loaded.data, selected.as_deref()),
    })
}

/// The page with its answer as HTML.
#[cfg(feature = "ssr")]
fn rendered(page: ResultPage, selected: Option<&str>) -> ResultData {
    let highlights = evidence::highlights(&rubric_verdicts(&page.grades), selected);
    let answer = page.answer.as_deref().unwrap_or_default();
    let (answer, found) = crate::ui::markdown::render_located(answer, &highlights);
    let loose = highlights
        .into_iter()
        .zip(found)
        .filter(|(highlight, found)| !found && !highlight.label.ends_with("source"))
        .map(|(highlight, _)| (highlight.rubric, highlight.quote))
        .collect();
    ResultData {
        page,
        answer,
        loose,
    }
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
    // What is lit at first paint; later the browser lights it without asking.
    let selected = query.with_untracked(|q| q.rubric.clone());
    let data = Resource::new(
        move || key.get(),
        move |(workspace, run, case_id, trial)| {
            load_result(workspace, run, case_id, trial, selected.clone())
        },
    );
    page(
        data,
        "Loading the result",
        move |data| view! { <ResultView data query/> },
    )
}

/// The page, once its data is there.
#[component]
pub fn ResultView(
    /// Its data.
    data: ResultData,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let ResultData {
        page,
        answer,
        loose,
    } = data;
    let linking = Linking::new(query);
    let verdicts = rubric_verdicts(&page.grades);
    let rubrics = page.case.rubrics().to_vec();
    let has_rubrics = !rubrics.is_empty();
    let judged = !verdicts.is_empty();
    let why_none = why_no_verdicts(&page);
    let changed: BTreeSet<String> = page
        .previous
        .as_ref()
        .filter(|previous| !previous.ruler_moved)
        .map(|previous| {
            previous
                .changes
                .iter()
                .map(|(label, ..)| label.clone())
                .collect()
        })
        .unwrap_or_default();
    let has_answer = page.answer.is_some() || page.output.is_some();
    let title = format!(
        "{}: {}, run {}",
        words::colour_word(page.colour),
        page.case.id,
        page.run
    );
    let grid = if has_rubrics {
        "lg:grid-cols-[minmax(0,10fr)_minmax(0,11fr)]"
    } else {
        ""
    };
    view! {
        <Title text=title/>
        <div class="wrap pb-24">
            <Head page=page.clone() query/>
            <band::VerdictBand page=page.clone() query/>
            <div class=format!("grid gap-x-12 gap-y-8 mt-7 {grid}")>
                {if has_answer {
                    view! {
                        <answer::Answer
                            html=answer
                            output=page.output.clone()
                            from=page.answer_from.clone()
                            latency_ms=page.latency_ms
                            judged
                            linking
                        />
                    }
                        .into_any()
                } else {
                    view! { <failure::NoAnswer page=page.clone()/> }.into_any()
                }}
                {has_rubrics
                    .then(|| {
                        view! {
                            <rubrics::Rubrics rubrics verdicts changed loose why_none judge=page.judge.clone() linking query/>
                        }
                    })}
            </div>
            <tools::ToolChecks page=page.clone() query/>
            <trajectory::Trajectory page=page.clone() query/>
            <div class="mt-12 grid md:grid-cols-2 gap-x-12 gap-y-10 items-start">
                <checks::PresentationEntries page=page.clone()/>
                <checks::OtherChecks page=page.clone()/>
                <raw::Raw page/>
            </div>
        </div>
    }
}

/// Why the rubrics have no verdict.
fn why_no_verdicts(page: &ResultPage) -> Option<String> {
    if page.error.is_some() {
        return Some("Nothing was judged, because there is no answer.".to_owned());
    }
    match find(&page.grades, "answer_rubrics").map(|grade| &grade.outcome) {
        None if page.colour == Colour::Open => Some("Not judged yet.".to_owned()),
        None => Some("Not judged.".to_owned()),
        Some(Outcome::Skipped { reason }) => Some(format!("Skipped: {reason}")),
        Some(Outcome::Error { message }) => Some(format!("The judge could not run: {message}")),
        Some(Outcome::Unscored { reason, .. }) => {
            Some(format!("No verdict: {}.", unscored_words(*reason)))
        }
        Some(Outcome::Scored { .. }) => None,
    }
}

/// Where one is, what was asked, and the way to the next case.
#[component]
fn Head(page: ResultPage, query: Memo<ResultQuery>) -> impl IntoView {
    let run = format!("/w/{}/runs/{}", page.workspace, page.run);
    let case = format!(
        "/w/{}/d/{}/c/{}?v={}",
        page.workspace, page.dataset, page.case.id, page.version
    );
    let of = |id: String| format!("{run}/c/{id}");
    let trials = page.trials.clone();
    let this = page.trial;
    let many = trials.len() > 1;
    let tabs = move || {
        query.with(|q| {
            trials
                .iter()
                .map(|(trial, colour)| Tab {
                    name: format!("Trial {trial}, {}", Mark::from(*colour).word()),
                    count: None,
                    href: q.on_trial(*trial),
                    current: *trial == this,
                })
                .collect::<Vec<_>>()
        })
    };
    let (before, after, red) = (
        page.before.map(of),
        page.after.map(of),
        page.next_red.map(of),
    );
    let turns = page.case.input.messages.len();
    view! {
        <div class="pt-5 flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
            <nav aria-label="Breadcrumb" class="text-ink-3 min-w-0 break-words">
                <a class="quiet" href=run.clone()>"run " {page.run}</a>
                " / "
                <span class="id text-ink">{page.case.id.clone()}</span>
            </nav>
            <span class="text-ink-3">
                {many.then(|| format!("trial {this} of {}, ", page.trials.len()))}
                <span class="id text-ink-2">{page.agent}</span>
                ", case v" {page.version} ", "
                <Time at=page.at/>
            </span>
            <nav class="sm:ml-auto flex flex-wrap items-center gap-1" aria-label="Cases of this run">
                {before.map(|href| view! { <a class="btn plain sm" href=href data-key="k" rel="prev">"Previous " <Kbd keys="K"/></a> })}
                {after.map(|href| view! { <a class="btn plain sm" href=href data-key="j" rel="next">"Next " <Kbd keys="J"/></a> })}
                {red.map(|href| view! { <a class="btn plain sm" href=href><MarkShape mark=Mark::Red size="sm"/>"Next red"</a> })}
                <a class="btn sm" href=case>"Read the case"</a>
            </nav>
        </div>
        {many.then(|| view! { <div class="mt-3">{move || view! { <Tabs label="Trials" tabs=tabs()/> }}</div> })}
        <h1 class="said text-lead font-normal max-w-[52rem] pt-6 plain break-words">{page.case.input.headline().to_owned()}</h1>
        {(turns > 1).then(|| view! { <p class="meta mt-1">"The first of " {turns} " messages; the case has them all."</p> })}
    }
}

#[cfg(all(test, feature = "ssr"))]
pub mod tests;
