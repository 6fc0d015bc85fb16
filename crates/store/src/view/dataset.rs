//! Dataset: the case table, paged and searched on the server.

use std::collections::HashMap;

use evalkit_core::policy::Action;
use evalkit_core::view::dataset::{AgentCell, CaseRow, Dataset, DatasetQuery};

use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::row::Row;
use crate::store::Store;
use crate::view;

const PER_PAGE: u32 = 50;
/// Words of a search that count.
const WORDS: usize = 8;
/// Bytes of a word that is looked for; a longer one finds nothing.
const LONGEST_WORD: usize = 1_000;

/// Statement text and its values, put together from constants.
struct Filter {
    sql: String,
    values: Vec<Arg>,
}

impl Filter {
    fn and(&mut self, text: &str, value: impl Into<Arg>) {
        self.values.push(value.into());
        let place = format!("${}", self.values.len());
        self.sql.push_str(" AND ");
        self.sql.push_str(&text.replace("$?", &place));
    }
}

/// `%word%` with the wildcards of the word made plain.
fn like(word: &str) -> String {
    let mut text = String::with_capacity(word.len() + 2);
    text.push('%');
    for c in word.chars() {
        if matches!(c, '%' | '_' | '\\') {
            text.push('\\');
        }
        text.push(c);
    }
    text.push('%');
    text
}

fn filter(dataset_id: &str, workspace_id: &str, query: &DatasetQuery) -> Filter {
    let mut filter = Filter {
        sql: "h.dataset_id = $1 AND h.workspace_id = $2".to_owned(),
        values: args![dataset_id, workspace_id],
    };
    if !query.archived {
        filter.sql.push_str(" AND h.archived_at IS NULL");
    }
    for word in query.q.to_lowercase().split_whitespace().take(WORDS) {
        // SQLite refuses a pattern of 50,000 bytes. No case has such a word.
        if word.len() > LONGEST_WORD {
            filter.sql.push_str(" AND 1 = 0");
            continue;
        }
        filter.and("h.search LIKE $? ESCAPE '\\'", like(word));
    }
    if let Some(tag) = &query.tag {
        filter.and(
            "EXISTS (SELECT 1 FROM case_tag t WHERE t.head_id = h.id AND t.dataset_id = h.dataset_id AND t.tag = $?)",
            tag,
        );
    }
    let colours = match query.colour.as_deref() {
        Some("green") => "l.colour = 'green'",
        Some("red") => "l.colour = 'red'",
        Some("flaky") => "l.colour = 'flaky'",
        Some("neither") => "l.colour NOT IN ('green', 'red', 'flaky')",
        Some("not-run") => "1 = 1",
        _ => return filter,
    };
    let not = if query.colour.as_deref() == Some("not-run") {
        "NOT "
    } else {
        ""
    };
    filter.and(
        &format!(
            "{not}EXISTS (SELECT 1 FROM latest_result l WHERE l.workspace_id = h.workspace_id \
             AND l.case_id = h.case_id AND {colours} AND ('' = $? OR l.agent = $?))"
        ),
        query.agent.as_deref().unwrap_or_default(),
    );
    filter
}

/// A dataset that the caller was let into.
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) synced_at: Option<i64>,
    pub(crate) synced_by: Option<String>,
}

/// Finds a dataset of a workspace.
pub(crate) async fn head(tx: &mut Tx, workspace_id: &str, slug: &str) -> Result<Head, StoreError> {
    let row = tx
        .optional(
            "SELECT id, synced_at, synced_by FROM dataset WHERE workspace_id = $1 AND slug = $2",
            args![workspace_id, slug],
        )
        .await?
        .ok_or_else(StoreError::not_found)?;
    Ok(Head {
        id: row.text("id")?,
        synced_at: row.maybe_int("synced_at")?,
        synced_by: row.maybe_text("synced_by")?,
    })
}

impl Store {
    /// The Dataset page.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a dataset that is not there or not the caller's to see.
    pub async fn dataset_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        dataset: &str,
        query: &DatasetQuery,
    ) -> Result<Dataset, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let head = head(&mut tx, &workspace.id, dataset).await?;
        let totals = tx
            .one(
                "SELECT COUNT(*) AS n, CAST(COALESCE(SUM(CASE WHEN archived_at IS NULL THEN 0 ELSE 1 END), 0) AS BIGINT) AS archived \
                 FROM case_head WHERE dataset_id = $1 AND workspace_id = $2",
                args![&head.id, &workspace.id],
            )
            .await?;
        let archived = totals.count("archived")?;
        let total = totals.count("n")? - archived;
        let mut filter = filter(&head.id, &workspace.id, query);
        let found = tx
            .one(
                format!("SELECT COUNT(*) AS n FROM case_head h WHERE {}", filter.sql),
                filter.values.clone(),
            )
            .await?
            .count("n")?;
        let pages = u32::try_from(found.div_ceil(u64::from(PER_PAGE))).unwrap_or(u32::MAX);
        let page = query.page.clamp(1, pages.max(1));
        let order = match query.sort.as_deref() {
            Some("id") => "h.case_id",
            Some("id-desc") => "h.case_id DESC",
            Some("changed-asc") => "h.changed_at, h.case_id",
            _ => "h.changed_at DESC, h.case_id",
        };
        let n = filter.values.len();
        filter
            .values
            .extend(args![PER_PAGE, u64::from(PER_PAGE) * u64::from(page - 1)]);
        let rows = tx
            .all(
                format!(
                    "SELECT h.case_id, h.question, h.tags, h.factual, h.derived, h.reading, h.version, h.changed_at, \
                     h.archived_at FROM case_head h WHERE {} ORDER BY {order} LIMIT ${} OFFSET ${}",
                    filter.sql,
                    n + 1,
                    n + 2
                ),
                filter.values,
            )
            .await?;
        let agents = agents(&mut tx, &workspace.id, &head.id).await?;
        let mut cells = cells(&mut tx, &workspace.id, &rows).await?;
        let mut shown = Vec::with_capacity(rows.len());
        for row in &rows {
            let id = row.text("case_id")?;
            shown.push(CaseRow {
                question: row.text("question")?,
                tags: row.json("tags")?,
                rubrics: [
                    row.number("factual")?,
                    row.number("derived")?,
                    row.number("reading")?,
                ],
                version: row.number("version")?,
                archived: row.maybe_int("archived_at")?.is_some(),
                cells: agents
                    .iter()
                    .map(|agent| cells.remove(&(id.clone(), agent.clone())))
                    .collect(),
                changed_at: row.int("changed_at")?,
                id,
            });
        }
        Ok(Dataset {
            tags: tags(&mut tx, &workspace.id, &head.id).await?,
            may_run: workspace.may(ctx, Action::Run),
            runnable_agents: view::runnable_agents(&mut tx, ctx, self.settings(), &workspace)
                .await?,
            workspace: workspace.slug,
            slug: dataset.to_owned(),
            total,
            archived,
            found,
            page,
            per_page: PER_PAGE,
            agents,
            rows: shown,
            synced_at: head.synced_at,
            synced_by: head.synced_by,
        })
    }
}

/// Agents that ran on the dataset, most lately first.
pub(crate) async fn agents(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
) -> Result<Vec<String>, StoreError> {
    tx.all(
        "SELECT agent, MAX(number) AS last FROM experiment WHERE workspace_id = $1 AND dataset_id = $2 \
         GROUP BY agent ORDER BY last DESC",
        args![workspace_id, dataset_id],
    )
    .await?
    .iter()
    .map(|row| row.text("agent"))
    .collect()
}

async fn tags(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
) -> Result<Vec<(String, u64)>, StoreError> {
    tx.all(
        "SELECT tag, COUNT(*) AS n FROM case_tag WHERE workspace_id = $1 AND dataset_id = $2 GROUP BY tag ORDER BY n DESC, tag",
        args![workspace_id, dataset_id],
    )
    .await?
    .iter()
    .map(|row| Ok((row.text("tag")?, row.count("n")?)))
    .collect()
}

async fn cells(
    tx: &mut Tx,
    workspace_id: &str,
    rows: &[Row],
) -> Result<HashMap<(String, String), AgentCell>, StoreError> {
    let mut cells = HashMap::new();
    if rows.is_empty() {
        return Ok(cells);
    }
    let mut values = args![workspace_id];
    for row in rows {
        values.push(row.text("case_id")?.into());
    }
    let sql = format!(
        "SELECT case_id, agent, colour, satisfied, asked, run, at FROM latest_result \
         WHERE workspace_id = $1 AND case_id IN ({})",
        places(2, rows.len())
    );
    for row in tx.all(sql, values).await? {
        cells.insert((row.text("case_id")?, row.text("agent")?), cell(&row)?);
    }
    Ok(cells)
}

/// A row of `latest_result` as pages show it.
pub(crate) fn cell(row: &Row) -> Result<AgentCell, StoreError> {
    Ok(AgentCell {
        colour: colour::parse(&row.text("colour")?),
        satisfied: row.count("satisfied")?,
        of: row.count("asked")?,
        run: row.int("run")?,
        at: row.int("at")?,
    })
}
