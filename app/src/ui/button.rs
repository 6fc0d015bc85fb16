//! Buttons: one primary a page, in ink, not in colour.

use leptos::prelude::*;

use super::Icon;

/// Its weight.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ButtonKind {
    /// Outlined.
    #[default]
    Normal,
    /// In ink; one a page.
    Primary,
    /// Without an outline.
    Plain,
    /// Ends or removes something.
    Danger,
}

/// Its height.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ButtonSize {
    /// 34 px.
    #[default]
    Normal,
    /// 28 px.
    Small,
}

fn class_of(kind: ButtonKind, size: ButtonSize, extra: &str) -> String {
    let kind = match kind {
        ButtonKind::Normal => "",
        ButtonKind::Primary => " primary",
        ButtonKind::Plain => " plain",
        ButtonKind::Danger => " danger",
    };
    let size = if size == ButtonSize::Small { " sm" } else { "" };
    format!("btn{kind}{size} {extra}")
}

/// A button. Inside a form it submits, unless `kind_of="button"`.
#[component]
pub fn Button(
    /// Its weight.
    #[prop(optional)]
    kind: ButtonKind,
    /// Its height.
    #[prop(optional)]
    size: ButtonSize,
    /// `submit` (default) or `button`.
    #[prop(default = "submit")]
    kind_of: &'static str,
    /// Refused for now: it keeps focus; say why beside it and point `described_by` there.
    #[prop(optional, into)]
    disabled: Signal<bool>,
    /// The id of the reason.
    #[prop(optional, into)]
    described_by: Option<String>,
    /// Further classes.
    #[prop(optional, into)]
    class: String,
    /// The verb.
    children: Children,
) -> impl IntoView {
    view! {
        <button
            type=kind_of
            class=class_of(kind, size, &class)
            aria-disabled=move || disabled.get().then_some("true")
            aria-describedby=described_by
            on:click=move |event| {
                if disabled.get_untracked() {
                    event.prevent_default();
                }
            }
        >
            {children()}
        </button>
    }
}

/// A link that looks like a button: it goes somewhere.
#[component]
pub fn LinkButton(
    /// Where.
    #[prop(into)]
    href: String,
    /// Its weight.
    #[prop(optional)]
    kind: ButtonKind,
    /// Its height.
    #[prop(optional)]
    size: ButtonSize,
    /// Further classes.
    #[prop(optional, into)]
    class: String,
    /// The verb.
    children: Children,
) -> impl IntoView {
    view! { <a href=href class=class_of(kind, size, &class)>{children()}</a> }
}

/// Copies a text. Hidden where no script runs, because there it could do nothing.
#[component]
pub fn CopyButton(
    /// What lands on the clipboard.
    #[prop(into)]
    text: String,
    /// What is copied, for assistive technology: "the token".
    #[prop(into)]
    what: String,
) -> impl IntoView {
    let copied = RwSignal::new(false);
    view! {
        <button
            type="button"
            class="btn sm needs-script"
            on:click=move |_| {
                #[cfg(feature = "hydrate")]
                {
                    let text = text.clone();
                    leptos::task::spawn_local(async move {
                        let written = wasm_bindgen_futures::JsFuture::from(
                            window().navigator().clipboard().write_text(&text),
                        );
                        if written.await.is_ok() {
                            copied.set(true);
                        }
                    });
                }
                #[cfg(not(feature = "hydrate"))]
                let _ = (&text, copied);
            }
        >
            <Icon name="copy"/>
            <span aria-live="polite">{move || if copied.get() { "Copied" } else { "Copy" }}</span>
            <span class="sr-only">" "{what}</span>
        </button>
    }
}
