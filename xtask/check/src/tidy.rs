//! `cargo xtask tidy`: the invariants of `ARCHITECTURE.md` that a program can check.
//!
//! One check a file. Each is a function from the clone to what is wrong, with a unit test that it
//! fails on a broken sample.

mod comments;
mod context;
mod coverage;
mod dependencies;
mod directions;
mod docs;
mod files;
mod leptos;
mod licences;
mod locks;
mod one_build;
mod paths;
mod purity;
mod rust_text;
mod sql;
mod styles;

use std::time::Instant;

use anyhow::{Result, bail};

use crate::{repo::Repo, tally::Tally};

/// One thing that is wrong.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// File and line, or a package.
    pub place: String,
    /// What is wrong there and what to do.
    pub problem: String,
}

impl Finding {
    /// A finding in words.
    pub fn new(place: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            problem: problem.into(),
        }
    }
}

/// What a check came to.
#[derive(Debug)]
pub enum Outcome {
    /// It ran; nothing found means that the invariant holds.
    Ran(Vec<Finding>),
    /// It could not run here, with the reason.
    Skipped(String),
}

/// A check by name.
pub struct Check {
    /// The name for `--only`.
    pub name: &'static str,
    /// The invariant, in one sentence.
    pub says: &'static str,
    run: fn(&Repo) -> Result<Outcome>,
}

/// All checks.
pub static CHECKS: [Check; 18] = [
    Check {
        name: "dependencies",
        says: "core and lint have no runtime, database or network crate in their tree",
        run: dependencies::check,
    },
    Check {
        name: "directions",
        says: "crates know each other only in the direction of the map",
        run: directions::check,
    },
    Check {
        name: "purity",
        says: "core and lint have no clock, randomness, environment, files or async",
        run: purity::check,
    },
    Check {
        name: "sql",
        says: "all SQL lives in the store",
        run: sql::check,
    },
    Check {
        name: "context",
        says: "every public store function takes a Ctx, or says that it is unchecked",
        run: context::check,
    },
    Check {
        name: "locks",
        says: "one sqlx, one rustls, no banned crate, packages from the public registry alone",
        run: locks::check,
    },
    Check {
        name: "licences",
        says: "every dependency has an allowed licence",
        run: licences::check,
    },
    Check {
        name: "npm",
        says: "package locks hold no download addresses",
        run: locks::npm,
    },
    Check {
        name: "one-build",
        says: "the demo and the tests compile the same dependencies",
        run: one_build::check,
    },
    Check {
        name: "styles",
        says: "every class that the app uses is in the stylesheet",
        run: styles::check,
    },
    Check {
        name: "inline-styles",
        says: "no style attribute, which the content security policy refuses",
        run: leptos::inline_styles,
    },
    Check {
        name: "shell",
        says: "the shell uses the site's own names, and no mutation goes through GET",
        run: leptos::shell,
    },
    Check {
        name: "coverage",
        says: "every test that docs/coverage.toml names exists",
        run: coverage::check,
    },
    Check {
        name: "docs",
        says: "links between documents are alive",
        run: docs::links,
    },
    Check {
        name: "commands",
        says: "every command that a document names exists",
        run: docs::commands,
    },
    Check {
        name: "paths",
        says: "no path of a person's machine, no registry host",
        run: paths::check,
    },
    Check {
        name: "files",
        says: "modules are named by their subject and stay readable in one sitting",
        run: files::check,
    },
    Check {
        name: "comments",
        says: "nothing is left to be done later in a comment",
        run: comments::check,
    },
];

/// Runs all checks, or those named, and prints what each came to.
///
/// # Errors
/// When a name is unknown, or a check cannot do its work at all.
pub fn run(repo: &Repo, only: &[String]) -> Result<Tally> {
    if let Some(unknown) = only
        .iter()
        .find(|name| CHECKS.iter().all(|check| check.name != **name))
    {
        bail!("there is no check `{unknown}`; `cargo xtask tidy --list` names them");
    }
    let mut tally = Tally::new("tidy");
    for check in &CHECKS {
        if !only.is_empty() && !only.iter().any(|name| name == check.name) {
            continue;
        }
        let start = Instant::now();
        match (check.run)(repo)? {
            Outcome::Ran(findings) if findings.is_empty() => {
                tally.passed += 1;
                println!(
                    "  ok    {:<14} {} ({} ms)",
                    check.name,
                    check.says,
                    start.elapsed().as_millis()
                );
            }
            Outcome::Ran(mut findings) => {
                tally.fail(format!("tidy {}", check.name));
                findings.sort();
                println!("  FAIL  {:<14} {}", check.name, check.says);
                for finding in &findings {
                    println!("          {}: {}", finding.place, finding.problem);
                }
            }
            Outcome::Skipped(reason) => {
                println!("  skip  {:<14} {reason}", check.name);
                tally.skip(format!("tidy {}", check.name), reason);
            }
        }
    }
    Ok(tally)
}

/// The text files of the clone with the given endings, as (name, text).
fn texts(repo: &Repo, start: &str, endings: &[&str]) -> Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for file in repo.files(start)? {
        let name = repo.relative(&file);
        if endings.iter().any(|ending| name.ends_with(ending)) {
            // A file that is not UTF-8 is no text, whatever its name says.
            if let Ok(text) = std::fs::read_to_string(&file) {
                found.push((name, text));
            }
        }
    }
    Ok(found)
}
