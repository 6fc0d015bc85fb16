//! Failures of one kind together, the largest group first (`runs.md`, Analyze).

use evalkit_core::case::RubricType;
use evalkit_core::view::experiment::FailureGroup;
use leptos::prelude::*;

use crate::ui::{Mark, Marked, grouped};

/// Cases named at once; the rest opens on demand.
const NAMED: usize = 4;

/// The section.
#[component]
pub fn Failures(
    /// Largest first.
    groups: Vec<FailureGroup>,
    /// Where the run's results are.
    base: String,
    /// Something may still change.
    open: bool,
) -> impl IntoView {
    view! {
        <section aria-labelledby="failures-title">
            <div class="flex flex-wrap items-baseline gap-x-4 mb-1">
                <h2 class="h2" id="failures-title">"Failures, grouped"</h2>
                <span class="meta">"same evaluator, type, verdict and reason; largest first"</span>
            </div>
            {if groups.is_empty() {
                let text = if open { "Nothing has failed so far." } else { "Nothing failed." };
                view! { <p class="text-sm text-ink-2 rule-t pt-2">{text}</p> }.into_any()
            } else {
                view! {
                    <table class="tbl">
                        <thead>
                            <tr>
                                <th scope="col">"Cases"</th>
                                <th scope="col">"Verdict"</th>
                                <th scope="col">"What went wrong"</th>
                                <th scope="col" class="hidden md:table-cell">"Where"</th>
                            </tr>
                        </thead>
                        <tbody>{groups.into_iter().map(|group| view! { <Group group base=base.clone()/> }).collect_view()}</tbody>
                    </table>
                }
                    .into_any()
            }}
        </section>
    }
}

/// The mark of a group, which spells its verdict as formats do.
fn mark_of(verdict: &str) -> Mark {
    match verdict {
        "incorrect" => Mark::Incorrect,
        "absent" => Mark::Absent,
        "unsatisfied" => Mark::Unsatisfied,
        "misattributed" => Mark::Misattributed,
        "uncited" => Mark::Uncited,
        "name miss"
        | "args mismatch"
        | "out of order"
        | "no available matching call"
        | "missing"
        | "not called" => Mark::Mismatch,
        "unscored" => Mark::Unscored,
        "not met" | "too slow" => Mark::NotMet,
        _ => Mark::Error,
    }
}

/// "answer rubrics, worked out", "presentation", "agent call".
fn kind(evaluator: &str, rubric_type: Option<&str>) -> String {
    let name = match evaluator {
        "answer_rubrics" => "answer rubrics",
        "answer_rubric_citation" | "citation" => "citation",
        "trajectory_rubrics" => "checkpoints",
        "presentation_judge" => "presentation",
        "required_tools_called" => "required tools",
        "tool_trajectory_match" => "expected calls",
        "max_response_time" => "response time",
        "expect" => "fixed checks",
        "agent" => "agent call",
        other => other,
    };
    let of = rubric_type
        .and_then(RubricType::parse)
        .map(|kind| match kind {
            RubricType::FactualRetrieval => "a fact to find",
            RubricType::DerivedComputation => "worked out",
            RubricType::AnalysisInterpretation => "a reading",
        });
    of.map_or_else(|| name.to_owned(), |of| format!("{name}, {of}"))
}

/// Figures of a reason are masked with `#`, so that alike failures meet in one group; a reader sees an ellipsis.
fn shown(what: &str) -> String {
    what.replace('#', "…")
}

#[component]
fn Group(group: FailureGroup, base: String) -> impl IntoView {
    let n = group.cases.len();
    let links: Vec<(String, String)> = group
        .cases
        .into_iter()
        .map(|(case, trial)| (format!("{base}/{case}?trial={trial}"), case))
        .collect();
    let (first, rest) = links.split_at(links.len().min(NAMED));
    let (first, rest) = (first.to_vec(), rest.to_vec());
    let more = rest.len();
    let narrow = (first.clone(), rest.clone());
    let list = |links: Vec<(String, String)>| {
        links
            .into_iter()
            .map(|(href, case)| view! { <a class="id" href=href>{case}</a> })
            .collect_view()
    };
    let mark = mark_of(&group.verdict);
    let where_ = move |(first, rest): (Vec<_>, Vec<_>)| {
        view! {
            <span class="flex flex-wrap gap-x-3 gap-y-0.5">{list(first)}</span>
            {(more > 0)
                .then(|| {
                    view! {
                        <details>
                            <summary>{grouped(more as u64)} " more"</summary>
                            <span class="flex flex-wrap gap-x-3 gap-y-0.5">{list(rest)}</span>
                        </details>
                    }
                })}
        }
    };
    view! {
        <tr>
            <td class="font-semibold w-10">{grouped(n as u64)}</td>
            <td><Marked mark text=group.verdict/></td>
            <td class="wrap-anywhere">
                <span class="said text-base">{shown(&group.what)}</span>
                <span class="eyebrow block">{kind(&group.evaluator, group.rubric_type.as_deref())}</span>
                <span class="md:hidden block mt-1">{where_(narrow)}</span>
            </td>
            <td class="hidden md:table-cell w-2/5">{where_((first, rest))}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_in_words() {
        assert_eq!(
            kind("answer_rubrics", Some("derived_computation")),
            "answer rubrics, worked out"
        );
        assert_eq!(kind("agent", None), "agent call");
        assert_eq!(kind("custom:cost_cap", None), "custom:cost_cap");
        assert_eq!(mark_of("timeout"), Mark::Error);
    }
}
