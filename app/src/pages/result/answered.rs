//! What the server draws of an answer: the text with its evidence, a structured output, where it came from, the legend.

use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use crate::ui::{Code, Empty, Prose, SafeHtml, Syntax, seconds};

/// The answer as a reader sees it.
#[component]
pub fn Answered(
    /// The result.
    page: ResultPage,
    /// The answer, rendered, with evidence.
    html: SafeHtml,
    /// Whether any rubric was judged on it, for the legend.
    judged: bool,
) -> impl IntoView {
    let output = page.output;
    let nothing = html.is_empty() && output.is_none();
    let mut facts = Vec::new();
    if let Some(from) = page.answer_from {
        facts.push(format!("from {from}"));
    }
    facts.extend(page.latency_ms.map(seconds));
    view! {
        <div class="flex flex-wrap items-baseline gap-x-3 mb-3">
            <h2 class="h2" id="answer">"The answer"</h2>
            <span class="meta">{facts.join(", ")}</span>
        </div>
        {(!html.is_empty()).then(|| view! { <Prose html class="max-w-[60ch]"/> })}
        {output
            .map(|output| {
                view! {
                    <p class="eyebrow mt-4 mb-1">"Structured output"</p>
                    <Code text=output syntax=Syntax::Json label="Structured output"/>
                }
            })}
        {nothing
            .then(|| {
                view! { <Empty title="No answer" text="The agent returned neither a text nor a structured output."/> }
            })}
        {(judged && !nothing)
            .then(|| {
                view! {
                    <p class="eyebrow mt-5 flex flex-wrap gap-x-5 gap-y-1">
                        <span><span class="ev s">"solid line"</span> " satisfied"</span>
                        <span><span class="ev i">"wavy"</span> " incorrect, or credited to the wrong source"</span>
                        <span><span class="ev q">"dashed"</span> " needs a look"</span>
                    </p>
                    <p class="hint mt-1 needs-script">"Point at a rubric or a passage, or tab to it, to light the pair."</p>
                }
            })}
    }
}
