//! The transaction of a sync: what differs is worked out from the rows, and written in a few large statements.

use std::collections::{HashMap, HashSet};

use evalkit_core::case::{Case, RubricType};
use evalkit_core::overlay::Overlay;
use evalkit_core::policy::Action;
use evalkit_core::score;
use evalkit_lint::{ParsedCase, ParsedDataset};

use super::{Applied, Prepared, SyncReport, ask_before_archiving};
use crate::audit::{self, Record};
use crate::ctx::Ctx;
use crate::db::{Arg, Tx, args, places};
use crate::error::StoreError;
use crate::row::to_json;
use crate::store::Store;

/// Characters of a question that the case table shows.
const QUESTION: usize = 600;

/// A case as the workspace has it.
struct Known {
    id: String,
    dataset_id: String,
    version: u32,
    hash: String,
    archived: bool,
}

/// A case to be written, with its place.
struct Written<'a> {
    parsed: &'a ParsedCase,
    head_id: String,
    version: u32,
    version_id: String,
    hash: String,
    /// False when it only comes back as it was.
    new_version: bool,
}

pub(super) async fn apply(
    tx: &mut Tx,
    ctx: &Ctx,
    prepared: &Prepared,
) -> Result<Applied, StoreError> {
    let request = &prepared.request;
    let workspace = tx.enter(ctx, &request.workspace, Action::Edit).await?;
    let revision = tx
        .one(
            "SELECT revision FROM workspace WHERE id = $1",
            args![&workspace.id],
        )
        .await?
        .int("revision")?;
    if revision != prepared.revision {
        return Ok(Applied::Again);
    }
    let (dataset_id, new_dataset) = dataset_id(tx, ctx, &workspace.id, prepared).await?;
    let known = known(tx, &workspace.id).await?;
    let mut report = SyncReport {
        dry_run: request.dry_run,
        overlays: prepared.dataset.overlays.len() as u64,
        fixtures: prepared.dataset.registry.len() as u64,
        ..SyncReport::default()
    };
    let written = compare(&prepared.dataset, &known, &dataset_id, &mut report)?;
    let missing = missing(&prepared.dataset, &known, &dataset_id);
    let active = known
        .values()
        .filter(|head| head.dataset_id == dataset_id && !head.archived)
        .count() as u64;
    if request.keep_missing {
        report.kept = missing;
    } else {
        ask_before_archiving(request, missing.len() as u64, active)?;
        report.archived = missing;
    }
    let overlays = overlay_texts(&prepared.dataset)?;
    report.overlays_changed = overlays != stored_overlays(tx, &workspace.id, &dataset_id).await?;
    report.fixtures_changed = fixtures_differ(tx, &workspace.id, &dataset_id, prepared).await?;
    if request.dry_run {
        return Ok(Applied::Done(report));
    }
    write_cases(tx, ctx, &workspace.id, &dataset_id, &written).await?;
    archive(
        tx,
        ctx,
        &workspace.id,
        &dataset_id,
        &known,
        &report.archived,
    )
    .await?;
    if report.overlays_changed {
        write_overlays(tx, &workspace.id, &dataset_id, &prepared.dataset, overlays).await?;
    }
    if report.fixtures_changed {
        write_fixtures(tx, &workspace.id, &dataset_id, &prepared.dataset).await?;
    }
    tx.execute(
        "UPDATE dataset SET synced_at = $3, synced_by = $4 WHERE id = $1 AND workspace_id = $2",
        args![&dataset_id, &workspace.id, ctx.now, ctx.actor_name()],
    )
    .await?;
    if new_dataset || report.changes_anything() {
        tx.execute(
            "UPDATE workspace SET revision = revision + 1 WHERE id = $1",
            args![&workspace.id],
        )
        .await?;
        audit::write(
            tx,
            ctx,
            Some(&workspace.id),
            Record::new("dataset.sync", &request.dataset).with("summary", report.summary()),
        )
        .await?;
    }
    Ok(Applied::Done(report))
}

/// The dataset's id; a new one is made, unless nothing is to be written.
async fn dataset_id(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace_id: &str,
    prepared: &Prepared,
) -> Result<(String, bool), StoreError> {
    let slug = &prepared.request.dataset;
    let row = tx
        .optional(
            "SELECT id FROM dataset WHERE workspace_id = $1 AND slug = $2",
            args![workspace_id, slug],
        )
        .await?;
    if let Some(row) = row {
        return Ok((row.text("id")?, false));
    }
    let id = Store::new_id();
    if !prepared.request.dry_run {
        tx.execute(
            "INSERT INTO dataset (id, workspace_id, slug, created_at) VALUES ($1, $2, $3, $4)",
            args![&id, workspace_id, slug, ctx.now],
        )
        .await?;
    }
    Ok((id, true))
}

async fn known(tx: &mut Tx, workspace_id: &str) -> Result<HashMap<String, Known>, StoreError> {
    let mut known = HashMap::new();
    for row in tx
        .all(
            "SELECT id, case_id, dataset_id, version, content_hash, archived_at FROM case_head WHERE workspace_id = $1",
            args![workspace_id],
        )
        .await?
    {
        known.insert(
            row.text("case_id")?,
            Known {
                id: row.text("id")?,
                dataset_id: row.text("dataset_id")?,
                version: row.number("version")?,
                hash: row.text("content_hash")?,
                archived: row.maybe_int("archived_at")?.is_some(),
            },
        );
    }
    Ok(known)
}

/// Sorts the parsed cases into added, changed and unchanged. An id that comes back continues its versions, also when it
/// was archived in another dataset of the workspace.
fn compare<'a>(
    dataset: &'a ParsedDataset,
    known: &HashMap<String, Known>,
    dataset_id: &str,
    report: &mut SyncReport,
) -> Result<Vec<Written<'a>>, StoreError> {
    let mut written = Vec::new();
    for parsed in &dataset.cases {
        let id = &parsed.case.id;
        let hash = parsed.case.content_hash();
        let Some(head) = known.get(id) else {
            report.added.push(id.clone());
            written.push(Written {
                parsed,
                head_id: Store::new_id(),
                version: 1,
                version_id: Store::new_id(),
                hash,
                new_version: true,
            });
            continue;
        };
        let same = head.hash == hash;
        if !head.archived && head.dataset_id != dataset_id {
            // Lint refuses this with E-ID-TAKEN, and the revision says that lint saw these rows.
            return Err(StoreError::Unreadable(format!(
                "case {id} is in two datasets"
            )));
        }
        if !head.archived && same {
            report.unchanged += 1;
            continue;
        }
        if head.archived {
            report.added.push(id.clone());
        } else {
            report.changed.push(id.clone());
        }
        written.push(Written {
            parsed,
            head_id: head.id.clone(),
            version: if same { head.version } else { head.version + 1 },
            version_id: Store::new_id(),
            hash,
            new_version: !same,
        });
    }
    Ok(written)
}

fn missing(
    dataset: &ParsedDataset,
    known: &HashMap<String, Known>,
    dataset_id: &str,
) -> Vec<String> {
    let here: HashSet<&str> = dataset
        .cases
        .iter()
        .map(|parsed| parsed.case.id.as_str())
        .collect();
    let mut missing: Vec<String> = known
        .iter()
        .filter(|(id, head)| {
            head.dataset_id == dataset_id && !head.archived && !here.contains(id.as_str())
        })
        .map(|(id, _)| id.clone())
        .collect();
    missing.sort_unstable();
    missing
}

async fn write_cases(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace_id: &str,
    dataset_id: &str,
    written: &[Written<'_>],
) -> Result<(), StoreError> {
    let mut heads = Vec::with_capacity(written.len());
    let mut versions = Vec::with_capacity(written.len());
    let mut tags = Vec::new();
    for w in written {
        let case = &w.parsed.case;
        heads.push(head_row(w, workspace_id, dataset_id, ctx.now)?);
        if w.new_version {
            versions.push(args![
                &w.version_id,
                workspace_id,
                &w.head_id,
                w.version,
                case.canonical().to_string(),
                &w.hash,
                &w.parsed.yaml,
                "sync",
                ctx.actor_name(),
                ctx.now
            ]);
        }
        let mut seen = HashSet::new();
        for tag in &case.tags {
            if seen.insert(tag) {
                tags.push(args![workspace_id, dataset_id, tag, &w.head_id]);
            }
        }
    }
    // A case that comes back as it was keeps its version row: the update leaves version_id alone then.
    tx.insert_many(
        "INSERT INTO case_head (id, workspace_id, dataset_id, case_id, version, version_id, content_hash, question, search, \
         tags, scores, factual, derived, reading, changed_at) VALUES",
        heads,
        "ON CONFLICT (workspace_id, case_id) DO UPDATE SET dataset_id = excluded.dataset_id, \
         version_id = CASE WHEN case_head.version = excluded.version THEN case_head.version_id ELSE excluded.version_id END, \
         version = excluded.version, content_hash = excluded.content_hash, question = excluded.question, \
         search = excluded.search, tags = excluded.tags, scores = excluded.scores, factual = excluded.factual, \
         derived = excluded.derived, reading = excluded.reading, changed_at = excluded.changed_at, archived_at = NULL",
    )
    .await?;
    tx.insert_many(
        "INSERT INTO case_version (id, workspace_id, head_id, number, canonical, content_hash, yaml, origin, author, created_at) VALUES",
        versions,
        "",
    )
    .await?;
    let ids: Vec<&str> = written.iter().map(|w| w.head_id.as_str()).collect();
    drop_tags(tx, workspace_id, &ids).await?;
    tx.insert_many(
        "INSERT INTO case_tag (workspace_id, dataset_id, tag, head_id) VALUES",
        tags,
        "",
    )
    .await
    .map(drop)
}

fn head_row(
    w: &Written<'_>,
    workspace_id: &str,
    dataset_id: &str,
    now: i64,
) -> Result<Vec<Arg>, StoreError> {
    let case = &w.parsed.case;
    let question = case.input.headline();
    let of = |kind: RubricType| case.rubrics().iter().filter(|r| r.kind == kind).count();
    Ok(args![
        &w.head_id,
        workspace_id,
        dataset_id,
        &case.id,
        w.version,
        &w.version_id,
        &w.hash,
        clip(question),
        search_text(case),
        to_json(&case.tags)?,
        to_json(&score::names(case))?,
        of(RubricType::FactualRetrieval),
        of(RubricType::DerivedComputation),
        of(RubricType::AnalysisInterpretation),
        now
    ])
}

fn clip(question: &str) -> String {
    if question.chars().count() <= QUESTION {
        return question.to_owned();
    }
    let mut text: String = question.chars().take(QUESTION - 1).collect();
    text.push('…');
    text
}

/// Id and question in lower case: every word of a search must occur in it.
fn search_text(case: &Case) -> String {
    format!("{}\n{}", case.id, case.input.headline()).to_lowercase()
}

async fn drop_tags(tx: &mut Tx, workspace_id: &str, heads: &[&str]) -> Result<(), StoreError> {
    for chunk in heads.chunks(500) {
        let mut values = args![workspace_id];
        values.extend(chunk.iter().map(|id| Arg::from(*id)));
        tx.execute(
            format!(
                "DELETE FROM case_tag WHERE workspace_id = $1 AND head_id IN ({})",
                places(2, chunk.len())
            ),
            values,
        )
        .await?;
    }
    Ok(())
}

async fn archive(
    tx: &mut Tx,
    ctx: &Ctx,
    workspace_id: &str,
    dataset_id: &str,
    known: &HashMap<String, Known>,
    archived: &[String],
) -> Result<(), StoreError> {
    let heads: Vec<&str> = archived
        .iter()
        .filter_map(|id| known.get(id).map(|head| head.id.as_str()))
        .collect();
    for chunk in heads.chunks(500) {
        let mut values = args![workspace_id, dataset_id, ctx.now];
        values.extend(chunk.iter().map(|id| Arg::from(*id)));
        tx.execute(
            format!(
                "UPDATE case_head SET archived_at = $3, changed_at = $3 WHERE workspace_id = $1 AND dataset_id = $2 \
                 AND id IN ({})",
                places(4, chunk.len())
            ),
            values,
        )
        .await?;
    }
    drop_tags(tx, workspace_id, &heads).await
}

fn overlay_texts(dataset: &ParsedDataset) -> Result<Vec<String>, StoreError> {
    dataset
        .overlays
        .iter()
        .map(|parsed| to_json::<Overlay>(&parsed.overlay))
        .collect()
}

async fn stored_overlays(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
) -> Result<Vec<String>, StoreError> {
    tx.all(
        "SELECT content FROM overlay WHERE workspace_id = $1 AND dataset_id = $2 ORDER BY position",
        args![workspace_id, dataset_id],
    )
    .await?
    .iter()
    .map(|row| row.text("content"))
    .collect()
}

async fn write_overlays(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
    dataset: &ParsedDataset,
    texts: Vec<String>,
) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM overlay WHERE workspace_id = $1 AND dataset_id = $2",
        args![workspace_id, dataset_id],
    )
    .await?;
    let rows = dataset
        .overlays
        .iter()
        .zip(texts)
        .enumerate()
        .map(|(position, (parsed, text))| {
            args![
                Store::new_id(),
                workspace_id,
                dataset_id,
                &parsed.overlay.extends,
                position,
                text
            ]
        })
        .collect();
    tx.insert_many(
        "INSERT INTO overlay (id, workspace_id, dataset_id, extends, position, content) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}

async fn fixtures_differ(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
    prepared: &Prepared,
) -> Result<bool, StoreError> {
    let mut stored = HashMap::new();
    for row in tx
        .all(
            "SELECT key, sha256, context FROM fixture WHERE workspace_id = $1 AND dataset_id = $2",
            args![workspace_id, dataset_id],
        )
        .await?
    {
        stored.insert(
            row.text("key")?,
            (row.text("sha256")?, row.text("context")?),
        );
    }
    let registry = &prepared.dataset.registry;
    Ok(stored.len() != registry.len()
        || registry.iter().any(|(key, entry)| {
            stored.get(key).is_none_or(|(sha256, context)| {
                *sha256 != entry.sha256 || *context != entry.context
            })
        }))
}

async fn write_fixtures(
    tx: &mut Tx,
    workspace_id: &str,
    dataset_id: &str,
    dataset: &ParsedDataset,
) -> Result<(), StoreError> {
    tx.execute(
        "DELETE FROM fixture WHERE workspace_id = $1 AND dataset_id = $2",
        args![workspace_id, dataset_id],
    )
    .await?;
    let rows = dataset
        .registry
        .iter()
        .map(|(key, entry)| args![workspace_id, dataset_id, key, &entry.sha256, &entry.context])
        .collect();
    tx.insert_many(
        "INSERT INTO fixture (workspace_id, dataset_id, key, sha256, context) VALUES",
        rows,
        "",
    )
    .await
    .map(drop)
}
