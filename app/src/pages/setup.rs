//! First start: the one-time link makes the owner and ends on the page that makes the first access token.

use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::load::{self, Answer};
use crate::ui::{Button, ButtonKind, FieldText, FormFault};

/// Whether the link works.
///
/// # Errors
/// `S-SETUP-LINK`.
#[server(prefix = "/fn", endpoint = "setup-page", input = Json)]
pub async fn setup_page(
    /// The link's secret.
    link: String,
) -> Answer<()> {
    crate::server::read(|store, ctx| async move { store.check_setup_link(&ctx, &link).await }).await
}

/// Makes the owner and signs them in.
///
/// # Errors
/// `S-SETUP-LINK`, `S-INVALID`.
#[server(prefix = "/fn", endpoint = "complete-setup")]
pub async fn complete_setup(
    /// The link's secret.
    link: String,
    /// A slug; also the personal workspace.
    name: String,
    /// As they write it.
    display_name: String,
    /// The new password.
    password: String,
) -> Result<String, Failure> {
    use crate::server;
    let owner = evalkit_store::NewOwner {
        name,
        display_name,
        password,
    };
    let signed_in =
        server::write(
            |state, ctx| async move { state.store.complete_setup(&ctx, &link, &owner).await },
        )
        .await?;
    server::begin_session(&signed_in.secret);
    let to = "/settings/tokens?first=yes".to_owned();
    if server::is_plain_form() {
        leptos_axum::redirect(&to);
    }
    Ok(to)
}

/// The page.
#[component]
pub fn SetupPage() -> impl IntoView {
    let params = use_params_map();
    let link = params.with_untracked(|params| params.get("link").unwrap_or_default());
    let page = load::resource(
        {
            let link = link.clone();
            move || link.clone()
        },
        |link| SetupPage { link },
    );
    let action = Act::of::<CompleteSetup>();
    super::load_on_success(action);
    load::page(page, "Checking the link", move |(), _| {
        let link = link.clone();
        view! {
            <Title text="Become the owner"/>
            <div class="wrap pb-24">
                <div class="grid gap-x-20 gap-y-12 pt-12 md:pt-16 lg:grid-cols-[360px_minmax(0,1fr)]">
                    <div class="max-w-[360px]">
                        <h1 class="text-title font-semibold">"Become the owner"</h1>
                        <p class="meta mt-1 mb-6">"This link works once and ends with this form."</p>
                        <ActForm act=action>
                            <input type="hidden" name="link" value=link/>
                            <div class="space-y-4">
                                <FieldText
                                    name="name"
                                    label="Name"
                                    autocomplete="username"
                                    hint="Lower-case letters, digits and dashes. Your own workspace gets the same name."
                                    max=63
                                />
                                <FieldText name="display_name" label="Name as you write it" autocomplete="name" placeholder="Ines Okafor" max=100/>
                                <FieldText
                                    name="password"
                                    label="New password"
                                    kind="password"
                                    autocomplete="new-password"
                                    hint="10 characters or more."
                                />
                            </div>
                            <FormFault fault=action.refused()/>
                            <div class="mt-5">
                                <Button kind=ButtonKind::Primary class="w-full" disabled=action.pending()>"Become the owner"</Button>
                            </div>
                        </ActForm>
                    </div>
                    <section class="min-w-0 max-w-[62ch] lg:border-l lg:border-rule lg:pl-14">
                        <h2 class="h2">"What happens next"</h2>
                        <ol class="text-base mt-3 space-y-3 list-decimal pl-5">
                            <li>"You are signed in, with a workspace of your own that nobody else sees."</li>
                            <li>"The next page makes an access token for the " <span class="id">"evalkit"</span> " command, shown once."</li>
                            <li>"From the command you sync cases, add an agent and run it; the verdicts appear here."</li>
                        </ol>
                    </section>
                </div>
            </div>
        }
    })
}
