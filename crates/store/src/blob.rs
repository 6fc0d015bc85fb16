//! Bytes: stored once per hash, in `blobs/aa/bb/<64 hex>`, and known to a workspace only when they were sent to it.

use std::path::PathBuf;

use evalkit_core::error::Code;
use evalkit_core::policy::Action;
use sha2::{Digest as _, Sha256};
use tokio::io::AsyncWriteExt as _;

use crate::ctx::Ctx;
use crate::db::{Tx, args, places};
use crate::error::StoreError;
use crate::store::Store;

/// Bounds on what a workspace stores (`cases.md`, Fixtures).
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Bytes of one fixture.
    pub file_bytes: u64,
    /// Bytes of all fixtures of a workspace.
    pub workspace_bytes: u64,
    /// Fixtures of a workspace.
    pub workspace_files: u64,
    /// Cases of a dataset.
    pub dataset_cases: u64,
    /// Trials of an experiment.
    pub trials: u64,
    /// Experiments of a workspace that are under way.
    pub open_experiments: u64,
}

impl Default for Limits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self {
            file_bytes: 64 * MIB,
            workspace_bytes: 2 * 1024 * MIB,
            workspace_files: 2_000,
            dataset_cases: 20_000,
            trials: 50_000,
            open_experiments: 4,
        }
    }
}

/// Files that someone attached to cases.
pub(crate) const FIXTURE: &str = "fixture";
/// What agents returned, when it is too large for a row.
pub(crate) const RUN: &str = "run";

/// Takes bytes as they arrive, hashing them on the way to a temporary file. Dropped, it leaves nothing behind.
pub struct BlobWriter {
    store: Store,
    path: tempfile::TempPath,
    file: tokio::fs::File,
    hash: Sha256,
    bytes: u64,
    limit: u64,
}

impl std::fmt::Debug for BlobWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BlobWriter")
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Whether the text is a SHA-256 in lower-case hex.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

impl BlobWriter {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// `S-TOO-LARGE` beyond the limit, `S-STORAGE-FULL`.
    pub async fn write(&mut self, chunk: &[u8]) -> Result<(), StoreError> {
        self.bytes += chunk.len() as u64;
        if self.bytes > self.limit {
            return Err(StoreError::fault(
                Code::TooLarge,
                format!("The file is larger than {} bytes.", self.limit),
                "Attach a smaller file, or have whoever runs the server raise the limit.",
            ));
        }
        self.hash.update(chunk);
        self.file
            .write_all(chunk)
            .await
            .map_err(|error| StoreError::io(self.path.to_path_buf(), error))
    }

    /// Puts the file in its place, durably, and gives its hash and length.
    pub(crate) async fn finish(mut self) -> Result<(String, u64), StoreError> {
        let io = |error| StoreError::io(self.path.to_path_buf(), error);
        self.file.flush().await.map_err(io)?;
        self.file.sync_all().await.map_err(io)?;
        let sha256 = hex::encode(self.hash.finalize());
        let target = self.store.inner.folder.blob(&sha256);
        let (path, bytes) = (self.path, self.bytes);
        tokio::task::spawn_blocking(move || place(path, target))
            .await
            .map_err(|_| StoreError::Closed)??;
        Ok((sha256, bytes))
    }
}

/// Renames the temporary file into its place and makes the name durable too.
fn place(path: tempfile::TempPath, target: PathBuf) -> Result<(), StoreError> {
    let Some(folder) = target.parent() else {
        return Err(StoreError::Unreadable("a blob has no folder".to_owned()));
    };
    let io = |error| StoreError::io(&target, error);
    std::fs::create_dir_all(folder).map_err(io)?;
    path.persist(&target).map_err(|error| io(error.error))?;
    std::fs::File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(io)
}

impl Store {
    /// A writer for bytes of at most `limit`.
    pub(crate) async fn blob_writer(&self, limit: u64) -> Result<BlobWriter, StoreError> {
        let folder = self.inner.folder.root().join("blobs");
        let temporary = tempfile::Builder::new()
            .prefix(".incoming-")
            .tempfile_in(&folder)
            .map_err(|error| StoreError::io(&folder, error))?;
        let (file, path) = temporary.into_parts();
        Ok(BlobWriter {
            store: self.clone(),
            path,
            file: tokio::fs::File::from_std(file),
            hash: Sha256::new(),
            bytes: 0,
            limit,
        })
    }

    /// Begins to receive a fixture's bytes for a workspace.
    ///
    /// # Errors
    /// `S-FORBIDDEN` without the right to edit.
    pub async fn begin_fixture(
        &self,
        ctx: &Ctx,
        workspace: &str,
    ) -> Result<BlobWriter, StoreError> {
        let mut tx = self.read().await?;
        tx.enter(ctx, workspace, Action::Edit).await?;
        drop(tx);
        self.blob_writer(self.settings().limits.file_bytes).await
    }

    /// Ends receiving a fixture: its bytes must have the hash that was announced. Gives their length.
    ///
    /// # Errors
    /// `S-FIXTURES` with both hashes when they differ, `S-LIMIT` when the workspace is full.
    pub async fn finish_fixture(
        &self,
        ctx: &Ctx,
        workspace: &str,
        sha256: &str,
        writer: BlobWriter,
    ) -> Result<u64, StoreError> {
        let found = hex::encode(writer.hash.clone().finalize());
        if found != sha256 {
            return Err(StoreError::fault(
                Code::Fixtures,
                format!(
                    "The bytes that arrived have the hash {found}, and {} was announced.",
                    sha256.escape_debug()
                ),
                "Run `evalkit fixture add` again, so that the registry names the file as it is.",
            ));
        }
        let (sha256, bytes) = writer.finish().await?;
        let limits = self.settings().limits;
        let input = (workspace.to_owned(), sha256, bytes, limits);
        self.write(ctx, input, |tx, ctx, (workspace, sha256, bytes, limits)| {
            Box::pin(async move {
                let workspace = tx.enter(ctx, workspace, Action::Edit).await?;
                refer(tx, &workspace.id, sha256, FIXTURE, *bytes, ctx.now).await?;
                let row = tx
                    .one(
                        "SELECT COUNT(*) AS files, CAST(COALESCE(SUM(bytes), 0) AS BIGINT) AS bytes FROM blob_ref \
                         WHERE workspace_id = $1 AND kind = $2",
                        args![&workspace.id, FIXTURE],
                    )
                    .await?;
                if row.count("files")? > limits.workspace_files
                    || row.count("bytes")? > limits.workspace_bytes
                {
                    return Err(StoreError::fault(
                        Code::Limit,
                        format!(
                            "This workspace would hold more than {} files or {} bytes of fixtures.",
                            limits.workspace_files, limits.workspace_bytes
                        ),
                        "Remove fixtures that no case uses, or have whoever runs the server raise the limit.",
                    ));
                }
                Ok(*bytes)
            })
        })
        .await
    }

    /// Which of these hashes the workspace has no bytes for. What other workspaces hold does not count.
    ///
    /// # Errors
    /// `S-FORBIDDEN` without the right to edit.
    pub async fn missing_blobs(
        &self,
        ctx: &Ctx,
        workspace: &str,
        hashes: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Edit).await?;
        let known = known_blobs(&mut tx, &workspace.id, hashes).await?;
        Ok(hashes
            .iter()
            .filter(|hash| !known.contains(*hash))
            .cloned()
            .collect())
    }

    /// Where the bytes of a fixture of the workspace lie, and how many they are.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when the workspace does not have them, whoever else does.
    pub async fn fixture_file(
        &self,
        ctx: &Ctx,
        workspace: &str,
        sha256: &str,
    ) -> Result<(PathBuf, u64), StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Download).await?;
        blob_file(self, &mut tx, &workspace.id, sha256, FIXTURE).await
    }
}

impl Store {
    /// Where the bytes of a fixture lie for the agent of one trial, whose signed address was checked by the engine.
    ///
    /// # Errors
    /// `S-NOT-FOUND` when the trial's workspace does not have them.
    pub async fn trial_fixture_file_unchecked(
        &self,
        trial_id: &str,
        sha256: &str,
    ) -> Result<(PathBuf, u64), StoreError> {
        let mut tx = self.read().await?;
        let workspace_id = tx
            .optional(
                "SELECT workspace_id FROM trial WHERE id = $1",
                args![trial_id],
            )
            .await?
            .ok_or_else(StoreError::not_found)?
            .text("workspace_id")?;
        blob_file(self, &mut tx, &workspace_id, sha256, FIXTURE).await
    }
}

/// Where a workspace's bytes lie.
pub(crate) async fn blob_file(
    store: &Store,
    tx: &mut Tx,
    workspace_id: &str,
    sha256: &str,
    kind: &str,
) -> Result<(PathBuf, u64), StoreError> {
    if !is_sha256(sha256) {
        return Err(StoreError::not_found());
    }
    let row = tx
        .optional(
            "SELECT bytes FROM blob_ref WHERE workspace_id = $1 AND sha256 = $2 AND kind = $3",
            args![workspace_id, sha256, kind],
        )
        .await?
        .ok_or_else(StoreError::not_found)?;
    Ok((store.inner.folder.blob(sha256), row.count("bytes")?))
}

/// The hashes among these that the workspace has fixture bytes for.
pub(crate) async fn known_blobs(
    tx: &mut Tx,
    workspace_id: &str,
    hashes: &[String],
) -> Result<std::collections::HashSet<String>, StoreError> {
    let mut known = std::collections::HashSet::new();
    for chunk in hashes.chunks(500) {
        let mut args = args![workspace_id, FIXTURE];
        args.extend(chunk.iter().map(crate::db::Arg::from));
        let sql = format!(
            "SELECT sha256 FROM blob_ref WHERE workspace_id = $1 AND kind = $2 AND sha256 IN ({})",
            places(3, chunk.len())
        );
        for row in tx.all(sql, args).await? {
            known.insert(row.text("sha256")?);
        }
    }
    Ok(known)
}

/// Notes that a workspace has these bytes.
pub(crate) async fn refer(
    tx: &mut Tx,
    workspace_id: &str,
    sha256: &str,
    kind: &str,
    bytes: u64,
    now: i64,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO blob_ref (workspace_id, sha256, kind, bytes, created_at) VALUES ($1, $2, $3, $4, $5) \
         ON CONFLICT (workspace_id, sha256, kind) DO NOTHING",
        args![workspace_id, sha256, kind, bytes, now],
    )
    .await?;
    Ok(())
}
