//! The answer as a reader sees it, with every quote the judge gave underlined and numbered.

use leptos::html::Div;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use super::linking::{Linking, label_under};
use crate::ui::{Code, Empty, Prose, SafeHtml, Syntax, seconds};

/// The answer's half of the page.
#[component]
pub fn Answer(
    /// Rendered, with evidence.
    html: SafeHtml,
    /// Pretty JSON of a structured answer.
    output: Option<String>,
    /// Where the answer came from, as spelled.
    from: Option<String>,
    /// Milliseconds.
    latency_ms: Option<u64>,
    /// Whether any rubric was judged on it, for the legend.
    judged: bool,
    /// Shared with the rubrics.
    linking: Linking,
) -> impl IntoView {
    let body = NodeRef::<Div>::new();
    light_evidence(body, linking);
    let navigate = use_navigate();
    let keys = navigate.clone();
    let nothing = html.is_empty() && output.is_none();
    let mut facts = Vec::new();
    if let Some(from) = from {
        facts.push(format!("from {from}"));
    }
    facts.extend(latency_ms.map(seconds));
    view! {
        <section class="min-w-0" aria-labelledby="answer">
            <div class="lg:sticky lg:top-16 lg:max-h-[calc(100dvh-5rem)] lg:overflow-y-auto" tabindex="0" role="group" aria-label="The answer">
                <div class="flex flex-wrap items-baseline gap-x-3 mb-3">
                    <h2 class="h2" id="answer">"The answer"</h2>
                    <span class="meta">{facts.join(", ")}</span>
                </div>
                <div
                    node_ref=body
                    on:pointerover=move |event| linking.pointed.set(label_under(&event))
                    on:pointerleave=move |_| linking.pointed.set(None)
                    on:focusin=move |event| linking.pointed.set(label_under(&event))
                    on:focusout=move |_| linking.pointed.set(None)
                    on:click=move |event| {
                        if let Some(label) = label_under(&event) {
                            if inside_a_link(&event) {
                                return;
                            }
                            linking.select(&label, &navigate);
                            scroll_to(&label);
                        }
                    }
                    on:keydown=move |event| {
                        if event.key() == "Enter"
                            && let Some(label) = label_under(&event)
                            && !inside_a_link(&event)
                        {
                            linking.select(&label, &keys);
                            scroll_to(&label);
                        }
                    }
                >
                    {(!html.is_empty()).then(|| view! { <Prose html class="max-w-[60ch]"/> })}
                    {output
                        .map(|output| {
                            view! {
                                <p class="eyebrow mt-4 mb-1">"Structured output"</p>
                                <Code text=output syntax=Syntax::Json label="Structured output"/>
                            }
                        })}
                </div>
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
            </div>
        </section>
    }
}

/// Puts `on` on the passages of the lit rubric. They are server-rendered HTML, so the class is set by hand.
#[cfg(feature = "hydrate")]
fn light_evidence(body: NodeRef<Div>, linking: Linking) {
    use wasm_bindgen::JsCast;
    Effect::new(move |_| {
        let lit = linking.lit();
        let Some(body) = body.get() else { return };
        let Ok(marks) = body.query_selector_all("[data-r]") else {
            return;
        };
        for index in 0..marks.length() {
            if let Some(mark) = marks
                .item(index)
                .and_then(|node| node.dyn_into::<web_sys::Element>().ok())
            {
                let is_lit = lit.is_some() && mark.get_attribute("data-r") == lit;
                let _ = mark.class_list().toggle_with_force("on", is_lit);
            }
        }
    });
}

#[cfg(not(feature = "hydrate"))]
fn light_evidence(_body: NodeRef<Div>, _linking: Linking) {}

/// Brings a rubric or its first passage into view, if it is out of it.
#[cfg(feature = "hydrate")]
pub fn scroll_to(id: &str) {
    if let Some(element) = document().get_element_by_id(id) {
        scroll(&element);
    }
}

/// Brings the first passage of a rubric into view, if it is out of it.
#[cfg(feature = "hydrate")]
pub fn scroll_to_evidence(label: &str) {
    if super::query::is_label(label)
        && let Ok(Some(element)) = document().query_selector(&format!("mark[data-r=\"{label}\"]"))
    {
        scroll(&element);
    }
}

#[cfg(feature = "hydrate")]
fn scroll(element: &web_sys::Element) {
    let options = web_sys::ScrollIntoViewOptions::new();
    options.set_block(web_sys::ScrollLogicalPosition::Nearest);
    element.scroll_into_view_with_scroll_into_view_options(&options);
}

#[cfg(feature = "hydrate")]
fn inside_a_link(event: &web_sys::Event) -> bool {
    use wasm_bindgen::JsCast;
    event
        .target()
        .and_then(|target| target.dyn_into::<web_sys::Element>().ok())
        .and_then(|element| element.closest("a[href]").ok().flatten())
        .is_some()
}

/// Where the list and what it opens stand under each other, brings what was opened into view.
#[cfg(feature = "hydrate")]
pub fn scroll_when_narrow(id: &'static str) {
    let width = window().inner_width().ok().and_then(|width| width.as_f64());
    if width.is_some_and(|width| width < 1_024.0) {
        request_animation_frame(move || {
            if let Some(element) = document().get_element_by_id(id) {
                element.scroll_into_view();
            }
        });
    }
}

/// Nothing scrolls on a server.
#[cfg(not(feature = "hydrate"))]
pub fn scroll_when_narrow(_id: &'static str) {}

/// Nothing scrolls on a server.
#[cfg(not(feature = "hydrate"))]
pub fn scroll_to(_id: &str) {}

/// Nothing scrolls on a server.
#[cfg(not(feature = "hydrate"))]
pub fn scroll_to_evidence(_label: &str) {}

#[cfg(not(feature = "hydrate"))]
fn inside_a_link(_event: &web_sys::Event) -> bool {
    false
}
