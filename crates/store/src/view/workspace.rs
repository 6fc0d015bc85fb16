//! Workspace: datasets with colours per agent, sparklines, members, what happened lately.

use std::collections::{BTreeMap, HashMap};

use evalkit_core::policy::Action;
use evalkit_core::view::workspace::{
    AgentColours, DatasetRow, Happening, Member, ScorePoint, ScoreSeries, Workspace,
};

use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::row::Row;
use crate::score::ScoreCache;
use crate::store::Store;
use crate::view::home::{Spark, add_colour, sparks};

/// Runs a score series goes back.
const SERIES: u32 = 30;
const LATELY: u32 = 10;

impl Store {
    /// The Workspace page.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a workspace the caller cannot see.
    pub async fn workspace_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
    ) -> Result<Workspace, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let agents = agents(&mut tx, &workspace.id).await?;
        Ok(Workspace {
            datasets: datasets(&mut tx, &workspace.id, &agents).await?,
            members: members(&mut tx, ctx, &workspace).await?,
            lately: lately(&mut tx, &workspace.id, &workspace.slug).await?,
            series: series(&mut tx, &self.inner.scores, &workspace.id).await?,
            may_run: workspace.may(ctx, Action::Run),
            may_edit: workspace.may(ctx, Action::Edit),
            name: workspace.slug,
            personal: workspace.personal,
            agents,
        })
    }
}

/// Agents that ran here, most lately first, then those only registered.
async fn agents(tx: &mut Tx, workspace_id: &str) -> Result<Vec<String>, StoreError> {
    let mut names = Vec::new();
    for row in tx
        .all(
            "SELECT agent, MAX(number) AS last FROM experiment WHERE workspace_id = $1 GROUP BY agent ORDER BY last DESC",
            args![workspace_id],
        )
        .await?
    {
        names.push(row.text("agent")?);
    }
    for row in tx
        .all(
            "SELECT name FROM agent WHERE workspace_id = $1 ORDER BY name",
            args![workspace_id],
        )
        .await?
    {
        let name = row.text("name")?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

async fn datasets(
    tx: &mut Tx,
    workspace_id: &str,
    agents: &[String],
) -> Result<Vec<DatasetRow>, StoreError> {
    let mut colours: HashMap<(String, String), AgentColours> = HashMap::new();
    for row in tx
        .all(
            "SELECT h.dataset_id, l.agent, l.colour, COUNT(*) AS n FROM latest_result l \
             JOIN case_head h ON h.workspace_id = l.workspace_id AND h.case_id = l.case_id \
             WHERE l.workspace_id = $1 AND h.archived_at IS NULL GROUP BY h.dataset_id, l.agent, l.colour",
            args![workspace_id],
        )
        .await?
    {
        add_colour(
            colours
                .entry((row.text("dataset_id")?, row.text("agent")?))
                .or_default(),
            &row.text("colour")?,
            row.count("n")?,
        );
    }
    let mut sparks = sparks(tx, &[workspace_id.to_owned()], Spark::Dataset).await?;
    let rows = tx
        .all(
            "SELECT d.id, d.slug, d.synced_at, d.synced_by, COUNT(h.id) AS cases FROM dataset d \
             LEFT JOIN case_head h ON h.dataset_id = d.id AND h.archived_at IS NULL \
             WHERE d.workspace_id = $1 GROUP BY d.id, d.slug, d.synced_at, d.synced_by ORDER BY d.slug",
            args![workspace_id],
        )
        .await?;
    rows.iter()
        .map(|row| {
            let id = row.text("id")?;
            Ok(DatasetRow {
                slug: row.text("slug")?,
                cases: row.count("cases")?,
                synced_at: row.maybe_int("synced_at")?,
                synced_by: row.maybe_text("synced_by")?,
                sparkline: sparks.remove(&id).unwrap_or_default(),
                colours: agents
                    .iter()
                    .map(|agent| colours.get(&(id.clone(), agent.clone())).copied())
                    .collect(),
            })
        })
        .collect()
}

async fn members(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace: &crate::workspace::Workspace,
) -> Result<Vec<Member>, StoreError> {
    let rows = tx
        .all(
            "SELECT p.id, p.name, p.display_name, m.role FROM member m JOIN person p ON p.id = m.person_id \
             WHERE m.workspace_id = $1 \
             UNION ALL SELECT p.id, p.name, p.display_name, 'admin' AS role FROM workspace w \
             JOIN person p ON p.id = w.personal_of WHERE w.id = $1 ORDER BY 2, 4",
            args![&workspace.id],
        )
        .await?;
    let mut members: BTreeMap<String, Member> = BTreeMap::new();
    for row in &rows {
        let name = row.text("name")?;
        let id = row.text("id")?;
        let member = members.entry(name.clone()).or_insert(Member {
            name,
            display_name: row.text("display_name")?,
            roles: Vec::new(),
            you: ctx.person_id() == Some(id.as_str()),
        });
        if !workspace.personal {
            member.roles.push(row.text("role")?);
        }
    }
    Ok(members.into_values().collect())
}

async fn lately(tx: &mut Tx, workspace_id: &str, slug: &str) -> Result<Vec<Happening>, StoreError> {
    let rows = tx
        .all(
            "SELECT actor, action, object, detail, at FROM audit WHERE workspace_id = $1 AND action IN \
             ('dataset.sync', 'experiment.create', 'experiment.cancel', 'experiment.rerun', 'agent.add', 'agent.change', \
              'agent.remove', 'member.set', 'workspace.create') ORDER BY id DESC LIMIT $2",
            args![workspace_id, LATELY],
        )
        .await?;
    rows.iter().map(|row| happening(row, slug)).collect()
}

fn happening(row: &Row, slug: &str) -> Result<Happening, StoreError> {
    let object = row.text("object")?;
    let detail: BTreeMap<String, String> = row.json("detail")?;
    let of = |key: &str| detail.get(key).map(String::as_str).unwrap_or_default();
    let (what, href) = match row.text("action")?.as_str() {
        "dataset.sync" => (
            format!("synced {object}: {}", of("summary")),
            Some(format!("/w/{slug}/d/{object}")),
        ),
        "experiment.create" => (
            format!(
                "started run {object} of {} against {}",
                of("dataset"),
                of("agent")
            ),
            Some(format!("/w/{slug}/runs/{object}")),
        ),
        "experiment.cancel" => (
            format!("cancelled run {object}"),
            Some(format!("/w/{slug}/runs/{object}")),
        ),
        "experiment.rerun" => (
            format!("re-ran the failed trials of run {object}"),
            Some(format!("/w/{slug}/runs/{object}")),
        ),
        "agent.add" => (
            format!("registered the agent {object}"),
            Some(format!("/w/{slug}/agents")),
        ),
        "agent.change" => (
            format!("changed the agent {object}"),
            Some(format!("/w/{slug}/agents")),
        ),
        "agent.remove" => (
            format!("removed the agent {object}"),
            Some(format!("/w/{slug}/agents")),
        ),
        "member.set" if of("roles").is_empty() => (format!("removed {object}"), None),
        "member.set" => (format!("made {object} {}", of("roles")), None),
        _ => ("made this workspace".to_owned(), None),
    };
    Ok(Happening {
        who: row.text("actor")?,
        what,
        href,
        at: row.int("at")?,
    })
}

async fn series(
    tx: &mut Tx,
    scores: &ScoreCache,
    workspace_id: &str,
) -> Result<Vec<ScoreSeries>, StoreError> {
    let rows = tx
        .all(
            "SELECT id, number, agent, COALESCE(finished_at, created_at) AS at FROM experiment \
             WHERE workspace_id = $1 ORDER BY number DESC LIMIT $2",
            args![workspace_id, SERIES],
        )
        .await?;
    let mut ids = Vec::with_capacity(rows.len());
    for row in &rows {
        ids.push(row.text("id")?);
    }
    let pooled = scores.pooled(tx, &[workspace_id.to_owned()], &ids).await?;
    let mut series: Vec<ScoreSeries> = Vec::new();
    for (row, id) in rows.iter().zip(&ids).rev() {
        let Some(score) = pooled
            .get(id)
            .and_then(|scores| scores.get("answer_rubric_score"))
        else {
            continue;
        };
        let point = ScorePoint {
            run: row.int("number")?,
            at: row.int("at")?,
            value: score.value,
            low: score.low,
            high: score.high,
        };
        let agent = row.text("agent")?;
        match series.iter_mut().find(|s| s.agent == agent) {
            Some(known) => known.points.push(point),
            None => series.push(ScoreSeries {
                agent,
                points: vec![point],
            }),
        }
    }
    Ok(series)
}
