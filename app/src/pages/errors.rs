//! Whole pages for what failed. "Missing" and "not yours" say the same, word for word (`review.md`).

use evalkit_core::error::{Code, Fault};
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_location;

use crate::load::status;
use crate::ui::{ErrorPanel, LinkButton};

/// No route fits.
#[component]
pub fn NotFoundPage() -> impl IntoView {
    status(Code::NotFound);
    view! { <FaultPage fault=Fault::not_found()/> }
}

/// A page that is a fault.
#[component]
pub fn FaultPage(
    /// What happened.
    fault: Fault,
) -> impl IntoView {
    let location = use_location();
    let sign_in = move || {
        let here = format!("{}?{}", location.pathname.get(), location.search.get());
        format!(
            "/sign-in?return_to={}",
            leptos_router::location::Url::escape(here.trim_end_matches('?'))
        )
    };
    let title = match fault.code {
        Code::NotFound => "Nothing here that you can see",
        Code::SignIn => "Sign in to go on",
        Code::Forbidden => "Not yours to do",
        _ => "This page failed",
    };
    let wants_sign_in = fault.code == Code::SignIn;
    view! {
        <Title text=title/>
        <div class="wrap pt-8 pb-24">
            <h1 class="text-title font-semibold">{title}</h1>
            <div class="mt-5 max-w-[62ch]">
                <ErrorPanel fault>
                    {if wants_sign_in {
                        view! { <a class="btn primary sm" href=sign_in rel="external">"Sign in"</a> }.into_any()
                    } else {
                        view! { <LinkButton href="/" size=crate::ui::ButtonSize::Small>"Home"</LinkButton> }.into_any()
                    }}
                </ErrorPanel>
            </div>
        </div>
    }
}
