//! The pair of a rubric and its evidence: pointing at or focusing one lights the other, a click selects both
//! (`ui.md`, Linking). Without script the same pair is selected by the address.

use leptos::prelude::*;
use leptos_router::NavigateOptions;

use super::query::ResultQuery;

/// What is lit.
#[derive(Clone, Copy)]
pub struct Linking {
    /// Under the pointer or focus.
    pub pointed: RwSignal<Option<String>>,
    /// From the address.
    pub selected: Memo<Option<String>>,
    query: Memo<ResultQuery>,
}

impl Linking {
    /// For the page around.
    pub fn new(query: Memo<ResultQuery>) -> Self {
        Self {
            pointed: RwSignal::new(None),
            selected: Memo::new(move |_| query.with(|q| q.rubric.clone())),
            query,
        }
    }

    /// Whether `label` is lit: what is pointed at wins over what is selected.
    pub fn is_lit(self, label: &str) -> bool {
        self.lit().as_deref() == Some(label)
    }

    /// The label that is lit.
    pub fn lit(self) -> Option<String> {
        self.pointed.get().or_else(|| self.selected.get())
    }

    /// Selects `label` in the address, in place.
    pub fn select(self, label: &str, navigate: &impl Fn(&str, NavigateOptions)) {
        let mut to = self.query.get_untracked();
        to.rubric = Some(label.to_owned());
        navigate(&to.href(), in_place());
    }
}

/// A move that replaces the address and keeps the page where it is.
pub fn in_place() -> NavigateOptions {
    NavigateOptions {
        scroll: false,
        replace: true,
        ..NavigateOptions::default()
    }
}

/// A move that leaves the page where it is, and that the way back undoes.
pub fn without_scrolling() -> NavigateOptions {
    NavigateOptions {
        scroll: false,
        ..NavigateOptions::default()
    }
}

/// Where a link of a drawn part leads from the address as it is now: to a step (`data-step`) or a rubric (`data-rubric`).
#[cfg(feature = "hydrate")]
pub fn chosen_under(event: &web_sys::Event, query: &ResultQuery) -> Option<String> {
    use wasm_bindgen::JsCast;
    let target: web_sys::Element = event.target()?.dyn_into().ok()?;
    let link = target.closest("a[data-step], a[data-rubric]").ok()??;
    match link.get_attribute("data-step") {
        Some(step) => Some(query.at_step(&step)),
        None => Some(query.at_rubric(&link.get_attribute("data-rubric")?)),
    }
}

/// Where a link of a drawn part leads; only a browser has events.
#[cfg(not(feature = "hydrate"))]
pub fn chosen_under(_event: &web_sys::Event, _query: &ResultQuery) -> Option<String> {
    None
}

/// Whether a click should be left to the browser (new tab, new window).
pub fn is_plain_click(event: &leptos::ev::MouseEvent) -> bool {
    event.button() == 0
        && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key())
}

/// The label of the innermost passage around an event's target.
#[cfg(feature = "hydrate")]
pub fn label_under(event: &web_sys::Event) -> Option<String> {
    use wasm_bindgen::JsCast;
    let target: web_sys::Element = event.target()?.dyn_into().ok()?;
    target.closest("[data-r]").ok()??.get_attribute("data-r")
}

/// The label of the innermost passage around an event's target; only a browser has events.
#[cfg(not(feature = "hydrate"))]
pub fn label_under(_event: &web_sys::Event) -> Option<String> {
    None
}
