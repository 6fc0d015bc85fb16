//! Invariant 10: all SQL lives in `store`.

use anyhow::Result;

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// Crates that have no SQL.
const SOURCES: [&str; 7] = [
    "app/src",
    "backend/src",
    "crates/cli/src",
    "crates/core/src",
    "crates/engine/src",
    "crates/lint/src",
    "frontend/src",
];
/// How a statement starts: the first word, and what must follow somewhere.
const STATEMENTS: [(&str, &str); 7] = [
    ("SELECT", " FROM "),
    ("INSERT", " INTO "),
    ("UPDATE", " SET "),
    ("DELETE", " FROM "),
    ("CREATE", " TABLE "),
    ("ALTER", " TABLE "),
    ("PRAGMA", ""),
];

/// Looks for the library and for statements.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for source in SOURCES {
        for (name, text) in texts(repo, source, &[".rs"])? {
            findings.extend(sql_in(&name, &text));
        }
    }
    Ok(Outcome::Ran(findings))
}

fn sql_in(name: &str, text: &str) -> Vec<Finding> {
    let text = RustText::of(text);
    let mut findings = Vec::new();
    for (at, _) in text.code.match_indices("sqlx::") {
        findings.push(Finding::new(
            format!("{name}:{}", text.line(at)),
            "names sqlx: only crates/store may",
        ));
    }
    for literal in &text.literals {
        // Upper case on purpose: prose and labels are not.
        let words = literal
            .text
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        if STATEMENTS.iter().any(|(first, then)| {
            words.starts_with(&format!("{first} ")) && format!("{words} ").contains(then)
        }) {
            let place = format!("{name}:{}", text.line(literal.at));
            findings.push(Finding::new(
                place,
                format!(
                    "has a statement ({}…): move it to crates/store",
                    words.chars().take(30).collect::<String>()
                ),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_outside_the_store_is_found() {
        assert_eq!(
            sql_in("a.rs", "q(\"SELECT id\n FROM trial WHERE x = $1\")").len(),
            1
        );
        assert_eq!(sql_in("a.rs", "use sqlx::Row;").len(), 1);
    }

    #[test]
    fn prose_is_no_statement() {
        assert_eq!(
            sql_in(
                "a.rs",
                "p(\"Select a case from the list\"); // SELECT x FROM y"
            ),
            []
        );
        assert_eq!(sql_in("a.rs", "p(\"UPDATE available\")"), []);
    }
}
