//! What a correct answer contains, by rubric type, with the latest verdict of each agent beside each sentence.

use evalkit_core::case::{Rubric, RubricType};
use evalkit_core::verdict::Verdict;
use evalkit_core::view::case::{AgentVerdicts, Case, RubricCell};
use leptos::prelude::*;

use super::columns::{MOST, narrow_grid, row_grid, scrolls};
use super::drawn::colour_and_count;
use crate::ui::{Mark, MarkShape, Marked, Time};

/// What each type asks for, for a stakeholder.
const fn asks(kind: RubricType) -> &'static str {
    match kind {
        RubricType::FactualRetrieval => {
            "Each must be stated, and credited to its source where one is named."
        }
        RubricType::DerivedComputation => {
            "Normal rounding is accepted; a band in brackets replaces it."
        }
        RubricType::AnalysisInterpretation => "A position the evidence supports.",
    }
}

/// The section.
#[component]
pub fn Contract(
    /// The page.
    case: Case,
) -> impl IntoView {
    let rubrics: Vec<(usize, Rubric)> = case.case.rubrics().iter().cloned().enumerate().collect();
    let hidden = case.agents.len().saturating_sub(MOST);
    let agents: Vec<AgentVerdicts> = case.agents.iter().take(MOST).cloned().collect();
    let n = agents.len();
    let none_run = n == 0;
    let expected = case.case.expected.clone();
    let has_rubrics = !rubrics.is_empty();
    let sticky = if scrolls(n) {
        ""
    } else {
        "md:sticky md:top-12 z-10 bg-paper"
    };
    let scroll = if scrolls(n) { "md:overflow-x-auto" } else { "" };
    let workspace = case.workspace.clone();
    let case_id = case.case.id.clone();
    let shown = case.version;
    let stale: Vec<(String, u32)> = agents
        .iter()
        .filter(|agent| agent.version != shown)
        .map(|agent| (agent.agent.clone(), agent.version))
        .collect();
    let no_signal = agents.iter().any(|agent| !agent.judge.quality_signal);
    let recorded = agents.iter().any(|agent| agent.judge.provider == "replay");
    let heads = agents
        .iter()
        .map(|agent| {
            let href = result_href(&workspace, agent, &case_id);
            let mark = Mark::from(agent.cell.colour);
            view! {
                <a href=href class="quiet hidden md:block min-w-0">
                    <span class="id block truncate text-ink-2 text-xs" title=agent.agent.clone()>{agent.agent.clone()}</span>
                    <span class=format!("v {}", mark.tone().class())>
                        <MarkShape mark/>
                        {colour_and_count(agent.cell.colour, agent.cell.satisfied, agent.cell.of)}
                    </span>
                    <span class="eyebrow block truncate">
                        {(agent.version != shown).then(|| format!("on v{}, ", agent.version))}
                        <Time at=agent.cell.at/>
                    </span>
                </a>
            }
        })
        .collect_view();
    view! {
        <section id="a" class="mt-10 scroll-mt-12" aria-labelledby="a-title">
            <div class=scroll tabindex=scrolls(n).then_some("0") role=scrolls(n).then_some("group") aria-label=scrolls(n).then_some("Verdicts by agent")>
                <div class=format!("{sticky} grid {} gap-x-3 items-end pb-2 pt-2", row_grid(n))>
                    <div class="col-span-2">
                        <h2 class="h2" id="a-title">"What a correct answer contains"</h2>
                        {none_run
                            .then(|| {
                                view! {
                                    <p class="meta">
                                        <Marked mark=Mark::NotRun text="Not run yet"/>
                                        " Verdicts of each agent appear beside each sentence."
                                    </p>
                                }
                            })}
                    </div>
                    {heads}
                </div>
                {expected
                    .map(|expected| {
                        view! {
                            <p class="meta max-w-[46rem] break-words">
                                "In short: " <span class="said text-ink-2 plain">{expected.trim().to_owned()}</span>
                            </p>
                        }
                    })}
                {(!stale.is_empty())
                    .then(|| {
                        let list = stale.iter().map(|(agent, version)| format!("{agent} on v{version}")).collect::<Vec<_>>().join(", ");
                        view! {
                            <p class="note look text-sm text-ink-2 mt-3">
                                "Measured on another version than the v" {shown} " shown here: " {list}
                                ". Verdicts stand beside a sentence only where it did not change."
                            </p>
                        }
                    })}
                {no_signal
                    .then(|| {
                        view! {
                            <p class="mt-2">
                                <Marked mark=Mark::NeedsALook text="Some of these verdicts come from the offline or the fake judge: not a quality signal" class="whitespace-normal"/>
                            </p>
                        }
                    })}
                {(recorded && !no_signal).then(|| view! { <p class="meta mt-2">"Recorded judge: these verdicts were read from a file."</p> })}
                {(!has_rubrics)
                    .then(|| {
                        view! { <p class="text-sm text-ink-2 mt-3">"This case has no answer rubrics; it is graded by what stands below."</p> }
                    })}
                {RubricType::ALL
                    .into_iter()
                    .filter_map(|kind| {
                        let group: Vec<(usize, Rubric)> = rubrics.iter().filter(|(_, r)| r.kind == kind).cloned().collect();
                        (!group.is_empty())
                            .then(|| {
                                view! {
                                    <section class="mt-8" aria-label=kind.title()>
                                        <div class="flex flex-wrap items-baseline gap-x-3">
                                            <h3 class="text-base font-semibold">
                                                {kind.title()} " " <span class="text-ink-3 font-normal">{group.len()}</span>
                                            </h3>
                                            <span class="id text-ink-3">{kind.as_str()}</span>
                                        </div>
                                        <p class="meta mb-2">{asks(kind)}</p>
                                        <ol>
                                            {group
                                                .into_iter()
                                                .map(|(index, rubric)| {
                                                    view! {
                                                        <Row
                                                            index
                                                            rubric
                                                            agents=agents.clone()
                                                            workspace=workspace.clone()
                                                            case_id=case_id.clone()
                                                        />
                                                    }
                                                })
                                                .collect_view()}
                                        </ol>
                                    </section>
                                }
                            })
                    })
                    .collect_view()}
                {(hidden > 0).then(|| view! { <p class="meta mt-3">{hidden} " more agents are on the runs page."</p> })}
            </div>
        </section>
    }
}

/// The result that an agent's column comes from.
pub fn result_href(workspace: &str, agent: &AgentVerdicts, case_id: &str) -> String {
    format!(
        "/w/{workspace}/runs/{}/c/{case_id}?trial={}",
        agent.cell.run, agent.trial
    )
}

#[component]
fn Row(
    index: usize,
    rubric: Rubric,
    agents: Vec<AgentVerdicts>,
    workspace: String,
    case_id: String,
) -> impl IntoView {
    let label = format!("R{}", index + 1);
    let n = agents.len();
    let any = agents
        .iter()
        .any(|agent| agent.rubrics.get(index).is_some());
    view! {
        <li class=format!("rub rule-t py-3 grid {} gap-x-3 gap-y-2 scroll-mt-32", row_grid(n)) id=label.clone()>
            <a class="quiet eyebrow leading-[26px]" href=format!("#{label}") title="Link to this rubric">{label.clone()}</a>
            <div class="min-w-0">
                <p class="said text-read break-words">{rubric.rubric}</p>
                {rubric
                    .source
                    .map(|source| {
                        view! { <p class="meta mt-0.5 break-words">"credited to " <span class="said text-ink-2">{source}</span></p> }
                    })}
            </div>
            {any
                .then(|| {
                    view! {
                        <div class=format!("col-start-2 md:contents grid {} gap-x-2 gap-y-1", narrow_grid(n))>
                            {agents
                                .into_iter()
                                .map(|agent| {
                                    let href = format!("{}&r={label}#{label}", result_href(&workspace, &agent, &case_id));
                                    let cell = agent.rubrics.get(index).cloned();
                                    view! {
                                        <div class="md:pt-[3px] min-w-0">
                                            {match cell {
                                                Some(cell) => view! { <Cell cell agent=agent.agent href/> }.into_any(),
                                                None => view! { <span class="sr-only">{agent.agent} ": no verdict"</span> }.into_any(),
                                            }}
                                        </div>
                                    }
                                })
                                .collect_view()}
                        </div>
                    }
                })}
        </li>
    }
}

#[component]
fn Cell(cell: RubricCell, agent: String, href: String) -> impl IntoView {
    let mark = cell.verdict.map_or(Mark::Unscored, Mark::from);
    let source = cell
        .source
        .filter(|_| cell.verdict != Some(Verdict::Absent))
        .map(Mark::source);
    view! {
        <a class="quiet flex flex-col gap-0.5 min-w-0" href=href>
            <span class="md:sr-only eyebrow truncate">{agent}</span>
            <Marked mark/>
            {source.map(|source| view! { <Small mark=source/> })}
            {(cell.needs_a_look && !cell.overridden).then(|| view! { <Small mark=Mark::NeedsALook/> })}
            {cell.overridden.then(|| view! { <span class="eyebrow">"overridden"</span> })}
        </a>
    }
}

/// A second mark under the first, smaller.
#[component]
fn Small(mark: Mark) -> impl IntoView {
    view! {
        <span class=format!("v {} text-xs leading-[18px] font-[450] gap-1", mark.tone().class())>
            <MarkShape mark size="sm"/>
            {mark.word()}
        </span>
    }
}
