//! What lint may know of a workspace and the deployment (`formats.md`, Lint facts).

use std::collections::BTreeMap;

use evalkit_core::overlay::NamedOverlay;
use evalkit_core::policy::Action;
use evalkit_lint::{FACTS_SCHEMA, FixtureEntry, FixtureFile, LintFacts};

use crate::blob::FIXTURE;
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::settings::Settings;
use crate::store::Store;

impl Store {
    /// The facts for linting `dataset` of the workspace, which need not exist yet.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a workspace the caller cannot see.
    pub async fn lint_facts(
        &self,
        ctx: &Ctx,
        workspace: &str,
        dataset: &str,
    ) -> Result<LintFacts, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let mut facts = facts(&mut tx, self.settings(), &workspace.id, dataset).await?;
        let (fixtures, files) = registry(&mut tx, &workspace.id, dataset).await?;
        facts.fixtures = Some(fixtures);
        facts.fixture_files = Some(files);
        Ok(facts)
    }
}

/// What lies beside the dataset: other datasets' cases and overlays, and the deployment's evaluators.
pub(crate) async fn facts(
    tx: &mut Tx,
    settings: &Settings,
    workspace_id: &str,
    dataset: &str,
) -> Result<LintFacts, StoreError> {
    let mut other_cases = BTreeMap::new();
    for row in tx
        .all(
            "SELECT h.case_id, d.slug FROM case_head h JOIN dataset d ON d.id = h.dataset_id \
             WHERE h.workspace_id = $1 AND d.slug <> $2 AND h.archived_at IS NULL",
            args![workspace_id, dataset],
        )
        .await?
    {
        other_cases.insert(row.text("case_id")?, row.text("slug")?);
    }
    let mut overlays = Vec::new();
    for row in tx
        .all(
            "SELECT d.slug, o.content FROM overlay o JOIN dataset d ON d.id = o.dataset_id \
             WHERE o.workspace_id = $1 AND d.slug <> $2 ORDER BY d.slug, o.position",
            args![workspace_id, dataset],
        )
        .await?
    {
        overlays.push(NamedOverlay {
            dataset: row.text("slug")?,
            overlay: row.json("content")?,
        });
    }
    Ok(LintFacts {
        schema: Some(FACTS_SCHEMA.to_owned()),
        other_cases: Some(other_cases),
        base_cases: Some(BTreeMap::new()),
        overlays: Some(overlays),
        evaluators: Some(settings.custom_evaluators.iter().cloned().collect()),
        ..LintFacts::default()
    })
}

type Registry = (
    BTreeMap<String, FixtureEntry>,
    BTreeMap<String, FixtureFile>,
);

/// The dataset's registry, and those of its bytes that the workspace has.
async fn registry(tx: &mut Tx, workspace_id: &str, dataset: &str) -> Result<Registry, StoreError> {
    let mut fixtures = BTreeMap::new();
    let mut files = BTreeMap::new();
    for row in tx
        .all(
            "SELECT f.key, f.sha256, f.context, b.bytes FROM fixture f JOIN dataset d ON d.id = f.dataset_id \
             LEFT JOIN blob_ref b ON b.workspace_id = f.workspace_id AND b.sha256 = f.sha256 AND b.kind = $3 \
             WHERE f.workspace_id = $1 AND d.slug = $2",
            args![workspace_id, dataset, FIXTURE],
        )
        .await?
    {
        let key = row.text("key")?;
        let sha256 = row.text("sha256")?;
        if let Some(bytes) = row.maybe_int("bytes")? {
            files.insert(
                key.clone(),
                FixtureFile {
                    sha256: sha256.clone(),
                    bytes: u64::try_from(bytes).unwrap_or_default(),
                },
            );
        }
        fixtures.insert(
            key,
            FixtureEntry {
                sha256,
                context: row.text("context")?,
            },
        );
    }
    Ok((fixtures, files))
}
