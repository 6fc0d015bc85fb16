//! `docs/coverage.toml`: which test shows which line of the specification. A dead id is a false claim.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result};

use super::{Finding, Outcome, rust_text::RustText, texts};
use crate::repo::Repo;

/// The map.
const FILE: &str = "docs/coverage.toml";
/// The specification, beside the clone where it is at hand.
const SPEC: &str = "../shared/spec";

/// Checks every row.
///
/// # Errors
/// When the map cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let path = repo.path(FILE);
    if !path.is_file() {
        return Ok(Outcome::Skipped(format!("{FILE} is not there")));
    }
    let known = Known::of(repo)?;
    let text = std::fs::read_to_string(path)?;
    let mut findings = dead(&text, &known, repo.root())?;
    let spec = repo.path(SPEC);
    if spec.is_dir() {
        findings.extend(unknown_files(&text, &spec)?);
    }
    Ok(Outcome::Ran(findings))
}

/// The tests of the clone: (package, function).
struct Known(BTreeSet<(String, String)>);

impl Known {
    fn of(repo: &Repo) -> Result<Self> {
        let mut known = BTreeSet::new();
        for manifest in repo
            .files("")?
            .iter()
            .filter(|file| file.ends_with("Cargo.toml"))
        {
            let text: toml::Table = std::fs::read_to_string(manifest)?
                .parse()
                .with_context(|| manifest.display().to_string())?;
            let Some(package) = text
                .get("package")
                .and_then(|package| package.get("name"))
                .and_then(toml::Value::as_str)
            else {
                continue;
            };
            let folder = repo.relative(manifest.parent().unwrap_or(manifest));
            for part in ["src", "tests", "benches", "examples"] {
                for (_, text) in texts(repo, &format!("{folder}/{part}"), &[".rs"])? {
                    known.extend(
                        test_functions(&text)
                            .into_iter()
                            .map(|name| (package.to_owned(), name)),
                    );
                }
            }
        }
        Ok(Self(known))
    }

    fn has(&self, id: &str) -> bool {
        let mut parts = id.split("::");
        let (package, function) = (
            parts.next().unwrap_or_default(),
            parts.last().unwrap_or_default(),
        );
        self.0
            .contains(&(package.replace('_', "-"), function.to_owned()))
    }
}

/// Lists of functions that are tests on one database or on each.
const LISTS: [&str; 2] = ["on_each_database![", "on_postgres!["];

/// Functions under an attribute whose last word is `test`, all functions inside `proptest!`, and those in a list of tests.
fn test_functions(source: &str) -> Vec<String> {
    let code = RustText::of(source).code;
    let mut names = Vec::new();
    for list in LISTS {
        for (at, _) in code.match_indices(list) {
            let listed = &code[at + list.len()..];
            let listed = &listed[..listed.find(']').unwrap_or(listed.len())];
            names.extend(
                listed
                    .split(',')
                    .map(|name| name.trim().to_owned())
                    .filter(|name| !name.is_empty()),
            );
        }
    }
    let mut marked = false;
    let property = code.find("proptest!");
    for (at, line) in code.lines().scan(0, |at, line| {
        let start = *at;
        *at += line.len() + 1;
        Some((start, line))
    }) {
        let line = line.trim();
        if let Some(attribute) = line.strip_prefix("#[") {
            let path = attribute.split(['(', ']']).next().unwrap_or_default();
            marked |= path.rsplit("::").next() == Some("test") || path == "rstest";
        }
        let Some(function) = line.split("fn ").nth(1).filter(|_| is_function(line)) else {
            continue;
        };
        if marked || property.is_some_and(|start| at > start) {
            let name = function
                .split(|c: char| !(c.is_alphanumeric() || c == '_'))
                .next();
            names.extend(name.map(str::to_owned));
        }
        marked = false;
    }
    names
}

fn is_function(line: &str) -> bool {
    let line = line.rsplit("#[test] ").next().unwrap_or(line);
    ["fn ", "async fn ", "pub fn ", "pub async fn ", "#["]
        .iter()
        .any(|start| line.starts_with(start))
}

fn rows(text: &str) -> Result<Vec<toml::Value>> {
    let map: toml::Table = text.parse().context(FILE)?;
    Ok(map
        .get("row")
        .and_then(toml::Value::as_array)
        .cloned()
        .unwrap_or_default())
}

fn dead(text: &str, known: &Known, root: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut seen = BTreeSet::new();
    for row in rows(text)? {
        let from = row
            .get("from")
            .and_then(toml::Value::as_str)
            .unwrap_or_default()
            .to_owned();
        if from.is_empty() {
            findings.push(Finding::new(FILE, format!("a row has no `from`: {row:?}")));
            continue;
        }
        if !seen.insert(from.clone()) {
            findings.push(Finding::new(&from, "is there twice"));
        }
        let ids: Vec<&str> = match row.get("test") {
            Some(toml::Value::String(id)) => vec![id],
            Some(toml::Value::Array(ids)) => ids.iter().filter_map(toml::Value::as_str).collect(),
            _ => Vec::new(),
        };
        let reason = row
            .get("not_yet")
            .and_then(toml::Value::as_str)
            .unwrap_or_default();
        if ids.is_empty() && reason.trim().is_empty() {
            findings.push(Finding::new(
                &from,
                "has neither `test` nor `not_yet` with a reason",
            ));
        }
        for id in ids {
            let alive = if id.contains("::") {
                known.has(id)
            } else {
                root.join(id).is_file()
            };
            if !alive {
                findings.push(Finding::new(
                    &from,
                    format!("names {id}, which does not exist"),
                ));
            }
        }
    }
    Ok(findings)
}

/// A `from` that starts with a file name names a file of the specification.
fn unknown_files(text: &str, spec: &Path) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for row in rows(text)? {
        let from = row
            .get("from")
            .and_then(toml::Value::as_str)
            .unwrap_or_default();
        let file = from.split(',').next().unwrap_or_default().trim();
        if file.ends_with(".md") && !spec.join(file).is_file() {
            findings.push(Finding::new(
                from,
                format!("names {file}, which is no file of the specification"),
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "#[test]\nfn a() {}\n\n#[tokio::test(flavor = \"x\")]\nasync fn b() {}\nfn no() {}\nasync fn d() {}\nx::on_each_database![d];\nproptest! {\n    #[test]\n    fn c(x in 0..1) {}\n}\n";

    #[test]
    fn test_functions_are_found() {
        assert_eq!(test_functions(SOURCE), ["d", "a", "b", "c"]);
    }

    #[test]
    fn a_dead_id_and_an_empty_row_are_found() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("x.test.js"), "")?;
        let known = Known([("evalkit-core".to_owned(), "a".to_owned())].into());
        let good = "[[row]]\nfrom = \"one\"\ntest = [\"evalkit-core::m::a\", \"x.test.js\"]\n[[row]]\nfrom = \"two\"\nnot_yet = \"later\"\n";
        assert_eq!(dead(good, &known, folder.path())?, []);
        for bad in [
            "[[row]]\nfrom = \"one\"\ntest = \"evalkit-core::m::gone\"\n",
            "[[row]]\nfrom = \"one\"\ntest = \"evalkit-lint::m::a\"\n",
            "[[row]]\nfrom = \"one\"\ntest = \"y.test.js\"\n",
            "[[row]]\nfrom = \"one\"\n",
            "[[row]]\nfrom = \"one\"\nnot_yet = \" \"\n",
            "[[row]]\nnot_yet = \"later\"\n",
        ] {
            assert_eq!(dead(bad, &known, folder.path())?.len(), 1, "{bad}");
        }
        Ok(())
    }

    #[test]
    fn a_file_that_the_specification_lacks_is_found() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::write(folder.path().join("cases.md"), "")?;
        let row = |from: &str| format!("[[row]]\nfrom = \"{from}\"\nnot_yet = \"later\"\n");
        assert_eq!(unknown_files(&row("cases.md, Fields"), folder.path())?, []);
        assert_eq!(
            unknown_files(&row("caes.md, Fields"), folder.path())?.len(),
            1
        );
        Ok(())
    }
}
