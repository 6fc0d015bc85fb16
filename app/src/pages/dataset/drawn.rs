//! What the server draws of a dataset: everything but the filter and the form that runs it.

use evalkit_core::grade::Colour;
use evalkit_core::view::dataset::{AgentCell, CaseRow, Dataset, DatasetQuery};
use leptos::prelude::*;

use super::search_of;
use crate::ui::{
    Empty, Mark, MarkShape, Marked, Pager, ScrollTable, SortHead, Tab, Tabs, Tag, Time, grouped,
};

/// Splits shown as tabs before the rest folds into "more".
const TABS: usize = 7;

/// The splits as tabs.
#[component]
pub fn Splits(
    /// Of the dataset's page.
    path: String,
    /// What the address asks for.
    query: DatasetQuery,
    /// Each with its cases.
    tags: Vec<(String, u64)>,
    /// Cases of all.
    total: u64,
) -> impl IntoView {
    let to = |tag: Option<String>| {
        format!(
            "{path}{}",
            search_of(&DatasetQuery {
                tag,
                page: 1,
                ..query.clone()
            })
        )
    };
    let mut tabs = vec![Tab {
        name: "All".to_owned(),
        count: Some(total),
        href: to(None),
        current: query.tag.is_none(),
    }];
    let (shown, rest) = tags.split_at(tags.len().min(TABS));
    let chosen_in_rest = rest
        .iter()
        .filter(|(tag, _)| query.tag.as_ref() == Some(tag));
    for (tag, n) in shown.iter().chain(chosen_in_rest) {
        tabs.push(Tab {
            name: tag.clone(),
            count: Some(*n),
            href: to(Some(tag.clone())),
            current: query.tag.as_ref() == Some(tag),
        });
    }
    let more: Vec<(String, u64, String)> = rest
        .iter()
        .filter(|(tag, _)| query.tag.as_ref() != Some(tag))
        .map(|(tag, n)| (tag.clone(), *n, to(Some(tag.clone()))))
        .collect();
    view! {
        <Tabs label="Splits" tabs/>
        {(!more.is_empty())
            .then(|| {
                let n = more.len();
                view! {
                    <details class="text-sm mt-2">
                        <summary class="text-ink-2">{n} " more splits"</summary>
                        <p class="flex flex-wrap gap-x-4 gap-y-1 mt-2">
                            {more
                                .into_iter()
                                .map(|(tag, n, href)| {
                                    view! { <a href=href>{tag} <span class="text-ink-3">" " {grouped(n)}</span></a> }
                                })
                                .collect_view()}
                        </p>
                    </details>
                }
            })}
    }
}

/// The cases that fit, or why there are none, and the way to the next page.
#[component]
pub fn Found(
    /// The page's data.
    dataset: Dataset,
    /// What the address asks for.
    query: DatasetQuery,
    /// Of the dataset's page.
    path: String,
) -> impl IntoView {
    let filtered =
        !query.q.is_empty() || query.tag.is_some() || query.colour.is_some() || query.archived;
    let pager = {
        let (path, query) = (path.clone(), query.clone());
        move |page| {
            format!(
                "{path}{}",
                search_of(&DatasetQuery {
                    page,
                    ..query.clone()
                })
            )
        }
    };
    let (page, per_page, found) = (dataset.page, dataset.per_page, dataset.found);
    view! {
        {if !dataset.rows.is_empty() {
            view! { <Cases dataset query path/> }.into_any()
        } else if filtered {
            view! { <NothingFits path query/> }.into_any()
        } else {
            view! {
                <Empty
                    title=format!("No cases in {} yet", dataset.slug)
                    text="A case says what a right answer contains. Bring a folder of YAML from the command."
                >
                    <code class="well px-2 py-1 text-sm">
                        {format!("evalkit sync cases/ --dataset {}@{}", dataset.slug, dataset.workspace)}
                    </code>
                </Empty>
            }
                .into_any()
        }}
        <Pager page per_page found href=pager/>
    }
}

#[component]
fn NothingFits(path: String, query: DatasetQuery) -> impl IntoView {
    let mut wanted = Vec::new();
    if !query.q.is_empty() {
        wanted.push(format!("holds “{}”", query.q));
    }
    if let Some(tag) = &query.tag {
        wanted.push(format!("is tagged {tag}"));
    }
    if let Some(colour) = &query.colour {
        let on = query
            .agent
            .as_deref()
            .map_or_else(String::new, |agent| format!(" on {agent}"));
        wanted.push(format!("is {}{on}", colour.replace('-', " ")));
    }
    let title = if wanted.is_empty() {
        "No case fits".to_owned()
    } else {
        format!("No case {}", wanted.join(" and "))
    };
    view! {
        <Empty title=title text="Drop a part of the filter, or clear it.">
            <a class="btn sm" href=path>"Show all cases"</a>
        </Empty>
    }
}

#[component]
fn Cases(dataset: Dataset, query: DatasetQuery, path: String) -> impl IntoView {
    let sort = query.sort.clone().unwrap_or_default();
    let sort_link = |key: &str| {
        let sort = (!key.is_empty()).then(|| key.to_owned());
        format!(
            "{path}{}",
            search_of(&DatasetQuery {
                sort,
                page: 1,
                ..query.clone()
            })
        )
    };
    let (id_href, id_sorted) = match sort.as_str() {
        "id" => (sort_link("id-desc"), Some("ascending")),
        "id-desc" => (sort_link(""), Some("descending")),
        _ => (sort_link("id"), None),
    };
    let (changed_href, changed_sorted) = match sort.as_str() {
        "" | "changed" => (sort_link("changed-asc"), Some("descending")),
        "changed-asc" => (sort_link(""), Some("ascending")),
        _ => (sort_link(""), None),
    };
    let workspace = dataset.workspace;
    view! {
        <ScrollTable label="Cases">
            <table class="tbl md:min-w-[900px]">
                <thead>
                    <tr>
                        <SortHead name="Case and question" href=id_href sorted=id_sorted/>
                        <th scope="col" class="hidden md:table-cell">"Tags"</th>
                        <th scope="col" class="hidden md:table-cell">
                            <span class="inline-grid grid-cols-3 gap-x-1.5 w-[88px] text-right">
                                <abbr title="Facts to find" class="no-underline">"fact"</abbr>
                                <abbr title="Worked out from them" class="no-underline">"calc"</abbr>
                                <abbr title="Reading of the evidence" class="no-underline">"read"</abbr>
                            </span>
                        </th>
                        {dataset
                            .agents
                            .into_iter()
                            .map(|agent| view! { <th scope="col" class="id text-xs">{agent}</th> })
                            .collect_view()}
                        <SortHead name="Changed" href=changed_href sorted=changed_sorted num=true class="hidden md:table-cell"/>
                    </tr>
                </thead>
                <tbody>
                    {dataset
                        .rows
                        .into_iter()
                        .enumerate()
                        .map(|(index, row)| {
                            view! { <Row workspace=workspace.clone() dataset=dataset.slug.clone() row first=index == 0/> }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </ScrollTable>
        <p class="meta pt-3 hidden sm:flex items-center gap-1.5">
            <crate::ui::Kbd keys="J"/> <crate::ui::Kbd keys="K"/> "move, " <crate::ui::Kbd keys="Enter"/> "open. The filter is in the address."
        </p>
    }
}

#[component]
fn Row(workspace: String, dataset: String, row: CaseRow, first: bool) -> impl IntoView {
    let href = format!("/w/{workspace}/d/{dataset}/c/{}", row.id);
    let id = row.id.clone();
    view! {
        <tr data-row tabindex=if first { "0" } else { "-1" }>
            <td class="dense min-w-[190px] md:min-w-0 md:max-w-0 md:w-[46%]">
                <a class="id quiet text-ink font-medium" href=href>{row.id}</a>
                {row.archived.then(|| view! { " " <span class="eyebrow">"archived"</span> })}
                <span class="said asked text-ink-2">{row.question}</span>
            </td>
            <td class="hidden md:table-cell dense">
                <span class="flex flex-wrap gap-1 max-w-[190px]">
                    {row.tags.into_iter().map(|tag| view! { <Tag name=tag/> }).collect_view()}
                </span>
            </td>
            <td class="hidden md:table-cell dense">
                <span class="inline-grid grid-cols-3 gap-x-1.5 w-[88px] text-right">
                    {row
                        .rubrics
                        .into_iter()
                        .map(|n| {
                            if n == 0 {
                                view! { <span class="text-ink-3">"·"</span> }.into_any()
                            } else {
                                view! { <span>{n}</span> }.into_any()
                            }
                        })
                        .collect_view()}
                </span>
            </td>
            {row
                .cells
                .into_iter()
                .map(|cell| view! { <td class="dense"><ResultCell workspace=workspace.clone() case_id=id.clone() cell/></td> })
                .collect_view()}
            <td class="num text-ink-3 dense hidden md:table-cell"><Time at=row.changed_at/></td>
        </tr>
    }
}

/// A case's latest colour against one agent, with its count: a link to the result.
#[component]
pub fn ResultCell(
    /// The run's workspace.
    workspace: String,
    /// The case.
    case_id: String,
    /// Absent = not run.
    cell: Option<AgentCell>,
) -> impl IntoView {
    let Some(cell) = cell else {
        return view! { <Marked mark=Mark::NotRun only_shape=true/> }.into_any();
    };
    let mark = Mark::from(cell.colour);
    // Without a verdict on every rubric a count would read as a score.
    let said = match cell.colour {
        Colour::Green | Colour::Red | Colour::Flaky if cell.of > 0 => {
            format!("{}/{}", cell.satisfied, cell.of)
        }
        Colour::Unscored => "unscored".to_owned(),
        _ => String::new(),
    };
    view! {
        <a
            class=format!("v quiet font-[450] {}", mark.tone().class())
            title=format!("{}, run {}", mark.word(), cell.run)
            href=format!("/w/{workspace}/runs/{}/c/{case_id}", cell.run)
        >
            <MarkShape mark/>
            <span class="sr-only">{(said != "unscored").then(|| format!("{} ", mark.word()))}</span>
            {said.clone()}
        </a>
    }
    .into_any()
}
