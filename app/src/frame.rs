//! What stands around every page: skip link, bar, banners, main, foot, live regions, keys.

mod announce;
mod bar;
mod keys;

pub(crate) use keys::is_letter_key;

use evalkit_core::view::session::Session;
use leptos::prelude::*;

use crate::ui::{Banner, BannerTone, Toaster, Toasts};

/// The frame. `children` are the routes; no suspense stands beside them (leptos#3707).
#[component]
pub fn Frame(
    /// Who looks.
    session: StoredValue<Session>,
    /// A navigation is under way.
    is_routing: ReadSignal<bool>,
    /// The routes.
    children: Children,
) -> impl IntoView {
    let toaster = Toaster::new();
    provide_context(toaster);
    let (demo, signed_in, no_tls, version) = session.with_value(|session| {
        (
            session.demo,
            session.person.is_some(),
            session.no_tls,
            session.version.clone(),
        )
    });
    let keys_dialog = keys::install();
    view! {
        <div class="page">
            <a class="skip" href="#main">"Skip to content"</a>
            <div class="routing" class:on=is_routing aria-hidden="true"></div>
            <bar::Bar session keys_dialog/>
            {no_tls
                .then(|| {
                    view! {
                        <Banner tone=BannerTone::Look icon="unlock">
                            <b class="font-semibold">"This connection is not encrypted. "</b>
                            "Anyone on the network can read your password and tokens. Whoever runs the server sets an https "
                            <span class="id">"public_url"</span> "."
                        </Banner>
                    }
                })}
            {demo
                .then(|| {
                    view! {
                        <Banner tone=BannerTone::Accent icon="play">
                            <b class="font-semibold">"Demo. "</b>
                            {signed_in.then_some("You are signed in as a demo person. ")}
                            "Verdicts on the recorded answers were checked by hand; any other answer is graded by the offline judge: not a quality signal."
                        </Banner>
                    }
                })}
            <main id="main" tabindex="-1">{children()}</main>
            <footer class="foot">
                <div class="wrap">
                    <span>"Evalkit " {version}</span>
                    <a href="/kit">"Component sheet"</a>
                    <button type="button" class="quiet underline needs-script" on:click=move |_| keys_dialog.open()>"Keys"</button>
                </div>
            </footer>
            <keys::KeysDialog opener=keys_dialog/>
            <Toasts toaster/>
            <announce::Announcer is_routing/>
        </div>
    }
}
