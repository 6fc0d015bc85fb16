//! One cell a case: its mark, its id on hover, and a way to its result.

use std::collections::BTreeMap;

use evalkit_core::grade::Colour;
use evalkit_core::view::experiment::TrialCell;
use leptos::prelude::*;

use super::live::{Cells, Live};
use crate::ui::{Empty, Mark, MarkShape, Marked, grouped};

/// More cells are not drawn.
const MOST: usize = 4_000;

/// A case over its trials.
#[derive(Debug, Clone, PartialEq, Eq)]
struct CaseCell {
    mark: Mark,
    title: String,
}

/// The section.
#[component]
pub fn CaseGrid(
    /// The run.
    live: Live,
) -> impl IntoView {
    let cases = Memo::new(move |_| live.cells.with(by_case));
    let ids =
        Memo::new(move |_| cases.with(|cases| cases.keys().cloned().collect::<Vec<String>>()));
    let tally = Memo::new(move |_| {
        let mut tally: Vec<(Mark, u64)> = Vec::new();
        cases.with(|cases| {
            for cell in cases.values() {
                match tally.iter_mut().find(|(mark, _)| *mark == cell.mark) {
                    Some((_, n)) => *n += 1,
                    None => tally.push((cell.mark, 1)),
                }
            }
        });
        tally.sort_by_key(|(mark, _)| Mark::ALL.iter().position(|m| m == mark));
        tally.sort_by_key(|(mark, _)| match mark {
            Mark::Green => 0,
            Mark::Red => 1,
            Mark::Flaky => 2,
            _ => 3,
        });
        tally
    });
    let base = live
        .page
        .with_untracked(|page| format!("/w/{}/runs/{}/c", page.workspace, page.run));
    view! {
        <section aria-labelledby="cases-title">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1 mb-2">
                <h2 class="h2" id="cases-title">"Cases"</h2>
                <span class="flex flex-wrap gap-x-4 gap-y-1">
                    {move || {
                        tally
                            .get()
                            .into_iter()
                            .map(|(mark, n)| view! { <Marked mark text=format!("{} {}", grouped(n), mark.word())/> })
                            .collect_view()
                    }}
                </span>
            </div>
            {move || {
                ids.with(Vec::is_empty)
                    .then(|| view! { <Empty title="No case was planned" text="Every case of this dataset was left out; see “Frozen on” for the reason."/> })
            }}
            <ul class="flex flex-wrap -ml-[5px]">
                <For
                    each=move || ids.get().into_iter().take(MOST)
                    key=String::clone
                    children=move |id| {
                        let href = format!("{base}/{id}");
                        let name = id.clone();
                        let cell = Memo::new(move |_| cases.with(|cases| cases.get(&id).cloned()));
                        view! {
                            <li>
                                <a
                                    class=move || {
                                        format!("case-cell v {}", cell.get().map_or("", |cell| cell.mark.tone().class()))
                                    }
                                    href=href
                                    title=move || cell.get().map(|cell| cell.title)
                                >
                                    {move || cell.get().map(|cell| view! { <MarkShape mark=cell.mark/> })}
                                    <span class="sr-only">{move || cell.get().map_or_else(|| name.clone(), |cell| cell.title)}</span>
                                </a>
                            </li>
                        }
                    }
                />
            </ul>
            {move || {
                let more = ids.with(Vec::len).saturating_sub(MOST);
                (more > 0).then(|| view! { <p class="meta mt-2">{grouped(more as u64)} " more cases; the dataset’s table has them all."</p> })
            }}
        </section>
    }
}

/// Each case over its trials.
fn by_case(cells: &Cells) -> BTreeMap<String, CaseCell> {
    let mut trials: BTreeMap<&str, Vec<&TrialCell>> = BTreeMap::new();
    for ((case_id, _), cell) in cells {
        trials.entry(case_id).or_default().push(cell);
    }
    trials
        .into_iter()
        .map(|(case_id, trials)| (case_id.to_owned(), case_cell(case_id, &trials)))
        .collect()
}

/// The mark of a case (`grading.md`: green when all trials are, red when none is, else flaky; anything open, unscored or in
/// error stands out before that).
fn case_cell(case_id: &str, trials: &[&TrialCell]) -> CaseCell {
    let open = |state: &str| matches!(state, "queued" | "running" | "recorded" | "grading");
    let count = |keep: &dyn Fn(&TrialCell) -> bool| trials.iter().filter(|cell| keep(cell)).count();
    let n = trials.len();
    let green = count(&|cell| cell.colour == Colour::Green);
    let red = count(&|cell| cell.colour == Colour::Red);
    let busy = count(&|cell| open(&cell.state) && cell.state != "queued");
    let queued = count(&|cell| cell.state == "queued");
    let mark = if busy > 0 || (queued > 0 && queued < n) {
        Mark::Running
    } else if queued == n {
        Mark::Queued
    } else if let Some(other) = trials
        .iter()
        .find(|cell| !matches!(cell.colour, Colour::Green | Colour::Red))
    {
        Mark::from(other.colour)
    } else if green == n {
        Mark::Green
    } else if red == n {
        Mark::Red
    } else {
        Mark::Flaky
    };
    let mut title = format!("{case_id}: {}", mark.word());
    if let [cell] = trials {
        if cell.of > 0 && matches!(mark, Mark::Green | Mark::Red | Mark::Unscored) {
            title.push_str(&format!(", {} of {}", cell.satisfied, cell.of));
        }
    } else if matches!(mark, Mark::Green | Mark::Red | Mark::Flaky) {
        title.push_str(&format!(", {green} of {n} trials green"));
    }
    if trials.iter().any(|cell| cell.needs_a_look) {
        title.push_str(", needs a look");
    }
    CaseCell { mark, title }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(trial: u32, state: &str, colour: Colour) -> TrialCell {
        TrialCell {
            case_id: "x".to_owned(),
            trial,
            state: state.to_owned(),
            colour,
            satisfied: 5,
            of: 9,
            needs_a_look: false,
        }
    }

    fn mark(trials: &[TrialCell]) -> (Mark, String) {
        let cell = case_cell("x", &trials.iter().collect::<Vec<_>>());
        (cell.mark, cell.title)
    }

    #[test]
    fn one_trial_says_its_count() {
        assert_eq!(
            mark(&[cell(1, "done", Colour::Red)]),
            (Mark::Red, "x: red, 5 of 9".to_owned())
        );
        assert_eq!(
            mark(&[cell(1, "queued", Colour::Open)]),
            (Mark::Queued, "x: queued".to_owned())
        );
        assert_eq!(
            mark(&[cell(1, "grading", Colour::Open)]),
            (Mark::Running, "x: running".to_owned())
        );
        assert_eq!(mark(&[cell(1, "error", Colour::Error)]).0, Mark::Error);
    }

    #[test]
    fn several_trials_agree_or_are_flaky() {
        let (green, red) = (Colour::Green, Colour::Red);
        assert_eq!(
            mark(&[cell(1, "done", green), cell(2, "done", red)]),
            (Mark::Flaky, "x: flaky, 1 of 2 trials green".to_owned())
        );
        assert_eq!(
            mark(&[cell(1, "done", green), cell(2, "done", green)]).0,
            Mark::Green
        );
        assert_eq!(
            mark(&[cell(1, "done", green), cell(2, "done", Colour::Unscored)]).0,
            Mark::Unscored
        );
        assert_eq!(
            mark(&[cell(1, "done", green), cell(2, "queued", Colour::Open)]).0,
            Mark::Running
        );
    }

    #[test]
    fn a_look_is_said() {
        let mut looked = cell(1, "done", Colour::Green);
        looked.needs_a_look = true;
        assert!(mark(&[looked]).1.ends_with("needs a look"));
    }
}
