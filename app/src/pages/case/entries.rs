//! How the answer should be derived and how it should look, with the verdicts of each agent.

use evalkit_core::case::Presentation;
use evalkit_core::view::case::{Case, EntryCell};
use leptos::prelude::*;

use super::contract::result_href;
use crate::ui::{Mark, Marked};

/// More agents stand on the result pages.
const MOST: usize = 4;

/// One agent's cell with its link and name.
type Cells = Vec<(String, String, EntryCell)>;

/// Checkpoints; nothing when the case has none.
#[component]
pub fn Derivation(
    /// The page.
    case: Case,
) -> impl IntoView {
    let sentences = case.case.trajectory_rubrics().to_vec();
    (!sentences.is_empty()).then(|| {
        view! {
            <section id="d" class="scroll-mt-16" aria-labelledby="d-title">
                <h2 class="h2" id="d-title">"How it should be derived"</h2>
                <p class="meta mb-2">"Checkpoints the recorded steps must show. Order is not graded."</p>
                <ol>
                    {sentences
                        .into_iter()
                        .enumerate()
                        .map(|(index, text)| {
                            let label = format!("T{}", index + 1);
                            let cells = cells(&case, &label, |agent| agent.trajectory.get(index).cloned());
                            view! { <Entry label rule="" text cells/> }
                        })
                        .collect_view()}
                </ol>
            </section>
        }
    })
}

/// Presentation entries; nothing when the case has none.
#[component]
pub fn Looks(
    /// The page.
    case: Case,
) -> impl IntoView {
    let presentation = case.case.evaluators.output.presentation_judge.clone();
    presentation.map(|Presentation { require, forbid }| {
        let entries: Vec<(&'static str, String)> = require
            .into_iter()
            .map(|text| ("Require", text))
            .chain(forbid.into_iter().map(|text| ("Forbid", text)))
            .collect();
        view! {
            <section id="p" class="scroll-mt-16" aria-labelledby="p-title">
                <h2 class="h2" id="p-title">"How it should look"</h2>
                <p class="meta mb-2">"Judged apart from whether it is right."</p>
                <ol>
                    {entries
                        .into_iter()
                        .enumerate()
                        .map(|(index, (rule, text))| {
                            let label = format!("P{}", index + 1);
                            let cells = cells(&case, &label, |agent| agent.presentation.get(index).cloned());
                            view! { <Entry label rule text cells/> }
                        })
                        .collect_view()}
                </ol>
            </section>
        }
    })
}

fn cells(
    case: &Case,
    label: &str,
    pick: impl Fn(&evalkit_core::view::case::AgentVerdicts) -> Option<EntryCell>,
) -> Cells {
    case.agents
        .iter()
        .take(MOST)
        .filter_map(|agent| {
            let href = format!(
                "{}#{label}",
                result_href(&case.workspace, agent, &case.case.id)
            );
            Some((agent.agent.clone(), href, pick(agent)?))
        })
        .collect()
}

#[component]
fn Entry(label: String, rule: &'static str, text: String, cells: Cells) -> impl IntoView {
    let columns = if rule.is_empty() {
        "grid-cols-[30px_minmax(0,1fr)]"
    } else {
        "grid-cols-[84px_minmax(0,1fr)]"
    };
    view! {
        <li class=format!("rule-t py-2 grid {columns} gap-x-3 scroll-mt-16") id=label.clone()>
            <span class="eyebrow leading-6">{label.clone()} " " {rule}</span>
            <div class="min-w-0">
                <p class="said leading-6 break-words">{text}</p>
                {(!cells.is_empty())
                    .then(|| {
                        view! {
                            <ul class="flex flex-wrap gap-x-5 gap-y-0.5 mt-0.5">
                                {cells
                                    .into_iter()
                                    .map(|(agent, href, cell)| {
                                        let mark = match (&cell.verdict, &cell.skipped) {
                                            (Some(verdict), _) => Mark::from(*verdict),
                                            (None, Some(_)) => Mark::Skipped,
                                            (None, None) => Mark::Unscored,
                                        };
                                        view! {
                                            <li>
                                                <a class="quiet inline-flex gap-2 items-baseline" href=href title=cell.skipped>
                                                    <span class="id text-xs text-ink-3">{agent}</span>
                                                    <Marked mark/>
                                                </a>
                                            </li>
                                        }
                                    })
                                    .collect_view()}
                            </ul>
                        }
                    })}
            </div>
        </li>
    }
}
