//! The demo and the tests compile the same dependencies with the same features, so that whoever ran one
//! does not wait for them again in the other.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{Finding, Outcome};
use crate::{build::server, process, repo::Repo, test::rust::PRODUCT};

/// Compares the two trees.
///
/// # Errors
/// When cargo fails.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut demo = vec!["--edges", "features,normal,build", "--package", "evalkit"];
    demo.extend(server::DEV_FEATURES);
    let mut tests = vec!["--edges", "features,normal,build,dev"];
    tests.extend(PRODUCT);
    let (demo, tests) = (tree(repo, &demo)?, tree(repo, &tests)?);
    Ok(Outcome::Ran(apart(&crates(&demo), &crates(&tests))))
}

fn tree(repo: &Repo, arguments: &[&str]) -> Result<String> {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .args([
            "tree",
            "--locked",
            "--prefix",
            "none",
            "--format",
            "{p} [{f}]",
        ])
        .args(arguments);
    process::capture(&mut cargo)
}

/// `name version [features]` of every crate; lines that stand for a feature are left out.
fn crates(tree: &str) -> BTreeSet<String> {
    tree.lines()
        .map(|line| {
            line.trim_end_matches(" (*)")
                .trim_end_matches(" (command-line)")
        })
        .filter(|line| !line.contains(" feature \"") && line.ends_with(']'))
        .map(str::to_owned)
        .collect()
}

fn apart(demo: &BTreeSet<String>, tests: &BTreeSet<String>) -> Vec<Finding> {
    demo.difference(tests)
        .map(|line| {
            let name = line.split(' ').next().unwrap_or_default();
            Finding::new(
                name,
                format!(
                    "is built as {line} for the demo and otherwise for the tests, so all above it is built twice: \
                     give it one set of features in [workspace.dependencies], or name the feature in server::DEV_FEATURES"
                ),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_feature_set_is_found() {
        let demo = crates("tokio v1.0.0 [net]\ntokio feature \"net\"\nserde v1.0.0 [std] (*)\n");
        let tests =
            crates("tokio v1.0.0 [net,test-util]\nserde v1.0.0 [std]\nproptest v1.0.0 []\n");
        let found = apart(&demo, &tests);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "tokio");
        assert_eq!(apart(&demo, &demo), []);
    }
}
