//! Agents: endpoints, what they say they can, their last check; add and remove.

use evalkit_core::view::agents::{AgentCheck, AgentRow, Agents};
use leptos::prelude::*;
use leptos::server_fn::codec::Json;
use leptos_meta::Title;
use leptos_router::hooks::use_params_map;

use super::{PageHead, count};
use crate::act::{Act, ActForm};
use crate::failure::Failure;
use crate::load::{self, Answer};
use crate::ui::{
    Button, ButtonKind, ButtonSize, Code, Empty, FieldText, FormFault, Icon, Mark, Marked, Note,
    ScrollTable, Select, Time, seconds,
};

/// The page's data.
///
/// # Errors
/// `S-NOT-FOUND` when the workspace is missing or not the caller's.
#[server(prefix = "/fn", endpoint = "agents-page", input = Json)]
pub async fn agents_page(
    /// The workspace.
    workspace: String,
) -> Answer<Agents> {
    crate::server::read(|store, ctx| async move { store.agents_page(&ctx, &workspace).await }).await
}

/// Registers an agent, or changes the one of that name.
///
/// # Errors
/// `S-FORBIDDEN`, `S-INVALID`, `S-NAME-TAKEN`.
#[server(prefix = "/fn", endpoint = "put-agent")]
pub async fn put_agent(
    /// The workspace.
    workspace: String,
    /// A slug.
    name: String,
    /// What it speaks.
    adapter: String,
    /// Its address, or a path for `recorded`.
    #[server(default)]
    endpoint: String,
    /// Its secret; empty leaves a stored one as it is.
    #[server(default)]
    secret: String,
    /// Calls at once.
    concurrency: u32,
    /// Seconds a trial.
    timeout_s: u64,
) -> Result<(), Failure> {
    use evalkit_core::agent::{Adapter, AgentConfig};
    use evalkit_core::error::{Code, Fault};
    use evalkit_store::{NewAgent, SecretText};
    crate::server::write::<_, Fault, _>(|state, ctx| async move {
        let adapter = Adapter::parse(&adapter).ok_or_else(|| {
            Fault::new(
                Code::Invalid,
                "This adapter is not known.",
                "Choose one of the list.",
            )
        })?;
        let mut config = AgentConfig::new(name.trim(), adapter, endpoint.trim());
        config.concurrency = concurrency;
        config.timeout_s = timeout_s;
        let secret = (!secret.is_empty()).then(|| SecretText::new(secret));
        state
            .engine
            .add_agent(&ctx, &workspace, NewAgent { config, secret })
            .await
    })
    .await
}

/// Removes an agent; its runs stay.
///
/// # Errors
/// `S-FORBIDDEN`, `S-NOT-FOUND`.
#[server(prefix = "/fn", endpoint = "remove-agent")]
pub async fn remove_agent(
    /// The workspace.
    workspace: String,
    /// The agent.
    name: String,
) -> Result<(), Failure> {
    crate::server::write(|state, ctx| async move {
        state.engine.remove_agent(&ctx, &workspace, &name).await
    })
    .await
}

/// Asks an agent one question and keeps what came of it.
///
/// # Errors
/// `S-NOT-FOUND`, `S-FORBIDDEN`; an agent that fails is a result, not an error.
#[server(prefix = "/fn", endpoint = "check-agent")]
pub async fn check_agent(
    /// The workspace.
    workspace: String,
    /// The agent.
    name: String,
) -> Result<(), Failure> {
    crate::server::write(|state, ctx| async move {
        state
            .engine
            .check_agent(&ctx, &workspace, &name)
            .await
            .map(drop)
    })
    .await
}

/// The page.
#[component]
pub fn AgentsPage() -> impl IntoView {
    let params = use_params_map();
    let put = Act::of::<PutAgent>();
    let remove = Act::of::<RemoveAgent>();
    let check = Act::of::<CheckAgent>();
    let page = load::resource(
        move || {
            (
                params.read().get("ws").unwrap_or_default(),
                put.done(),
                remove.done(),
                check.done(),
            )
        },
        |(workspace, ..)| AgentsPage { workspace },
    );
    load::page(page, "Loading agents", move |agents: Agents, _| {
        let here = agents.workspace.clone();
        let command = format!("evalkit agent add NAME@{here} --url http://127.0.0.1:8080/run");
        let unreached = agents
            .rows
            .iter()
            .filter(|row| row.last_check.as_ref().is_some_and(|check| !check.ok))
            .count();
        let meta = {
            let n = agents.rows.len() as u64;
            move || {
                let out = if unreached > 0 {
                    format!(", {unreached} out of reach")
                } else {
                    String::new()
                };
                format!("{}{out}", count(n, "agent", "agents"))
            }
        };
        let refused: Vec<AgentRow> = agents
            .rows
            .iter()
            .filter(|row| row.last_check.as_ref().is_some_and(|check| !check.ok))
            .cloned()
            .collect();
        view! {
            <Title text=format!("Agents in {}", agents.workspace)/>
            <div class="wrap pb-24">
                <PageHead workspace=agents.workspace.clone() title="Agents" meta/>
                <div class="mt-5">
                    {if agents.rows.is_empty() {
                        view! {
                            <Empty
                                title="No agents yet"
                                text="An agent is an address that answers questions over HTTP. Add yours below, or from the command."
                            >
                                <code class="well px-2 py-1 text-sm">{command}</code>
                            </Empty>
                        }
                            .into_any()
                    } else {
                        view! { <Table workspace=agents.workspace.clone() rows=agents.rows may=agents.may_register remove check/> }
                            .into_any()
                    }}
                </div>
                <FormFault fault=remove.refused()/>
                <FormFault fault=check.refused()/>
                {refused.into_iter().map(|row| view! { <Unreached row/> }).collect_view()}
                {if agents.may_register {
                    view! {
                        <section class="mt-12 max-w-[760px]" id="add">
                            <h2 class="h2">"Add or change an agent"</h2>
                            <p class="meta mt-1">"A known name changes that agent. A new address voids its stored secret."</p>
                            <div class="mt-4">
                                <ActForm act=put>
                                    <input type="hidden" name="workspace" value=here/>
                                    <div class="grid sm:grid-cols-2 gap-4">
                                        <FieldText name="name" label="Name" placeholder="ledger-bot" max=63 hint="Lower-case letters, digits, dashes."/>
                                        <Select
                                            name="adapter"
                                            label="Speaks"
                                            value="evalkit-http"
                                            options=[
                                                ("evalkit-http", "evalkit-http: the Agent Run API"),
                                                ("recorded", "recorded: trajectories from files"),
                                            ]
                                                .into_iter()
                                                .map(|(key, word)| (key.to_owned(), word.to_owned()))
                                                .collect()
                                        />
                                        <div class="sm:col-span-2">
                                            <FieldText
                                                name="endpoint"
                                                label="Address"
                                                kind="text"
                                                placeholder="http://127.0.0.1:8080/run"
                                                hint="Where questions are posted. For recorded agents, nothing."
                                                required=false
                                                max=2000
                                            />
                                        </div>
                                        <FieldText
                                            name="secret"
                                            label="Secret"
                                            kind="password"
                                            autocomplete="off"
                                            hint="Sent as a bearer token; stored sealed, never shown."
                                            required=false
                                        />
                                        <div class="grid grid-cols-2 gap-4">
                                            <FieldText name="concurrency" label="Calls at once" kind="number" value="8"/>
                                            <FieldText name="timeout_s" label="Seconds a trial" kind="number" value="300"/>
                                        </div>
                                    </div>
                                    <FormFault fault=put.refused()/>
                                    <div class="mt-5">
                                        <Button kind=ButtonKind::Primary disabled=put.pending()><Icon name="plus"/>"Save the agent"</Button>
                                    </div>
                                </ActForm>
                            </div>
                        </section>
                    }
                        .into_any()
                } else {
                    view! { <p class="meta mt-8">"An author or an admin of this workspace can add an agent."</p> }.into_any()
                }}
            </div>
        }
    })
}

#[component]
fn Table(
    workspace: String,
    rows: Vec<AgentRow>,
    may: bool,
    remove: Act,
    check: Act,
) -> impl IntoView {
    view! {
        <ScrollTable label="Agents">
            <table class="tbl md:min-w-[860px]">
                <thead>
                    <tr>
                        <th scope="col">"Agent"</th>
                        <th scope="col" class="hidden md:table-cell">"Endpoint"</th>
                        <th scope="col" class="hidden md:table-cell">"Says it can"</th>
                        <th scope="col">"Last check"</th>
                        <th scope="col" class="num hidden md:table-cell">"At once"</th>
                        <th scope="col" class="num">"Runs"</th>
                        <th scope="col"><span class="sr-only">"Act"</span></th>
                    </tr>
                </thead>
                <tbody>
                    {rows
                        .into_iter()
                        .map(|row| view! { <Row workspace=workspace.clone() row may remove check/> })
                        .collect_view()}
                </tbody>
            </table>
        </ScrollTable>
    }
}

#[component]
fn Row(workspace: String, row: AgentRow, may: bool, remove: Act, check: Act) -> impl IntoView {
    let own = row.from == "workspace";
    let name = row.name.clone();
    let runs = format!(
        "/w/{workspace}/runs{}",
        super::query_string(&[("agent", &row.name)])
    );
    let from = if own {
        String::new()
    } else {
        format!(", {}", row.from)
    };
    view! {
        <tr data-row tabindex="-1">
            <th scope="row" class="text-ink">
                <span class="id font-semibold">{row.name.clone()}</span>
                <span class="eyebrow block">{row.adapter} {from}</span>
                <span class="id text-ink-2 md:hidden block break-all">{row.endpoint.clone()}</span>
            </th>
            <td class="id text-ink-2 max-w-[280px] break-all hidden md:table-cell">
                {row.endpoint}
                {row.has_secret.then(|| view! { <span class="eyebrow block font-sans"><Icon name="lock"/>" a secret is stored"</span> })}
            </td>
            <td class="hidden md:table-cell">
                {if row.capabilities.is_empty() {
                    view! { <span class="text-ink-3">"what a reply holds"</span> }.into_any()
                } else {
                    row.capabilities
                        .into_iter()
                        .map(|it| view! { <Marked mark=Mark::Satisfied text=it size="sm" class="mr-3"/> })
                        .collect_view()
                        .into_any()
                }}
            </td>
            <td><LastCheck check=row.last_check/></td>
            <td class="num text-ink-3 hidden md:table-cell">{row.concurrency}<span class="eyebrow block">{row.timeout_s} " s each"</span></td>
            <td class="num"><a href=runs>{row.runs}</a></td>
            <td class="text-right">
                <span class="inline-flex flex-wrap justify-end gap-1">
                    {may
                        .then(|| {
                            let (workspace, name, shown) = (workspace.clone(), name.clone(), name.clone());
                            view! {
                                <ActForm act=check>
                                    <input type="hidden" name="workspace" value=workspace/>
                                    <input type="hidden" name="name" value=name/>
                                    <Button size=ButtonSize::Small disabled=check.pending()>
                                        "Check" <span class="sr-only">" " {shown}</span>
                                    </Button>
                                </ActForm>
                            }
                        })}
                    {(may && own)
                        .then(|| {
                            let (value, shown) = (name.clone(), name.clone());
                            view! {
                                <ActForm act=remove>
                                    <input type="hidden" name="workspace" value=workspace/>
                                    <input type="hidden" name="name" value=value/>
                                    <Button kind=ButtonKind::Plain size=ButtonSize::Small>
                                        "Remove" <span class="sr-only">" " {shown}</span>
                                    </Button>
                                </ActForm>
                            }
                        })}
                </span>
            </td>
        </tr>
    }
}

#[component]
fn LastCheck(check: Option<AgentCheck>) -> impl IntoView {
    match check {
        None => view! { <span class="text-ink-3">"never checked"</span> }.into_any(),
        Some(check) => {
            let mark = if check.ok {
                Mark::Satisfied
            } else {
                Mark::Error
            };
            let word = if check.ok { "answered" } else { "not reached" };
            view! {
                <Marked mark text=word/>
                <span class="eyebrow block">
                    {check.class.map(|class| view! { <span class="id">{class}</span> ", " })} <Time at=check.at/>
                    {check.ok.then(|| format!(", {}", seconds(check.latency_ms)))}
                </span>
            }
                .into_any()
        }
    }
}

/// Why an agent was not reached, and the exact lines that would change it.
#[component]
fn Unreached(row: AgentRow) -> impl IntoView {
    row.last_check
        .map(|check| {
            view! {
                <section class="mt-8">
                    <Note tone="inc">
                        <h2 class="text-base font-semibold"><span class="id">{row.name}</span> " did not answer"</h2>
                        <p class="text-sm text-ink-2 mt-1 max-w-[80ch] whitespace-pre-line">{check.message}</p>
                        <ul class="mt-2 space-y-1">
                            {check
                                .steps
                                .into_iter()
                                .map(|(name, ok, remark)| {
                                    let mark = if ok { Mark::Satisfied } else { Mark::Unsatisfied };
                                    view! { <li class="text-sm"><Marked mark text=name/> " " <span class="text-ink-3">{remark}</span></li> }
                                })
                                .collect_view()}
                        </ul>
                        {(!check.reply.is_empty())
                            .then(|| view! { <div class="mt-2 max-w-[760px]"><Code text=check.reply label="What came back"/></div> })}
                    </Note>
                </section>
            }
        })
}
