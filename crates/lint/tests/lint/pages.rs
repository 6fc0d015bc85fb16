//! The pages of the rules under `docs/lint`, one for each code, made from the catalogue. Write them anew with
//! `cargo test -p evalkit-lint --test lint pages::write -- --ignored`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use evalkit_lint::rules::{CATALOGUE, Example, Rule};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/lint")
}

fn example(out: &mut String, example: &Example) {
    for (name, text) in example.files {
        let kind = name.rsplit('.').next().unwrap_or_default();
        if example.files.len() > 1 {
            *out += &format!("`{name}`:\n\n");
        }
        // A page is fenced with four, as a text may hold three.
        *out += &format!("````{kind}\n{}\n````\n\n", text.trim_end());
    }
    if !example.facts.is_empty() {
        *out += &format!("Facts: `{}`\n\n", example.facts);
    }
}

fn page(rule: &Rule) -> String {
    let mut out = format!("# {}\n\n", rule.code);
    out += &format!(
        "{}. {}\n\n## Why\n\n{}\n\n",
        capital(rule.severity.as_str()),
        rule.what,
        rule.why
    );
    out += "## Raises it\n\n";
    example(&mut out, &rule.bad);
    out += "## Passes\n\n";
    example(&mut out, &rule.good);
    out += if rule.code.starts_with("E-") {
        "An error refuses a sync. It cannot be silenced.\n"
    } else {
        "A comment on the line or above it silences this one: `# evalkit: allow CODE`.\n"
    }
    .replace("CODE", rule.code)
    .as_str();
    out
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |first| {
        format!("{}{}", first.to_uppercase(), chars.as_str())
    })
}

/// Every file of the folder with its text.
fn pages() -> BTreeMap<String, String> {
    let mut index = "# Lint rules\n\nMade from the rules themselves; do not edit by hand. `evalkit lint` prints the code of each finding.\n\n| Code | Raised when |\n|---|---|\n".to_owned();
    let mut pages = BTreeMap::new();
    for rule in CATALOGUE {
        index += &format!(
            "| [`{0}`]({0}.md) | {1} |\n",
            rule.code,
            rule.what.replace('|', "\\|")
        );
        pages.insert(format!("{}.md", rule.code), page(rule));
    }
    pages.insert("README.md".to_owned(), index);
    pages
}

#[test]
fn every_rule_has_its_page_and_no_page_is_stale() {
    let wanted = pages();
    for (name, text) in &wanted {
        let found = fs::read_to_string(folder().join(name)).unwrap_or_default();
        assert_eq!(
            found.replace("\r\n", "\n"),
            *text,
            "docs/lint/{name} is stale: see tests/lint/pages.rs"
        );
    }
    for entry in fs::read_dir(folder()).expect("docs/lint") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert!(
            wanted.contains_key(&*name),
            "docs/lint/{name} belongs to no rule"
        );
    }
}

#[test]
#[ignore = "writes the pages"]
fn write() {
    fs::create_dir_all(folder()).expect("a folder");
    for (name, text) in pages() {
        fs::write(folder().join(name), text).expect("a page");
    }
}
