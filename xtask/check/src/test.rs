//! `cargo xtask test`: everything, with set-up done by itself, ending in one table of counts.

mod browser;
pub mod rust;

use std::{process::Command, time::Instant};

use anyhow::{Result, bail};

use crate::{
    build::{
        self, Mode,
        toolchain::{TARGET, Toolchain},
    },
    prerequisite, process,
    repo::Repo,
    tally::{self, Tally},
    tidy,
};

/// A part by name.
pub struct Part {
    /// The name for `--only`.
    pub name: &'static str,
    /// What it does.
    pub says: &'static str,
    run: fn(&Repo) -> Result<Tally>,
}

/// All parts. `tidy` comes after the build, because it asks the program which commands exist.
pub static PARTS: [Part; 7] = [
    Part {
        name: "fmt",
        says: "the sources are formatted",
        run: fmt,
    },
    Part {
        name: "build",
        says: "the demo builds",
        run: build_demo,
    },
    Part {
        name: "tidy",
        says: "the invariants hold (`cargo xtask tidy`)",
        run: |repo| tidy::run(repo, &[]),
    },
    Part {
        name: "clippy",
        says: "no warning in any crate, tests included",
        run: clippy,
    },
    Part {
        name: "wasm",
        says: "core and lint build for wasm32",
        run: wasm,
    },
    Part {
        name: "rust",
        says: "unit, property and integration tests of every crate",
        run: rust::run,
    },
    Part {
        name: "browser",
        says: "the pages in Chromium (end2end/)",
        run: browser::run,
    },
];

/// Runs all parts, or those named. Returns whether nothing failed.
///
/// # Errors
/// When a prerequisite is missing or a name is unknown. A part that fails is counted, and the next one runs.
pub fn run(repo: &Repo, only: &[String]) -> Result<bool> {
    if let Some(unknown) = only
        .iter()
        .find(|name| PARTS.iter().all(|part| part.name != **name))
    {
        bail!("there is no part `{unknown}`; `cargo xtask test --list` names them");
    }
    prerequisite::require(&prerequisite::BUILD)?;
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let mut tallies = Vec::new();
    for part in &PARTS {
        if !only.is_empty() && !only.iter().any(|name| name == part.name) {
            continue;
        }
        println!("\n== {}: {}", part.name, part.says);
        let start = Instant::now();
        let tally = (part.run)(repo).unwrap_or_else(|error| {
            eprintln!("error: {error:#}");
            let mut tally = Tally::new(part.name);
            tally.fail(part.name);
            tally
        });
        println!("   {:.1} s", start.elapsed().as_secs_f64());
        tallies.push(tally.strict(ci));
    }
    println!("\n{}", tally::table(&tallies));
    Ok(tallies.iter().all(|tally| tally.failed.is_empty()))
}

/// One command that passes or fails as a whole.
fn whole(part: &str, commands: Vec<Command>) -> Result<Tally> {
    let mut tally = Tally::new(part);
    for mut command in commands {
        let text = process::line(&command);
        match process::run(&mut command) {
            Ok(()) => tally.passed += 1,
            Err(_) => tally.fail(format!("{part}: {text}")),
        }
    }
    Ok(tally)
}

fn cargo(repo: &Repo, arguments: &[&str]) -> Command {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .env("CARGO_TARGET_DIR", repo.target(""))
        .args(arguments);
    cargo
}

fn fmt(repo: &Repo) -> Result<Tally> {
    whole("fmt", vec![cargo(repo, &["fmt", "--all", "--check"])])
}

fn build_demo(repo: &Repo) -> Result<Tally> {
    build::all(repo, Mode::Dev)?.print();
    let mut tally = Tally::new("build");
    tally.passed = 1;
    Ok(tally)
}

fn clippy(repo: &Repo) -> Result<Tally> {
    let mut commands = vec![cargo(
        repo,
        &[
            "clippy",
            "--quiet",
            "--locked",
            "--workspace",
            "--all-targets",
            "--no-deps",
            "--exclude",
            "evalkit-frontend",
            "--exclude",
            "evalkit-lint-wasm",
            "--",
            "--deny",
            "warnings",
        ],
    )];
    // Only the toolchain that rustup made has a clippy for the browser half.
    if Toolchain::find_or_fetch()? == Toolchain::Default {
        commands.push(cargo(
            repo,
            &[
                "clippy",
                "--quiet",
                "--locked",
                "--no-deps",
                "--target",
                TARGET,
                "--profile",
                "wasm-dev",
                "--package",
                "evalkit-frontend",
                "--package",
                "evalkit-app",
                "--features",
                "evalkit-app/hydrate",
                "--",
                "--deny",
                "warnings",
            ],
        ));
    }
    whole("clippy", commands)
}

fn wasm(repo: &Repo) -> Result<Tally> {
    let toolchain = Toolchain::find_or_fetch()?;
    let mut commands = Vec::new();
    for package in ["evalkit-core", "evalkit-lint"] {
        let mut check = toolchain.command("cargo");
        check
            .current_dir(repo.root())
            .env("CARGO_TARGET_DIR", repo.target(""))
            .args(["check", "--quiet", "--locked", "--package", package])
            .args(["--target", TARGET, "--profile", "wasm-dev"]);
        commands.push(check);
    }
    whole("wasm", commands)
}
