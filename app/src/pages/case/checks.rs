//! Checks counted without a judge, with the origin of each, and what overlays add for which agent.

use evalkit_core::case::{Case as CaseModel, RequiredTools, ToolTrajectoryMatch};
use evalkit_core::overlay::NamedOverlay;
use evalkit_core::view::case::{Case, CheckCell};
use leptos::prelude::*;

use super::contract::result_href;
use crate::ui::{Empty, Mark, Marked, ScrollTable};

/// One check of the case or of an overlay.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    name: String,
    expects: String,
    /// Absent: the case itself.
    overlay: Option<String>,
    /// Empty: every agent.
    agents: Vec<String>,
}

/// The section.
#[component]
pub fn Checks(
    /// The page.
    case: Case,
) -> impl IntoView {
    let rows = rows(&case.case, &case.overlays);
    let empty = rows.is_empty();
    let added: Vec<(String, String)> = case
        .overlays
        .iter()
        .filter(|named| !named.overlay.tags.is_empty())
        .map(|named| (named.dataset.clone(), named.overlay.tags.join(", ")))
        .collect();
    view! {
        <section id="k" class="mt-12 scroll-mt-16" aria-labelledby="k-title">
            <h2 class="h2" id="k-title">"Checks"</h2>
            <p class="meta mb-1">"Counted without a judge. Overlays add checks for named agents; the case itself stays portable."</p>
            {if empty {
                view! { <div class="mt-2"><Empty title="No checks" text="This case is graded by its rubrics alone. An overlay can add tool checks for an agent."/></div> }
                    .into_any()
            } else {
                view! {
                    <ScrollTable label="Checks">
                        <table class="tbl min-w-[680px]">
                            <thead>
                                <tr>
                                    <th scope="col">"Check"</th>
                                    <th scope="col">"Expects"</th>
                                    <th scope="col">"Comes from"</th>
                                    <th scope="col">"Applies to"</th>
                                    <th scope="col">"Latest"</th>
                                </tr>
                            </thead>
                            <tbody>
                                {rows
                                    .into_iter()
                                    .map(|row| {
                                        let latest = latest(&case, &row);
                                        view! {
                                            <tr>
                                                <td class="id">{row.name}</td>
                                                <td class="break-words">{row.expects}</td>
                                                <td>
                                                    {match row.overlay {
                                                        Some(overlay) => {
                                                            view! { <Marked mark=Mark::FromOverlay text=format!("overlay {overlay}")/> }.into_any()
                                                        }
                                                        None => view! { <Marked mark=Mark::FromCase text="this case"/> }.into_any(),
                                                    }}
                                                </td>
                                                <td>
                                                    {if row.agents.is_empty() {
                                                        "every agent".into_any()
                                                    } else {
                                                        view! { <span class="id">{row.agents.join(", ")}</span> }.into_any()
                                                    }}
                                                </td>
                                                <td>
                                                    {latest.is_empty().then(|| view! { <Marked mark=Mark::NotRun/> })}
                                                    {latest
                                                        .into_iter()
                                                        .map(|(agent, href, cell)| view! { <Latest agent href cell/> })
                                                        .collect_view()}
                                                </td>
                                            </tr>
                                        }
                                    })
                                    .collect_view()}
                            </tbody>
                        </table>
                    </ScrollTable>
                }
                    .into_any()
            }}
            {added
                .into_iter()
                .map(|(overlay, tags)| view! { <p class="meta mt-2">"Overlay " {overlay} " also adds the tags " <span class="id">{tags}</span> "."</p> })
                .collect_view()}
        </section>
    }
}

#[component]
fn Latest(agent: String, href: String, cell: CheckCell) -> impl IntoView {
    let mark = match cell.met {
        Some(true) => Mark::Met,
        Some(false) => Mark::NotMet,
        None => Mark::Skipped,
    };
    let text = if cell.text.is_empty() {
        mark.word().to_owned()
    } else {
        cell.text
    };
    view! {
        <a class="quiet flex flex-wrap gap-x-2 items-baseline min-h-[24px]" href=href title=cell.why>
            <Marked mark text=text/>
            <span class="id text-xs text-ink-3">{agent}</span>
        </a>
    }
}

/// The latest result of a row against each agent that has one.
fn latest(case: &Case, row: &Row) -> Vec<(String, String, CheckCell)> {
    case.agents
        .iter()
        .filter(|agent| {
            row.agents.is_empty()
                || row
                    .agents
                    .iter()
                    .any(|name| name == evalkit_core::overlay::bare_agent(&agent.agent))
        })
        .filter_map(|agent| {
            let cell = agent.checks.get(&row.name)?.clone();
            Some((
                agent.agent.clone(),
                format!(
                    "{}#checks",
                    result_href(&case.workspace, agent, &case.case.id)
                ),
                cell,
            ))
        })
        .collect()
}

fn rows(case: &CaseModel, overlays: &[NamedOverlay]) -> Vec<Row> {
    let own = |name: &str, expects: String| Row {
        name: name.to_owned(),
        expects,
        overlay: None,
        agents: Vec::new(),
    };
    let mut rows = Vec::new();
    if let Some(limit) = case.max_response_time {
        rows.push(own("max_response_time", format!("{limit} s or less")));
    }
    let trajectory = &case.evaluators.trajectory;
    rows.extend(
        trajectory
            .required_tools_called
            .as_ref()
            .map(|t| own("required_tools_called", tools(t))),
    );
    rows.extend(
        trajectory
            .tool_trajectory_match
            .as_ref()
            .map(|t| own("tool_trajectory_match", calls(t))),
    );
    if !case.expect.is_empty() {
        let names: Vec<&str> = case.expect.keys().map(String::as_str).collect();
        rows.push(own("expect", names.join(", ")));
    }
    for (name, metric) in &case.metrics {
        let expects = metric
            .threshold
            .map_or_else(|| "a score".to_owned(), |bar| format!("at least {bar}"));
        rows.push(own(&format!("metric:{name}"), expects));
    }
    for (name, config) in &case.evaluators.custom {
        rows.push(own(&format!("custom:{name}"), in_short(config)));
    }
    for NamedOverlay { dataset, overlay } in overlays {
        let mut add = |name: String, expects: String| {
            rows.push(Row {
                name,
                expects,
                overlay: Some(dataset.clone()),
                agents: overlay.agents.clone(),
            });
        };
        if let Some(required) = &overlay.evaluators.trajectory.required_tools_called {
            add("required_tools_called".to_owned(), tools(required));
        }
        if let Some(matches) = &overlay.evaluators.trajectory.tool_trajectory_match {
            add("tool_trajectory_match".to_owned(), calls(matches));
        }
        for (name, config) in &overlay.evaluators.custom {
            add(format!("custom:{name}"), in_short(config));
        }
    }
    rows
}

fn tools(required: &RequiredTools) -> String {
    required.tools.join(", ")
}

fn calls(expected: &ToolTrajectoryMatch) -> String {
    let names: Vec<&str> = expected
        .expected
        .iter()
        .map(|call| call.name.as_str())
        .collect();
    let n = names.len();
    let order = if expected.ordered {
        "in this order"
    } else {
        "any order"
    };
    format!(
        "{n} {}, {order}: {}",
        if n == 1 { "call" } else { "calls" },
        names.join(", ")
    )
}

/// A configuration in one line, at most 120 characters.
fn in_short(config: &serde_json::Value) -> String {
    let text = config.to_string();
    if text.chars().count() > 120 {
        format!("{}…", text.chars().take(120).collect::<String>())
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use evalkit_core::overlay::{Overlay, OverlayEvaluators, OverlayTrajectory};
    use serde_json::json;

    use super::*;

    #[test]
    fn rows_name_their_origin_and_their_agents() {
        let Ok(case) = serde_json::from_value::<CaseModel>(json!({
            "id": "x", "input": {"question": "?"}, "max_response_time": 60.0, "metrics": {"faithfulness": {"threshold": 4.0}}
        })) else {
            panic!("a valid case")
        };
        let overlay = NamedOverlay {
            dataset: "desk".to_owned(),
            overlay: Overlay {
                extends: "x".to_owned(),
                agents: vec!["bot".to_owned()],
                tags: Vec::new(),
                evaluators: OverlayEvaluators {
                    trajectory: OverlayTrajectory {
                        required_tools_called: Some(RequiredTools {
                            tools: vec!["a".to_owned(), "b".to_owned()],
                        }),
                        tool_trajectory_match: None,
                    },
                    custom: std::collections::BTreeMap::new(),
                },
            },
        };
        let rows = rows(&case, &[overlay]);
        let told: Vec<(&str, &str, Option<&str>)> = rows
            .iter()
            .map(|row| {
                (
                    row.name.as_str(),
                    row.expects.as_str(),
                    row.overlay.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                ("max_response_time", "60 s or less", None),
                ("metric:faithfulness", "at least 4", None),
                ("required_tools_called", "a, b", Some("desk")),
            ]
        );
        assert_eq!(rows[2].agents, ["bot"]);
    }
}
