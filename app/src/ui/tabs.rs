//! Tabs are links: which one is open lives in the address.

use leptos::prelude::*;

/// One tab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// Its word.
    pub name: String,
    /// How many are behind it.
    pub count: Option<u64>,
    /// Where it leads.
    pub href: String,
    /// It is the open one.
    pub current: bool,
}

/// A row of tabs.
#[component]
pub fn Tabs(
    /// What they choose among, for assistive technology.
    #[prop(into)]
    label: String,
    /// In order.
    tabs: Vec<Tab>,
) -> impl IntoView {
    view! {
        <nav class="tabs" aria-label=label>
            {tabs
                .into_iter()
                .map(|tab| {
                    view! {
                        <a href=tab.href aria-current=tab.current.then_some("true") attr:data-noscroll="">
                            {tab.name}
                            {tab.count.map(|n| view! { <span class="n">{super::grouped(n)}</span> })}
                        </a>
                    }
                })
                .collect_view()}
        </nav>
    }
}
