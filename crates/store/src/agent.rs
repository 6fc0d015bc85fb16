//! Agents of a workspace, their secrets and their last check (`runs.md`, Agents).

use evalkit_core::agent::{AgentConfig, AgentHome};
use evalkit_core::error::Code;
use evalkit_core::name::{Address, is_slug};
use evalkit_core::policy::Action;
use evalkit_core::view::agents::AgentCheck;

use crate::audit::{self, Record};
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::row::to_json;
use crate::secret::{self, Sealed, SecretText};
use crate::store::Store;
use crate::workspace::Workspace;

/// An agent to be registered, or changed when the name is known.
#[derive(Debug, Clone)]
pub struct NewAgent {
    /// Its configuration.
    pub config: AgentConfig,
    /// Its secret. Absent leaves a stored one as it is, unless the address changes, which voids it.
    pub secret: Option<SecretText>,
}

/// An agent found by name.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedAgent {
    /// As results name it: bare, or `name@workspace` when it is of another workspace than the one run in.
    pub name: String,
    /// Its configuration.
    pub config: AgentConfig,
    /// Where it is defined.
    pub home: AgentHome,
    /// The stored secret's id and the workspace it is sealed for.
    pub secret: Option<SecretRef>,
}

/// Names a stored secret without holding it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SecretRef {
    /// The secret's id.
    pub id: String,
    /// Its workspace's id.
    pub workspace_id: String,
}

/// The origin a secret is bound to: scheme, host and port of an address, or the whole text when it has none.
fn origin(endpoint: &str) -> String {
    match endpoint.split_once("://") {
        Some((scheme, rest)) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            format!("{}://{}", scheme, &rest[..end]).to_lowercase()
        }
        None => endpoint.to_owned(),
    }
}

fn check(config: &AgentConfig) -> Result<(), StoreError> {
    let fault = if !is_slug(&config.name) {
        "An agent's name is lower-case letters, digits and `-`, at most 63, beginning with a letter or digit."
    } else if config.adapter.is_http()
        && !(config.endpoint.starts_with("http://") || config.endpoint.starts_with("https://"))
    {
        "This adapter needs an address that begins with http:// or https://."
    } else if config.endpoint.len() > 2_000 || config.endpoint.chars().any(char::is_control) {
        "The address is longer than 2,000 characters or holds a control character."
    } else if config.concurrency == 0 || config.concurrency > 1_000 {
        "Calls at once are 1 to 1,000."
    } else if config.timeout_s == 0 || config.timeout_s > 86_400 {
        "The time-out is 1 second to 24 hours."
    } else if config.max_attempts == 0 || config.max_attempts > 20 {
        "Attempts are 1 to 20."
    } else if config
        .rate_per_s
        .is_some_and(|rate| !(rate > 0.0 && rate <= 10_000.0))
    {
        "Calls a second are above 0 and at most 10,000."
    } else {
        return Ok(());
    };
    Err(StoreError::invalid(
        fault,
        "Change the agent's settings and try again.",
    ))
}

impl Store {
    /// Registers an agent, or changes the one of that name. A changed address voids its stored secret.
    ///
    /// # Errors
    /// `S-FORBIDDEN` without the right, `S-INVALID`, `S-NAME-TAKEN` for a name of `config.yaml` or a built-in agent.
    pub async fn put_agent(
        &self,
        ctx: &Ctx,
        workspace: &str,
        agent: NewAgent,
    ) -> Result<(), StoreError> {
        check(&agent.config)?;
        let secret_id = Self::new_id();
        let workspace_id = {
            let mut tx = self.read().await?;
            tx.enter(ctx, workspace, Action::RegisterAgent).await?.id
        };
        let origin = origin(&agent.config.endpoint);
        let keeper = &self.inner.keeper;
        let sealed = agent
            .secret
            .as_ref()
            .map(|text| keeper.seal(text.expose(), [&workspace_id, &secret_id, &origin]))
            .transpose()?;
        let input = PutAgent {
            workspace: workspace.to_owned(),
            config: agent.config,
            origin,
            secret: sealed.map(|sealed| (secret_id, keeper.key_id().to_owned(), sealed)),
        };
        self.write(ctx, input, |tx, ctx, input| Box::pin(put(tx, ctx, input)))
            .await
    }

    /// Forgets an agent and its secret. Experiments keep what they were frozen on.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when the workspace has none of that name.
    pub async fn remove_agent(
        &self,
        ctx: &Ctx,
        workspace: &str,
        name: &str,
    ) -> Result<(), StoreError> {
        let input = (workspace.to_owned(), name.to_owned());
        self.write(ctx, input, |tx, ctx, (workspace, name)| {
            Box::pin(async move {
                let workspace = tx.enter(ctx, workspace, Action::RegisterAgent).await?;
                let row = tx
                    .optional(
                        "DELETE FROM agent WHERE workspace_id = $1 AND name = $2 RETURNING secret_id",
                        args![&workspace.id, name],
                    )
                    .await?
                    .ok_or_else(StoreError::not_found)?;
                forget_secret(tx, &workspace.id, row.maybe_text("secret_id")?).await?;
                tx.execute(
                    "DELETE FROM agent_check WHERE workspace_id = $1 AND agent = $2",
                    args![&workspace.id, name],
                )
                .await?;
                audit::write(
                    tx,
                    ctx,
                    Some(&workspace.id),
                    Record::new("agent.remove", name),
                )
                .await
            })
        })
        .await
    }

    /// Finds an agent for a run in `workspace`: `name@workspace` there; a bare name in the caller's personal workspace,
    /// then in `workspace`, then in `config.yaml`, then among the built-in ones (`runs.md`, Agents).
    ///
    /// # Errors
    /// `S-NOT-FOUND` naming the agent when none fits; `S-FORBIDDEN` without the right to run.
    pub async fn resolve_agent(
        &self,
        ctx: &Ctx,
        workspace: &str,
        name: &str,
    ) -> Result<ResolvedAgent, StoreError> {
        let mut tx = self.read().await?;
        let here = tx.enter(ctx, workspace, Action::Run).await?;
        let address = Address::parse(name).map_err(|error| {
            StoreError::invalid(
                format!("`{}` is not an agent's name: {error}.", name.escape_debug()),
                "Write `name` or `name@workspace`.",
            )
        })?;
        let missing = || {
            StoreError::fault(
                Code::NotFound,
                format!("There is no agent `{name}` that you can run here."),
                "See the Agents page for the names, or register one with `evalkit agent add`.",
            )
        };
        if let Some(named) = &address.workspace {
            let there = match tx.enter(ctx, named, Action::Read).await {
                Ok(there) => there,
                Err(StoreError::Fault(_)) => return Err(missing()),
                Err(error) => return Err(error),
            };
            return find(&mut tx, &there, &here, &address.slug)
                .await?
                .ok_or_else(missing);
        }
        let own = match &ctx.actor {
            evalkit_core::policy::Actor::Person { name, .. } if *name != here.slug => {
                tx.enter(ctx, name, Action::Read).await.ok()
            }
            _ => None,
        };
        for place in own.iter().chain([&here]) {
            if let Some(found) = find(&mut tx, place, &here, &address.slug).await? {
                return Ok(found);
            }
        }
        let settings = self.settings();
        let fixed = settings
            .deployment_agents
            .iter()
            .map(|config| (config, AgentHome::Config))
            .chain(
                settings
                    .builtin_agents
                    .iter()
                    .map(|config| (config, AgentHome::BuiltIn)),
            );
        for (config, home) in fixed {
            if config.name == address.slug {
                return Ok(ResolvedAgent {
                    name: config.name.clone(),
                    config: config.clone(),
                    home,
                    secret: None,
                });
            }
        }
        Err(missing())
    }

    /// Opens a stored secret for the engine's call. `endpoint` must be the address it was stored for.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when it was voided.
    pub async fn open_secret_unchecked(
        &self,
        secret: &SecretRef,
        endpoint: &str,
    ) -> Result<SecretText, StoreError> {
        let mut tx = self.read().await?;
        let row = tx
            .optional(
                "SELECT nonce, sealed FROM secret WHERE id = $1 AND workspace_id = $2 AND origin = $3",
                args![&secret.id, &secret.workspace_id, origin(endpoint)],
            )
            .await?
            .ok_or_else(StoreError::not_found)?;
        self.inner.keeper.open(
            &row.bytes("nonce")?,
            &row.bytes("sealed")?,
            [&secret.workspace_id, &secret.id, &origin(endpoint)],
        )
    }

    /// Keeps what a probe of an agent found.
    ///
    /// # Errors
    /// `S-FORBIDDEN` without the right to run.
    pub async fn save_agent_check(
        &self,
        ctx: &Ctx,
        workspace: &str,
        agent: &str,
        check: AgentCheck,
    ) -> Result<(), StoreError> {
        let input = (workspace.to_owned(), agent.to_owned(), check);
        self.write(ctx, input, |tx, ctx, (workspace, agent, check)| {
            Box::pin(async move {
                let workspace = tx.enter(ctx, workspace, Action::Run).await?;
                tx.execute(
                    "INSERT INTO agent_check (workspace_id, agent, outcome, at) VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (workspace_id, agent) DO UPDATE SET outcome = excluded.outcome, at = excluded.at",
                    args![&workspace.id, agent, to_json(check)?, check.at],
                )
                .await
                .map(drop)
            })
        })
        .await
    }
}

struct PutAgent {
    workspace: String,
    config: AgentConfig,
    origin: String,
    secret: Option<(String, String, Sealed)>,
}

async fn put(tx: &mut Tx, ctx: &Ctx, input: &PutAgent) -> Result<(), StoreError> {
    let workspace = tx
        .enter(ctx, &input.workspace, Action::RegisterAgent)
        .await?;
    let name = &input.config.name;
    let known = tx
        .optional(
            "SELECT id, config, secret_id FROM agent WHERE workspace_id = $1 AND name = $2",
            args![&workspace.id, name],
        )
        .await?;
    let (id, old_secret, moved) = match &known {
        Some(row) => {
            let old: AgentConfig = row.json("config")?;
            (
                row.text("id")?,
                row.maybe_text("secret_id")?,
                old.endpoint != input.config.endpoint,
            )
        }
        None => (Store::new_id(), None, false),
    };
    if let Some((secret_id, key_id, sealed)) = &input.secret {
        secret::put(
            tx,
            &workspace.id,
            secret_id,
            &input.origin,
            key_id,
            sealed,
            ctx.now,
        )
        .await?;
    }
    let replaced = input.secret.is_some() || moved;
    let secret_id = match &input.secret {
        Some((secret_id, ..)) => Some(secret_id.clone()),
        None if moved => None,
        None => old_secret.clone(),
    };
    tx.execute(
        "INSERT INTO agent (id, workspace_id, name, config, secret_id, created_at, updated_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $6) ON CONFLICT (workspace_id, name) DO UPDATE SET \
         config = excluded.config, secret_id = excluded.secret_id, updated_at = excluded.updated_at",
        args![
            &id,
            &workspace.id,
            name,
            to_json(&input.config)?,
            secret_id,
            ctx.now
        ],
    )
    .await?;
    if replaced {
        forget_secret(tx, &workspace.id, old_secret).await?;
    }
    audit::write(
        tx,
        ctx,
        Some(&workspace.id),
        Record::new(
            if known.is_some() {
                "agent.change"
            } else {
                "agent.add"
            },
            name,
        )
        .with("adapter", input.config.adapter.as_str())
        .with("origin", &input.origin)
        .with(
            "secret",
            if input.secret.is_some() {
                "set"
            } else if moved {
                "voided"
            } else {
                "unchanged"
            },
        ),
    )
    .await
}

async fn forget_secret(
    tx: &mut Tx,
    workspace_id: &str,
    secret_id: Option<String>,
) -> Result<(), StoreError> {
    if let Some(id) = secret_id {
        tx.execute(
            "DELETE FROM secret WHERE id = $1 AND workspace_id = $2",
            args![id, workspace_id],
        )
        .await?;
    }
    Ok(())
}

async fn find(
    tx: &mut Tx,
    place: &Workspace,
    here: &Workspace,
    slug: &str,
) -> Result<Option<ResolvedAgent>, StoreError> {
    let row = tx
        .optional(
            "SELECT config, secret_id FROM agent WHERE workspace_id = $1 AND name = $2",
            args![&place.id, slug],
        )
        .await?;
    row.map(|row| {
        Ok(ResolvedAgent {
            name: if place.id == here.id {
                slug.to_owned()
            } else {
                format!("{slug}@{}", place.slug)
            },
            config: row.json("config")?,
            home: AgentHome::Workspace(place.slug.clone()),
            secret: row.maybe_text("secret_id")?.map(|id| SecretRef {
                id,
                workspace_id: place.id.clone(),
            }),
        })
    })
    .transpose()
}
