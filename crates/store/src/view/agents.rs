//! Agents: endpoints, capabilities, checks.

use std::collections::HashMap;

use evalkit_core::agent::AgentConfig;
use evalkit_core::policy::Action;
use evalkit_core::run::Capability;
use evalkit_core::view::agents::{AgentCheck, AgentRow, Agents};

use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::store::Store;

const fn capability(capability: Capability) -> &'static str {
    match capability {
        Capability::Trajectory => "trajectory",
        Capability::ToolCalls => "tool_calls",
        Capability::Approvals => "approvals",
        Capability::Output => "output",
    }
}

/// An address without user, password and query, as pages and logs may show it.
pub(crate) fn shown_endpoint(config: &AgentConfig) -> String {
    if config.endpoint.is_empty() {
        return "built in".to_owned();
    }
    let Some((scheme, rest)) = config.endpoint.split_once("://") else {
        return config.endpoint.clone();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{path}")
}

impl Store {
    /// The Agents page.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a workspace the caller cannot see.
    pub async fn agents_page(&self, ctx: &Ctx, workspace: &str) -> Result<Agents, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let mut checks: HashMap<String, AgentCheck> = HashMap::new();
        for row in tx
            .all(
                "SELECT agent, outcome FROM agent_check WHERE workspace_id = $1",
                args![&workspace.id],
            )
            .await?
        {
            checks.insert(row.text("agent")?, row.json("outcome")?);
        }
        let mut runs: HashMap<String, u64> = HashMap::new();
        for row in tx
            .all(
                "SELECT agent, COUNT(*) AS n FROM experiment WHERE workspace_id = $1 GROUP BY agent",
                args![&workspace.id],
            )
            .await?
        {
            runs.insert(row.text("agent")?, row.count("n")?);
        }
        let mut row_of = |config: &AgentConfig, from: &str, has_secret: bool| AgentRow {
            name: config.name.clone(),
            adapter: config.adapter.as_str().to_owned(),
            endpoint: shown_endpoint(config),
            capabilities: config
                .capabilities
                .iter()
                .flatten()
                .map(|c| capability(*c).to_owned())
                .collect(),
            from: from.to_owned(),
            concurrency: config.concurrency,
            timeout_s: config.timeout_s,
            has_secret,
            runs: runs.get(&config.name).copied().unwrap_or_default(),
            last_check: checks.remove(&config.name),
        };
        let mut rows = Vec::new();
        for row in tx
            .all(
                "SELECT config, secret_id FROM agent WHERE workspace_id = $1 ORDER BY name",
                args![&workspace.id],
            )
            .await?
        {
            let config: AgentConfig = row.json("config")?;
            rows.push(row_of(
                &config,
                "workspace",
                row.maybe_text("secret_id")?.is_some(),
            ));
        }
        let settings = self.settings();
        for (agents, from) in [
            (&settings.deployment_agents, "config.yaml"),
            (&settings.builtin_agents, "built in"),
        ] {
            for config in agents {
                if rows.iter().all(|row| row.name != config.name) {
                    rows.push(row_of(config, from, false));
                }
            }
        }
        Ok(Agents {
            may_register: workspace.may(ctx, Action::RegisterAgent),
            workspace: workspace.slug,
            rows,
        })
    }
}
