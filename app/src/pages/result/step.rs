//! The open step: what was said, called and returned, and which checkpoints cite it.

use evalkit_core::view::result::StepView;
use leptos::prelude::*;

use super::trajectory::at;
use crate::ui::{Code, Still, StillPart, Syntax, grouped, seconds};

/// Longer texts open on demand, in bytes.
const LONG: usize = 6_000;

/// The detail beside the list.
#[component]
pub fn StepDetail(
    /// Which.
    step: StepView,
    /// When the next step with a time ran, milliseconds.
    #[prop(optional_no_strip)]
    next_at: Option<i64>,
    /// Notes of the checkpoints that cite it.
    cited: Vec<Still>,
) -> impl IntoView {
    let mut facts = Vec::new();
    facts.extend(step.at_ms.map(at));
    if let (Some(start), Some(end)) = (step.at_ms, next_at)
        && let Ok(took) = u64::try_from(end - start)
        && took > 0
    {
        facts.push(format!("took {}", seconds(took)));
    }
    if let Some((input, output)) = step.tokens {
        facts.push(format!(
            "{} tokens in, {} out",
            grouped(input),
            grouped(output)
        ));
    }
    if step.copied {
        facts.push("repeated from an earlier document; not graded again".to_owned());
    }
    let speaker = match &step.side_chain {
        Some(chain) => format!("{} of {chain}", step.source),
        None => step.source.clone(),
    };
    let empty = step.message.is_empty()
        && step.calls.is_empty()
        && step.loose_results.is_empty()
        && step.media.is_empty();
    view! {
        <div class=if step.copied { "min-w-0 text-ink-3" } else { "min-w-0" }>
            <div class="flex flex-wrap items-baseline gap-x-3">
                <h3 class="text-base font-semibold"><span class="id">{step.address}</span> " " {speaker}</h3>
                <span class="meta">{facts.join(", ")}</span>
            </div>
            {step.reasoning.filter(|text| !text.is_empty()).map(|text| view! { <Text heading="Reasoning" text quiet=true/> })}
            {(!step.message.is_empty()).then(|| view! { <Text heading="Said" text=step.message quiet=false/> })}
            {step
                .calls
                .into_iter()
                .map(|call| {
                    let no_result = call.result.is_none();
                    view! {
                        <p class="eyebrow mt-3 mb-1">"Call " <span class="id text-ink-2">{call.name.clone()}</span></p>
                        <Code text=call.arguments syntax=Syntax::Json label=format!("Arguments of {}", call.name)/>
                        {call.result.map(|result| view! { <ToolResult heading=format!("Result of {}", call.name) text=result/> })}
                        {no_result.then(|| view! { <p class="meta mt-1.5">"No result was recorded for this call."</p> })}
                        {(!call.subagents.is_empty())
                            .then(|| {
                                view! {
                                    <p class="meta mt-1.5">"Handed to " <span class="id">{call.subagents.join(", ")}</span> ", indented in the list."</p>
                                }
                            })}
                    }
                })
                .collect_view()}
            {step.loose_results.into_iter().map(|text| view! { <ToolResult heading="Result without a call".to_owned() text/> }).collect_view()}
            {(!step.media.is_empty())
                .then(|| {
                    view! {
                        <p class="eyebrow mt-3 mb-1">"Media, named and not loaded"</p>
                        <ul class="text-sm">
                            {step.media.into_iter().map(|(kind, name)| view! { <li class="break-words"><span class="text-ink-3">{kind} " "</span><span class="id">{name}</span></li> }).collect_view()}
                        </ul>
                    }
                })}
            {empty.then(|| view! { <p class="meta mt-3">"This step holds no text and no call."</p> })}
            {cited.into_iter().map(|note| view! { <StillPart part=note/> }).collect_view()}
        </div>
    }
}

/// Words of the agent or the user, as they are.
#[component]
fn Text(heading: &'static str, text: String, quiet: bool) -> impl IntoView {
    let body = move |text: String| view! { <p class="said plain break-words max-w-[68ch] leading-6" class:text-ink-2=quiet>{text}</p> };
    view! {
        <p class="eyebrow mt-3 mb-1">{heading}</p>
        {if text.len() > LONG {
            let (head, rest) = text.split_at(boundary(&text, LONG));
            let (head, rest) = (head.to_owned(), rest.to_owned());
            let size = grouped(rest.len() as u64);
            view! {
                {body(head)}
                <details>
                    <summary class="text-sm">{size} " bytes more"</summary>
                    {body(rest)}
                </details>
            }
                .into_any()
        } else {
            body(text).into_any()
        }}
    }
}

/// What a tool returned: JSON coloured, anything else as it is.
#[component]
fn ToolResult(heading: String, text: String) -> impl IntoView {
    let (text, syntax) = match serde_json::from_str::<serde_json::Value>(&text) {
        Ok(value @ (serde_json::Value::Object(_) | serde_json::Value::Array(_))) => (
            serde_json::to_string_pretty(&value).unwrap_or(text),
            Syntax::Json,
        ),
        _ => (text, Syntax::Plain),
    };
    let long = text.len() > LONG;
    let size = grouped(text.len() as u64);
    let label = heading.clone();
    view! {
        <p class="eyebrow mt-3 mb-1">{heading}</p>
        {if long {
            view! {
                <details>
                    <summary class="text-sm">"Show " {size} " bytes"</summary>
                    <Code text syntax label/>
                </details>
            }
                .into_any()
        } else {
            view! { <Code text syntax label/> }.into_any()
        }}
    }
}

/// The last character boundary at or before `at`.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len()))
        .rev()
        .find(|index| text.is_char_boundary(*index))
        .unwrap_or(0)
}
