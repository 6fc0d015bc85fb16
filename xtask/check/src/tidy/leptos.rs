//! Rules of the pages, each from a real bug of a page that broke them.

use anyhow::Result;

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// The pages.
const SOURCE: &str = "app/src";
/// Names that must not be used in the app, with the reason.
const BANNED: [(&str, &str); 6] = [
    (
        "HydrationScripts",
        "looks for other file names than the site has",
    ),
    (
        "HashedStylesheet",
        "looks for other file names than the site has",
    ),
    (
        "GetUrl",
        "a server function must not be callable by a link: use PostUrl",
    ),
    (
        "new_local",
        "the server renders on many threads and panics when it drops such a value on another one: use StoredValue::new, or keep it in the browser's half",
    ),
    (
        "LocalStorage",
        "the server renders on many threads and panics when it drops such a value on another one",
    ),
    (
        "inner_html",
        "only the files that escape what they write may do this (xtask/check/src/tidy/leptos.rs lists them)",
    ),
];
/// The files that may write markup: each escapes it or writes a constant.
const WRITERS: [&str; 5] = [
    // The start script and the sprite: constants and the addresses of the site.
    "app/src/shell.rs",
    // Rendered Markdown, through SafeHtml.
    "app/src/ui/markdown.rs",
    // The text of a textarea, which Leptos does not escape on the server.
    "app/src/ui/field.rs",
    // Parts that the server drew: views of this crate, whose texts Leptos escapes.
    "app/src/ui/still.rs",
    // Coloured code: every token is escaped.
    "app/src/ui/code.rs",
];

/// The files whose thread-bound values exist in the browser alone.
const BROWSER_ONLY: [&str; 1] = ["app/src/pages/experiment/live.rs"];

/// No `style` attribute: the content security policy refuses it.
///
/// # Errors
/// When a file cannot be read.
pub fn inline_styles(repo: &Repo) -> Result<Outcome> {
    over_app(repo, styles_in)
}

/// What the shell and the server functions must not use.
///
/// # Errors
/// When a file cannot be read.
pub fn shell(repo: &Repo) -> Result<Outcome> {
    over_app(repo, banned_in)
}

fn over_app(repo: &Repo, find: fn(&str, &str) -> Vec<Finding>) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, SOURCE, &[".rs"])? {
        findings.extend(find(&name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn styles_in(name: &str, text: &str) -> Vec<Finding> {
    let text = RustText::of(text);
    let code = &text.product();
    let mut findings = Vec::new();
    for what in ["style=", "style:"] {
        for (at, _) in code.match_indices(what) {
            let before = code[..at].chars().next_back();
            let after = code[at + what.len()..].chars().next();
            // An attribute stands after a blank; `style:` before a name, not before a type or a path.
            let attribute = before.is_some_and(char::is_whitespace)
                && after.is_some_and(|c| {
                    if what == "style:" {
                        c.is_ascii_lowercase()
                    } else {
                        c != '='
                    }
                });
            if attribute {
                findings.push(Finding::new(
                    format!("{name}:{}", text.line(at)),
                    "sets a style attribute: use a class, or an SVG attribute",
                ));
            }
        }
    }
    findings
}

fn banned_in(name: &str, text: &str) -> Vec<Finding> {
    let text = RustText::of(text);
    let code = &text.product();
    let mut findings = Vec::new();
    for (what, why) in BANNED {
        let excepted: &[&str] = match what {
            "inner_html" => &WRITERS,
            "new_local" => &BROWSER_ONLY,
            _ => &[],
        };
        if excepted.contains(&name) {
            continue;
        }
        for (at, _) in code.match_indices(what) {
            findings.push(Finding::new(
                format!("{name}:{}", text.line(at)),
                format!("uses {what}: {why}"),
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_attributes_are_found() {
        assert_eq!(styles_in("p.rs", "<p style=\"color:red\">").len(), 1);
        assert_eq!(
            styles_in("p.rs", "<p style:width=move || w.get()>").len(),
            1
        );
        assert_eq!(
            styles_in(
                "p.rs",
                "struct X { style: Style } // style=\"x\"\n<p class=\"a\">"
            ),
            []
        );
    }

    #[test]
    fn the_shell_uses_our_own_names() {
        assert_eq!(
            banned_in("shell.rs", "<HydrationScripts options/>").len(),
            1
        );
        assert_eq!(banned_in("answer.rs", "<div inner_html=x/>").len(), 1);
        assert_eq!(
            banned_in("a.rs", "let x = StoredValue::new_local(1);").len(),
            1
        );
        assert_eq!(
            banned_in("app/src/ui/markdown.rs", "<div inner_html=x/>"),
            []
        );
    }
}
