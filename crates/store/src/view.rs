//! Page views: one function a page, each a handful of statements whose number does not grow with the rows.

pub(crate) mod agents;
pub(crate) mod case;
pub(crate) mod cells;
pub(crate) mod dataset;
pub(crate) mod experiment;
pub(crate) mod home;
pub(crate) mod result;
pub(crate) mod run_rows;
pub(crate) mod runs;
pub(crate) mod session;
pub(crate) mod workspace;

use evalkit_core::policy::Action;

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::settings::Settings;
use crate::workspace::Workspace;

/// Agents that the caller can pick for a run in `workspace`, as they would be typed.
pub(crate) async fn runnable_agents(
    tx: &mut Tx,
    ctx: &Ctx,
    settings: &Settings,
    workspace: &Workspace,
) -> Result<Vec<String>, StoreError> {
    if !workspace.may(ctx, Action::Run) {
        return Ok(Vec::new());
    }
    let rows = tx
        .all(
            "SELECT a.name, a.workspace_id FROM agent a JOIN workspace w ON w.id = a.workspace_id \
             WHERE a.workspace_id = $1 OR w.personal_of = $2 ORDER BY a.name",
            args![&workspace.id, ctx.person_id().unwrap_or_default()],
        )
        .await?;
    let mut names = Vec::new();
    for row in &rows {
        names.push(row.text("name")?);
    }
    names.extend(
        settings
            .deployment_agents
            .iter()
            .chain(&settings.builtin_agents)
            .map(|agent| agent.name.clone()),
    );
    let mut seen = std::collections::HashSet::new();
    names.retain(|name| seen.insert(name.clone()));
    Ok(names)
}
