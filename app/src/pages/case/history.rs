//! What the case came to in each run, per agent, oldest first.

use std::collections::BTreeMap;

use evalkit_core::grade::Colour;
use evalkit_core::view::case::{Case, HistoryRow};
use leptos::prelude::*;

use crate::ui::{Clock, Empty, Mark, MarkShape, Marked, ScrollTable, ago, exact};

/// More runs are on the runs page.
const MOST: usize = 24;

/// One run's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Column {
    run: i64,
    version: u32,
    at: i64,
}

/// The section.
#[component]
pub fn History(
    /// The page.
    case: Case,
) -> impl IntoView {
    let columns = columns(&case.history);
    let base = format!("/w/{}/runs", case.workspace);
    let case_id = case.case.id.clone();
    let legend = [
        Mark::Green,
        Mark::Red,
        Mark::Flaky,
        Mark::Unscored,
        Mark::Error,
    ];
    view! {
        <section id="h" class="mt-12 scroll-mt-16" aria-labelledby="h-title">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1 mb-2">
                <h2 class="h2" id="h-title">"History"</h2>
                {(!columns.is_empty())
                    .then(|| {
                        view! {
                            <span class="flex flex-wrap gap-x-4">
                                {legend.into_iter().map(|mark| view! { <Marked mark/> }).collect_view()}
                                <Marked mark=Mark::NotRun/>
                            </span>
                        }
                    })}
            </div>
            {if columns.is_empty() {
                view! {
                    <Empty title="Not run yet" text="Each run of this case leaves a mark here, so that one sees when it turned red or green and on which version."/>
                }
                    .into_any()
            } else {
                view! {
                    <ScrollTable label="History strip">
                        <table class="text-sm border-collapse">
                            <caption class="sr-only">"Result of each agent in the last " {columns.len()} " runs, oldest first"</caption>
                            <thead>
                                <tr class="eyebrow text-left">
                                    <th scope="col" class="font-normal pr-4 min-w-[120px]">"agent"</th>
                                    {groups(&columns)
                                        .into_iter()
                                        .map(|(version, span, at)| {
                                            view! {
                                                <th scope="colgroup" colspan=span class="font-normal pl-1.5 pr-2 border-l border-rule whitespace-nowrap" title=exact(at)>
                                                    "v" {version} {(span > 2).then(|| format!(" from {}", ago(at, Clock::now())))}
                                                </th>
                                            }
                                        })
                                        .collect_view()}
                                    <th scope="col" class="font-normal num pl-4">"green"</th>
                                </tr>
                            </thead>
                            <tbody>
                                {case
                                    .history
                                    .into_iter()
                                    .map(|row| {
                                        let green = row.cells.iter().filter(|cell| cell.colour == Colour::Green).count();
                                        let of = row.cells.len();
                                        let cells: BTreeMap<i64, Colour> = row.cells.iter().map(|cell| (cell.run, cell.colour)).collect();
                                        let agent = row.agent.clone();
                                        view! {
                                            <tr>
                                                <th scope="row" class="text-left font-normal py-1 pr-4 id">{row.agent}</th>
                                                {columns
                                                    .iter()
                                                    .enumerate()
                                                    .map(|(index, column)| {
                                                        let first = index == 0 || columns[index - 1].version != column.version;
                                                        let class = if first { "py-1 px-1.5 border-l border-rule" } else { "py-1 px-1.5" };
                                                        let href = format!("{base}/{}/c/{case_id}", column.run);
                                                        let colour = cells.get(&column.run).copied();
                                                        let title = format!(
                                                            "{agent}, run {}, v{}: {}",
                                                            column.run,
                                                            column.version,
                                                            colour.map_or("not run", |colour| Mark::from(colour).word()),
                                                        );
                                                        view! {
                                                            <td class=class>
                                                                {match colour {
                                                                    Some(colour) => {
                                                                        let mark = Mark::from(colour);
                                                                        view! {
                                                                            <a class=format!("v {}", mark.tone().class()) href=href title=title.clone()>
                                                                                <MarkShape mark/>
                                                                                <span class="sr-only">{title.clone()}</span>
                                                                            </a>
                                                                        }
                                                                            .into_any()
                                                                    }
                                                                    None => view! { <Marked mark=Mark::NotRun only_shape=true/> }.into_any(),
                                                                }}
                                                            </td>
                                                        }
                                                    })
                                                    .collect_view()}
                                                <td class="num pl-4">{green} " of " {of}</td>
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
        </section>
    }
}

/// Every run that any agent had, oldest first, the last [`MOST`].
fn columns(history: &[HistoryRow]) -> Vec<Column> {
    let mut by_run = BTreeMap::new();
    for cell in history.iter().flat_map(|row| &row.cells) {
        by_run.entry(cell.run).or_insert(Column {
            run: cell.run,
            version: cell.version,
            at: cell.at,
        });
    }
    let mut columns: Vec<Column> = by_run.into_values().collect();
    columns.sort_by_key(|column| (column.at, column.run));
    columns.split_off(columns.len().saturating_sub(MOST))
}

/// Neighbouring columns of one version: version, how many, when the first ran.
fn groups(columns: &[Column]) -> Vec<(u32, usize, i64)> {
    let mut groups: Vec<(u32, usize, i64)> = Vec::new();
    for column in columns {
        match groups.last_mut() {
            Some((version, span, _)) if *version == column.version => *span += 1,
            _ => groups.push((column.version, 1, column.at)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use evalkit_core::view::case::HistoryCell;

    use super::*;

    fn row(agent: &str, cells: &[(i64, u32)]) -> HistoryRow {
        HistoryRow {
            agent: agent.to_owned(),
            cells: cells
                .iter()
                .map(|(run, version)| HistoryCell {
                    run: *run,
                    colour: Colour::Red,
                    version: *version,
                    at: *run,
                })
                .collect(),
        }
    }

    #[test]
    fn agents_share_columns_and_versions_part_them() {
        let columns = columns(&[row("a", &[(1, 1), (4, 2)]), row("b", &[(2, 1), (5, 2)])]);
        assert_eq!(
            columns.iter().map(|c| c.run).collect::<Vec<_>>(),
            [1, 2, 4, 5]
        );
        assert_eq!(groups(&columns), [(1, 2, 1), (2, 2, 4)]);
    }

    #[test]
    fn only_the_last_runs_are_shown() {
        let cells: Vec<(i64, u32)> = (1..=40).map(|run| (run, 1)).collect();
        let columns = columns(&[row("a", &cells)]);
        assert_eq!(columns.len(), MOST);
        assert_eq!(columns.last().map(|c| c.run), Some(40));
    }
}
