//! Access tokens of one's own: list, make, revoke. A secret is shown once, on the page.

use evalkit_core::view::session::{NewToken, TokenRow};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::use_query_map;
use serde::{Deserialize, Serialize};

use super::PageHead;
use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::load::{self, Answer};
use crate::ui::{
    Button, ButtonKind, ButtonSize, CopyButton, Empty, FieldText, FormFault, Icon, Note,
    ScrollTable, Select, Tag, Time,
};

/// What the page shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tokens {
    /// Newest first.
    pub rows: Vec<TokenRow>,
    /// One that a form without script has just made: shown by this answer and never again.
    pub made: Option<NewToken>,
}

/// The list.
///
/// # Errors
/// `S-SIGN-IN`.
#[server(prefix = "/fn", endpoint = "tokens-page", input = Json)]
pub async fn tokens_page() -> Answer<Tokens> {
    let made = crate::server::take_made_token()?;
    crate::server::read(|store, ctx| async move {
        Ok(Tokens {
            rows: store.tokens(&ctx).await?,
            made,
        })
    })
    .await
}

/// Makes a token.
///
/// # Errors
/// `S-INVALID`, `S-FORBIDDEN`.
#[server(prefix = "/fn", endpoint = "make-token")]
pub async fn make_token(
    /// What it is for.
    name: String,
    /// Days until it ends.
    days: u32,
    /// The scope `read`, when the box is ticked.
    #[server(default)]
    read: Option<String>,
    /// The scope `sync`.
    #[server(default)]
    sync: Option<String>,
    /// The scope `run`.
    #[server(default)]
    run: Option<String>,
    /// The scope `review`.
    #[server(default)]
    review: Option<String>,
    /// The scope `admin`.
    #[server(default)]
    admin: Option<String>,
) -> Result<NewToken, Failure> {
    use evalkit_core::policy::Scope;
    let ticked = [
        (Scope::Read, read),
        (Scope::Sync, sync),
        (Scope::Run, run),
        (Scope::Review, review),
        (Scope::Admin, admin),
    ];
    let scopes = ticked
        .into_iter()
        .filter_map(|(scope, box_)| box_.map(|_| scope))
        .collect();
    let request = evalkit_store::NewTokenRequest {
        name,
        scopes,
        days: Some(days),
    };
    let made =
        crate::server::write(
            |state, ctx| async move { state.store.create_token(&ctx, &request).await },
        )
        .await?;
    if crate::server::is_plain_form() {
        crate::server::keep_made_token(made.clone())?;
        leptos_axum::redirect("/settings/tokens#made");
    }
    Ok(made)
}

/// Ends a token now.
///
/// # Errors
/// `S-NOT-FOUND`.
#[server(prefix = "/fn", endpoint = "revoke-token")]
pub async fn revoke_token(
    /// Its id.
    id: String,
) -> Result<(), Failure> {
    crate::server::write(|state, ctx| async move { state.store.revoke_token(&ctx, &id).await })
        .await
}

const SCOPES: [(&str, &str, bool); 5] = [
    ("read", "read everything you see", true),
    ("sync", "sync and edit cases", true),
    ("run", "run agents", true),
    ("review", "comment and decide in reviews", false),
    ("admin", "add agents, change settings", true),
];

/// The page.
#[component]
pub fn TokensPage() -> impl IntoView {
    let make = Act::of::<MakeToken>();
    let revoke = Act::of::<RevokeToken>();
    let page = load::resource(move || (make.done(), revoke.done()), |_| TokensPage {});
    let query = use_query_map();
    let first = query.with_untracked(|query| query.get("first").is_some());
    view! {
        <Title text="Access tokens"/>
        <div class="wrap pb-24">
            <PageHead title="Access tokens" meta=|| "for the command and CI; a token can do what its scopes and your roles both allow"/>
            {first
                .then(|| {
                    view! {
                        <p class="text-base text-ink-2 mt-3 max-w-[70ch]">
                            "You are the owner now. Make a token, then paste the line it shows into a terminal: from then on the command speaks to this server as you."
                        </p>
                    }
                })}
            <div class="grid gap-x-14 gap-y-10 mt-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,380px)]">
                <section class="min-w-0">
                    {move || make.answer::<NewToken>().map(|token| view! { <Made token/> })}
                    {load::page(page, "Loading tokens", move |tokens: Tokens, _| {
                        view! {
                            {tokens.made.map(|token| view! { <Made token/> })}
                            <TokenTable rows=tokens.rows revoke/>
                        }
                    })}
                    <FormFault fault=revoke.refused()/>
                </section>
                <section class="min-w-0">
                    <h2 class="h2">"New token"</h2>
                    <div class="mt-3">
                        <ActForm act=make>
                            <div class="space-y-4">
                                <FieldText name="name" label="What it is for" value=if first { "my terminal" } else { "" } placeholder="ci-nightly" max=100/>
                                <fieldset>
                                    <legend class="label">"Scopes"</legend>
                                    <div class="space-y-1">
                                        {SCOPES
                                            .into_iter()
                                            .map(|(name, means, ticked)| {
                                                view! {
                                                    <label class="flex items-center gap-2 text-sm min-h-7">
                                                        <input type="checkbox" class="role" name=name value="yes" checked=ticked/>
                                                        <span class="id w-16">{name}</span>
                                                        <span class="text-ink-2">{means}</span>
                                                    </label>
                                                }
                                            })
                                            .collect_view()}
                                    </div>
                                </fieldset>
                                <Select
                                    name="days"
                                    label="Ends after"
                                    value="90"
                                    options=[("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "365 days")]
                                        .into_iter()
                                        .map(|(days, word)| (days.to_owned(), word.to_owned()))
                                        .collect()
                                />
                            </div>
                            <FormFault fault=make.refused()/>
                            <div class="mt-5">
                                <Button kind=ButtonKind::Primary disabled=make.pending()><Icon name="key"/>"Make the token"</Button>
                            </div>
                        </ActForm>
                    </div>
                </section>
            </div>
        </div>
    }
}

/// A token at the moment of its making.
#[component]
fn Made(token: NewToken) -> impl IntoView {
    let (secret, line) = (token.secret.clone(), token.login_line.clone());
    view! {
        <div class="mb-8" id="made">
            <Note tone="acc">
                <h2 class="text-sm font-semibold">"New token " <span class="id">{token.row.name}</span></h2>
                <p class="text-sm text-ink-2 mt-1">"Copy it now. It is stored as a hash, so nobody, you included, can see it again."</p>
                <p class="eyebrow mt-3">"The token"</p>
                <div class="flex flex-wrap items-center gap-2 mt-1">
                    <code class="well px-2.5 py-1 text-sm break-all min-w-0">{token.secret}</code>
                    <CopyButton text=secret what="the token"/>
                </div>
                <p class="eyebrow mt-3">"Paste this into a terminal to sign the command in"</p>
                <div class="flex flex-wrap items-center gap-2 mt-1">
                    <code class="well px-2.5 py-1 text-sm break-all min-w-0">{token.login_line}</code>
                    <CopyButton text=line what="the line"/>
                </div>
            </Note>
        </div>
    }
}

#[component]
fn TokenTable(rows: Vec<TokenRow>, revoke: Act) -> impl IntoView {
    if rows.is_empty() {
        return view! {
            <Empty
                title="No tokens yet"
                text="A token lets the command and CI act as you, within its scopes. It is shown once, when it is made."
            />
        }
        .into_any();
    }
    view! {
        <ScrollTable label="Tokens">
            <table class="tbl md:min-w-[560px]">
                <thead>
                    <tr>
                        <th scope="col">"Name"</th>
                        <th scope="col" class="hidden md:table-cell">"Scopes"</th>
                        <th scope="col" class="num hidden md:table-cell">"Last used"</th>
                        <th scope="col" class="num">"Ends"</th>
                        <th scope="col"><span class="sr-only">"Revoke"</span></th>
                    </tr>
                </thead>
                <tbody>
                    {rows
                        .into_iter()
                        .map(|row| {
                            let name = row.name.clone();
                            view! {
                                <tr data-row tabindex="-1">
                                    <th scope="row" class="text-ink">
                                        {row.name}
                                        <span class="eyebrow block md:hidden">{row.scopes.join(", ")}</span>
                                    </th>
                                    <td class="hidden md:table-cell">
                                        <span class="flex flex-wrap gap-1">
                                            {row.scopes.into_iter().map(|scope| view! { <Tag name=scope/> }).collect_view()}
                                        </span>
                                    </td>
                                    <td class="num text-ink-3 hidden md:table-cell">
                                        {match row.last_used_at {
                                            Some(at) => view! { <Time at/> }.into_any(),
                                            None => "never".into_any(),
                                        }}
                                    </td>
                                    <td class="num text-ink-3"><Time at=row.expires_at/></td>
                                    <td class="text-right">
                                        <ActForm act=revoke>
                                            <input type="hidden" name="id" value=row.id/>
                                            <Button kind=ButtonKind::Plain size=ButtonSize::Small>
                                                "Revoke" <span class="sr-only">" " {name}</span>
                                            </Button>
                                        </ActForm>
                                    </td>
                                </tr>
                            }
                        })
                        .collect_view()}
                </tbody>
            </table>
        </ScrollTable>
    }
    .into_any()
}
