//! Runs: the experiments of a workspace.

use evalkit_core::policy::Action;
use evalkit_core::view::runs::{Runs, RunsQuery};

use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::store::Store;
use crate::view::run_rows;

const PER_PAGE: u32 = 50;

impl Store {
    /// The Runs page.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a workspace the caller cannot see.
    pub async fn runs_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        query: &RunsQuery,
    ) -> Result<Runs, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        const FILTER: &str = "FROM experiment e JOIN dataset d ON d.id = e.dataset_id WHERE e.workspace_id = $1 \
             AND ($2 = '' OR d.slug = $2) AND ($3 = '' OR e.agent = $3)";
        let filter = args![
            &workspace.id,
            query.dataset.as_deref().unwrap_or_default(),
            query.agent.as_deref().unwrap_or_default()
        ];
        let found = tx
            .one(format!("SELECT COUNT(*) AS n {FILTER}"), filter.clone())
            .await?
            .count("n")?;
        let page = query.page.max(1);
        let mut values = filter;
        values.extend(args![PER_PAGE, u64::from(PER_PAGE) * u64::from(page - 1)]);
        let heads = tx
            .all(
                format!(
                    "SELECT {} {FILTER} ORDER BY e.number DESC LIMIT $4 OFFSET $5",
                    run_rows::COLUMNS
                ),
                values,
            )
            .await?;
        let rows = run_rows::rows(
            &mut tx,
            &self.inner.scores,
            std::slice::from_ref(&workspace.id),
            &heads,
        )
        .await?;
        let mut datasets = Vec::new();
        let mut agents = Vec::new();
        for row in tx
            .all(
                "SELECT DISTINCT d.slug, e.agent FROM experiment e JOIN dataset d ON d.id = e.dataset_id \
                 WHERE e.workspace_id = $1",
                args![&workspace.id],
            )
            .await?
        {
            datasets.push(row.text("slug")?);
            agents.push(row.text("agent")?);
        }
        for names in [&mut datasets, &mut agents] {
            names.sort_unstable();
            names.dedup();
        }
        Ok(Runs {
            may_run: workspace.may(ctx, Action::Run),
            workspace: workspace.slug,
            found,
            page,
            per_page: PER_PAGE,
            datasets,
            agents,
            rows,
        })
    }
}
