//! The answer, with every quote the judge gave underlined and numbered: pointing at one lights its rubric.

use leptos::html::Div;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use super::linking::{Linking, label_under};
use crate::ui::{Still, StillPart};

/// The answer's half of the page.
#[component]
pub fn Answer(
    /// The answer, drawn (`answered.rs`).
    part: Still,
    /// Shared with the rubrics.
    linking: Linking,
) -> impl IntoView {
    let body = NodeRef::<Div>::new();
    light_evidence(body, linking);
    let navigate = use_navigate();
    let select = move |event: &web_sys::Event| {
        if let Some(label) = label_under(event)
            && !inside_a_link(event)
        {
            linking.select(&label, &navigate);
            scroll_to(&label);
        }
    };
    let by_key = select.clone();
    view! {
        <section class="min-w-0" aria-labelledby="answer">
            <div
                class="lg:sticky lg:top-16 lg:max-h-[calc(100dvh-5rem)] lg:overflow-y-auto"
                tabindex="0"
                role="group"
                aria-label="The answer"
                node_ref=body
                on:pointerover=move |event| linking.pointed.set(label_under(&event))
                on:pointerleave=move |_| linking.pointed.set(None)
                on:focusin=move |event| linking.pointed.set(label_under(&event))
                on:focusout=move |_| linking.pointed.set(None)
                on:click=move |event| select(&event)
                on:keydown=move |event| {
                    if event.key() == "Enter" {
                        by_key(&event);
                    }
                }
            >
                <StillPart part/>
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
