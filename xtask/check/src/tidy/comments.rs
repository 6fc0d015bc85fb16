//! Work that is left is an issue, not a comment.

use anyhow::Result;

use super::{Finding, Outcome, texts};
use crate::repo::Repo;

/// Marks of unfinished work, in halves so that this file passes.
const MARKS: [(&str, &str); 4] = [("TO", "DO"), ("FIX", "ME"), ("XX", "X"), ("HA", "CK")];
/// Sources and documents.
const ENDINGS: [&str; 6] = [".rs", ".js", ".mjs", ".css", ".sql", ".md"];

/// Looks for the marks as words of their own.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, "", &ENDINGS)? {
        findings.extend(marks_in(&name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn marks_in(name: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if words.any(|word| {
            MARKS
                .iter()
                .any(|(one, two)| word.strip_prefix(one) == Some(two))
        }) {
            findings.push(Finding::new(
                format!("{name}:{}", number + 1),
                "leaves work in a comment: do it, or file it",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_found_as_a_word_only() {
        assert_eq!(marks_in("a.rs", &["// TO", "DO: later"].concat()).len(), 1);
        assert_eq!(marks_in("a.rs", "const TODOS: u8 = 1; // hacking"), []);
    }
}
