//! Still parts: what only the server draws. A part of a page that nobody presses, types into or watches is drawn by the
//! server function that loads the page and travels as HTML; the browser puts it in place and needs neither its view nor its
//! data types (ADR 0024).

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

/// HTML that a view of this crate wrote, with every text escaped by it. Only [`draw`] makes one on the server; the browser
/// reads it from the server's answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Still(String);

impl Still {
    pub(crate) fn new(html: String) -> Self {
        Self(html)
    }
}

/// Draws a view as it looks at `now` (microseconds since 1970-01-01 UTC).
#[cfg(feature = "ssr")]
pub fn draw<V: IntoView + 'static>(now: i64, view: impl FnOnce() -> V) -> String {
    use crate::ui::Clock;
    let owner = Owner::current().map_or_else(Owner::new, |around| around.child());
    owner.with(|| {
        provide_context(Clock(RwSignal::new(now)));
        view().into_view().to_html()
    })
}

/// A still part in its place.
#[component]
pub fn StillPart(
    /// What the server drew.
    #[prop(into)]
    part: Signal<Still>,
    /// Classes of the element around it.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    view! { <div class=class inner_html=move || part.get().0></div> }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_text() {
        let hostile = "<script>alert(1)</script>\" onmouseover=\"x";
        let html = draw(0, move || {
            view! { <p title=hostile>{hostile}</p> }
        });
        assert!(!html.contains("<script"), "{html}");
        assert!(html.contains("&lt;script&gt;"), "{html}");
        assert!(!html.contains("\" onmouseover=\"x\""), "{html}");
    }
}
