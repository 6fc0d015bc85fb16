//! Tool checks: every expected call beside the closest call that was made, and why it missed (`grading.md`, Tool checks).

use std::collections::BTreeMap;

use evalkit_core::case::{ExpectedCall, MatchOverride, RequiredTools, ToolTrajectoryMatch};
use evalkit_core::explanation::{
    ToolMatch, ToolMatchEntry, ToolsCalled, find, tool_match, tools_called,
};
use evalkit_core::grade::{Grade, Outcome};
use evalkit_core::view::result::{CallView, ResultPage, TrajectoryView};
use leptos::prelude::*;
use serde_json::{Map, Value};

use super::query::ResultQuery;
use super::words::unscored_words;
use crate::ui::{Mark, Marked, ScrollTable};

/// The section; nothing when the case has no tool check.
#[component]
pub fn ToolChecks(
    /// The result.
    page: ResultPage,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let checks = page.case.evaluators.trajectory.clone();
    let required = checks.required_tools_called;
    let calls = checks.tool_trajectory_match;
    (required.is_some() || calls.is_some()).then(|| {
        let origins = page.origins.clone();
        let trajectory = page.trajectory.clone().unwrap_or_default();
        let grades = page.grades.clone();
        view! {
            <section class="mt-12 scroll-mt-16" id="tools" aria-labelledby="tools-title">
                <h2 class="h2" id="tools-title">"Tool checks"</h2>
                <p class="meta">"Counted without a judge, over every call of the agent and its subagents."</p>
                {required.map(|required| {
                    view! {
                        <Required
                            required
                            grade=find(&grades, "required_tools_called").cloned()
                            called=tools_called(&grades)
                            trajectory=trajectory.clone()
                            origin=origins.get("required_tools_called").cloned()
                        />
                    }
                })}
                {calls.map(|calls| {
                    view! {
                        <Calls
                            calls
                            grade=find(&grades, "tool_trajectory_match").cloned()
                            matched=tool_match(&grades)
                            trajectory=trajectory.clone()
                            origin=origins.get("tool_trajectory_match").cloned()
                            query
                        />
                    }
                })}
            </section>
        }
    })
}

/// "from overlay desk-tools" or "from the case".
#[component]
fn Origin(#[prop(optional_no_strip)] origin: Option<String>) -> impl IntoView {
    match origin {
        Some(overlay) => {
            view! { <Marked mark=Mark::FromOverlay text=format!("overlay {overlay}")/> }.into_any()
        }
        None => view! { <Marked mark=Mark::FromCase/> }.into_any(),
    }
}

/// An evaluator that reached no score, and why.
#[component]
pub fn NotScored(
    /// The grade; absent when the trial has not come that far.
    #[prop(optional_no_strip)]
    grade: Option<Grade>,
) -> impl IntoView {
    let (mark, why) = match grade.map(|g| g.outcome) {
        None => (Mark::NotRun, "This trial was not graded.".to_owned()),
        Some(Outcome::Scored { .. }) => return ().into_any(),
        Some(Outcome::Skipped { reason }) => (Mark::Skipped, reason),
        Some(Outcome::Error { message }) => (Mark::Error, message),
        Some(Outcome::Unscored {
            reason,
            entries,
            of,
        }) => (
            Mark::Unscored,
            format!(
                "{entries} of {of} have no verdict: {}",
                unscored_words(reason)
            ),
        ),
    };
    view! {
        <p class="text-sm mt-1.5 flex flex-wrap gap-x-3 items-baseline">
            <Marked mark/>
            <span class="text-ink-2 break-words min-w-0">{why}</span>
        </p>
    }
    .into_any()
}

#[component]
fn Required(
    required: RequiredTools,
    #[prop(optional_no_strip)] grade: Option<Grade>,
    #[prop(optional_no_strip)] called: Option<ToolsCalled>,
    trajectory: TrajectoryView,
    #[prop(optional_no_strip)] origin: Option<String>,
) -> impl IntoView {
    let counts: BTreeMap<String, u64> = trajectory.tools.into_iter().collect();
    let of = required.tools.len();
    let scored = called.is_some();
    let missing = called.map(|c| c.missing).unwrap_or_default();
    let met = of - missing.len().min(of);
    view! {
        <div class="mt-4">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1">
                <h3 class="text-base font-semibold">"Tools that must be called"</h3>
                {scored
                    .then(|| {
                        let mark = if missing.is_empty() { Mark::Met } else { Mark::NotMet };
                        view! { <Marked mark text=format!("{met} of {of} called")/> }
                    })}
                <Origin origin/>
            </div>
            <NotScored grade/>
            <ul class="mt-1.5 flex flex-wrap gap-x-6 gap-y-1 text-sm">
                {required
                    .tools
                    .into_iter()
                    .map(|tool| {
                        let times = counts.get(&tool).copied().unwrap_or(0);
                        let mark = if !scored {
                            Mark::NotRun
                        } else if missing.contains(&tool) {
                            Mark::NotMet
                        } else {
                            Mark::Met
                        };
                        let words = match times {
                            _ if !scored => "not checked".to_owned(),
                            0 => "never called".to_owned(),
                            1 => "called once".to_owned(),
                            n => format!("called {n} times"),
                        };
                        view! { <li class="flex gap-2 items-baseline"><span class="id">{tool}</span><Marked mark text=words/></li> }
                    })
                    .collect_view()}
            </ul>
        </div>
    }
}

#[component]
fn Calls(
    calls: ToolTrajectoryMatch,
    #[prop(optional_no_strip)] grade: Option<Grade>,
    #[prop(optional_no_strip)] matched: Option<ToolMatch>,
    trajectory: TrajectoryView,
    #[prop(optional_no_strip)] origin: Option<String>,
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let of = calls.expected.len();
    let order = if calls.ordered {
        "in this order"
    } else {
        "in any order"
    };
    let scored = matched.is_some();
    let entries = matched.map(|m| m.entries).unwrap_or_default();
    let met = entries.iter().filter(|e| e.matched).count();
    let made = actual_calls(&trajectory);
    let total = made.len();
    let rows: Vec<_> = calls
        .expected
        .into_iter()
        .enumerate()
        .map(|(index, expected)| {
            let entry = entries
                .iter()
                .find(|e| usize::try_from(e.index) == Ok(index))
                .cloned();
            let closest = entry.as_ref().and_then(|entry| closest(entry, &made));
            (index, expected, entry, closest)
        })
        .collect();
    view! {
        <div class="mt-5">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1">
                <h3 class="text-base font-semibold">"Expected calls"</h3>
                {scored
                    .then(|| {
                        let mark = if met == of { Mark::Met } else { Mark::NotMet };
                        view! { <Marked mark text=format!("{met} of {of} matched")/> }
                    })}
                <Origin origin/>
                <span class="meta">{order}</span>
            </div>
            <NotScored grade/>
            <ScrollTable label="Expected calls" class="mt-1">
                <table class="tbl min-w-[760px]">
                    <thead>
                        <tr>
                            <th scope="col">"Expected call"</th>
                            <th scope="col">"Result"</th>
                            <th scope="col">"Closest actual call"</th>
                            <th scope="col">"Why"</th>
                            <th scope="col">"Compared"</th>
                        </tr>
                    </thead>
                    <tbody>
                        {rows
                            .into_iter()
                            .map(|(index, expected, entry, closest)| {
                                view! { <CallRow index expected entry closest total query/> }
                            })
                            .collect_view()}
                    </tbody>
                </table>
            </ScrollTable>
        </div>
    }
}

#[component]
fn CallRow(
    index: usize,
    expected: ExpectedCall,
    #[prop(optional_no_strip)] entry: Option<ToolMatchEntry>,
    #[prop(optional_no_strip)] closest: Option<CallView>,
    total: usize,
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let matched = entry.as_ref().is_some_and(|e| e.matched);
    let reason = entry.as_ref().and_then(|e| e.reason.clone());
    let detail = entry.as_ref().and_then(|e| e.detail.clone());
    let actual = closest.as_ref().map(arguments).unwrap_or_default();
    let differing = entry
        .as_ref()
        .map(|e| e.differing.clone())
        .unwrap_or_default();
    let why = if matched {
        extra_keys(&expected, &actual)
    } else {
        detail.unwrap_or_default()
    };
    let mode = expected.args_mode.as_str();
    let overrides: Vec<String> = expected
        .match_overrides
        .iter()
        .map(|(key, how)| {
            format!(
                "{key}: {}",
                match how {
                    MatchOverride::Equals => "equals",
                    MatchOverride::Substring => "substring",
                }
            )
        })
        .collect();
    let result = match &entry {
        None => view! { <Marked mark=Mark::NotRun text="not checked"/> }.into_any(),
        Some(_) if matched => view! { <Marked mark=Mark::Matched/> }.into_any(),
        Some(_) => view! { <Marked mark=Mark::Mismatch text=reason.clone().unwrap_or_else(|| "not matched".to_owned())/> }.into_any(),
    };
    let checked = entry.is_some();
    view! {
        <tr id=format!("C{}", index + 1) class="scroll-mt-16">
            <td>
                <span class="eyebrow mr-2">{format!("C{}", index + 1)}</span>
                <span class="id">{expected.name.clone()}</span>
                {match expected.args.clone() {
                    Some(args) => view! { <Arguments args marked=Vec::new()/> }.into_any(),
                    None => ().into_any(),
                }}
            </td>
            <td>{result}</td>
            <td>
                {match closest {
                    Some(call) => {
                        let step = step_of(&call.address);
                        view! {
                            <a class="id" href=query.with_untracked(|q| q.at_step(&step)) data-step=step data-noscroll="">{call.address}</a>
                            " "
                            <span class="id">{call.name}</span>
                            <Arguments args=actual marked=differing/>
                        }
                            .into_any()
                    }
                    None if checked => {
                        view! { <span class="text-ink-3">{format!("none of {total} calls has this name")}</span> }.into_any()
                    }
                    None => view! { <span class="text-ink-3">"–"</span> }.into_any(),
                }}
            </td>
            <td class="text-ink-2 break-words min-w-40">{why}</td>
            <td>
                {mode}
                {overrides.into_iter().map(|line| view! { <span class="block text-ink-3">{line}</span> }).collect_view()}
            </td>
        </tr>
    }
}

/// `key: value`, one a line; keys that differ in red, bold and with a sign.
#[component]
fn Arguments(args: Map<String, Value>, marked: Vec<String>) -> impl IntoView {
    let none = args.is_empty();
    view! {
        <span class="block id text-ink-3 text-xs leading-5 break-words max-w-[44ch]">
            {args
                .into_iter()
                .map(|(key, value)| {
                    let value = shown(&value);
                    if marked.contains(&key) {
                        view! {
                            <span class="block text-inc font-semibold">
                                "≠ " <span class="sr-only">"differs: "</span> {key} ": " {value}
                            </span>
                        }
                            .into_any()
                    } else {
                        view! { <span class="block">{key} ": " {value}</span> }.into_any()
                    }
                })
                .collect_view()}
            {none.then_some("no arguments")}
        </span>
    }
}

/// A value in one line, at most 160 characters.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) => format!("“{text}”"),
        other => other.to_string(),
    };
    if text.chars().count() > 160 {
        format!("{}…", text.chars().take(160).collect::<String>())
    } else {
        text
    }
}

/// `main:4` of `main:4#0`.
pub fn step_of(call: &str) -> String {
    call.rsplit_once('#')
        .map_or(call, |(step, _)| step)
        .to_owned()
}

/// Every call that counts, in canonical order.
fn actual_calls(trajectory: &TrajectoryView) -> Vec<CallView> {
    trajectory
        .steps
        .iter()
        .filter(|step| !step.copied)
        .flat_map(|step| step.calls.iter().cloned())
        .collect()
}

fn arguments(call: &CallView) -> Map<String, Value> {
    match serde_json::from_str(&call.arguments) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

/// The call of an entry: the one it was given, or the one the evaluator found closest.
fn closest(entry: &ToolMatchEntry, made: &[CallView]) -> Option<CallView> {
    let address = entry.call.as_ref().or(entry.closest.as_ref())?;
    made.iter().find(|call| &call.address == address).cloned()
}

fn extra_keys(expected: &ExpectedCall, actual: &Map<String, Value>) -> String {
    let known = expected.args.as_ref();
    let extra: Vec<&str> = actual
        .keys()
        .filter(|key| known.is_none_or(|args| !args.contains_key(*key)))
        .map(String::as_str)
        .collect();
    match extra.as_slice() {
        [] => String::new(),
        [one] => format!("extra key {one} is fine"),
        many => format!("extra keys {} are fine", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_entry_stands_beside_the_call_that_the_evaluator_names() {
        let made = ["main:1#0", "main:2#0"].map(|address| CallView {
            address: address.to_owned(),
            ..CallView::default()
        });
        let entry = |call: Option<&str>, closest: Option<&str>| ToolMatchEntry {
            call: call.map(str::to_owned),
            closest: closest.map(str::to_owned),
            ..ToolMatchEntry::default()
        };
        let found = |entry: ToolMatchEntry| closest(&entry, &made).map(|call| call.address);
        assert_eq!(
            found(entry(Some("main:1#0"), None)).as_deref(),
            Some("main:1#0")
        );
        assert_eq!(
            found(entry(None, Some("main:2#0"))).as_deref(),
            Some("main:2#0")
        );
        assert_eq!(found(entry(None, Some("main:9#0"))), None);
        assert_eq!(found(entry(None, None)), None);
    }

    #[test]
    fn extra_arguments_are_named() {
        let Ok(expected) =
            serde_json::from_value::<ExpectedCall>(json!({"name": "get", "args": {"a": 1}}))
        else {
            panic!("a valid call")
        };
        let Value::Object(actual) = json!({"a": 1, "b": 2}) else {
            return;
        };
        assert_eq!(extra_keys(&expected, &actual), "extra key b is fine");
        assert_eq!(extra_keys(&expected, &Map::new()), "");
    }

    #[test]
    fn a_step_of_a_call() {
        assert_eq!(step_of("main:4#0"), "main:4");
        assert_eq!(step_of("a#b:4#10"), "a#b:4");
    }
}
