//! A module is named by its subject, and has one that fits into one sitting.

use anyhow::Result;

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// Names that say nothing about what is inside.
const NAMELESS: [&str; 8] = [
    "mod", "utils", "util", "helpers", "helper", "common", "manager", "misc",
];
/// The longest file, in lines before its tests.
const LONGEST: usize = 600;
/// The longest file, tests included.
const LONGEST_WITH_TESTS: usize = 1000;

/// Looks at the name and length of every Rust file.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, "", &[".rs"])? {
        findings.extend(problem_with(&name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn problem_with(name: &str, text: &str) -> Option<Finding> {
    let stem = name
        .rsplit('/')
        .next()
        .unwrap_or(name)
        .trim_end_matches(".rs");
    if NAMELESS.contains(&stem) {
        return Some(Finding::new(
            name,
            "is named by nothing: name it by its subject",
        ));
    }
    let rust = RustText::of(text);
    let product = rust.lines_before_tests();
    let all = text.lines().count();
    let is_test = name.contains("/tests/");
    if !is_test && product.min(all) > LONGEST {
        let problem = format!(
            "has {product} lines before its tests, more than {LONGEST}: part it by subject"
        );
        return Some(Finding::new(name, problem));
    }
    (all > LONGEST_WITH_TESTS).then(|| {
        Finding::new(name, format!("has {all} lines, more than {LONGEST_WITH_TESTS}: move its tests into a file of their own"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nameless_and_endless_files_are_found() {
        let lines = |count: usize| "x;\n".repeat(count);
        assert!(problem_with("crates/core/src/utils.rs", "").is_some());
        assert!(problem_with("crates/core/src/case/mod.rs", "").is_some());
        assert!(problem_with("crates/core/src/case.rs", &lines(LONGEST + 1)).is_some());
        assert!(problem_with("crates/core/src/case.rs", &lines(LONGEST)).is_none());
        assert!(problem_with("backend/tests/serve.rs", &lines(LONGEST + 1)).is_none());
        assert!(problem_with("backend/tests/serve.rs", &lines(LONGEST_WITH_TESTS + 1)).is_some());
        let tested = format!("{}#[cfg(test)]\nmod tests {{}}\n{}", lines(500), lines(300));
        assert!(problem_with("crates/core/src/case.rs", &tested).is_none());
        let endless = format!("{tested}{}", lines(300));
        assert!(problem_with("crates/core/src/case.rs", &endless).is_some());
    }
}
