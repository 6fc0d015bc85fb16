//! Icons: line drawings without a meaning of their own; a word stands beside each, or a label for assistive technology.

use leptos::prelude::*;

/// An icon of the sprite, by its name without the `i-`: `search`, `theme`, `file`, `note`, `clock`, `down`, `right`, `left`,
/// `pause`, `x`, `plus`, `pen`, `link`, `pin`, `menu`, `bulb`, `copy`, `lock`, `unlock`, `off`, `play`, `fork`, `out`, `key`.
#[component]
pub fn Icon(
    /// Its name.
    name: &'static str,
) -> impl IntoView {
    view! {
        <svg class="ic" aria-hidden="true">
            <use_ href=format!("#i-{name}")/>
        </svg>
    }
}

/// The product's sign: three lines, three verdicts.
#[component]
pub fn Logo() -> impl IntoView {
    view! {
        <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
            <path d="M1.5 4h9M1.5 9h9M1.5 14h9" stroke="currentColor" stroke-width="1.8" stroke-linecap="round"/>
            <circle cx="15" cy="4" r="2" fill="currentColor"/>
            <rect x="13.1" y="7.1" width="3.8" height="3.8" fill="currentColor"/>
            <circle cx="15" cy="14" r="1.6" fill="none" stroke="currentColor" stroke-width="1.3"/>
        </svg>
    }
}
