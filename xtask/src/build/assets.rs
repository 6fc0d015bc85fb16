//! Styles, the editor bundle, fonts and public files.

use std::{fs, path::Path};

use anyhow::{Context, Result};

use super::{Mode, npm, pack};
use crate::{
    process,
    progress::{Board, Fresh},
    repo::Repo,
    stamp::{Inputs, Stamp},
};

/// The stylesheet source.
const STYLE: &str = "style/app.css";
/// Scripts of the editor page: source and name in the site. Each is bundled when it exists.
const SCRIPTS: [(&str, &str); 2] = [
    ("editor/main.js", "editor.js"),
    ("editor/lint-worker.js", "lint-worker.js"),
];

/// Brings the npm packages, then makes all assets.
///
/// # Errors
/// When a tool fails or a source is missing.
pub fn all(repo: &Repo, mode: Mode, board: &Board) -> Result<()> {
    board.step("npm", |_| npm::install(repo, "."))?;
    board.step("css", |_| css(repo, mode))?;
    for (source, name) in SCRIPTS {
        if repo.path(source).is_file() {
            board.step(name, |_| script(repo, mode, source, name))?;
        }
    }
    board.step("fonts", |_| copies(repo, mode))
}

fn css(repo: &Repo, mode: Mode) -> Result<Fresh> {
    let output = pack::stage(repo, mode).join("app.css");
    let mut inputs = Inputs::of("css 1").files(repo, "package-lock.json")?;
    for path in ["style", "app/src"] {
        inputs = inputs.files(repo, path)?;
    }
    let inputs = inputs.finish();
    let stamp = Stamp::new(mode.work(repo).join("css.stamp"));
    if stamp.holds(&inputs, &[&output]) {
        return Ok(Fresh::Unchanged);
    }
    if !repo.path(STYLE).is_file() {
        anyhow::bail!("{STYLE} is missing");
    }
    compile_css(repo, &output)?;
    stamp.set(&inputs, &[&output])?;
    Ok(Fresh::Rebuilt)
}

/// Compiles the stylesheet into `output`.
///
/// # Errors
/// When Tailwind fails.
pub fn compile_css(repo: &Repo, output: &Path) -> Result<()> {
    if let Some(folder) = output.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut tailwind = npm::tool(repo, "@tailwindcss/cli/dist/index.mjs")?;
    tailwind
        .arg("--input")
        .arg(repo.path(STYLE))
        .arg("--output")
        .arg(output)
        .arg("--minify");
    process::capture(&mut tailwind)?;
    Ok(())
}

fn script(repo: &Repo, mode: Mode, source: &str, name: &str) -> Result<Fresh> {
    let output = pack::stage(repo, mode).join(name);
    let inputs = Inputs::of("script 1")
        .text("source", source)
        .files(repo, "package-lock.json")?
        .files(repo, "editor")?
        .finish();
    let stamp = Stamp::new(mode.work(repo).join(format!("{name}.stamp")));
    if stamp.holds(&inputs, &[&output]) {
        return Ok(Fresh::Unchanged);
    }
    let mut bundle = npm::tool(repo, "esbuild/bin/esbuild")?;
    bundle
        .arg(repo.path(source))
        .args(["--bundle", "--minify", "--format=esm", "--target=es2022"])
        .args(["--log-level=warning", "--legal-comments=none"])
        .arg(format!("--outfile={}", output.display()));
    process::capture(&mut bundle)?;
    stamp.set(&inputs, &[&output])?;
    Ok(Fresh::Rebuilt)
}

/// `style/fonts` and `app/public` are taken as they are.
fn copies(repo: &Repo, mode: Mode) -> Result<Fresh> {
    let stage = pack::stage(repo, mode);
    let mut fresh = Fresh::Unchanged;
    for (from, to) in [
        ("style/fonts", stage.join("fonts")),
        ("app/public", pack::public(repo, mode)),
    ] {
        let root = repo.path(from);
        let files = repo.files(from)?;
        let mut wanted = Vec::new();
        for file in &files {
            let relative = file.strip_prefix(&root).unwrap_or(file);
            let target = to.join(relative);
            let content =
                fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
            if fs::read(&target).ok().as_ref() != Some(&content) {
                if let Some(folder) = target.parent() {
                    fs::create_dir_all(folder)?;
                }
                fs::write(&target, content)?;
                fresh = Fresh::Rebuilt;
            }
            wanted.push(target);
        }
        // A file that was removed or renamed must not stay in the site.
        for file in Repo::files_of(&to)? {
            if !wanted.contains(&file) {
                fs::remove_file(&file)?;
                fresh = Fresh::Rebuilt;
            }
        }
    }
    Ok(fresh)
}
