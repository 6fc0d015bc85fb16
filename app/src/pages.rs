//! One page, one file, with its server functions.

pub mod agents;
pub mod case;
pub mod dataset;
pub mod errors;
pub mod experiment;
pub mod home;
pub mod kit;
pub mod result;
pub mod run_form;
pub mod runs;
#[cfg(all(test, feature = "ssr"))]
mod samples;
pub mod setup;
pub mod sign_in;
pub mod tokens;
pub mod workspace;

use leptos::prelude::*;

use crate::act::Act;

/// The head of a page in a workspace: "research / Runs", a remark, and what can be done at the right.
#[component]
pub fn PageHead(
    /// The workspace, with a link to it; none on its own page.
    #[prop(optional, into)]
    workspace: Option<String>,
    /// The page.
    #[prop(into)]
    title: String,
    /// Its name is a machine's: mono.
    #[prop(optional)]
    mono: bool,
    /// What it holds, in a few words.
    #[prop(optional, into)]
    meta: Option<ViewFn>,
    /// Buttons.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="pt-6 flex flex-wrap items-baseline gap-x-4 gap-y-2">
            <h1 class="text-title font-semibold min-w-0 break-words">
                {workspace
                    .map(|name| {
                        let href = format!("/w/{name}");
                        view! { <a class="quiet text-ink-3 font-normal" href=href>{name} " /"</a> " " }
                    })}
                <span class:font-mono=mono>{title}</span>
            </h1>
            {meta.map(|meta| view! { <span class="meta">{meta.run()}</span> })}
            {children.map(|children| view! { <span class="ml-auto flex flex-wrap gap-2">{children()}</span> })}
        </div>
    }
}

/// "1 case", "28 cases".
pub(crate) fn count(n: u64, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        crate::ui::grouped(n),
        if n == 1 { one } else { many }
    )
}

/// A query string without empty parts: `?a=b&c=d`, or nothing.
pub(crate) fn query_string(parts: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (key, value) in parts.iter().filter(|(_, value)| !value.is_empty()) {
        out.push(if out.is_empty() { '?' } else { '&' });
        out.push_str(key);
        out.push('=');
        out.push_str(&escape(value));
    }
    out
}

/// Percent-encodes a value for an address, the same on server and browser (`Url::escape` writes `-` in two ways).
pub(crate) fn escape(value: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~:@,".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// After an act that changes who is signed in, the whole page is loaded anew: the frame belongs to the session.
pub(crate) fn load_on_success(act: Act) {
    Effect::new(move |_| {
        if let Some(to) = act.answer::<String>() {
            let _ = window().location().set_href(&to);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_byte_by_byte() {
        assert_eq!(escape("not-satisfied main:4"), "not-satisfied%20main:4");
        assert_eq!(escape("ü&=#?/%\""), "%C3%BC%26%3D%23%3F%2F%25%22");
        assert_eq!(
            query_string(&[("a", "x y"), ("b", ""), ("c", "1")]),
            "?a=x%20y&c=1"
        );
    }
}
