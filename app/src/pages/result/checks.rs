//! How the answer looks, and every check that is neither a rubric nor a tool check.

use evalkit_core::case::{Case, Presentation};
use evalkit_core::explanation::{entry_verdicts, find};
use evalkit_core::grade::{Grade, Outcome, ScoreValue};
use evalkit_core::verdict::EntryVerdict;
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use super::tools::NotScored;
use super::words::unscored_words;
use crate::ui::{Code, Mark, Marked, Syntax, grouped, seconds};

/// Presentation entries, `require` then `forbid`; nothing when the case has none.
#[component]
pub fn PresentationEntries(
    /// The result.
    page: ResultPage,
) -> impl IntoView {
    let presentation = page.case.evaluators.output.presentation_judge.clone();
    presentation.map(|Presentation { require, forbid }| {
        let verdicts = entry_verdicts(&page.grades, "presentation_judge");
        let grade = find(&page.grades, "presentation_judge").cloned();
        let entries: Vec<(&'static str, String)> = require
            .into_iter()
            .map(|text| ("Require", text))
            .chain(forbid.into_iter().map(|text| ("Forbid", text)))
            .collect();
        view! {
            <section class="scroll-mt-16" id="presentation" aria-labelledby="presentation-title">
                <h2 class="h2" id="presentation-title">"How it looks"</h2>
                <p class="meta">"Judged apart from whether it is right."</p>
                <NotScored grade/>
                <ul class="mt-1">
                    {entries
                        .into_iter()
                        .enumerate()
                        .map(|(index, (rule, text))| view! { <Entry index rule text verdict=verdicts.get(index).cloned()/> })
                        .collect_view()}
                </ul>
            </section>
        }
    })
}

#[component]
fn Entry(
    index: usize,
    rule: &'static str,
    text: String,
    #[prop(optional_no_strip)] verdict: Option<EntryVerdict>,
) -> impl IntoView {
    let mark = verdict
        .as_ref()
        .map(|v| v.verdict.map_or(Mark::Unscored, Mark::from));
    let label = format!("P{}", index + 1);
    let unscored = verdict
        .as_ref()
        .and_then(|v| v.unscored)
        .map(unscored_words);
    let (reason, evidence) = verdict.map(|v| (v.reason, v.evidence)).unwrap_or_default();
    view! {
        <li class="rule-t py-2 grid grid-cols-[84px_minmax(0,1fr)] sm:grid-cols-[84px_minmax(0,1fr)_auto] gap-x-3 scroll-mt-16" id=label.clone()>
            <span class="eyebrow leading-6">{label.clone()} " " {rule}</span>
            <div class="min-w-0">
                <p class="said leading-6 break-words">{text}</p>
                {(!evidence.is_empty())
                    .then(|| {
                        view! {
                            <p class="text-sm text-ink-2 break-words">
                                <span class="text-ink-3">"Quote: "</span>
                                <span class="said">{evidence.iter().map(|quote| format!("“{quote}”")).collect::<Vec<_>>().join(" … ")}</span>
                            </p>
                        }
                    })}
                {reason.map(|reason| view! { <p class="text-sm text-ink-2 break-words"><span class="text-ink-3">"Judge: "</span>{reason}</p> })}
                {unscored.map(|why| view! { <p class="text-sm text-ink-2"><span class="text-ink-3">"No verdict: "</span>{why} "."</p> })}
            </div>
            <span class="col-start-2 sm:col-start-auto">{mark.map(|mark| view! { <Marked mark/> })}</span>
        </li>
    }
}

/// The names that other sections of the page show.
const SHOWN_ELSEWHERE: [&str; 5] = [
    "answer_rubrics",
    "presentation_judge",
    "trajectory_rubrics",
    "required_tools_called",
    "tool_trajectory_match",
];

/// Response time, fixed checks, metrics and custom evaluators; nothing when there is none.
#[component]
pub fn OtherChecks(
    /// The result.
    page: ResultPage,
) -> impl IntoView {
    let rows: Vec<Grade> = page
        .grades
        .iter()
        .filter(|grade| !SHOWN_ELSEWHERE.contains(&grade.evaluator.as_str()))
        .cloned()
        .collect();
    let origins = page.origins.clone();
    let (case, latency) = (page.case.clone(), page.latency_ms);
    (!rows.is_empty()).then(|| {
        view! {
            <section class="scroll-mt-16" id="checks" aria-labelledby="checks-title">
                <h2 class="h2" id="checks-title">"Other checks"</h2>
                <ul class="mt-1">
                    {rows
                        .into_iter()
                        .map(|grade| {
                            let expects = expects(&case, &grade.evaluator);
                            let origin = origins.get(&grade.evaluator).cloned();
                            view! { <Check grade expects origin latency/> }
                        })
                        .collect_view()}
                </ul>
            </section>
        }
    })
}

/// What a check asks for, in words.
fn expects(case: &Case, evaluator: &str) -> Option<String> {
    if evaluator == "max_response_time" {
        return case
            .max_response_time
            .map(|limit| format!("{limit} s or less"));
    }
    if let Some(name) = evaluator.strip_prefix("metric:") {
        return case
            .metrics
            .get(name)?
            .threshold
            .map(|threshold| format!("at least {threshold}"));
    }
    (evaluator == "expect").then(|| {
        let names: Vec<&str> = case.expect.keys().map(String::as_str).collect();
        names.join(", ")
    })
}

#[component]
fn Check(
    grade: Grade,
    #[prop(optional_no_strip)] expects: Option<String>,
    #[prop(optional_no_strip)] origin: Option<String>,
    #[prop(optional_no_strip)] latency: Option<u64>,
) -> impl IntoView {
    let scored = match grade.outcome {
        Outcome::Scored { met } => Some(met),
        _ => None,
    };
    let value = if grade.evaluator == "max_response_time" {
        latency.map(seconds)
    } else {
        grade
            .scores
            .get(&grade.evaluator)
            .or_else(|| grade.scores.values().next())
            .map(|score| match score {
                ScoreValue::Share(share) => {
                    format!("{} of {}", grouped(share.num), grouped(share.den))
                }
                ScoreValue::Number(number) => format!("{number}"),
            })
    };
    let detail =
        scored.is_some() && grade.evaluator != "max_response_time" && !is_empty(&grade.explanation);
    let json = detail.then(|| serde_json::to_string_pretty(&grade.explanation).unwrap_or_default());
    let label = format!("Explanation of {}", grade.evaluator);
    view! {
        <li class="rule-t py-2 text-sm">
            <p class="flex flex-wrap gap-x-4 gap-y-1 items-baseline">
                <span class="id">{grade.evaluator.clone()}</span>
                {scored
                    .map(|met| {
                        let mark = if met { Mark::Met } else { Mark::NotMet };
                        view! { <Marked mark text=value.unwrap_or_else(|| mark.word().to_owned())/> <span class="sr-only">{mark.word()}</span> }
                    })}
                {expects.map(|expects| view! { <span class="text-ink-3">"allowed: " {expects}</span> })}
                {origin.map(|origin| view! { <Marked mark=Mark::FromOverlay text=format!("overlay {origin}")/> })}
            </p>
            {scored.is_none().then(|| view! { <NotScored grade=Some(grade)/> })}
            {json
                .map(|json| {
                    view! {
                        <details class="mt-1">
                            <summary class="text-ink-2">"What it said"</summary>
                            <div class="mt-1"><Code text=json syntax=Syntax::Json label/></div>
                        </details>
                    }
                })}
        </li>
    }
}

fn is_empty(explanation: &serde_json::Value) -> bool {
    match explanation {
        serde_json::Value::Null => true,
        serde_json::Value::Object(map) => map.is_empty(),
        _ => false,
    }
}
