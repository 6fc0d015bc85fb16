//! `core` and `lint` are pure: the same input gives the same output, natively and in a browser.

use anyhow::Result;

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// The sources of the pure crates.
const SOURCES: [&str; 2] = ["crates/core/src", "crates/lint/src"];
/// What a pure function has no use for, with what to do instead.
const BANNED: [(&str, &str); 12] = [
    ("SystemTime", "take the time as an argument"),
    ("Instant::now", "take the time as an argument"),
    ("Utc::now", "take the time as an argument"),
    ("Local::now", "take the time as an argument"),
    ("std::env", "take the value as an argument"),
    ("std::fs", "take the content as an argument"),
    ("std::net", "leave the network to engine and cli"),
    ("std::process", "leave programs to engine and cli"),
    ("std::thread", "leave threads to the caller"),
    ("Uuid::now_v7", "take the id as an argument"),
    ("Uuid::new_v4", "take the id as an argument"),
    ("async fn", "leave waiting to the caller"),
];

/// Looks at every file outside its tests.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for source in SOURCES {
        for (name, text) in texts(repo, source, &[".rs"])? {
            findings.extend(impure(&name, &text));
        }
    }
    Ok(Outcome::Ran(findings))
}

fn impure(name: &str, text: &str) -> Vec<Finding> {
    let text = RustText::of(text);
    let code = &text.product();
    let mut findings = Vec::new();
    for (what, instead) in BANNED {
        for (at, _) in code.match_indices(what) {
            let place = format!("{name}:{}", text.line(at));
            findings.push(Finding::new(place, format!("uses {what}: {instead}")));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_in_the_core_is_found_with_its_line() {
        let found = impure(
            "core.rs",
            "fn f() {\n    let t = std::time::SystemTime::now();\n}\n",
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "core.rs:2");
        let after_tests = "#[cfg(test)]\nmod tests {}\nuse std::fs;\n";
        assert_eq!(impure("core.rs", after_tests).len(), 1);
    }

    #[test]
    fn comments_strings_and_tests_may_speak_of_it() {
        let text = "/// Not SystemTime.\nfn f() { g(\"std::fs\") }\n#[cfg(test)]\nmod tests { use std::fs; }\n";
        assert_eq!(impure("core.rs", text), []);
    }
}
