//! The last step of the site: names with content hashes, compressed siblings, the manifest. Done by
//! `xtask-build`, which has the libraries for it.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Mode;
use crate::{
    process,
    progress::{Board, Fresh},
    repo::Repo,
    stamp::{Inputs, Stamp},
};

/// Files that get a hashed name under `/assets`.
pub fn stage(repo: &Repo, mode: Mode) -> PathBuf {
    mode.work(repo).join("assets")
}

/// Files that keep their name at the root of the site.
pub fn public(repo: &Repo, mode: Mode) -> PathBuf {
    mode.work(repo).join("public")
}

/// Builds `xtask-build` where needed, and returns its path.
///
/// # Errors
/// When cargo fails.
pub fn tool(repo: &Repo, board: &Board) -> Result<PathBuf> {
    let program = repo
        .target("debug")
        .join(format!("xtask-build{}", std::env::consts::EXE_SUFFIX));
    board.step("tools", |lane| {
        let mut inputs = Inputs::of("tools 1").env("RUSTFLAGS");
        for path in ["Cargo.toml", "Cargo.lock", ".cargo", "xtask/build"] {
            inputs = inputs.files(repo, path)?;
        }
        let inputs = inputs.finish();
        let stamp = Stamp::new(repo.target("site-work/tools.stamp"));
        if stamp.holds(&inputs, &[&program]) {
            return Ok(Fresh::Unchanged);
        }
        let mut cargo = process::command("cargo");
        cargo
            .current_dir(repo.root())
            .args(["build", "--locked", "--package", "xtask-build"])
            .env("CARGO_TARGET_DIR", repo.target(""));
        lane.cargo(&mut cargo)?;
        stamp.set(&inputs, &[&program])?;
        Ok(Fresh::Rebuilt)
    })?;
    Ok(program)
}

/// Packs the staged files into the site folder.
///
/// # Errors
/// When a file cannot be read or written.
pub fn site(repo: &Repo, mode: Mode, tool: &Path, board: &Board) -> Result<()> {
    let site = mode.site(repo);
    board.step("pack", |_| {
        let mut inputs = Inputs::of("pack 1")
            .text("mode", mode.name())
            .files(repo, "xtask/build")?;
        for folder in [stage(repo, mode), public(repo, mode)] {
            for file in Repo::files_of(&folder)? {
                inputs = inputs
                    .text("file", &file.display().to_string())
                    .file(&file)?;
            }
        }
        let inputs = inputs.finish();
        let stamp = Stamp::new(mode.work(repo).join("pack.stamp"));
        let manifest = site.join("manifest.json");
        if stamp.holds(&inputs, &[&manifest]) {
            return Ok(Fresh::Unchanged);
        }
        let mut pack = process::command(tool);
        pack.arg("pack")
            .arg(stage(repo, mode))
            .arg(public(repo, mode))
            .arg(&site)
            .arg(match mode {
                Mode::Dev => "quick",
                Mode::Release => "small",
            });
        process::capture(&mut pack)?;
        stamp.set(&inputs, &[&manifest])?;
        Ok(Fresh::Rebuilt)
    })
}
