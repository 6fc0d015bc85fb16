//! Differences by meaning: struck and underlined as well as coloured, and named for assistive technology.

use leptos::prelude::*;

/// What is gone.
#[component]
pub fn Del(
    /// The old text.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! { <del class="d"><span class="sr-only">"removed: "</span>{text}</del> }
}

/// What is new.
#[component]
pub fn Ins(
    /// The new text.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    view! { <ins class="d"><span class="sr-only">"added: "</span>{text}</ins> }
}

/// One value that became another.
#[component]
pub fn Changed(
    /// Before.
    #[prop(into)]
    from: String,
    /// Now.
    #[prop(into)]
    to: String,
) -> impl IntoView {
    view! { <span><Del text=from/> " " <Ins text=to/></span> }
}
