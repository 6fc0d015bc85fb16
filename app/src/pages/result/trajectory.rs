//! How it got there: checkpoints, a timeline, the steps, and the one that is open.

use std::collections::BTreeMap;

use evalkit_core::verdict::CheckVerdict;
use evalkit_core::view::result::{StepView, TrajectoryView};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde::{Deserialize, Serialize};

use super::answer::scroll_when_narrow;
use super::linking::{in_place, is_plain_click};
use super::query::ResultQuery;
use super::step::StepDetail;
use crate::ui::{Empty, Kbd, Mark, MarkShape, Still, StillPart, Tab, Tabs, grouped, seconds};

/// Rows rendered at once; the rest waits behind the search.
const MOST_ROWS: usize = 1_500;

/// The id of the open step.
const DETAIL: &str = "step-detail";

/// How the agent got there, as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryData {
    /// Steps, subagents, calls, tokens, cost.
    pub summary: Option<String>,
    /// The steps, when any were recorded.
    pub steps: Option<StepsData>,
    /// There is an answer, so that steps are missed.
    pub answered: bool,
}

/// The steps and what is known of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepsData {
    /// What was recorded.
    pub trajectory: TrajectoryView,
    /// The step that is open before one is chosen.
    pub first: Option<String>,
    /// By step: the checkpoints that cite it, and whether each is satisfied.
    pub citations: BTreeMap<String, Vec<(String, CheckVerdict)>>,
    /// By checkpoint: what it says, for the steps that it cites.
    pub notes: BTreeMap<String, Still>,
    /// Problems of the format, and when each step ran.
    pub above: Still,
}

/// The section.
#[component]
pub fn Trajectory(
    /// The steps.
    data: TrajectoryData,
    /// The checkpoints, drawn.
    checkpoints: Still,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    view! {
        <section class="mt-12 scroll-mt-16" id="trajectory" aria-labelledby="trajectory-title">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1 mb-2">
                <h2 class="h2" id="trajectory-title">"How it got there"</h2>
                <span class="meta">{data.summary}</span>
            </div>
            <StillPart part=checkpoints/>
            {match data.steps {
                Some(data) => view! { <Steps data query/> }.into_any(),
                None if !data.answered => ().into_any(),
                None => {
                    view! {
                        <Empty
                            title="No steps were recorded"
                            text="The agent’s harness returned an answer without a trajectory, so its steps cannot be shown or graded."
                        />
                    }
                        .into_any()
                }
            }}
        </section>
    }
}

#[component]
fn Steps(data: StepsData, query: Memo<ResultQuery>) -> impl IntoView {
    let StepsData {
        trajectory,
        first: start,
        citations,
        notes,
        above,
    } = data;
    let steps = StoredValue::new(trajectory.steps.clone());
    let citations = StoredValue::new(citations);
    let notes = StoredValue::new(notes);
    let selected = Memo::new(move |_| {
        let wanted = query.with(|q| q.step.clone());
        steps.with_value(|steps| {
            wanted
                .filter(|address| steps.iter().any(|step| &step.address == address))
                .or_else(|| start.clone())
        })
    });
    let listed = Memo::new(move |_| {
        let (words, tool) = query.with(|q| (q.words.to_lowercase(), q.tool.clone()));
        steps.with_value(|steps| {
            steps
                .iter()
                .enumerate()
                .filter(|(_, step)| fits(step, &words, tool.as_deref()))
                .map(|(index, _)| index)
                .collect::<Vec<usize>>()
        })
    });
    let tools = trajectory.tools.clone();
    let all = trajectory.steps.len() as u64;
    let tool_tabs = move || {
        let query = query.get();
        let mut tabs = vec![Tab {
            name: "All steps".to_owned(),
            count: Some(all),
            href: query.with_tool(None),
            current: query.tool.is_none(),
        }];
        tabs.extend(tools.iter().map(|(name, calls)| Tab {
            name: name.clone(),
            count: Some(*calls),
            href: query.with_tool(Some(name)),
            current: query.tool.as_ref() == Some(name),
        }));
        tabs
    };
    let documents = trajectory.documents.clone();
    let navigate = StoredValue::new(use_navigate());
    let go = move |address: &str| {
        let href = query.with_untracked(|q| q.step_here(address));
        navigate.with_value(|navigate| navigate(&href, in_place()));
    };
    let by = move |distance: isize| {
        let listed = listed.get_untracked();
        let now = selected.get_untracked();
        let to = steps.with_value(|steps| {
            let at = listed
                .iter()
                .position(|index| Some(&steps[*index].address) == now.as_ref());
            let at = at.map_or(0, |at| {
                at.saturating_add_signed(distance)
                    .min(listed.len().saturating_sub(1))
            });
            listed.get(at).map(|index| steps[*index].address.clone())
        });
        if let Some(address) = to {
            go(&address);
            super::answer::scroll_to(&step_id(&address));
        }
    };
    let path = query.with_untracked(|q| q.path.clone());
    let field = NodeRef::<leptos::html::Input>::new();
    let search = move || {
        let words = field
            .get_untracked()
            .map(|field| field.value())
            .unwrap_or_default();
        let href = query.with_untracked(|q| q.searching(&words));
        navigate.with_value(|navigate| navigate(&href, in_place()));
    };
    view! {
        <StillPart part=above/>
        <div
            class="scroll-mt-16"
            id="steps"
            on:keydown=move |event| {
                if !crate::frame::is_letter_key(&event) {
                    return;
                }
                let distance = match event.key().as_str() {
                    "j" => 1,
                    "k" => -1,
                    _ => return,
                };
                event.prevent_default();
                by(distance);
            }
        >
            <div class="flex flex-wrap items-end gap-x-6 gap-y-2 mt-2">
                <div class="min-w-0 basis-full sm:basis-0 sm:grow">{move || view! { <Tabs label="Filter steps by tool" tabs=tool_tabs()/> }}</div>
                <form method="get" action=path on:submit=move |event| {
                    event.prevent_default();
                    search();
                }>
                    <div class="flex items-center gap-2">
                        {move || {
                            query
                                .get()
                                .pairs()
                                .into_iter()
                                .filter(|(key, _)| *key != "q")
                                .map(|(key, value)| view! { <input type="hidden" name=key value=value/> })
                                .collect_view()
                        }}
                        <label class="sr-only" for="step-search">"Search steps"</label>
                        <input
                            class="field w-56"
                            id="step-search"
                            name="q"
                            type="search"
                            placeholder="Search steps"
                            autocomplete="off"
                            prop:value=move || query.with(|q| q.words.clone())
                            value=query.with_untracked(|q| q.words.clone())
                            node_ref=field
                        />
                        <button class="btn">"Search"</button>
                    </div>
                </form>
            </div>
            <div class="grid lg:grid-cols-[minmax(0,9fr)_minmax(0,11fr)] gap-x-10 gap-y-5 mt-3 items-start">
                <div class="lg:max-h-[76dvh] overflow-y-auto min-w-0 lg:sticky lg:top-16" tabindex="0" role="group" aria-label="Steps">
                    {move || {
                        let listed = listed.get();
                        if listed.is_empty() {
                            return view! {
                                <Empty title="No step fits" text="No step holds these words or calls this tool.">
                                    <a class="btn sm" href=query.with(|q| ResultQuery { words: String::new(), tool: None, ..q.clone() }.href()) data-noscroll="">
                                        "Show all steps"
                                    </a>
                                </Empty>
                            }
                                .into_any();
                        }
                        let more = listed.len().saturating_sub(MOST_ROWS);
                        view! {
                            <ol>
                                {listed
                                    .into_iter()
                                    .take(MOST_ROWS)
                                    .filter_map(|index| {
                                        let step = steps.with_value(|steps| steps.get(index).cloned())?;
                                        let marks = citations.with_value(|c| c.get(&step.address).cloned().unwrap_or_default());
                                        Some(view! { <StepRow step marks selected query go=Callback::new(move |address: String| go(&address))/> })
                                    })
                                    .collect_view()}
                            </ol>
                            {(more > 0).then(|| view! { <p class="meta mt-2">{grouped(more as u64)} " more steps. Search or filter to see them."</p> })}
                        }
                            .into_any()
                    }}
                    {(!documents.is_empty())
                        .then(|| {
                            view! {
                                <p class="eyebrow mt-3">
                                    "Indented: "
                                    {documents.iter().map(|(alias, title)| if alias == title { alias.clone() } else { format!("{alias} ({title})") }).collect::<Vec<_>>().join(", ")}
                                </p>
                            }
                        })}
                </div>
                <div class="min-w-0 scroll-mt-16" id=DETAIL aria-live="polite">
                    {move || {
                        let address = selected.get()?;
                        let (step, next) = steps
                            .with_value(|steps| {
                                let at = steps.iter().position(|step| step.address == address)?;
                                let next = steps.get(at + 1..)?.iter().find_map(|step| step.at_ms);
                                Some((steps[at].clone(), next))
                            })?;
                        let labels = citations.with_value(|c| c.get(&address).cloned().unwrap_or_default());
                        let cited = notes
                            .with_value(|notes| {
                                labels.iter().filter_map(|(label, _)| notes.get(label).cloned()).collect::<Vec<Still>>()
                            });
                        Some(view! { <StepDetail step next_at=next cited/> })
                    }}
                    <p class="meta mt-4 needs-script hidden sm:block">
                        <Kbd keys="J"/> " " <Kbd keys="K"/> " next and previous step, with the focus in the steps"
                    </p>
                </div>
            </div>
        </div>
    }
}

/// Whether a step holds every word, and calls the tool.
fn fits(step: &StepView, words: &str, tool: Option<&str>) -> bool {
    if tool.is_some_and(|tool| !step.calls.iter().any(|call| call.name == tool)) {
        return false;
    }
    words.split_whitespace().all(|word| {
        let holds = |text: &str| text.to_lowercase().contains(word);
        holds(&step.address)
            || holds(&step.title)
            || holds(&step.message)
            || step.reasoning.as_deref().is_some_and(holds)
            || step.calls.iter().any(|call| {
                holds(&call.name)
                    || holds(&call.arguments)
                    || call.result.as_deref().is_some_and(holds)
            })
    })
}

/// The id of a step's row. Addresses hold any character, so what is no plain letter is spelled out.
fn step_id(address: &str) -> String {
    let mut id = String::from("step-");
    for c in address.chars() {
        if c.is_ascii_alphanumeric() {
            id.push(c);
        } else {
            id.push('-');
            id.push_str(&u32::from(c).to_string());
        }
    }
    id
}

#[component]
fn StepRow(
    step: StepView,
    marks: Vec<(String, CheckVerdict)>,
    selected: Memo<Option<String>>,
    query: Memo<ResultQuery>,
    go: Callback<String>,
) -> impl IntoView {
    let indent = match step.depth {
        0 => "",
        1 => "ml-5 border-l-2 border-rule pl-3",
        2 => "ml-10 border-l-2 border-rule pl-3",
        _ => "ml-14 border-l-2 border-rule pl-3",
    };
    let tone = if step.copied {
        "text-ink-3"
    } else {
        "text-ink"
    };
    let address = step.address.clone();
    let is_selected = {
        let address = address.clone();
        move || selected.with(|s| s.as_ref() == Some(&address))
    };
    let current = is_selected.clone();
    let href = {
        let address = address.clone();
        move || query.with(|q| format!("{}#steps", q.step_here(&address)))
    };
    let to = address.clone();
    let id = step_id(&address);
    let speaker = step
        .side_chain
        .clone()
        .unwrap_or_else(|| step.source.clone());
    view! {
        <li id=id>
            <a
                class=format!(
                    "no-underline grid grid-cols-[minmax(58px,auto)_minmax(0,1fr)_auto] gap-x-3 py-1.5 px-2 hover:bg-ground rounded-sm {indent} {tone}",
                )
                class=("bg-accent-wash", is_selected)
                href=href
                data-noscroll=""
                aria-current=move || current().then_some("true")
                on:click=move |event| {
                    if is_plain_click(&event) {
                        event.prevent_default();
                        go.run(to.clone());
                        scroll_when_narrow(DETAIL);
                    }
                }
            >
                <span class="id text-ink-3 break-all">{address}</span>
                <span class="min-w-0 break-words">
                    <span class="font-semibold text-sm">{speaker}</span>
                    " "
                    <span class="text-sm text-ink-2">{step.title}</span>
                    {step.copied.then(|| view! { <span class="eyebrow">" copied context"</span> })}
                    {marks
                        .into_iter()
                        .map(|(label, verdict)| {
                            let mark = Mark::from(verdict);
                            view! {
                                <span class=format!("v {} text-xs gap-1 ml-1.5", mark.tone().class())>
                                    <MarkShape mark size="sm"/>
                                    {label}
                                    <span class="sr-only">" "{mark.word()}</span>
                                </span>
                            }
                        })
                        .collect_view()}
                </span>
                <span class="eyebrow num">{step.at_ms.map(at)}</span>
            </a>
        </li>
    }
}

/// "14.8 s" after the first step.
pub fn at(milliseconds: i64) -> String {
    u64::try_from(milliseconds).map_or_else(
        |_| format!("−{}", seconds(milliseconds.unsigned_abs())),
        |ms| {
            if ms < 60_000 {
                format!("{}.{} s", ms / 1_000, ms % 1_000 / 100)
            } else {
                seconds(ms)
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use evalkit_core::view::result::CallView;

    use super::*;

    #[test]
    fn search_reads_titles_arguments_and_results() {
        let step = StepView {
            address: "main:2".to_owned(),
            title: "Calls the tool".to_owned(),
            calls: vec![CallView {
                name: "get".to_owned(),
                arguments: "{\"q\": \"Net debt\"}".to_owned(),
                ..CallView::default()
            }],
            ..StepView::default()
        };
        assert!(fits(&step, "", None));
        assert!(fits(&step, "net tool", None));
        assert!(!fits(&step, "net equity", None));
        assert!(fits(&step, "", Some("get")));
        assert!(!fits(&step, "", Some("put")));
    }

    #[test]
    fn ids_are_plain() {
        assert_eq!(step_id("main:4"), "step-main-584");
        assert_ne!(step_id("a b"), step_id("a-b"));
    }
}
