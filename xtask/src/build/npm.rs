//! The pinned build tools from npm.

use std::{path::PathBuf, process::Command};

use anyhow::{Result, bail};

use crate::{
    process,
    progress::Fresh,
    repo::Repo,
    stamp::{Inputs, Stamp},
};

/// Installs exactly what the lock file of `folder` names. Install scripts of packages do not run: none of
/// the tools needs one.
///
/// # Errors
/// When npm fails.
pub fn install(repo: &Repo, folder: &str) -> Result<Fresh> {
    let inputs = Inputs::of("npm 1")
        .files(repo, &format!("{folder}/package.json"))?
        .files(repo, &format!("{folder}/package-lock.json"))?
        .finish();
    let modules = repo.path(folder).join("node_modules");
    let stamp = Stamp::new(modules.join(".evalkit-stamp"));
    if stamp.holds(&inputs, &[]) {
        return Ok(Fresh::Unchanged);
    }
    let mut npm = process::command("npm");
    npm.current_dir(repo.path(folder))
        .args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::capture(&mut npm)?;
    stamp.set(&inputs, &[])?;
    Ok(Fresh::Rebuilt)
}

/// A tool of the root `package.json`, run through Node so that it works the same on every system.
///
/// # Errors
/// When the package is not installed.
pub fn tool(repo: &Repo, script: &str) -> Result<Command> {
    let path: PathBuf = repo.path("node_modules").join(script);
    if !path.is_file() {
        bail!("{} is missing: run `cargo xtask setup`", path.display());
    }
    let mut command = process::command("node");
    command.current_dir(repo.root()).arg(path);
    Ok(command)
}
