//! What the server draws of a case: everything below its head.

use evalkit_core::grade::Colour;
use evalkit_core::view::case::Case;
use leptos::prelude::*;

use super::{checks, contract, entries, history, question};
use crate::ui::{Code, Mark, Marked, Syntax, Time};

/// The contract as a document.
#[component]
pub fn Document(
    /// The page's data.
    case: Case,
) -> impl IntoView {
    let has = |present: bool, id: &'static str, name: &'static str| present.then_some((id, name));
    let contents: Vec<(&'static str, &'static str)> = [
        Some(("q", "Question")),
        has(!case.case.rubrics().is_empty(), "a", "Correct answer"),
        has(
            !case.case.trajectory_rubrics().is_empty(),
            "d",
            "Derivation",
        ),
        has(
            case.case.evaluators.output.presentation_judge.is_some(),
            "p",
            "Presentation",
        ),
        Some(("k", "Checks")),
        Some(("h", "History")),
        Some(("versions", "Versions")),
        Some(("source", "Source")),
    ]
    .into_iter()
    .flatten()
    .collect();
    view! {
        <Notes case=case.clone()/>
        <div class="grid gap-x-12 2xl:grid-cols-[148px_minmax(0,1fr)]">
            <nav class="hidden 2xl:block pt-8 text-sm sticky top-12 self-start" aria-label="On this page">
                <ul class="space-y-2 text-ink-3">
                    {contents
                        .into_iter()
                        .map(|(id, name)| view! { <li><a class="quiet" href=format!("#{id}")>{name}</a></li> })
                        .collect_view()}
                </ul>
            </nav>
            <article class="min-w-0 max-w-[1180px]">
                <question::Question case=case.clone()/>
                <contract::Contract case=case.clone()/>
                <div class="grid lg:grid-cols-2 gap-x-12 gap-y-12 mt-12 items-start empty:hidden">
                    <entries::Derivation case=case.clone()/>
                    <entries::Looks case=case.clone()/>
                </div>
                <checks::Checks case=case.clone()/>
                <history::History case=case.clone()/>
                <Versions case=case.clone()/>
                <section id="source" class="mt-12 scroll-mt-16" aria-labelledby="source-title">
                    <h2 class="h2" id="source-title">"Source"</h2>
                    <p class="meta">
                        "The file’s own text of v" {case.version} ", content hash "
                        <span class="id" title=case.content_hash.clone()>{case.content_hash.chars().take(12).collect::<String>()}</span>
                    </p>
                    <details class="mt-2">
                        <summary class="text-sm">"Show the YAML"</summary>
                        <div class="mt-2"><Code text=case.yaml syntax=Syntax::Yaml label="YAML of this case"/></div>
                    </details>
                </section>
            </article>
        </div>
    }
}

/// What a reader must know before reading on: an old version, an archived case.
#[component]
fn Notes(case: Case) -> impl IntoView {
    let old = case.version < case.newest;
    let href = format!(
        "/w/{}/d/{}/c/{}",
        case.workspace, case.dataset, case.case.id
    );
    view! {
        {old
            .then(|| {
                view! {
                    <p class="mt-4 note acc text-sm text-ink-2">
                        "You read v" {case.version} ". The newest is v" {case.newest} ". " <a href=href>"Read v" {case.newest}</a>
                    </p>
                }
            })}
        {case
            .archived
            .then(|| {
                view! {
                    <p class="mt-4 note text-sm text-ink-2">
                        "This case is no longer in the dataset’s files. It is kept because runs were measured on it; new runs leave it out."
                    </p>
                }
            })}
        {(case.case.tags.iter().any(|tag| tag == "needs-ground-truth"))
            .then(|| {
                view! {
                    <p class="mt-4 note look text-sm text-ink-2">
                        <Marked mark=Mark::NeedsALook text="needs-ground-truth"/>
                        <span class="ml-2">"Nobody vouches for a value in it yet, so runs leave it out unless asked."</span>
                    </p>
                }
            })}
    }
}

/// The colour's word, and the count when there are rubrics: "red 5 of 9".
pub(crate) fn colour_and_count(colour: Colour, satisfied: u64, of: u64) -> String {
    let word = Mark::from(colour).word();
    if of > 0 && matches!(colour, Colour::Green | Colour::Red | Colour::Flaky) {
        format!("{word} {satisfied} of {of}")
    } else {
        word.to_owned()
    }
}

#[component]
fn Versions(case: Case) -> impl IntoView {
    let base = format!(
        "/w/{}/d/{}/c/{}",
        case.workspace, case.dataset, case.case.id
    );
    let shown = case.version;
    view! {
        <section id="versions" class="mt-12 scroll-mt-16" aria-labelledby="versions-title">
            <h2 class="h2" id="versions-title">"Versions"</h2>
            <p class="meta">"Each is kept as it was. Every result says which one it was measured on."</p>
            <ol class="mt-2 text-sm">
                {case
                    .versions
                    .into_iter()
                    .map(|row| {
                        let this = row.version == shown;
                        let origin = match row.origin.as_str() {
                            "sync" => "synced from files".to_owned(),
                            "browser" => "edited in the browser".to_owned(),
                            "suggestion" => "an accepted suggestion".to_owned(),
                            other => other.to_owned(),
                        };
                        view! {
                            <li class="rule-t py-1.5 flex flex-wrap gap-x-4">
                                <a class="w-10" href=format!("{base}?v={}", row.version) aria-current=this.then_some("true")>"v" {row.version}</a>
                                <span class="text-ink-2">{origin} " by " {row.by}</span>
                                <span class="text-ink-3"><Time at=row.at/></span>
                                {this.then(|| view! { <span class="text-ink-3">"shown here"</span> })}
                            </li>
                        }
                    })
                    .collect_view()}
            </ol>
        </section>
    }
}
