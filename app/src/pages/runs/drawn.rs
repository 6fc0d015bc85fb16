//! What the server draws of the list of runs: all of it.

use evalkit_core::experiment::ExperimentState;
use evalkit_core::view::runs::{RunRow, Runs, RunsQuery};
use leptos::prelude::*;

use crate::pages::{PageHead, count, query_string};
use crate::ui::{
    Empty, IntervalPlot, Kbd, Mark, Marked, Pager, ScoreAxis, ScrollTable, Tab, Tabs, Time,
    grouped, percent,
};

fn search_of(query: &RunsQuery) -> String {
    let page = if query.page > 1 {
        query.page.to_string()
    } else {
        String::new()
    };
    query_string(&[
        ("dataset", query.dataset.as_deref().unwrap_or_default()),
        ("agent", query.agent.as_deref().unwrap_or_default()),
        ("page", &page),
    ])
}

/// The page.
#[component]
pub fn Whole(
    /// Its data.
    runs: Runs,
    /// What the address asks for.
    query: RunsQuery,
) -> impl IntoView {
    let path = format!("/w/{}/runs", runs.workspace);
    let running = runs
        .rows
        .iter()
        .filter(|row| row.state == ExperimentState::Running)
        .count();
    let meta = {
        let found = runs.found;
        move || {
            let under_way = if running > 0 {
                format!(", {running} running")
            } else {
                String::new()
            };
            format!("{}{under_way}", count(found, "run", "runs"))
        }
    };
    let filtered = query.dataset.is_some() || query.agent.is_some();
    let to = |query: RunsQuery| format!("{path}{}", search_of(&query));
    let choice = |names: &[String],
                  chosen: &Option<String>,
                  all: &str,
                  with: &dyn Fn(Option<String>) -> RunsQuery| {
        let mut tabs = vec![Tab {
            name: all.to_owned(),
            count: None,
            href: to(with(None)),
            current: chosen.is_none(),
        }];
        for name in names {
            tabs.push(Tab {
                name: name.clone(),
                count: None,
                href: to(with(Some(name.clone()))),
                current: chosen.as_ref() == Some(name),
            });
        }
        tabs
    };
    let agents = choice(&runs.agents, &query.agent, "Any agent", &|agent| {
        RunsQuery {
            agent,
            page: 1,
            ..query.clone()
        }
    });
    let datasets = choice(&runs.datasets, &query.dataset, "Any dataset", &|dataset| {
        RunsQuery {
            dataset,
            page: 1,
            ..query.clone()
        }
    });
    let pager = {
        let (path, query) = (path.clone(), query.clone());
        move |page| {
            format!(
                "{path}{}",
                search_of(&RunsQuery {
                    page,
                    ..query.clone()
                })
            )
        }
    };
    let (page, per_page, found) = (runs.page, runs.per_page, runs.found);
    let datasets_page = format!("/w/{}", runs.workspace);
    let datasets_link = datasets_page.clone();
    let command = format!("evalkit run DATASET@{} --agent AGENT", runs.workspace);
    let several_judges = runs.rows.iter().any(|row| !row.judge.quality_signal);
    view! {
        <div class="wrap pb-28">
            <PageHead workspace=runs.workspace.clone() title="Runs" meta>
                <a class="btn plain" href=datasets_link>"Datasets"</a>
            </PageHead>
            {(runs.agents.len() > 1).then(|| view! { <div class="mt-3"><Tabs label="Agent" tabs=agents/></div> })}
            {(runs.datasets.len() > 1).then(|| view! { <div class="mt-1"><Tabs label="Dataset" tabs=datasets/></div> })}
            <div class="mt-4">
                {if runs.rows.is_empty() && filtered {
                    view! {
                        <Empty title="No run fits" text="No run is of this agent and this dataset.">
                            <a class="btn sm" href=path.clone()>"Show all runs"</a>
                        </Empty>
                    }
                        .into_any()
                } else if runs.rows.is_empty() {
                    view! {
                        <Empty
                            title=format!("No runs in {} yet", runs.workspace)
                            text="A run asks an agent every question of a dataset and grades what comes back. Open a dataset to start one, or use the command."
                        >
                            <a class="btn sm" href=datasets_page>"Datasets"</a>
                            <code class="well px-2 py-1 text-sm">{command}</code>
                        </Empty>
                    }
                        .into_any()
                } else {
                    view! { <Table workspace=runs.workspace.clone() rows=runs.rows/> }.into_any()
                }}
            </div>
            <Pager page per_page found href=pager/>
            <p class="meta pt-2 flex flex-wrap items-center gap-x-6 gap-y-1">
                <span class="hidden sm:inline-flex items-center gap-1.5"><Kbd keys="J"/> <Kbd keys="K"/> "move, " <Kbd keys="Enter"/> "open"</span>
                <span>"Scores of different datasets or judges are not on one scale; the list does not rank them."</span>
                {several_judges.then(|| view! { <span>"Scores of the offline and the fake judge are not a quality signal."</span> })}
            </p>
        </div>
    }
}

#[component]
fn Table(workspace: String, rows: Vec<RunRow>) -> impl IntoView {
    view! {
        <ScrollTable label="Runs">
            <table class="tbl md:min-w-[1000px]">
                <thead>
                    <tr>
                        <th scope="col" class="w-14">"Run"</th>
                        <th scope="col">"Agent and dataset"</th>
                        <th scope="col">"Status"</th>
                        <th scope="col" class="num hidden md:table-cell">"Pooled"</th>
                        <th scope="col" class="w-[25%] hidden md:table-cell"><ScoreAxis/></th>
                        <th scope="col" class="num hidden md:table-cell">"Interval"</th>
                        <th scope="col" class="num hidden md:table-cell">"Rubrics"</th>
                        <th scope="col" class="hidden md:table-cell">"By"</th>
                        <th scope="col" class="num">"When"</th>
                    </tr>
                </thead>
                <tbody>
                    {rows
                        .into_iter()
                        .enumerate()
                        .map(|(index, row)| view! { <Row workspace=workspace.clone() row first=index == 0/> })
                        .collect_view()}
                </tbody>
            </table>
        </ScrollTable>
    }
}

/// How a run stands, in a mark: a finished run that lacks results is incomplete, not done.
pub fn run_mark(row: &RunRow) -> Mark {
    let counts = &row.counts;
    match row.state {
        ExperimentState::Finished if counts.error + counts.budget + row.unscored > 0 => {
            Mark::Incomplete
        }
        state => Mark::from(state),
    }
}

/// The remarks under a run's name: split, what is missing, which judge.
fn remarks(row: &RunRow) -> String {
    let mut said = Vec::new();
    if let Some(split) = &row.split {
        said.push(format!("split {split}"));
    }
    if row.counts.error > 0 {
        said.push(format!("{} in error", grouped(row.counts.error)));
    }
    if row.unscored > 0 {
        said.push(format!("{} with something unscored", grouped(row.unscored)));
    }
    if row.state == ExperimentState::Cancelled {
        said.push(format!(
            "cancelled at {} of {}",
            grouped(row.counts.done),
            grouped(row.counts.planned())
        ));
    }
    if !row.judge.quality_signal {
        said.push(format!(
            "{} judge: not a quality signal",
            row.judge.provider
        ));
    } else if row.judge.provider == "replay" {
        said.push("recorded judge".to_owned());
    }
    said.join(", ")
}

/// A count that is a whole number but travels as a float.
fn whole(number: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts of rubrics, far below 2^52"
    )]
    let whole = number.max(0.0).round() as u64;
    grouped(whole)
}

#[component]
fn Row(workspace: String, row: RunRow, first: bool) -> impl IntoView {
    let href = format!("/w/{workspace}/runs/{}", row.run);
    let mark = run_mark(&row);
    let remarks = remarks(&row);
    let open = row.counts.open() > 0;
    let ended = format!(
        "{} of {} trials ended",
        grouped(row.counts.planned() - row.counts.open()),
        grouped(row.counts.planned())
    );
    let interval = row
        .score
        .and_then(|score| score.low.zip(score.high))
        .map_or_else(String::new, |(low, high)| {
            format!("{:.1} to {:.1}", low * 100.0, high * 100.0)
        });
    let muted = !row.judge.quality_signal;
    // A score over fewer cases than planned says so wherever it stands.
    let over = row
        .score
        .filter(|score| score.cases < score.of_cases)
        .map(|score| {
            format!(
                "over {} of {} cases",
                grouped(score.cases),
                grouped(score.of_cases)
            )
        });
    let narrow = row
        .score
        .map(|score| (percent(score.value), interval.clone()));
    view! {
        <tr data-row tabindex=if first { "0" } else { "-1" }>
            <td><a class="font-semibold quiet text-ink" href=href>{row.run}</a></td>
            <td>
                <span class="id">{row.agent}</span> <span class="text-ink-3">" on "</span> <span class="id">{row.dataset}</span>
                {(!remarks.is_empty()).then(|| view! { <span class="eyebrow block">{remarks}</span> })}
                {narrow
                    .map(|(value, interval)| {
                        view! {
                            <span class="md:hidden text-sm block">
                                <b class="font-semibold">{value}</b> " " <span class="text-ink-3">{interval} " " {over.clone()}</span>
                            </span>
                        }
                    })}
            </td>
            <td><Marked mark/></td>
            <td class="num font-semibold hidden md:table-cell" class:text-ink-3=muted>
                {row.score.map(|score| percent(score.value))}
            </td>
            <td class="hidden md:table-cell align-middle py-0">
                {match row.score {
                    Some(score) => {
                        view! { <IntervalPlot value=score.value low=score.low high=score.high/> }.into_any()
                    }
                    None if open => view! { <span class="text-ink-3">{ended}</span> }.into_any(),
                    None => view! { <span class="text-ink-3">"nothing was scored"</span> }.into_any(),
                }}
            </td>
            <td class="num text-ink-3 hidden md:table-cell">{interval}</td>
            <td class="num text-ink-3 hidden md:table-cell">
                {row.score.map(|score| format!("{} of {}", whole(score.num), whole(score.den)))}
                {over.clone().map(|over| view! { <span class="eyebrow block">{over}</span> })}
            </td>
            <td class="whitespace-nowrap hidden md:table-cell">{row.by}</td>
            <td class="num text-ink-3"><Time at=row.finished_at.unwrap_or(row.started_at)/></td>
        </tr>
    }
}
