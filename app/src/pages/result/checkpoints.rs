//! Checkpoints: what the steps must show, each with its verdict and the steps it cites.

use evalkit_core::grade::Grade;
use evalkit_core::verdict::{CheckVerdict, EntryVerdict};
use leptos::prelude::*;

use super::query::ResultQuery;
use super::tools::NotScored;
use super::words::unscored_words;
use crate::ui::{Mark, Marked};

/// The list.
#[component]
pub fn Checkpoints(
    /// In case order.
    sentences: Vec<String>,
    /// In the same order.
    verdicts: Vec<EntryVerdict>,
    /// Of `trajectory_rubrics`.
    #[prop(optional_no_strip)]
    grade: Option<Grade>,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let satisfied = verdicts
        .iter()
        .filter(|v| v.verdict == Some(CheckVerdict::Satisfied))
        .count();
    let of = sentences.len();
    let judged = !verdicts.is_empty();
    view! {
        <div class="mb-6">
            <div class="flex flex-wrap items-baseline gap-x-3 gap-y-1">
                <h3 class="text-base font-semibold">"Checkpoints its steps must show"</h3>
                {judged.then(|| view! { <span class="meta">{satisfied} " of " {of} " satisfied"</span> })}
            </div>
            <NotScored grade/>
            <ol class="mt-1">
                {sentences
                    .into_iter()
                    .enumerate()
                    .map(|(index, sentence)| {
                        let verdict = verdicts.get(index).cloned();
                        view! { <Checkpoint index sentence verdict query/> }
                    })
                    .collect_view()}
            </ol>
        </div>
    }
}

#[component]
fn Checkpoint(
    index: usize,
    sentence: String,
    #[prop(optional_no_strip)] verdict: Option<EntryVerdict>,
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let label = format!("T{}", index + 1);
    let mark = verdict
        .as_ref()
        .map(|v| v.verdict.map_or(Mark::Unscored, Mark::from));
    let reason = verdict.as_ref().and_then(|v| v.reason.clone());
    let unscored = verdict
        .as_ref()
        .and_then(|v| v.unscored)
        .map(unscored_words);
    let cites = verdict.map(|v| v.citations).unwrap_or_default();
    view! {
        <li class="rule-t py-2 grid grid-cols-[30px_minmax(0,1fr)] sm:grid-cols-[30px_minmax(0,1fr)_140px] gap-x-3 scroll-mt-16" id=label.clone()>
            <span class="eyebrow leading-6">{label.clone()}</span>
            <div class="min-w-0">
                <p class="said leading-6 break-words">{sentence}</p>
                {(reason.is_some() || unscored.is_some() || !cites.is_empty())
                    .then(|| {
                        view! {
                            <p class="text-sm text-ink-2 break-words">
                                {unscored.map(|why| view! { <span class="text-ink-3">"No verdict: "</span> {why} ". " })}
                                {reason.map(|reason| view! { <span class="text-ink-3">"Judge: "</span> {reason} " " })}
                                {(!cites.is_empty())
                                    .then(|| {
                                        view! {
                                            <span class="text-ink-3">"Steps: "</span>
                                            {cites
                                                .into_iter()
                                                .enumerate()
                                                .map(|(n, address)| {
                                                    let to = address.clone();
                                                    view! {
                                                        {(n > 0).then_some(", ")}
                                                        <a class="id" href=query.with_untracked(|q| q.at_step(&to)) data-step=to data-noscroll="">{address}</a>
                                                    }
                                                })
                                                .collect_view()}
                                        }
                                    })}
                            </p>
                        }
                    })}
            </div>
            <span class="col-start-2 sm:col-start-auto">{mark.map(|mark| view! { <Marked mark/> })}</span>
        </li>
    }
}
