//! Light and dark: the system's choice until the switch is used; then a cookie, so that the server renders the right one.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::failure::Failure;
use crate::ui::Icon;

/// The cookie that keeps the choice.
pub const COOKIE: &str = "evalkit_theme";

/// `light` or `dark` when the cookie header holds the choice.
pub fn from_cookies(header: &str) -> Option<&'static str> {
    header
        .split(';')
        .find_map(|pair| match pair.trim().split_once('=') {
            Some((COOKIE, "light")) => Some("light"),
            Some((COOKIE, "dark")) => Some("dark"),
            _ => None,
        })
}

/// Keeps the choice for a year and goes back to the page.
///
/// # Errors
/// None in practice; the type is that of every server function.
#[server(prefix = "/fn", endpoint = "set-theme")]
pub async fn set_theme(
    /// `light` or `dark`.
    theme: String,
    /// The page to go back to.
    return_to: String,
) -> Result<(), Failure> {
    let theme = if theme == "dark" { "dark" } else { "light" };
    if let Some(response) = use_context::<leptos_axum::ResponseOptions>()
        && let Ok(cookie) =
            format!("{COOKIE}={theme}; Path=/; Max-Age=31536000; SameSite=Lax").parse()
    {
        response.append_header(http::header::SET_COOKIE, cookie);
    }
    leptos_axum::redirect(crate::session::safe_return(&return_to));
    Ok(())
}

/// The switch: a form that works without script, and changes the page in place with it.
#[component]
pub fn ThemeSwitch() -> impl IntoView {
    use leptos::server_fn::ServerFn;
    let location = use_location();
    let return_to = move || {
        format!(
            "{}{}",
            location.pathname.get(),
            search(&location.search.get())
        )
    };
    view! {
        <form method="post" action=SetTheme::url() class="inline-flex" on:submit=apply>
            <input type="hidden" name="return_to" value=return_to/>
            <button class="btn plain sm to-dark" name="theme" value="dark" title="Switch to dark">
                <Icon name="theme"/>
                <span class="sr-only">"Switch to dark"</span>
            </button>
            <button class="btn plain sm to-light" name="theme" value="light" title="Switch to light">
                <Icon name="theme"/>
                <span class="sr-only">"Switch to light"</span>
            </button>
        </form>
    }
}

fn search(query: &str) -> String {
    if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    }
}

/// In the browser: set the attribute and the cookie, and stay.
fn apply(event: leptos::ev::SubmitEvent) {
    #[cfg(feature = "hydrate")]
    {
        use leptos::wasm_bindgen::JsCast;
        event.prevent_default();
        let theme = event
            .submitter()
            .and_then(|button| button.get_attribute("value"))
            .unwrap_or_else(|| "light".to_owned());
        if let Some(root) = document().document_element() {
            let _ = root.set_attribute("data-theme", &theme);
        }
        if let Ok(document) = document().dyn_into::<web_sys::HtmlDocument>() {
            let secure = if location().protocol().is_ok_and(|scheme| scheme == "https:") {
                "; Secure"
            } else {
                ""
            };
            let _ = document.set_cookie(&format!(
                "{COOKIE}={theme}; Path=/; Max-Age=31536000; SameSite=Lax{secure}"
            ));
        }
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = event;
}

#[cfg(test)]
mod tests {
    use super::from_cookies;

    #[test]
    fn the_choice_is_read_from_cookies() {
        assert_eq!(from_cookies("a=b; evalkit_theme=dark; c=d"), Some("dark"));
        assert_eq!(from_cookies("evalkit_theme=light"), Some("light"));
        assert_eq!(from_cookies("evalkit_theme=\"><script>"), None);
        assert_eq!(from_cookies(""), None);
    }
}
