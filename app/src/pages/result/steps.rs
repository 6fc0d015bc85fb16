//! What the server makes of a trajectory: its summary, which step opens first, which checkpoints cite which step, and the
//! notes that stand beside the steps.

use std::collections::BTreeMap;

use evalkit_core::explanation::{entry_verdicts, find};
use evalkit_core::verdict::{CheckVerdict, EntryVerdict};
use evalkit_core::view::result::{ResultPage, TrajectoryView};
use leptos::prelude::*;

use super::checkpoints::Checkpoints;
use super::query::ResultQuery;
use super::timeline::Timeline;
use super::trajectory::{StepsData, TrajectoryData};
use crate::ui::{Mark, Marked, Still, draw, grouped};

/// The section's data and its checkpoints, drawn at `now`; nothing when there is neither a trajectory nor a checkpoint.
pub fn trajectory_data(
    page: &ResultPage,
    query: Memo<ResultQuery>,
    now: i64,
) -> Option<(TrajectoryData, String)> {
    let sentences = page.case.trajectory_rubrics().to_vec();
    if page.trajectory.is_none() && sentences.is_empty() {
        return None;
    }
    let verdicts = entry_verdicts(&page.grades, "trajectory_rubrics");
    let grade = find(&page.grades, "trajectory_rubrics").cloned();
    let checkpoints = {
        let verdicts = verdicts.clone();
        draw(now, move || {
            (!sentences.is_empty()).then(|| view! { <Checkpoints sentences verdicts grade query/> })
        })
    };
    let data = TrajectoryData {
        summary: page.trajectory.as_ref().map(|t| summary(page, t)),
        steps: page.trajectory.clone().map(|trajectory| {
            let mut notes = BTreeMap::new();
            for (index, verdict) in verdicts.iter().cloned().enumerate() {
                if !verdict.citations.is_empty() {
                    let label = format!("T{}", index + 1);
                    let name = label.clone();
                    let note = draw(now, move || view! { <Cited label=name verdict query/> });
                    notes.insert(label, Still::new(note));
                }
            }
            let drawn = trajectory.clone();
            let problems = trajectory.problems.clone();
            StepsData {
                first: first_step(&trajectory, &verdicts),
                citations: citations(&verdicts),
                notes,
                above: Still::new(draw(now, move || {
                    view! {
                        {(!problems.is_empty()).then(|| view! { <Problems problems/> })}
                        <Timeline trajectory=drawn/>
                    }
                })),
                trajectory,
            }
        }),
        answered: page.answer.is_some() || page.output.is_some(),
    };
    Some((data, checkpoints))
}

fn summary(page: &ResultPage, trajectory: &TrajectoryView) -> String {
    let mut parts = vec![plural(trajectory.steps.len() as u64, "step")];
    if !trajectory.documents.is_empty() {
        parts.push(plural(trajectory.documents.len() as u64, "subagent"));
    }
    parts.push(plural(trajectory.tool_calls, "call"));
    if let Some(usage) = &page.usage {
        let tokens = usage.input_tokens.unwrap_or(0) + usage.output_tokens.unwrap_or(0);
        if tokens > 0 {
            parts.push(format!("{} tokens", grouped(tokens)));
        }
        if let Some(cost) = usage.cost_usd {
            parts.push(format!("${cost:.2}"));
        }
    }
    parts.join(", ")
}

fn plural(n: u64, word: &str) -> String {
    format!("{} {word}{}", grouped(n), if n == 1 { "" } else { "s" })
}

/// Which step each checkpoint cites.
fn citations(verdicts: &[EntryVerdict]) -> BTreeMap<String, Vec<(String, CheckVerdict)>> {
    let mut out: BTreeMap<String, Vec<(String, CheckVerdict)>> = BTreeMap::new();
    for (index, verdict) in verdicts.iter().enumerate() {
        let Some(standing) = verdict.verdict else {
            continue;
        };
        for address in &verdict.citations {
            out.entry(address.clone())
                .or_default()
                .push((format!("T{}", index + 1), standing));
        }
    }
    out
}

/// Which step is open before one is chosen: the first that an unsatisfied checkpoint cites, else the first with a call,
/// else the first.
fn first_step(trajectory: &TrajectoryView, verdicts: &[EntryVerdict]) -> Option<String> {
    let known = |address: &&String| {
        trajectory
            .steps
            .iter()
            .any(|step| &step.address == *address)
    };
    verdicts
        .iter()
        .filter(|v| v.verdict == Some(CheckVerdict::Unsatisfied))
        .flat_map(|v| &v.citations)
        .find(known)
        .cloned()
        .or_else(|| {
            trajectory
                .steps
                .iter()
                .find(|s| !s.copied && !s.calls.is_empty())
                .map(|s| s.address.clone())
        })
        .or_else(|| trajectory.steps.first().map(|s| s.address.clone()))
}

/// What a checkpoint says, beside a step that it cites.
#[component]
fn Cited(label: String, verdict: EntryVerdict, query: Memo<ResultQuery>) -> impl IntoView {
    let mark = verdict.verdict.map_or(Mark::Unscored, Mark::from);
    let tone = match mark {
        Mark::Satisfied => "note sat mt-4",
        Mark::Unsatisfied => "note inc mt-4",
        _ => "note look mt-4",
    };
    let others: Vec<String> = verdict.citations;
    view! {
        <div class=tone>
            <p class="text-sm break-words">
                <Marked mark text=format!("{label} {}", mark.word())/>
                <span class="said text-base ml-2">{verdict.rubric}</span>
            </p>
            <p class="text-sm text-ink-2 mt-1 break-words">
                {verdict.reason.map(|reason| format!("{reason} "))}
                "Cites "
                {others
                    .into_iter()
                    .enumerate()
                    .map(|(n, address)| {
                        let to = address.clone();
                        view! {
                            {(n > 0).then_some(", ")}
                            <a class="id" href=query.with_untracked(|q| q.at_step(&to)) data-step=to data-noscroll="">{address}</a>
                        }
                    })
                    .collect_view()}
                "."
            </p>
        </div>
    }
}

/// What the checker found; the run is graded all the same.
#[component]
fn Problems(problems: Vec<String>) -> impl IntoView {
    let count = problems.len() as u64;
    view! {
        <details class="note look mb-4">
            <summary class="text-sm">
                <Marked mark=Mark::NeedsALook text=plural(count, "problem")/>
                <span class="text-ink-2 ml-2">"in the trajectory’s format. The run was graded all the same."</span>
            </summary>
            <ul class="text-sm text-ink-2 mt-1.5 list-disc pl-5">
                {problems.into_iter().take(100).map(|line| view! { <li class="break-words">{line}</li> }).collect_view()}
            </ul>
        </details>
    }
}

#[cfg(test)]
mod tests {
    use evalkit_core::view::result::{CallView, StepView};

    use super::*;

    fn step(address: &str, title: &str, tool: Option<&str>) -> StepView {
        StepView {
            address: address.to_owned(),
            title: title.to_owned(),
            calls: tool
                .map(|name| CallView {
                    name: name.to_owned(),
                    arguments: "{\"q\": \"Net debt\"}".to_owned(),
                    ..CallView::default()
                })
                .into_iter()
                .collect(),
            ..StepView::default()
        }
    }

    fn verdict(verdict: CheckVerdict, citations: &[&str]) -> EntryVerdict {
        EntryVerdict {
            rubric: String::new(),
            rule: None,
            verdict: Some(verdict),
            unscored: None,
            evidence: Vec::new(),
            reason: None,
            citations: citations.iter().map(|c| (*c).to_owned()).collect(),
        }
    }

    #[test]
    fn the_step_of_a_missed_checkpoint_opens_first() {
        let trajectory = TrajectoryView {
            steps: vec![
                step("main:1", "asks", None),
                step("main:2", "calls", Some("get")),
                step("main:3", "answers", None),
            ],
            ..TrajectoryView::default()
        };
        let first = |verdicts: &[EntryVerdict]| first_step(&trajectory, verdicts);
        assert_eq!(first(&[]).as_deref(), Some("main:2"));
        assert_eq!(
            first(&[
                verdict(CheckVerdict::Satisfied, &["main:1"]),
                verdict(CheckVerdict::Unsatisfied, &["main:9", "main:3"])
            ])
            .as_deref(),
            Some("main:3")
        );
    }

    #[test]
    fn citations_by_step() {
        let cited = citations(&[
            verdict(CheckVerdict::Satisfied, &["main:1", "main:2"]),
            verdict(CheckVerdict::Unsatisfied, &["main:1"]),
        ]);
        assert_eq!(
            cited["main:1"],
            [
                ("T1".to_owned(), CheckVerdict::Satisfied),
                ("T2".to_owned(), CheckVerdict::Unsatisfied)
            ]
        );
        assert_eq!(cited["main:2"].len(), 1);
    }
}
