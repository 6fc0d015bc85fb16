//! Dataset: the case table, paged, searched and filtered on the server; every choice lives in the address.

#[cfg(feature = "ssr")]
mod drawn;

use evalkit_core::view::dataset::DatasetQuery;
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::components::Form;
use leptos_router::hooks::{use_params_map, use_query_map};
use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
pub use drawn::ResultCell;

use super::run_form::RunForm;
use super::{PageHead, count, query_string};
use crate::load::{self, Answer, Parts};
use crate::ui::{StillPart, Time, grouped};

/// What the browser needs of the page beside its drawn parts: the splits, then the cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DatasetData {
    workspace: String,
    slug: String,
    total: u64,
    found: u64,
    archived: u64,
    synced_at: Option<i64>,
    synced_by: Option<String>,
    /// Those that the filter offers.
    agents: Vec<String>,
    /// What a run would ask; none when nothing can be run.
    run: Option<Runnable>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Runnable {
    agents: Vec<String>,
    cases: u64,
}

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
) -> Answer<DatasetData> {
    let asked = query.clone();
    crate::server::drawn(
        |store, ctx| async move { store.dataset_page(&ctx, &workspace, &dataset, &query).await },
        |now, dataset| parts_of(now, dataset, &asked),
    )
    .await
}

#[cfg(feature = "ssr")]
fn parts_of(
    now: i64,
    dataset: evalkit_core::view::dataset::Dataset,
    query: &DatasetQuery,
) -> (DatasetData, Vec<String>) {
    let path = format!("/w/{}/d/{}", dataset.workspace, dataset.slug);
    let run = (dataset.may_run && dataset.total > 0).then(|| Runnable {
        agents: dataset.runnable_agents.clone(),
        cases: query.tag.as_ref().map_or(dataset.total, |tag| {
            dataset
                .tags
                .iter()
                .find(|(name, _)| name == tag)
                .map_or(0, |(_, n)| *n)
        }),
    });
    let data = DatasetData {
        workspace: dataset.workspace.clone(),
        slug: dataset.slug.clone(),
        total: dataset.total,
        found: dataset.found,
        archived: dataset.archived,
        synced_at: dataset.synced_at,
        synced_by: dataset.synced_by.clone(),
        agents: dataset.agents.clone(),
        run,
    };
    let (tags, total) = (dataset.tags.clone(), dataset.total);
    let splits = {
        let (path, query) = (path.clone(), query.clone());
        crate::ui::draw(
            now,
            move || view! { <drawn::Splits path query tags total/> },
        )
    };
    let query = query.clone();
    let found = crate::ui::draw(now, move || view! { <drawn::Found dataset query path/> });
    (data, vec![splits, found])
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
    let page = load::resource(
        move || key.get(),
        |(workspace, dataset, query)| DatasetPage {
            workspace,
            dataset,
            query,
        },
    );
    load::page(page, "Loading cases", move |dataset: DatasetData, parts| {
        let query = key.with_untracked(|(_, _, query)| query.clone());
        view! { <Whole dataset query parts/> }
    })
}

#[component]
fn Whole(dataset: DatasetData, query: DatasetQuery, parts: Parts) -> impl IntoView {
    let path = format!("/w/{}/d/{}", dataset.workspace, dataset.slug);
    let meta = {
        let (total, archived) = (dataset.total, dataset.archived);
        let (synced_at, synced_by) = (dataset.synced_at, dataset.synced_by);
        move || {
            let by = synced_by.clone().map(|who| format!(" by {who}"));
            view! {
                {count(total, "case", "cases")}
                {(archived > 0).then(|| format!(", {} archived", grouped(archived)))}
                {synced_at.map(|at| view! { ", synced " <Time at/> {by} })}
            }
        }
    };
    let run = dataset.run.map(|run| {
        view! {
            <RunForm
                workspace=dataset.workspace.clone()
                dataset=dataset.slug.clone()
                agents=run.agents
                split=query.tag.clone()
                cases=run.cases
            />
        }
    });
    view! {
        <Title text=format!("{} in {}", dataset.slug, dataset.workspace)/>
        <div class="wrap pb-28">
            <PageHead workspace=dataset.workspace title=dataset.slug meta>
                {run}
            </PageHead>
            <StillPart part=parts.part(0) class="mt-4"/>
            <Filter path query agents=dataset.agents archived=dataset.archived found=dataset.found total=dataset.total/>
            <StillPart part=parts.part(1)/>
        </div>
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
