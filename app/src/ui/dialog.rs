//! The native dialog: the question first, then what happens, then the verbs. Focus returns to its opener.

use leptos::html;
use leptos::prelude::*;

/// Opens and closes one dialog.
#[derive(Debug, Clone, Copy)]
pub struct DialogOpener(NodeRef<html::Dialog>);

impl DialogOpener {
    /// One for each dialog.
    pub fn new() -> Self {
        Self(NodeRef::new())
    }

    /// Shows it above the page. The browser keeps the opener's focus for [`Self::close`].
    pub fn open(self) {
        #[cfg(feature = "hydrate")]
        if let Some(dialog) = self.0.get_untracked()
            && !dialog.open()
        {
            let _ = dialog.show_modal();
        }
    }

    /// Closes it; focus goes back to the opener.
    pub fn close(self) {
        #[cfg(feature = "hydrate")]
        if let Some(dialog) = self.0.get_untracked() {
            dialog.close();
        }
    }
}

impl Default for DialogOpener {
    fn default() -> Self {
        Self::new()
    }
}

/// A dialog; `opener.open()` shows it, `Esc` and a click beside it close it.
#[component]
pub fn Dialog(
    /// Its handle.
    opener: DialogOpener,
    /// Unique on the page.
    id: &'static str,
    /// The question.
    #[prop(into)]
    title: String,
    /// What happens, and the verbs.
    children: Children,
) -> impl IntoView {
    let heading = format!("{id}-title");
    let labelled_by = heading.clone();
    view! {
        <dialog
            class="dialog"
            id=id
            node_ref=opener.0
            aria-labelledby=labelled_by
            on:click=move |event| {
                // Only the backdrop itself is the event's target when the click falls beside the content.
                #[cfg(feature = "hydrate")]
                {
                    use leptos::wasm_bindgen::JsCast;
                    let outside = event
                        .target()
                        .and_then(|target| target.dyn_into::<web_sys::HtmlDialogElement>().ok())
                        .is_some_and(|dialog| {
                            let edge = dialog.get_bounding_client_rect();
                            let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
                            x < edge.left() || x > edge.right() || y < edge.top() || y > edge.bottom()
                        });
                    if outside {
                        opener.close();
                    }
                }
                #[cfg(not(feature = "hydrate"))]
                let _ = event;
            }
        >
            <h2 id=heading class="h2">{title}</h2>
            {children()}
        </dialog>
    }
}
