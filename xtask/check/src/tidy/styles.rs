//! Every class that the app uses is in the compiled stylesheet. Tailwind drops a misspelt class without a
//! word, so the page would only look wrong.

use std::collections::BTreeSet;

use anyhow::Result;

use super::{
    Finding, Outcome,
    rust_text::{Literal, RustText},
    texts,
};
use crate::{build, repo::Repo};

/// Where classes are used.
const SOURCE: &str = "app/src";
/// Classes that mark and do not style.
const MARKERS: [&str; 2] = ["group", "peer"];
/// Classes that a script or a test finds an element by start with this.
const HOOK: &str = "js-";

/// Compiles the stylesheet and compares.
///
/// # Errors
/// When Tailwind fails.
pub fn check(repo: &Repo) -> Result<Outcome> {
    if !repo.path("style/app.css").is_file() {
        return Ok(Outcome::Skipped("style/app.css is not there".into()));
    }
    if !repo.path("node_modules/@tailwindcss/cli").is_dir() {
        build::npm::install(repo, ".")?;
    }
    let compiled = repo.target("tidy/app.css");
    build::assets::compile_css(repo, &compiled)?;
    let known = classes_of(&std::fs::read_to_string(compiled)?);
    let mut findings = Vec::new();
    for (name, text) in texts(repo, SOURCE, &[".rs"])? {
        findings.extend(unknown(&name, &text, &known));
    }
    Ok(Outcome::Ran(findings))
}

fn unknown(name: &str, text: &str, known: &BTreeSet<String>) -> Vec<Finding> {
    let text = RustText::of(text);
    let mut findings = Vec::new();
    for literal in used(&text) {
        for class in literal.text.split_whitespace() {
            let marker = class
                .split('/')
                .next()
                .is_some_and(|stem| MARKERS.contains(&stem));
            // `prose {class}`: the filled-in part is checked where it is written.
            let filled = class.contains(['{', '}']);
            if !marker && !filled && !class.starts_with(HOOK) && !known.contains(class) {
                let place = format!("{name}:{}", text.line(literal.at));
                findings.push(Finding::new(place, format!("class `{class}` is not in the stylesheet: misspelt, or missing in style/app.css")));
            }
        }
    }
    findings
}

/// The string literals that hold classes: in `class=…`, in the class macros, in `#[tw(…)]`, in functions
/// whose name speaks of classes, and in constants that do.
fn used(text: &RustText) -> Vec<&Literal> {
    let code = &text.product();
    let mut spans = Vec::new();
    for (at, found) in code.match_indices("class") {
        let before = code[..at].chars().next_back();
        let after = &code[at + found.len()..];
        let start = at + found.len();
        if before.is_some_and(|c| c.is_alphanumeric()) {
            continue;
        }
        if after.starts_with('=') && !after.starts_with("==") && before != Some('_') {
            spans.push((start, value_end(code, start + 1)));
        }
    }
    for start in ["tw_merge!", "tw_join!", "#[tw"] {
        for (at, found) in code.match_indices(start) {
            let open = at + found.len();
            spans.push((open, value_end(code, open)));
        }
    }
    for (at, _) in code.match_indices("fn ") {
        let rest = &code[at + 3..];
        let name = rest
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
            .unwrap_or_default();
        if name
            .split('_')
            .any(|word| matches!(word, "class" | "classes"))
            && let Some(open) = rest.find('{')
        {
            let start = at + 3 + open;
            spans.push((start, value_end(code, start)));
        }
    }
    for (at, _) in code.match_indices("const ") {
        let rest = &code[at + 6..];
        let name = rest
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .next()
            .unwrap_or_default();
        if name
            .split('_')
            .any(|word| matches!(word, "CLASS" | "CLASSES"))
        {
            let end = rest.find(';').unwrap_or(rest.len());
            spans.push((at, at + 6 + end));
        }
    }
    text.literals
        .iter()
        .filter(|literal| {
            spans
                .iter()
                .any(|(from, to)| *from <= literal.at && literal.at < *to)
        })
        .filter(|literal| !is_compared(code, literal))
        .collect()
}

/// A literal that is compared or matched against, or that names something in a call, is no class.
fn is_compared(code: &str, literal: &Literal) -> bool {
    let before = code[..literal.at].trim_end();
    let after = code.get(literal.end..).unwrap_or_default().trim_start();
    before.ends_with("==")
        || before.ends_with("!=")
        || after.starts_with("=>")
        || after.starts_with("==")
        || after.starts_with("| \"")
        || before.ends_with("starts_with(")
        || before.ends_with("contains(")
}

/// The end of an attribute value or argument list that starts at `from`: a literal, a balanced group, or a
/// bare expression (`move || …`) up to the next attribute or the end of the tag.
fn value_end(code: &str, from: usize) -> usize {
    let bytes = code.as_bytes();
    let bare = !matches!(bytes.get(from), Some(b'"' | b'{' | b'(' | b'['));
    let mut depth = 0_usize;
    let mut at = from;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = code[at + 1..]
                    .find('"')
                    .map_or(bytes.len(), |end| at + 1 + end);
                if depth == 0 && !bare {
                    return at + 1;
                }
            }
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => {
                if depth == 0 || (depth == 1 && !bare) {
                    return at + 1;
                }
                depth -= 1;
            }
            b'>' if depth == 0 && !matches!(bytes[at - 1], b'-' | b'=') => return at,
            b';' if depth == 0 => return at,
            b' ' | b'\n' if depth == 0 && starts_attribute(&code[at + 1..]) => return at,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// `title=`, `on:click=`, `attr:aria-label=`, but not `a == b`.
fn starts_attribute(rest: &str) -> bool {
    let name = rest
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | ':' | '-')))
        .unwrap_or(rest.len());
    let after = &rest[name..];
    name > 0 && after.starts_with('=') && !after.starts_with("==") && !after.starts_with("=>")
}

/// All class names in the selectors of a stylesheet, without escapes.
fn classes_of(css: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut chars = css.char_indices().peekable();
    while let Some((_, c)) = chars.next() {
        if c == '"' || c == '\'' {
            skip_string(&mut chars, c);
            continue;
        }
        if c != '.'
            || !chars
                .peek()
                .is_some_and(|(_, next)| next.is_alphabetic() || matches!(next, '_' | '-' | '\\'))
        {
            continue;
        }
        let mut name = String::new();
        while let Some((_, next)) = chars.peek().copied() {
            if next.is_alphanumeric() || matches!(next, '_' | '-') {
                name.push(next);
                chars.next();
            } else if next == '\\' {
                chars.next();
                escape(&mut chars, &mut name);
            } else {
                break;
            }
        }
        found.insert(name);
    }
    found
}

type Chars<'a> = std::iter::Peekable<std::str::CharIndices<'a>>;

fn skip_string(chars: &mut Chars<'_>, quote: char) {
    while let Some((_, c)) = chars.next() {
        if c == '\\' {
            chars.next();
        } else if c == quote {
            return;
        }
    }
}

/// `\:` is a colon; `\32 ` is the character with that code, and eats one blank.
fn escape(chars: &mut Chars<'_>, name: &mut String) {
    let mut digits = String::new();
    while digits.len() < 6 && chars.peek().is_some_and(|(_, c)| c.is_ascii_hexdigit()) {
        digits.extend(chars.next().map(|(_, c)| c));
    }
    if digits.is_empty() {
        name.extend(chars.next().map(|(_, c)| c));
        return;
    }
    name.extend(
        u32::from_str_radix(&digits, 16)
            .ok()
            .and_then(char::from_u32),
    );
    if chars.peek().is_some_and(|(_, c)| c.is_whitespace()) {
        chars.next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(source: &str) -> Vec<String> {
        let text = RustText::of(source);
        used(&text)
            .into_iter()
            .map(|literal| literal.text.clone())
            .collect()
    }

    #[test]
    fn selectors_are_read_with_their_escapes() {
        let css = r#".a,.md\:flex:hover>.w-1\/2{x:url("y.z")}.\32 xl\:p-1\.5{margin:.5rem}@media (min-width:1.5rem){.\[\&_p\]\:m-0 p{}}"#;
        let found: Vec<_> = classes_of(css).into_iter().collect();
        assert_eq!(found, ["2xl:p-1.5", "[&_p]:m-0", "a", "md:flex", "w-1/2"]);
    }

    #[test]
    fn a_misspelt_class_is_found_with_its_line() {
        let known = ["flex", "md:p-4"].map(str::to_owned).into();
        let found = unknown(
            "p.rs",
            "view! {\n <p class=format!(\"flex md:p-4 {more} itmes-center js-x group/row\")/> }",
            &known,
        );
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].place, "p.rs:2");
        assert!(found[0].problem.contains("itmes-center"));
    }

    #[test]
    fn classes_are_found_wherever_they_are_written() {
        assert_eq!(
            classes("<p class=move || if x.get() == \"open\" { \"a\" } else { \"b\" } id=\"no\">"),
            ["a", "b"]
        );
        assert_eq!(
            classes("<p class=(\"a b\", move || on.get()) title=\"no\">"),
            ["a b"]
        );
        assert_eq!(
            classes("<p class={ match s { \"no\" => \"a\", _ => \"b\" } }>"),
            ["a", "b"]
        );
        assert_eq!(classes("let x = tw_merge!(\"a\", props);"), ["a"]);
        assert_eq!(classes("#[tw(class = \"a b\")] struct X;"), ["a b"]);
        assert_eq!(
            classes(
                "fn dot_class(s: S) -> &'static str { match s { S::A => \"a\", S::B => \"b\" } }"
            ),
            ["a", "b"]
        );
        assert_eq!(classes("const ROW_CLASS: &str = \"a\";"), ["a"]);
        assert_eq!(classes("<p title=\"no\">\"no\"</p>"), [] as [&str; 0]);
    }
}
