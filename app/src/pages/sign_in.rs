//! Sign-in and sign-out.

use evalkit_core::error::Code;
use leptos::prelude::*;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;

use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::session::{safe_return, use_session};
use crate::ui::{Button, ButtonKind, FieldText, FormFault};

/// Signs in and says where to go on.
///
/// # Errors
/// `S-SIGN-IN`, `S-RATE-LIMITED`.
#[server(prefix = "/fn", endpoint = "sign-in")]
pub async fn sign_in(
    /// The person's name.
    name: String,
    /// Their password.
    password: String,
    /// The page to go on to.
    return_to: String,
) -> Result<String, Failure> {
    use crate::server;
    let signed_in =
        server::write(
            |state, ctx| async move { state.store.sign_in(&ctx, &name, &password).await },
        )
        .await?;
    server::begin_session(&signed_in.secret);
    let to = safe_return(&return_to).to_owned();
    if server::is_plain_form() {
        leptos_axum::redirect(&to);
    }
    Ok(to)
}

/// Ends the session.
///
/// # Errors
/// When the database fails.
#[server(prefix = "/fn", endpoint = "sign-out")]
pub async fn sign_out() -> Result<(), Failure> {
    use crate::server;
    if let Some(secret) = server::session_secret() {
        server::write(|state, ctx| async move { state.store.sign_out(&ctx, &secret).await })
            .await?;
    }
    server::end_session();
    leptos_axum::redirect("/sign-in");
    Ok(())
}

/// The page.
#[component]
pub fn SignInPage() -> impl IntoView {
    let action = Act::of::<SignIn>();
    super::load_on_success(action);
    let query = use_query_map();
    let return_to = query.with_untracked(|query| query.get("return_to").unwrap_or_default());
    let return_to = safe_return(&return_to).to_owned();
    let signed_in = use_session().with_value(|session| session.person.is_some());
    let demo = use_session().with_value(|session| session.demo);
    let demo_href = return_to.clone();
    let fault = action.refused();
    // The wrong pair is said at the field, everything else below the form.
    let wrong = Signal::derive(move || {
        fault
            .get()
            .filter(|fault| fault.code == Code::SignIn)
            .map(|fault| format!("{} {}", fault.message, fault.next))
    });
    let other = Signal::derive(move || fault.get().filter(|fault| fault.code != Code::SignIn));
    let goes_on = (return_to != "/").then(|| return_to.clone());
    view! {
        <Title text="Sign in"/>
        <div class="wrap pb-24">
            <div class="grid gap-x-20 gap-y-12 pt-12 md:pt-16 lg:grid-cols-[360px_minmax(0,1fr)]">
                <div class="max-w-[360px]">
                    <h1 class="text-title font-semibold">"Sign in"</h1>
                    <p class="meta mt-1 mb-6 break-words">
                        {goes_on.map(|path| view! { "You go on to " <span class="id text-ink-2">{path}</span> "." })}
                        {(demo && !signed_in)
                            .then(|| view! { "This is a demo: " <a href=demo_href rel="external">"go on as the demo person"</a> "." })}
                        {signed_in.then_some(" You are signed in already; signing in again changes the person.")}
                    </p>
                    <ActForm act=action>
                        <input type="hidden" name="return_to" value=return_to/>
                        <div class="space-y-4">
                            <FieldText name="name" label="Name" autocomplete="username"/>
                            <FieldText
                                name="password"
                                label="Password"
                                kind="password"
                                autocomplete="current-password"
                                error=wrong
                            />
                        </div>
                        <FormFault fault=other/>
                        <div class="mt-5">
                            <Button kind=ButtonKind::Primary class="w-full" disabled=action.pending()>"Sign in"</Button>
                        </div>
                    </ActForm>
                </div>
                <section class="min-w-0 max-w-[62ch] lg:border-l lg:border-rule lg:pl-14">
                    <h2 class="h2">"What this is"</h2>
                    <p class="said text-read mt-2">
                        "Where a team writes down what a right answer contains, and sees which agents give it."
                    </p>
                    <dl class="text-sm mt-6">
                        <div class="rule-t py-3 grid sm:grid-cols-[150px_minmax(0,1fr)] gap-x-5">
                            <dt class="font-semibold">"No account"</dt>
                            <dd class="text-ink-2">"Ask the owner of this server. Nobody can sign up from here."</dd>
                        </div>
                        <div class="rule-t py-3 grid sm:grid-cols-[150px_minmax(0,1fr)] gap-x-5">
                            <dt class="font-semibold">"First start"</dt>
                            <dd class="text-ink-2">"The server printed a one-time set-up link when it started. Open it to become the owner."</dd>
                        </div>
                        <div class="rule-t py-3 grid sm:grid-cols-[150px_minmax(0,1fr)] gap-x-5">
                            <dt class="font-semibold">"The command"</dt>
                            <dd class="text-ink-2">
                                "Sign in, make an access token under your account, and give it to "
                                <span class="id whitespace-nowrap">"evalkit login --token-stdin"</span> "."
                            </dd>
                        </div>
                    </dl>
                </section>
            </div>
        </div>
    }
}
