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
        if is_routing.get() {
            return before.unwrap_or(path);
        }
        if before.as_ref().is_some_and(|before| *before != path) {
            #[cfg(feature = "hydrate")]
            request_animation_frame(move || {
                close_menus();
                let heading = document().query_selector("main h1").ok().flatten();
                if let Some(heading) = heading
                    && location.hash.get_untracked().is_empty()
                {
                    use leptos::wasm_bindgen::JsCast;
                    let _ = heading.set_attribute("tabindex", "-1");
                    if let Some(heading) = heading.dyn_ref::<web_sys::HtmlElement>() {
                        let _ = heading.focus();
                    }
                }
                said.set(document().title());
            });
        }
        path
    });
    view! { <p class="sr-only" role="status" aria-live="polite">{said}</p> }
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
