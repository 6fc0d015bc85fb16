//! Short news that an act succeeded. Secrets and errors never stand in a toast.

use leptos::prelude::*;

use super::{Icon, Mark, MarkShape};

/// The toasts of the page: `Toaster::say` adds one.
#[derive(Debug, Clone, Copy)]
pub struct Toaster {
    list: RwSignal<Vec<(u32, Mark, String)>>,
    next: RwSignal<u32>,
}

impl Toaster {
    /// An empty list; provided once by the frame.
    pub fn new() -> Self {
        Self {
            list: RwSignal::new(Vec::new()),
            next: RwSignal::new(0),
        }
    }

    /// Shows a sentence. It stays until it is closed or three newer ones came.
    pub fn say(self, mark: Mark, text: impl Into<String>) {
        let id = self.next.get_untracked();
        self.next.set(id + 1);
        self.list.update(|list| {
            list.push((id, mark, text.into()));
            if list.len() > 3 {
                list.remove(0);
            }
        });
    }
}

impl Default for Toaster {
    fn default() -> Self {
        Self::new()
    }
}

/// Where toasts stand; a polite live region.
#[component]
pub fn Toasts(
    /// From the frame.
    toaster: Toaster,
) -> impl IntoView {
    view! {
        <div class="toasts" role="status" aria-live="polite">
            <For each=move || toaster.list.get() key=|toast| toast.0 let:toast>
                <div class="float toast">
                    <span class=format!("v {}", toast.1.tone().class())><MarkShape mark=toast.1/></span>
                    <p class="text-sm font-semibold">{toast.2}</p>
                    <button
                        type="button"
                        class="btn plain sm ml-auto"
                        on:click=move |_| toaster.list.update(|list| list.retain(|other| other.0 != toast.0))
                    >
                        <Icon name="x"/>
                        <span class="sr-only">"Close"</span>
                    </button>
                </div>
            </For>
        </div>
    }
}
