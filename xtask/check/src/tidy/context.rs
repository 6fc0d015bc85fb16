//! Invariant 5: every public store function takes `&Ctx` and checks authority before it touches a row.

use anyhow::Result;

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// The store.
const SOURCE: &str = "crates/store/src";
/// A function whose name says that nobody was asked for leave.
const UGLY: &str = "unchecked";
/// Functions that have nobody to ask for yet, by file and name.
const BEFORE_ANYONE: [(&str, &str); 6] = [
    // The database itself, at start and end.
    ("crates/store/src/store.rs", "open"),
    ("crates/store/src/store.rs", "open_with_clock"),
    ("crates/store/src/store.rs", "close"),
    // They find out who is asking.
    ("crates/store/src/people/session.rs", "actor_by_session"),
    ("crates/store/src/people/token.rs", "actor_by_token"),
    // More bytes into an upload that was begun with a Ctx.
    ("crates/store/src/blob.rs", "write"),
];

/// Looks at the signature of every public async function of the store.
///
/// # Errors
/// When a file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, SOURCE, &[".rs"])? {
        findings.extend(without_ctx(&name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn without_ctx(name: &str, text: &str) -> Vec<Finding> {
    const START: &str = "pub async fn ";
    let text = RustText::of(text);
    let code = &text.product();
    let mut findings = Vec::new();
    for (at, _) in code.match_indices(START) {
        let signature = &code[at + START.len()..];
        let signature = &signature[..signature.find('{').unwrap_or(signature.len())];
        let function = signature
            .split(['(', '<'])
            .next()
            .unwrap_or_default()
            .trim();
        let exempt = BEFORE_ANYONE.contains(&(name, function)) || function.contains(UGLY);
        if !signature.contains("Ctx") && !exempt {
            let place = format!("{name}:{}", text.line(at));
            findings.push(Finding::new(
                place,
                format!("`{function}` takes no Ctx: add it, or put `{UGLY}` in its name"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_public_function_without_authority_is_found() {
        let text = "pub async fn trial(db: &Db, id: Id) -> X {\n}\n";
        assert_eq!(without_ctx("s.rs", text).len(), 1);
    }

    #[test]
    fn ctx_ugly_names_and_private_functions_pass() {
        let text = "pub async fn a(db: &Db, ctx: &Ctx) {}\npub async fn b_unchecked(db: &Db) {}\nasync fn c(db: &Db) {}\npub(crate) async fn d(db: &Db) {}\n";
        assert_eq!(without_ctx("s.rs", text), []);
    }
}
