//! The one program: `evalkit`.

use std::{fs, path::PathBuf};

use anyhow::Result;

use super::Mode;
use crate::{
    process,
    progress::{Board, Fresh},
    repo::Repo,
    stamp::{Inputs, Stamp},
};

/// What the tests ask of a dependency beyond what the server asks. With it, the demo and the tests share
/// every compiled dependency; `cargo xtask tidy --only one-build` notices when that stops to be true.
pub const DEV_FEATURES: [&str; 2] = ["--features", "tokio/test-util"];

/// Where the built program lies.
pub fn program(repo: &Repo, mode: Mode) -> PathBuf {
    let profile = match mode {
        Mode::Dev => "debug",
        Mode::Release => "release",
    };
    let file = format!("evalkit{}", std::env::consts::EXE_SUFFIX);
    repo.target(profile).join(file)
}

/// Compiles it. A release has the site inside.
///
/// # Errors
/// When cargo fails.
pub fn compile(repo: &Repo, mode: Mode, board: &Board) -> Result<()> {
    let program = program(repo, mode);
    board.step("server", |lane| {
        let mut inputs = Inputs::of("server 2")
            .text("mode", mode.name())
            .text(
                "rustc",
                &process::capture(process::command("rustc").arg("-vV"))?,
            )
            .env("RUSTFLAGS");
        for path in [
            "Cargo.toml",
            "Cargo.lock",
            ".cargo",
            "app",
            "backend",
            "crates",
            "examples",
            "migrations",
        ] {
            inputs = inputs.files(repo, path)?;
        }
        if mode == Mode::Release {
            inputs = inputs.file(&mode.site(repo).join("manifest.json"))?;
        }
        let inputs = inputs.finish();
        let stamp = Stamp::new(mode.work(repo).join("server.stamp"));
        if stamp.holds(&inputs, &[&program]) {
            return Ok(Fresh::Unchanged);
        }
        let mut cargo = process::command("cargo");
        cargo
            .current_dir(repo.root())
            .args([
                "build",
                "--locked",
                "--package",
                "evalkit",
                "--bin",
                "evalkit",
            ])
            .env("CARGO_TARGET_DIR", repo.target(""));
        if mode == Mode::Dev {
            cargo.args(DEV_FEATURES);
        } else {
            cargo.arg("--release");
            if has_feature(repo, "embed")? {
                cargo
                    .args(["--features", "embed"])
                    .env("EVALKIT_SITE_DIR", mode.site(repo));
            }
        }
        lane.cargo(&mut cargo)?;
        stamp.set(&inputs, &[&program])?;
        Ok(Fresh::Rebuilt)
    })
}

/// Whether the server's manifest has a feature. Read as text: a parser would make this crate heavy.
fn has_feature(repo: &Repo, name: &str) -> Result<bool> {
    let text = fs::read_to_string(repo.path("backend/Cargo.toml"))?;
    Ok(text
        .lines()
        .any(|line| line.split('=').next().is_some_and(|key| key.trim() == name)))
}
