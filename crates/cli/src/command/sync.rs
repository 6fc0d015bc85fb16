//! `evalkit sync`: a dataset on the server becomes equal to a directory (`cases.md`, Sync).

use std::collections::BTreeSet;
use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use evalkit_core::api::{Hashes, SyncDone, SyncFile, SyncPost};
use evalkit_core::name::is_slug;
use evalkit_lint::{LintFacts, ParsedDataset, Severity};
use sha2::{Digest as _, Sha256};

use super::agent::workspace_of;
use super::{Context, pretty};
use crate::args::SyncArgs;
use crate::console::visible;
use crate::dataset::Dataset;
use crate::diagnostics::{self, count};
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::server::Server;

/// What a sync is asked to do.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted {
    /// Into which workspace.
    pub workspace: String,
    /// Into which dataset.
    pub dataset: String,
    /// Only tell.
    pub dry_run: bool,
    /// Cases that are not in the files stay.
    pub keep_missing: bool,
    /// Archiving many cases is meant.
    pub archive: bool,
}

/// Syncs and prints what changed.
pub(super) async fn run(args: &SyncArgs, context: &mut Context) -> Outcome {
    let folder = context.environment.folder.clone();
    let project = Project::find(&folder, Some(&args.path))?;
    let server = Server::of(&project, context)?;
    let path = path_of(&folder, &args.path, &project);
    let wanted = Wanted {
        workspace: workspace_of(args.workspace.clone(), &server).await?,
        dataset: match &args.dataset {
            Some(slug) => slug.clone(),
            None => slug_of(&folder, path, &project)?,
        },
        dry_run: args.dry_run,
        keep_missing: args.keep_missing,
        archive: args.archive,
    };
    let done = sync(path, &wanted, &project, &server, context).await?;
    if args.json {
        context.console.say(pretty(&done)?);
    } else {
        print(&done, &wanted, context);
    }
    Ok(Exit::Met)
}

/// Where the cases are: a path, else the dataset of `evalkit.yaml` with that name.
fn path_of<'a>(folder: &Path, written: &'a Path, project: &'a Project) -> &'a Path {
    let named = written
        .to_str()
        .and_then(|name| project.datasets.get(name))
        .filter(|_| !folder.join(written).exists());
    named.map_or(written, PathBuf::as_path)
}

/// The dataset's slug: the one that `evalkit.yaml` gives the path, else the name of the folder or file.
pub(super) fn slug_of(folder: &Path, path: &Path, project: &Project) -> Result<String, Failure> {
    let whole = |path: &Path| folder.join(path).canonicalize();
    let own = whole(path).map_err(|_| {
        Failure::misuse(
            format!("{} does not exist.", path.display()),
            "Check the path.",
        )
    })?;
    for (slug, path) in &project.datasets {
        if whole(path).is_ok_and(|path| path == own) {
            return Ok(slug.clone());
        }
    }
    let name = if own.is_file() {
        own.file_stem()
    } else {
        own.file_name()
    };
    let name = name
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    if is_slug(&name) {
        return Ok(name);
    }
    Err(Failure::misuse(
        format!("`{name}` cannot name a dataset."),
        "Give it one with --dataset: lower-case letters, digits and `-`.",
    ))
}

/// Lints here, sends the fixtures that the workspace lacks, then the files. Nothing is changed when anything fails.
pub(super) async fn sync(
    path: &Path,
    wanted: &Wanted,
    project: &Project,
    server: &Server,
    context: &mut Context,
) -> Result<SyncDone, Failure> {
    let known: LintFacts = server
        .get(&["w", &wanted.workspace, "d", &wanted.dataset, "facts"])
        .await?;
    let facts = LintFacts {
        // The directory is the whole registry, and where bytes lie is asked by hash below.
        fixtures: Some(Default::default()),
        fixture_files: None,
        ..known
    };
    let dataset = Dataset::read([path], project, facts, context)?;
    let texts: Vec<SyncFile> = dataset
        .files
        .iter()
        .map(|file| SyncFile {
            path: inside(&file.path, path),
            text: String::from_utf8_lossy(&file.bytes).into_owned(),
        })
        .collect();
    if !dataset.report.has_errors() && dataset.report.count(Severity::Warning) > 0 {
        let document = dataset.report.document(dataset.files.len(), false);
        let text = diagnostics::text(&document, &dataset.files, context.console.colour_beside);
        context.console.note(text.trim_end());
    }
    let parsed = dataset.sound(context)?;
    send_fixtures(&parsed, wanted, project, server, context).await?;
    let mut post = SyncPost {
        files: texts,
        keep_missing: wanted.keep_missing,
        archive: wanted.archive,
        dry_run: wanted.dry_run,
        jargon: project.jargon.clone(),
        subject_terms: project.subject_terms.clone(),
    };
    let route = [
        "w",
        wanted.workspace.as_str(),
        "d",
        wanted.dataset.as_str(),
        "sync",
    ];
    match server.post(&route, &post).await {
        Err(failure) if failure.code.as_deref() == Some("S-CONFLICT") && !post.archive => {
            if !agrees(&failure, context) {
                return Err(failure);
            }
            post.archive = true;
            server.post(&route, &post).await
        }
        done => done,
    }
}

/// Asks a person at a terminal whether archiving many cases is meant.
fn agrees(failure: &Failure, context: &mut Context) -> bool {
    if context.environment.ci || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal()
    {
        return false;
    }
    context.console.warn(visible(&failure.message));
    context.console.flush();
    let mut err = std::io::stderr();
    if write!(err, "Go on? [y/N] ")
        .and_then(|()| err.flush())
        .is_err()
    {
        return false;
    }
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

/// A file's path relative to the directory that is synced.
fn inside(file: &str, path: &Path) -> String {
    let name = || file.rsplit('/').next().unwrap_or(file).to_owned();
    let root = path.to_string_lossy().replace('\\', "/");
    let root = root.trim_end_matches('/');
    match file.strip_prefix(root).map(|rest| rest.strip_prefix('/')) {
        Some(Some(rest)) => rest.to_owned(),
        // The path is the file itself.
        Some(None) => name(),
        None => file.to_owned(),
    }
}

/// Sends the bytes of every declared fixture that the workspace lacks.
///
/// # Errors
/// Every key whose bytes are neither here nor there; nothing was changed.
async fn send_fixtures(
    dataset: &ParsedDataset,
    wanted: &Wanted,
    project: &Project,
    server: &Server,
    context: &mut Context,
) -> Result<(), Failure> {
    if dataset.registry.is_empty() {
        return Ok(());
    }
    let hashes: BTreeSet<&str> = dataset
        .registry
        .values()
        .map(|e| e.sha256.as_str())
        .collect();
    let asked = Hashes {
        sha256: hashes.iter().map(|hash| (*hash).to_owned()).collect(),
    };
    let missing: Hashes = server
        .post(&["w", &wanted.workspace, "fixtures", "missing"], &asked)
        .await?;
    let missing: BTreeSet<&str> = missing.sha256.iter().map(String::as_str).collect();
    let mut absent = Vec::new();
    let mut there = Vec::new();
    let mut sending: Vec<(&str, &str, PathBuf)> = Vec::new();
    for (key, entry) in &dataset.registry {
        let lacks = missing.contains(entry.sha256.as_str());
        match local(project, key) {
            Some(file) if lacks => {
                if sending.iter().all(|(_, hash, _)| *hash != entry.sha256) {
                    sending.push((key, &entry.sha256, file));
                }
            }
            Some(_) => {}
            None if lacks => absent.push(key.clone()),
            None => there.push(key.as_str()),
        }
    }
    if !absent.is_empty() {
        let folder = project.fixtures.as_ref().map_or_else(
            || "the fixture folder".to_owned(),
            |path| path.display().to_string(),
        );
        let n = count(absent.len(), "fixture");
        return Err(Failure {
            details: absent,
            ..Failure::new(
                Exit::NotMet,
                format!(
                    "The bytes of {n} are neither in {folder} nor on the server; nothing was changed."
                ),
                "Put the files there, or name their folder under `fixtures` in evalkit.yaml.",
            )
        });
    }
    if !there.is_empty() {
        context.console.note(format!(
            "not here, but the server has the bytes: {}",
            visible(&there.join(", "))
        ));
    }
    if wanted.dry_run {
        for (key, _, _) in &sending {
            context.console.note(format!("would send {}", visible(key)));
        }
        return Ok(());
    }
    for (key, hash, file) in sending {
        context.console.note(format!("sending {}", visible(key)));
        send(hash, key, &file, wanted, server).await?;
    }
    Ok(())
}

/// Sends one file. Its bytes are hashed first: what changed since the lint is not sent under the old hash.
async fn send(
    hash: &str,
    key: &str,
    path: &Path,
    wanted: &Wanted,
    server: &Server,
) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| {
        Failure::misuse(
            format!("{} cannot be read: {error}.", path.display()),
            "Check its rights.",
        )
    };
    let owned = path.to_owned();
    let found = tokio::task::spawn_blocking(move || {
        let mut hasher = Sha256::new();
        std::io::copy(&mut std::fs::File::open(owned)?, &mut hasher)?;
        Ok::<_, std::io::Error>(hex::encode(hasher.finalize()))
    })
    .await
    .map_err(|error| Failure::misuse(format!("{key}: {error}."), ""))?
    .map_err(unreadable)?;
    if found != hash {
        return Err(Failure::new(
            Exit::NotMet,
            format!("The bytes of {key} have the hash {found}, and the registry says {hash}."),
            "Declare them with `evalkit fixture add`, or restore the file.",
        ));
    }
    let file = tokio::fs::File::open(path).await.map_err(unreadable)?;
    let bytes = file.metadata().await.map_err(unreadable)?.len();
    server
        .upload(&["w", &wanted.workspace, "fixtures", hash], file, bytes)
        .await
}

/// A fixture's file: it lies directly in the folder and is no link out of it.
fn local(project: &Project, key: &str) -> Option<PathBuf> {
    let root = project.fixtures.as_ref()?.canonicalize().ok()?;
    let path = root.join(key);
    let plain = path.symlink_metadata().ok()?.is_file() && path.parent() == Some(root.as_path());
    plain.then_some(path)
}

/// What changed, a line each, then the counts.
pub(super) fn print(done: &SyncDone, wanted: &Wanted, context: &mut Context) {
    let console = &mut context.console;
    for (mark, ids) in [
        ("+", &done.added),
        ("~", &done.changed),
        ("-", &done.archived),
    ] {
        for id in ids {
            console.say(format!("{mark} {}", visible(id)));
        }
    }
    let mut parts = vec![
        format!("{} added", done.added.len()),
        format!("{} changed", done.changed.len()),
        format!("{} unchanged", done.unchanged),
        format!("{} archived", done.archived.len()),
    ];
    if !done.kept.is_empty() {
        parts.push(format!("{} kept", done.kept.len()));
    }
    if done.overlays_changed {
        parts.push("overlays changed".to_owned());
    }
    if done.fixtures_changed {
        parts.push("fixtures changed".to_owned());
    }
    let would = if done.dry_run {
        "dry run, nothing was changed: "
    } else {
        ""
    };
    console.say(format!(
        "{}@{}: {would}{}",
        wanted.dataset,
        wanted.workspace,
        parts.join(", ")
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dataset_of_the_project_file_is_found_by_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let project = Project {
            datasets: [("desk".to_owned(), folder.path().join("cases"))].into(),
            ..Project::default()
        };
        let of = |name| path_of(folder.path(), Path::new(name), &project);
        assert_eq!(of("desk"), folder.path().join("cases"));
        assert_eq!(of("other"), Path::new("other"));
        std::fs::create_dir(folder.path().join("desk")).expect("a folder");
        assert_eq!(of("desk"), Path::new("desk"), "a path goes first");
    }

    #[test]
    fn files_are_named_from_the_directory() {
        for (file, path, name) in [
            ("cases/a/b.yaml", "cases", "a/b.yaml"),
            ("cases/a.yaml", "cases/", "a.yaml"),
            ("a.yaml", ".", "a.yaml"),
            ("cases/a.yaml", "cases/a.yaml", "a.yaml"),
            ("/x/cases/a.yaml", "/x/cases", "a.yaml"),
        ] {
            assert_eq!(inside(file, Path::new(path)), name, "{file} in {path}");
        }
    }
}
