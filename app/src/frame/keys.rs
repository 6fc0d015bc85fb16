//! Keys that work everywhere: `?`, `G H`, `G D`, `J`, `K`, `/`, `Enter` on a row. Single letters rest while typing and can be
//! turned off; the choice stays on this device.

use leptos::prelude::*;

use crate::ui::{Button, ButtonKind, Dialog, DialogOpener, Kbd};

/// Listens on the whole page; answers the handle of the list of keys.
pub(super) fn install() -> DialogOpener {
    let opener = DialogOpener::new();
    #[cfg(feature = "hydrate")]
    browser::listen(opener);
    opener
}

/// The list.
#[component]
pub(super) fn KeysDialog(
    /// Its handle.
    opener: DialogOpener,
) -> impl IntoView {
    const EVERYWHERE: [(&str, &str); 4] = [
        ("G H", "go home"),
        ("G D", "go to the datasets"),
        ("?", "this list"),
        ("Esc", "close"),
    ];
    const LISTS: [(&str, &str); 4] = [
        ("J", "next"),
        ("K", "previous"),
        ("Enter", "open"),
        ("/", "filter"),
    ];
    let rows = |keys: &'static [(&'static str, &'static str)]| {
        keys.iter()
            .map(|(key, act)| {
                view! {
                    <div class="rule-t py-1.5 flex justify-between gap-4 text-sm">
                        <dt>{*act}</dt>
                        <dd class="flex gap-1">{key.split(' ').map(|key| view! { <Kbd keys=key/> }).collect_view()}</dd>
                    </div>
                }
            })
            .collect_view()
    };
    view! {
        <Dialog opener id="keys" title="Keys">
            <h3 class="text-sm font-semibold mt-4 mb-1">"Everywhere"</h3>
            <dl>{rows(&EVERYWHERE)}</dl>
            <h3 class="text-sm font-semibold mt-4 mb-1">"In lists"</h3>
            <dl>{rows(&LISTS)}</dl>
            <label class="flex items-center gap-2 text-sm mt-4">
                <input type="checkbox" class="role" id="letter-keys" checked=true on:change=remember/>
                "Single letters act as keys on this device"
            </label>
            <div class="mt-4">
                <Button kind_of="button" kind=ButtonKind::Plain on:click=move |_| opener.close()>"Close"</Button>
            </div>
        </Dialog>
    }
}

/// Whether a key press is a single letter that may act: no modifier, no typing, letters not turned off.
pub(crate) fn is_letter_key(event: &leptos::ev::KeyboardEvent) -> bool {
    #[cfg(feature = "hydrate")]
    return browser::is_letter_key(event);
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = event;
        false
    }
}

fn remember(event: leptos::ev::Event) {
    #[cfg(feature = "hydrate")]
    browser::remember(event_target_checked(&event));
    #[cfg(not(feature = "hydrate"))]
    let _ = event;
}

#[cfg(feature = "hydrate")]
mod browser {
    use std::cell::Cell;
    use std::rc::Rc;

    use leptos::ev::{click, keydown};
    use leptos::prelude::*;
    use leptos::wasm_bindgen::JsCast;
    use leptos_router::hooks::use_navigate;
    use web_sys::{Element, HtmlElement, KeyboardEvent};

    use crate::frame::announce::close_menus;
    use crate::ui::DialogOpener;

    const OFF: &str = "evalkit.letter-keys-off";

    fn storage() -> Option<web_sys::Storage> {
        window().local_storage().ok().flatten()
    }

    fn letters_off() -> bool {
        storage().is_some_and(|store| store.get_item(OFF).ok().flatten().is_some())
    }

    pub(super) fn remember(on: bool) {
        if let Some(store) = storage() {
            let _ = if on {
                store.remove_item(OFF)
            } else {
                store.set_item(OFF, "1")
            };
        }
    }

    /// Whether the event comes from where one types or chooses.
    fn is_typing(event: &KeyboardEvent) -> bool {
        event
            .target()
            .and_then(|target| target.dyn_into::<HtmlElement>().ok())
            .is_some_and(|element| {
                matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
                    || element.is_content_editable()
            })
    }

    pub(super) fn is_letter_key(event: &KeyboardEvent) -> bool {
        let taken =
            event.default_prevented() || event.ctrl_key() || event.meta_key() || event.alt_key();
        let dialog_open = || {
            document()
                .query_selector("dialog[open]")
                .ok()
                .flatten()
                .is_some()
        };
        !taken && !is_typing(event) && !dialog_open() && !letters_off()
    }

    pub(super) fn listen(opener: DialogOpener) {
        let navigate = use_navigate();
        let after_g = Rc::new(Cell::new(false));
        let keys = window_event_listener(keydown, move |event| {
            if event.key() == "Escape" {
                close_menus();
                return;
            }
            if !is_letter_key(&event) {
                return;
            }
            let went = after_g.replace(false);
            let handled = match event.key().as_str() {
                "?" => {
                    opener.open();
                    true
                }
                "g" => {
                    after_g.set(true);
                    false
                }
                "h" if went => {
                    navigate("/", Default::default());
                    true
                }
                "d" if went => follow("header nav a[href^='/w/']"),
                // A page may give the keys to links and buttons of its own.
                "j" => follow("main [data-key=j]") || step(1),
                "k" => follow("main [data-key=k]") || step(-1),
                "p" => follow("main [data-key=p]"),
                "Enter" => open_row(&event),
                "/" => focus("[data-filter]"),
                _ => false,
            };
            if handled {
                event.prevent_default();
            }
        });
        // A click outside of an open menu closes it.
        let clicks = window_event_listener(click, |event| {
            let inside = event
                .target()
                .and_then(|target| target.dyn_into::<Element>().ok())
                .is_some_and(|element| element.closest("details.menu").ok().flatten().is_some());
            if !inside {
                close_menus();
            }
        });
        on_cleanup(move || {
            keys.remove();
            clicks.remove();
        });
    }

    fn element(selector: &str) -> Option<HtmlElement> {
        document()
            .query_selector(selector)
            .ok()
            .flatten()?
            .dyn_into()
            .ok()
    }

    fn follow(selector: &str) -> bool {
        element(selector).map(|link| link.click()).is_some()
    }

    fn focus(selector: &str) -> bool {
        element(selector).is_some_and(|field| field.focus().is_ok())
    }

    /// Moves the focus among the rows of the page (`data-row`).
    fn step(by: i32) -> bool {
        let Ok(rows) = document().query_selector_all("main [data-row]") else {
            return false;
        };
        let focused = document().active_element();
        let count = i32::try_from(rows.length()).unwrap_or(0);
        let current = (0..count).find(|index| {
            rows.item(index.unsigned_abs())
                .and_then(|row| row.dyn_into::<Element>().ok())
                .as_ref()
                == focused.as_ref()
        });
        let next = match current {
            Some(index) => (index + by).clamp(0, count - 1),
            None => 0,
        };
        rows.item(next.unsigned_abs())
            .and_then(|row| row.dyn_into::<HtmlElement>().ok())
            .is_some_and(|row| row.focus().is_ok())
    }

    /// A focused table row opens its first link; a focused link opens by itself.
    fn open_row(event: &KeyboardEvent) -> bool {
        let row = event
            .target()
            .and_then(|target| target.dyn_into::<HtmlElement>().ok());
        row.filter(|row| row.tag_name() == "TR")
            .and_then(|row| row.query_selector("a[href]").ok().flatten())
            .and_then(|link| link.dyn_into::<HtmlElement>().ok())
            .map(|link| link.click())
            .is_some()
    }
}
