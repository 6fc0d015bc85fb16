//! Dataset: the case table, paged, searched and filtered on the server; every choice lives in the address.

use evalkit_core::grade::Colour;
use evalkit_core::view::dataset::{AgentCell, CaseRow, Dataset, DatasetQuery};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::components::Form;
use leptos_router::hooks::{use_params_map, use_query_map};
use leptos_router::params::ParamsMap;

use super::run_form::RunForm;
use super::{PageHead, count, query_string};
use crate::load::{self, Answer};
use crate::ui::{
    Empty, Mark, MarkShape, Marked, Pager, ScrollTable, SortHead, Tab, Tabs, Tag, Time, grouped,
};

/// Splits shown as tabs before the rest folds into "more".
const TABS: usize = 7;

/// The page's data.
///
/// # Errors
/// `S-NOT-FOUND` when it is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "dataset-page", input = Json)]
pub async fn dataset_page(
    /// The workspace.
    workspace: String,
    /// The slug.
    dataset: String,
    /// What the address asks for.
    query: DatasetQuery,
) -> Answer<Dataset> {
    crate::server::read(|store, ctx| async move {
        store.dataset_page(&ctx, &workspace, &dataset, &query).await
    })
    .await
}

/// What an address asks for.
fn query_of(map: &ParamsMap) -> DatasetQuery {
    let filled = |key: &str| map.get(key).filter(|value| !value.is_empty());
    DatasetQuery {
        q: filled("q").unwrap_or_default(),
        tag: filled("tag"),
        colour: filled("colour"),
        agent: filled("agent"),
        sort: filled("sort"),
        archived: filled("archived").is_some(),
        page: filled("page")
            .and_then(|page| page.parse().ok())
            .unwrap_or(1)
            .max(1),
    }
}

/// The address of a query, without the path.
fn search_of(query: &DatasetQuery) -> String {
    let page = if query.page > 1 {
        query.page.to_string()
    } else {
        String::new()
    };
    query_string(&[
        ("q", &query.q),
        ("tag", query.tag.as_deref().unwrap_or_default()),
        ("colour", query.colour.as_deref().unwrap_or_default()),
        ("agent", query.agent.as_deref().unwrap_or_default()),
        ("sort", query.sort.as_deref().unwrap_or_default()),
        ("archived", if query.archived { "yes" } else { "" }),
        ("page", &page),
    ])
}

/// The page.
#[component]
pub fn DatasetPage() -> impl IntoView {
    let params = use_params_map();
    let query = use_query_map();
    let key = Memo::new(move |_| {
        let params = params.read();
        (
            params.get("ws").unwrap_or_default(),
            params.get("ds").unwrap_or_default(),
            query_of(&query.read()),
        )
    });
    let page = Resource::new(
        move || key.get(),
        |(workspace, dataset, query)| dataset_page(workspace, dataset, query),
    );
    load::page(page, "Loading cases", move |dataset: Dataset| {
        let query = key.with_untracked(|(_, _, query)| query.clone());
        view! { <Whole dataset query/> }
    })
}

#[component]
fn Whole(dataset: Dataset, query: DatasetQuery) -> impl IntoView {
    let path = format!("/w/{}/d/{}", dataset.workspace, dataset.slug);
    let meta = {
        let (total, archived) = (dataset.total, dataset.archived);
        let (synced_at, synced_by) = (dataset.synced_at, dataset.synced_by.clone());
        move || {
            let by = synced_by.clone().map(|who| format!(" by {who}"));
            view! {
                {count(total, "case", "cases")}
                {(archived > 0).then(|| format!(", {} archived", grouped(archived)))}
                {synced_at.map(|at| view! { ", synced " <Time at/> {by} })}
            }
        }
    };
    let filtered =
        !query.q.is_empty() || query.tag.is_some() || query.colour.is_some() || query.archived;
    let empty = dataset.rows.is_empty();
    let run = (dataset.may_run && dataset.total > 0).then(|| {
        let cases = query.tag.as_ref().map_or(dataset.total, |tag| {
            dataset
                .tags
                .iter()
                .find(|(name, _)| name == tag)
                .map_or(0, |(_, n)| *n)
        });
        view! {
            <RunForm
                workspace=dataset.workspace.clone()
                dataset=dataset.slug.clone()
                agents=dataset.runnable_agents.clone()
                split=query.tag.clone()
                cases
            />
        }
    });
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
        <Title text=format!("{} in {}", dataset.slug, dataset.workspace)/>
        <div class="wrap pb-28">
            <PageHead workspace=dataset.workspace.clone() title=dataset.slug.clone() meta>
                {run}
            </PageHead>
            <div class="mt-4"><Splits path=path.clone() query=query.clone() tags=dataset.tags.clone() total=dataset.total/></div>
            <Filter path=path.clone() query=query.clone() agents=dataset.agents.clone() archived=dataset.archived found total=dataset.total/>
            {if empty && filtered {
                view! { <NothingFits path=path.clone() query=query.clone()/> }.into_any()
            } else if empty {
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
            } else {
                view! { <Cases dataset query path/> }.into_any()
            }}
            <Pager page per_page found href=pager/>
        </div>
    }
}

#[component]
fn Splits(
    path: String,
    query: DatasetQuery,
    tags: Vec<(String, u64)>,
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

/// Sends the form as soon as a choice is made; without script its button does.
fn send(event: leptos::ev::Event) {
    #[cfg(feature = "hydrate")]
    {
        use leptos::wasm_bindgen::JsCast;
        let form = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok())
            .and_then(|field| field.closest("form").ok().flatten())
            .and_then(|form| form.dyn_into::<web_sys::HtmlFormElement>().ok());
        if let Some(form) = form {
            let _ = form.request_submit();
        }
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = event;
}

#[component]
fn Filter(
    path: String,
    query: DatasetQuery,
    agents: Vec<String>,
    archived: u64,
    found: u64,
    total: u64,
) -> impl IntoView {
    const COLOURS: [(&str, &str); 6] = [
        ("", "Any colour"),
        ("green", "Green"),
        ("red", "Red"),
        ("flaky", "Flaky"),
        ("neither", "Neither"),
        ("not-run", "Not run"),
    ];
    let colour = query.colour.clone().unwrap_or_default();
    let agent = query.agent.clone().unwrap_or_default();
    let filtered = search_of(&DatasetQuery {
        tag: None,
        sort: None,
        page: 1,
        ..query.clone()
    });
    let clear = format!(
        "{path}{}",
        search_of(&DatasetQuery {
            tag: query.tag.clone(),
            sort: query.sort.clone(),
            ..Default::default()
        })
    );
    let said = if found == total {
        count(total, "case", "cases")
    } else {
        format!("{} of {}", grouped(found), grouped(total))
    };
    view! {
        <Form action=path attr:class="flex flex-wrap items-center gap-2 py-3" attr:role="search">
            <input type="hidden" name="tag" value=query.tag.unwrap_or_default()/>
            <input type="hidden" name="sort" value=query.sort.unwrap_or_default()/>
            <label class="sr-only" for="q">"Words of the id or the question"</label>
            <input
                id="q"
                name="q"
                type="search"
                data-filter
                class="field w-full sm:w-80"
                placeholder="words of the id or the question"
                value=query.q.clone()
                prop:value=query.q
                maxlength="200"
            />
            <span class="hidden sm:inline"><crate::ui::Kbd keys="/"/></span>
            <label class="sr-only" for="colour">"Colour"</label>
            <select id="colour" name="colour" class="field w-auto" on:change=send>
                {COLOURS
                    .into_iter()
                    .map(|(value, word)| view! { <option value=value selected=value == colour>{word}</option> })
                    .collect_view()}
            </select>
            {(!agents.is_empty())
                .then(|| {
                    view! {
                        <label class="sr-only" for="agent">"On which agent"</label>
                        <select id="agent" name="agent" class="field w-auto" on:change=send>
                            <option value="">"on any agent"</option>
                            {agents
                                .into_iter()
                                .map(|name| {
                                    let selected = name == agent;
                                    view! { <option value=name.clone() selected=selected>{format!("on {name}")}</option> }
                                })
                                .collect_view()}
                        </select>
                    }
                })}
            {(archived > 0)
                .then(|| {
                    view! {
                        <label class="flex items-center gap-2 text-sm">
                            <input type="checkbox" class="role" name="archived" value="yes" checked=query.archived on:change=send/>
                            "archived too"
                        </label>
                    }
                })}
            <button class="btn sm">"Filter"</button>
            {(!filtered.is_empty()).then(|| view! { <a class="text-sm ml-1" href=clear>"Clear"</a> })}
            <span class="meta ml-auto" role="status">{said}</span>
        </Form>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_queries_are_one() {
        let query = DatasetQuery {
            q: "net debt & more".to_owned(),
            tag: Some("q4".to_owned()),
            colour: Some("red".to_owned()),
            agent: Some("ledger-bot".to_owned()),
            sort: Some("id".to_owned()),
            archived: true,
            page: 3,
        };
        let search = search_of(&query);
        assert_eq!(
            search,
            "?q=net%20debt%20%26%20more&tag=q4&colour=red&agent=ledger-bot&sort=id&archived=yes&page=3"
        );
        assert_eq!(
            search_of(&DatasetQuery {
                page: 1,
                ..Default::default()
            }),
            ""
        );
        let mut map = ParamsMap::new();
        for (key, value) in [
            ("q", "net debt & more"),
            ("tag", "q4"),
            ("colour", "red"),
            ("agent", "ledger-bot"),
            ("sort", "id"),
            ("archived", "yes"),
            ("page", "3"),
        ] {
            map.insert(key, value.to_owned());
        }
        assert_eq!(query_of(&map), query);
        assert_eq!(query_of(&ParamsMap::new()).page, 1);
    }
}
