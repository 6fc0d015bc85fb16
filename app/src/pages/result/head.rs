//! The head of a result: where one is, what was asked, and the way to the next case.

use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use super::query::ResultQuery;
use crate::ui::{Kbd, Mark, MarkShape, Tab, Tabs, Time};

/// Where one is, what was asked, and the way to the next case.
#[component]
pub fn Head(
    /// The result.
    page: ResultPage,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let run = format!("/w/{}/runs/{}", page.workspace, page.run);
    let case = format!(
        "/w/{}/d/{}/c/{}?v={}",
        page.workspace, page.dataset, page.case.id, page.version
    );
    let of = |id: String| format!("{run}/c/{id}");
    let trials = page.trials.clone();
    let this = page.trial;
    let many = trials.len() > 1;
    let tabs = query.with_untracked(|q| {
        trials
            .iter()
            .map(|(trial, colour)| Tab {
                name: format!("Trial {trial}, {}", Mark::from(*colour).word()),
                count: None,
                href: q.on_trial(*trial),
                current: *trial == this,
            })
            .collect::<Vec<_>>()
    });
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
        {many.then(|| view! { <div class="mt-3"><Tabs label="Trials" tabs/></div> })}
        <h1 class="said text-lead font-normal max-w-[52rem] pt-6 plain break-words">{page.case.input.headline().to_owned()}</h1>
        {(turns > 1).then(|| view! { <p class="meta mt-1">"The first of " {turns} " messages; the case has them all."</p> })}
    }
}
