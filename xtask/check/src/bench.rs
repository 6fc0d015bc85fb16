//! `cargo xtask bench`: what we promise in figures, measured, in one table.

mod agent;
mod engine;
mod figure;
mod labels;
mod pages;
mod report;
mod site;

use anyhow::{Result, bail};

use crate::{prerequisite, repo::Repo};
use figure::Figure;

/// A bench by name.
pub struct Bench {
    /// The name for `--only`.
    pub name: &'static str,
    /// What it measures.
    pub says: &'static str,
    run: fn(&Repo) -> Result<Vec<Figure>>,
}

/// All benches. A new one is a function that returns figures, each with what is promised.
pub static BENCHES: [Bench; 4] = [
    Bench {
        name: "first-load",
        says: "compressed WASM, JavaScript and CSS of a page, release build",
        run: site::first_load,
    },
    Bench {
        name: "server",
        says: "start of the demo, and the time of the case page, release build",
        run: pages::server,
    },
    Bench {
        name: "engine",
        says: "a run of 500 trials of an agent of 50 ms, and where its time goes, release build",
        run: engine::engine,
    },
    Bench {
        name: "labels",
        says: "verdicts on the label set against what people say, as a confusion matrix",
        run: labels::labels,
    },
];

/// Runs all benches, or those named, and prints the table; with `write`, the table is also kept as `docs/bench.md`.
/// Returns whether every limit held.
///
/// # Errors
/// When a name is unknown or a prerequisite is missing.
pub fn run(repo: &Repo, only: &[String], write: bool) -> Result<bool> {
    if let Some(unknown) = only
        .iter()
        .find(|name| BENCHES.iter().all(|bench| bench.name != **name))
    {
        bail!("there is no bench `{unknown}`; `cargo xtask bench --list` names them");
    }
    prerequisite::require(&prerequisite::BUILD)?;
    let mut figures = Vec::new();
    let mut held = true;
    for bench in &BENCHES {
        if !only.is_empty() && !only.iter().any(|name| name == bench.name) {
            continue;
        }
        println!("== {}: {}", bench.name, bench.says);
        match (bench.run)(repo) {
            Ok(measured) => figures.extend(measured),
            Err(error) => {
                eprintln!("error: {error:#}");
                held = false;
            }
        }
    }
    println!("\n{}", figure::table(&figures));
    if write {
        anyhow::ensure!(
            only.is_empty(),
            "--write keeps the whole table: leave out --only"
        );
        report::write(repo, &figures)?;
    }
    Ok(held && figures.iter().all(Figure::holds))
}
