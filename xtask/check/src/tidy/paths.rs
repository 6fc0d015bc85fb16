//! Nothing in the clone may only be true on the machine where it was written.

use anyhow::Result;

use super::{Finding, Outcome, texts};
use crate::repo::Repo;

/// Text files that people write.
const ENDINGS: [&str; 14] = [
    ".rs", ".toml", ".md", ".js", ".mjs", ".ts", ".css", ".json", ".yaml", ".yml", ".sql", ".sh",
    ".py", ".ci/run",
];
/// What is not ours to write, with the reason. Written in two halves so that this file passes.
const BANNED: [(&str, &str, &str); 6] = [
    ("/ro", "ot/", "is a path of one machine"),
    ("/wo", "rk/", "is a path of one machine"),
    ("C:\\Us", "ers", "is a path of one machine"),
    (
        "registry.np",
        "mjs.org",
        "names a registry: it belongs to the configuration of a machine",
    ),
    (
        "registry.yarn",
        "pkg.com",
        "names a registry: it belongs to the configuration of a machine",
    ),
    (
        "static.crates",
        ".io",
        "names a registry: it belongs to the configuration of a machine",
    ),
];

/// Looks at every text file.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, "", &ENDINGS)? {
        findings.extend(banned_in(&name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn banned_in(name: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (one, two, why) in BANNED {
        let what = format!("{one}{two}");
        for (number, line) in text.lines().enumerate() {
            let path = what.starts_with('/');
            let found = line.match_indices(&what).any(|(at, _)| {
                // `https://example.org/home/` and `../work/` are no absolute paths.
                let before = line[..at].chars().next_back();
                !path
                    || !before.is_some_and(|c| {
                        c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '}' | '~' | '*')
                    })
            });
            if found {
                findings.push(Finding::new(
                    format!("{name}:{}", number + 1),
                    format!("`{what}` {why}"),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_one_machine_is_found() {
        let path = ["see /ro", "ot/ann/x"].concat();
        assert_eq!(banned_in("a.md", &path).len(), 1);
        assert_eq!(
            banned_in("a.md", "see https://example.org/root/ and app/src"),
            []
        );
    }

    #[test]
    fn a_registry_is_found() {
        let host = ["https://registry.np", "mjs.org/x"].concat();
        assert_eq!(banned_in("package-lock.json", &host).len(), 1);
    }
}
