//! Invariant 1: `core` and `lint` depend on no I/O crate.

use anyhow::Result;

use super::{Finding, Outcome};
use crate::{process, repo::Repo};

/// The pure crates.
pub const PURE: [&str; 2] = ["evalkit-core", "evalkit-lint"];
/// Crates that do I/O, keep time, draw random numbers or run tasks.
const BANNED: [&str; 14] = [
    "tokio",
    "sqlx",
    "sqlx-core",
    "reqwest",
    "hyper",
    "axum",
    "mio",
    "rustls",
    "getrandom",
    "rand",
    "async-std",
    "ureq",
    "tracing-subscriber",
    "leptos",
];

/// Asks cargo for the tree of each pure crate.
///
/// # Errors
/// When cargo fails.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for package in PURE {
        let mut cargo = process::command("cargo");
        cargo
            .current_dir(repo.root())
            .args(["tree", "--locked", "--edges", "normal", "--prefix", "none"])
            .args(["--format", "{p}", "--package", package]);
        findings.extend(banned_in(package, &process::capture(&mut cargo)?));
    }
    Ok(Outcome::Ran(findings))
}

fn banned_in(package: &str, tree: &str) -> Vec<Finding> {
    let mut found: Vec<Finding> = tree
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| BANNED.contains(name))
        .map(|name| {
            Finding::new(
                package,
                format!("has {name} in its tree: `cargo tree -p {package} -i {name}`"),
            )
        })
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_io_crate_in_the_tree_is_found_once() {
        let tree = "evalkit-core v0.1.0\nserde v1.0.0\ntokio v1.40.0\ntokio v1.40.0 (*)\n";
        let found = banned_in("evalkit-core", tree);
        assert_eq!(found.len(), 1);
        assert!(found[0].problem.contains("tokio"));
        assert!(banned_in("evalkit-core", "evalkit-core v0.1.0\nserde v1.0.0\n").is_empty());
    }
}
