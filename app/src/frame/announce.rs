//! After a navigation the page's heading takes the focus, and one polite live region says its title.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

/// The live region, and the effect that fills it.
#[component]
pub fn Announcer(
    /// A navigation is under way.
    is_routing: ReadSignal<bool>,
) -> impl IntoView {
    let said = RwSignal::new(String::new());
    let location = use_location();
    Effect::new(move |before: Option<String>| {
        let path = location.pathname.get();
        if before.is_some_and(|before| before != path) {
            #[cfg(feature = "hydrate")]
            settle(is_routing, 0, move || {
                close_menus();
                if location.hash.get_untracked().is_empty() {
                    focus_heading();
                }
                said.set(document().title());
            });
        }
        path
    });
    #[cfg(not(feature = "hydrate"))]
    let _ = is_routing;
    view! { <p class="sr-only" role="status" aria-live="polite">{said}</p> }
}

/// Runs `then` once the new page stands: the address changes first, the page when its data is there.
#[cfg(feature = "hydrate")]
fn settle(is_routing: ReadSignal<bool>, looked: u32, then: impl FnOnce() + 'static) {
    const PAUSE: std::time::Duration = std::time::Duration::from_millis(40);
    const MOST: u32 = 500;
    set_timeout(
        move || {
            if is_routing.get_untracked() && looked < MOST {
                settle(is_routing, looked + 1, then);
            } else {
                then();
            }
        },
        PAUSE,
    );
}

#[cfg(feature = "hydrate")]
fn focus_heading() {
    use leptos::wasm_bindgen::JsCast;
    let heading = document().query_selector("main h1").ok().flatten();
    if let Some(heading) =
        heading.and_then(|heading| heading.dyn_into::<web_sys::HtmlElement>().ok())
    {
        let _ = heading.set_attribute("tabindex", "-1");
        let _ = heading.focus();
    }
}

/// Closes every open menu of the bar.
#[cfg(feature = "hydrate")]
pub(super) fn close_menus() {
    let Ok(menus) = document().query_selector_all("details.menu[open]") else {
        return;
    };
    for index in 0..menus.length() {
        use leptos::wasm_bindgen::JsCast;
        if let Some(menu) = menus
            .item(index)
            .and_then(|menu| menu.dyn_into::<web_sys::Element>().ok())
        {
            let _ = menu.remove_attribute("open");
        }
    }
}
