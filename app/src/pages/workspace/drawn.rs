//! What the server draws of a workspace: all of it.

use evalkit_core::view::workspace::{AgentColours, DatasetRow, Happening, Member, Workspace};
use leptos::prelude::*;

use crate::pages::{PageHead, count};
use crate::ui::{
    Avatar, ColourBar, Empty, LinePlot, Mark, Marked, PlotSeries, ScrollTable, Sparkline, Time,
    percent,
};

/// The page.
#[component]
pub fn Whole(
    /// Its data.
    workspace: Workspace,
) -> impl IntoView {
    let Workspace {
        name,
        personal,
        agents,
        datasets,
        members,
        lately,
        series,
        may_run,
        may_edit,
    } = workspace;
    let cases: u64 = datasets.iter().map(|dataset| dataset.cases).sum();
    let meta = format!(
        "{}{} in {}, {}",
        if personal { "yours alone, " } else { "" },
        count(cases, "case", "cases"),
        count(datasets.len() as u64, "dataset", "datasets"),
        count(agents.len() as u64, "agent", "agents"),
    );
    let total = datasets
        .iter()
        .flat_map(|dataset| dataset.colours.iter().flatten())
        .count();
    let series: Vec<PlotSeries> = series
        .into_iter()
        .filter(|line| line.points.len() > 1)
        .map(|line| PlotSeries {
            name: line.agent,
            points: line
                .points
                .iter()
                .map(|point| (point.at, point.value))
                .collect(),
        })
        .collect();
    let runs = format!("/w/{name}/runs");
    let agents_page = format!("/w/{name}/agents");
    view! {
        <div class="wrap pb-24">
            <PageHead title=name.clone() meta=move || meta.clone()>
                <a class="btn plain" href=agents_page>"Agents"</a>
                {(may_run && total > 0).then(|| view! { <a class="btn" href=runs>"Runs"</a> })}
            </PageHead>
            <section class="mt-8" aria-labelledby="datasets">
                <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1">
                    <h2 class="h2" id="datasets">"Datasets"</h2>
                    {(total > 0).then(|| view! { <span class="meta">"colours are of the latest run of each agent"</span> })}
                </div>
                {if datasets.is_empty() {
                    view! {
                        <div class="mt-4 max-w-[62ch]">
                            <Empty
                                title=format!("No datasets in {name} yet")
                                text="A case says what a right answer contains. Bring a folder of YAML from the command."
                            >
                                {may_edit
                                    .then(|| {
                                        view! {
                                            <code class="well px-2 py-1 text-sm">
                                                {format!("evalkit sync cases/ --dataset my-cases@{name}")}
                                            </code>
                                        }
                                    })}
                            </Empty>
                        </div>
                    }
                        .into_any()
                } else {
                    view! { <Datasets workspace=name.clone() agents datasets/> }.into_any()
                }}
            </section>
            <div class="grid gap-x-14 gap-y-10 mt-10 lg:grid-cols-[minmax(0,1fr)_minmax(0,400px)]">
                <section class="min-w-0">
                    <h2 class="h2">"Pooled score per agent"</h2>
                    {if series.is_empty() {
                        view! { <p class="meta mt-1">"A line appears here once an agent has run twice."</p> }.into_any()
                    } else {
                        view! { <LinePlot title="Pooled score per agent over time" series/> }.into_any()
                    }}
                </section>
                <div class="min-w-0 space-y-10">
                    {(!personal).then(|| view! { <Members members/> })}
                    <Lately lately/>
                </div>
            </div>
        </div>
    }
}

#[component]
fn Datasets(workspace: String, agents: Vec<String>, datasets: Vec<DatasetRow>) -> impl IntoView {
    view! {
        <div class="mt-1">
            <ScrollTable label="Datasets">
                <table class="tbl md:min-w-[760px]">
                    <thead>
                        <tr>
                            <th scope="col">"Dataset"</th>
                            <th scope="col" class="hidden md:table-cell">"Pooled score, last runs"</th>
                            {agents
                                .into_iter()
                                .map(|agent| view! { <th scope="col" class="id text-xs">{agent}</th> })
                                .collect_view()}
                        </tr>
                    </thead>
                    <tbody>
                        {datasets
                            .into_iter()
                            .map(|dataset| view! { <Row workspace=workspace.clone() dataset/> })
                            .collect_view()}
                    </tbody>
                </table>
            </ScrollTable>
        </div>
    }
}

#[component]
fn Row(workspace: String, dataset: DatasetRow) -> impl IntoView {
    let score = dataset.sparkline.last().copied();
    view! {
        <tr data-row tabindex="-1">
            <th scope="row" class="text-ink">
                <a class="id text-base font-semibold quiet text-ink" href=format!("/w/{workspace}/d/{}", dataset.slug)>
                    {dataset.slug.clone()}
                </a>
                <span class="meta block">{count(dataset.cases, "case", "cases")}</span>
                {dataset
                    .synced_at
                    .map(|at| {
                        view! {
                            <span class="eyebrow block">
                                "synced " <Time at/> {dataset.synced_by.map(|who| format!(" by {who}"))}
                            </span>
                        }
                    })}
            </th>
            <td class="hidden md:table-cell">
                <span class="flex items-center gap-3">
                    <Sparkline values=dataset.sparkline/>
                    {match score {
                        Some(score) => view! { <b class="font-semibold">{percent(score)}</b> }.into_any(),
                        None => view! { <Marked mark=Mark::NotRun/> }.into_any(),
                    }}
                </span>
            </td>
            {dataset.colours.into_iter().map(|colours| view! { <td><Colours colours/></td> }).collect_view()}
        </tr>
    }
}

#[component]
fn Colours(colours: Option<AgentColours>) -> impl IntoView {
    match colours {
        Some(colours) => view! { <ColourBar colours/> }.into_any(),
        None => view! { <Marked mark=Mark::NotRun/> }.into_any(),
    }
}

#[component]
fn Members(members: Vec<Member>) -> impl IntoView {
    view! {
        <section>
            <h2 class="h2 mb-1">"Members"</h2>
            <ul class="rule-b">
                {members
                    .into_iter()
                    .map(|member| {
                        view! {
                            <li class="rule-t py-2.5 flex items-center gap-3">
                                <Avatar name=member.display_name.clone()/>
                                <span>
                                    <span class="font-semibold">{member.display_name}</span>
                                    {member.you.then(|| view! { <span class="text-ink-3">" you"</span> })}
                                    <span class="meta block">{member.roles.join(", ")}</span>
                                </span>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
}

#[component]
fn Lately(lately: Vec<Happening>) -> impl IntoView {
    view! {
        <section>
            <h2 class="h2 mb-1">"Lately"</h2>
            {lately.is_empty().then(|| view! { <p class="meta">"Syncs and runs appear here."</p> })}
            <ul>
                {lately
                    .into_iter()
                    .map(|it| {
                        view! {
                            <li class="rule-t py-2 grid grid-cols-[88px_minmax(0,1fr)] gap-3 text-sm">
                                <span class="text-ink-3"><Time at=it.at/></span>
                                <span class="min-w-0 break-words">
                                    {it.who} " "
                                    {match it.href {
                                        Some(href) => view! { <a href=href>{it.what}</a> }.into_any(),
                                        None => it.what.into_any(),
                                    }}
                                </span>
                            </li>
                        }
                    })
                    .collect_view()}
            </ul>
        </section>
    }
}
