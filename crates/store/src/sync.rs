//! Sync: a dataset becomes equal to a directory, in one transaction or not at all (`cases.md`, Sync).
//!
//! Lint runs before the transaction, on what the workspace holds at that moment. The workspace's revision tells inside
//! the transaction whether that still stands; if not, the sync begins again. So two syncs at once serialise, and the
//! writer never waits for a parser.

mod apply;

use std::sync::Arc;

use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Action;
use evalkit_lint::{Diagnostic, LintFacts, LintReport, ParsedDataset, Severity, SourceFile, lint};
use serde::{Deserialize, Serialize};

use crate::blob::{is_sha256, known_blobs};
use crate::ctx::Ctx;
use crate::db::args;
use crate::error::StoreError;
use crate::facts::facts;
use crate::store::Store;
use crate::workspace::check_slug;

/// A sync asks first when it would archive more cases than this, or more than half of the dataset.
const ARCHIVE_FREELY: u64 = 20;
/// Times a sync begins again because another one came in between.
const TRIES: u32 = 8;

/// A directory to sync.
#[derive(Debug, Clone)]
pub struct SyncRequest {
    /// Into which workspace.
    pub workspace: String,
    /// Into which dataset; it is made when it is new.
    pub dataset: String,
    /// All files of the directory, in path order.
    pub files: Vec<SourceFile>,
    /// Cases that are not in the files stay.
    pub keep_missing: bool,
    /// Archiving many cases is meant.
    pub archive: bool,
    /// Only tell what would change.
    pub dry_run: bool,
    /// `jargon` of the project file.
    pub jargon: Vec<String>,
    /// `subject_terms` of the project file.
    pub subject_terms: Vec<String>,
}

/// What a sync changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SyncReport {
    /// New or back again.
    pub added: Vec<String>,
    /// A new version each.
    pub changed: Vec<String>,
    /// How many stayed as they are.
    pub unchanged: u64,
    /// No longer in the files.
    pub archived: Vec<String>,
    /// Cases that are not in the files and were left.
    pub kept: Vec<String>,
    /// Overlays after the sync.
    pub overlays: u64,
    /// Whether the overlays are other than before.
    pub overlays_changed: bool,
    /// Fixtures in the registry after the sync.
    pub fixtures: u64,
    /// Whether the registry is other than before.
    pub fixtures_changed: bool,
    /// Warnings; errors would have refused the sync.
    pub warnings: Vec<Diagnostic>,
    /// Nothing was written.
    pub dry_run: bool,
}

impl SyncReport {
    /// Whether anything differs from before.
    pub fn changes_anything(&self) -> bool {
        !(self.added.is_empty() && self.changed.is_empty() && self.archived.is_empty())
            || self.overlays_changed
            || self.fixtures_changed
    }

    /// "4 added, 1 changed, 23 unchanged", as lists of what happened show it.
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        for (n, word) in [
            (self.added.len() as u64, "added"),
            (self.changed.len() as u64, "changed"),
            (self.archived.len() as u64, "archived"),
            (self.unchanged, "unchanged"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {word}"));
            }
        }
        if self.overlays_changed {
            parts.push("overlays changed".to_owned());
        }
        if self.fixtures_changed {
            parts.push("fixtures changed".to_owned());
        }
        if parts.is_empty() {
            "no cases".to_owned()
        } else {
            parts.join(", ")
        }
    }
}

/// What the transaction works on; cheap to keep for another try.
struct Prepared {
    request: Arc<SyncRequest>,
    dataset: ParsedDataset,
    revision: i64,
}

enum Applied {
    Done(SyncReport),
    /// The workspace changed since the lint.
    Again,
}

impl Store {
    /// Makes the dataset equal to the files.
    ///
    /// # Errors
    /// `S-LINT` with every error in `details`; `S-FIXTURES` with every key whose bytes the workspace lacks; `S-CONFLICT`
    /// when many cases would be archived without `archive`; `S-LIMIT`; `S-FORBIDDEN`. Nothing is changed then.
    pub async fn sync(&self, ctx: &Ctx, request: SyncRequest) -> Result<SyncReport, StoreError> {
        check_slug(&request.dataset)?;
        let request = Arc::new(request);
        for _ in 0..TRIES {
            let (known, revision) = self.sync_facts(ctx, &request).await?;
            let report = lint_aside(Arc::clone(&request), known).await?;
            refuse_errors(&report)?;
            let limit = self.settings().limits.dataset_cases;
            if report.dataset.cases.len() as u64 > limit {
                return Err(StoreError::fault(
                    Code::Limit,
                    format!(
                        "These files hold {} cases, and a dataset holds {limit} at most.",
                        report.dataset.cases.len()
                    ),
                    "Split them into several datasets.",
                ));
            }
            let warnings = report
                .diagnostics
                .into_iter()
                .filter(|d| d.severity == Severity::Warning)
                .collect();
            if !request.dry_run {
                self.refuse_missing_bytes(ctx, &request, &report.dataset)
                    .await?;
            }
            let prepared = Prepared {
                request: Arc::clone(&request),
                dataset: report.dataset,
                revision,
            };
            let applied = self
                .write(ctx, prepared, |tx, ctx, prepared| {
                    Box::pin(apply::apply(tx, ctx, prepared))
                })
                .await;
            match applied {
                Ok(Applied::Done(mut done)) => {
                    done.warnings = warnings;
                    return Ok(done);
                }
                Ok(Applied::Again) => {}
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::fault(
            Code::Busy,
            "Other syncs of this workspace kept coming in between.",
            "Try again in a moment; nothing was changed.",
        ))
    }

    async fn sync_facts(
        &self,
        ctx: &Ctx,
        request: &SyncRequest,
    ) -> Result<(LintFacts, i64), StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, &request.workspace, Action::Edit).await?;
        let revision = tx
            .one(
                "SELECT revision FROM workspace WHERE id = $1",
                args![&workspace.id],
            )
            .await?
            .int("revision")?;
        let mut known = facts(&mut tx, self.settings(), &workspace.id, &request.dataset).await?;
        known.jargon = Some(request.jargon.clone());
        known.subject_terms = Some(request.subject_terms.clone());
        // The directory is the whole registry: a key that it does not declare does not exist.
        known.fixtures = Some(std::collections::BTreeMap::new());
        Ok((known, revision))
    }

    /// Every key of the registry must have its bytes in this workspace, used by a case or not.
    async fn refuse_missing_bytes(
        &self,
        ctx: &Ctx,
        request: &SyncRequest,
        dataset: &ParsedDataset,
    ) -> Result<(), StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, &request.workspace, Action::Edit).await?;
        let hashes: Vec<String> = dataset
            .registry
            .values()
            .map(|entry| entry.sha256.clone())
            .filter(|hash| is_sha256(hash))
            .collect();
        let known = known_blobs(&mut tx, &workspace.id, &hashes).await?;
        let missing: Vec<String> = dataset
            .registry
            .iter()
            .filter(|(_, entry)| !known.contains(&entry.sha256))
            .map(|(key, entry)| format!("{key}: no bytes with the hash {}", entry.sha256))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        Err(Fault::new(
            Code::Fixtures,
            format!(
                "This workspace lacks the bytes of {} fixtures; nothing was changed.",
                missing.len()
            ),
            "Put the files into the fixture folder and sync again, or take the keys out of fixtures.yaml.",
        )
        .with_details(missing)
        .into())
    }
}

async fn lint_aside(request: Arc<SyncRequest>, known: LintFacts) -> Result<LintReport, StoreError> {
    tokio::task::spawn_blocking(move || lint(&request.files, &known))
        .await
        .map_err(|_| StoreError::Unreadable("lint stopped on these files".to_owned()))
}

fn refuse_errors(report: &LintReport) -> Result<(), StoreError> {
    let lines: Vec<String> = report
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| {
            format!(
                "{}:{}:{}: {} {} {}",
                d.file, d.place.line, d.place.column, d.code, d.message, d.help
            )
        })
        .collect();
    if lines.is_empty() {
        return Ok(());
    }
    Err(Fault::new(
        Code::Lint,
        format!("{} lint errors; nothing was changed.", lines.len()),
        "Put them right and sync again; `evalkit lint` shows them in place.",
    )
    .with_details(lines)
    .into())
}

/// Refuses to archive many cases unless that is meant.
fn ask_before_archiving(
    request: &SyncRequest,
    archived: u64,
    active: u64,
) -> Result<(), StoreError> {
    let many = archived > ARCHIVE_FREELY || archived * 2 > active;
    if !many || archived == 0 || request.archive || request.dry_run {
        return Ok(());
    }
    Err(StoreError::fault(
        Code::Conflict,
        format!(
            "This would archive {archived} of {active} cases of `{}`, because they are not in the files.",
            request.dataset
        ),
        "Add `--archive` if that is meant, or `--keep-missing` to leave them.",
    ))
}
