//! Names people type: case ids, slugs, `name@workspace` references, fixture keys (`cases.md`, A case, Fixtures, Sync).

use serde::{Deserialize, Serialize};
use unicode_normalization::is_nfc;

/// Why a name was refused. The message says what a valid one looks like.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Not `[a-z0-9][a-z0-9._-]{0,127}`.
    #[error(
        "a case id starts with a lower-case letter or digit and continues with letters, digits, `.`, `_` or `-`, at most 128 characters"
    )]
    CaseId,
    /// Not `[a-z0-9][a-z0-9-]{0,62}`.
    #[error(
        "a slug starts with a lower-case letter or digit and continues with letters, digits or `-`, at most 63 characters"
    )]
    Slug,
    /// Breaks the fixture key rule; the text says which part.
    #[error("a fixture key {0}")]
    FixtureKey(&'static str),
}

/// Whether `id` is a case id: `[a-z0-9][a-z0-9._-]{0,127}` (`cases.md`, A case).
pub fn is_case_id(id: &str) -> bool {
    shaped(id, 128, |c| matches!(c, '.' | '_' | '-'))
}

/// Whether `slug` names a dataset, workspace, user or agent: `[a-z0-9][a-z0-9-]{0,62}` (`cases.md`, Sync).
pub fn is_slug(slug: &str) -> bool {
    shaped(slug, 63, |c| c == '-')
}

fn shaped(text: &str, longest: usize, extra: impl Fn(char) -> bool) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    text.len() <= longest && text.starts_with(plain) && text.chars().all(|c| plain(c) || extra(c))
}

/// Checks a fixture key: a flat file name in NFC, 1 to 255 bytes, no `/`, `\`, `:` or control character, no dot or
/// blank at either end (`cases.md`, Fixtures). A key is never decoded and never part of a path on the server.
pub fn check_fixture_key(key: &str) -> Result<(), NameError> {
    let fault = if key.is_empty() {
        "cannot be empty"
    } else if key.len() > 255 {
        "is at most 255 bytes long"
    } else if key.contains(['/', '\\', ':']) {
        "is a flat file name, without `/`, `\\` or `:`"
    } else if key.chars().any(char::is_control) {
        "holds no control character"
    } else if key.starts_with(['.', ' ']) || key.ends_with(['.', ' ']) {
        "neither starts nor ends with a dot or a blank"
    } else if !is_nfc(key) {
        "is written in Unicode NFC"
    } else {
        return Ok(());
    };
    Err(NameError::FixtureKey(fault))
}

/// `slug@workspace` or a bare slug, as commands take datasets and agents.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Address {
    /// The dataset or agent.
    pub slug: String,
    /// The workspace after `@`, when written.
    pub workspace: Option<String>,
}

impl Address {
    /// Reads `slug` or `slug@workspace`.
    ///
    /// # Errors
    /// [`NameError::Slug`] when either part is no slug.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let (slug, workspace) = match text.split_once('@') {
            Some((slug, workspace)) => (slug, Some(workspace)),
            None => (text, None),
        };
        if !is_slug(slug) || workspace.is_some_and(|w| !is_slug(w)) {
            return Err(NameError::Slug);
        }
        Ok(Self {
            slug: slug.to_owned(),
            workspace: workspace.map(str::to_owned),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_ids_and_slugs() {
        assert!(is_case_id("roku-platform.margin_fy2024"));
        for bad in ["", "-a", "A", "a b", ".a", "ä", &"a".repeat(129)] {
            assert!(!is_case_id(bad), "{bad:?}");
        }
        assert!(is_slug("world-facts"));
        for bad in ["", "a_b", "a.b", "-a", &"a".repeat(64)] {
            assert!(!is_slug(bad), "{bad:?}");
        }
    }

    #[test]
    fn fixture_keys() {
        assert!(check_fixture_key("roku-10k-fy2024.txt").is_ok());
        assert!(check_fixture_key("Übersicht 2024.csv").is_ok());
        for bad in [
            "",
            "a/b",
            "..",
            ".hidden",
            "a ",
            "a\u{7}",
            "c:x",
            "u\u{308}.txt",
            &"a".repeat(256),
        ] {
            assert!(check_fixture_key(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn addresses() {
        assert_eq!(
            Address::parse("finance@dev").map(|a| a.workspace),
            Ok(Some("dev".to_owned()))
        );
        assert!(Address::parse("finance@").is_err());
        assert!(Address::parse("Finance").is_err());
    }
}
