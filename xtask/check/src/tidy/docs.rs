//! Documents: links that lead somewhere, commands that exist.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;

use super::{Finding, Outcome, texts};
use crate::{
    args,
    build::{Mode, server},
    process,
    repo::Repo,
};

/// Checks relative links, and anchors within the documents.
///
/// # Errors
/// When a file cannot be read.
pub fn links(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, "", &[".md"])? {
        findings.extend(dead_links(repo.root(), &name, &text));
    }
    Ok(Outcome::Ran(findings))
}

fn dead_links(root: &Path, name: &str, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (number, line) in prose(text) {
        let mut rest = line;
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find(')') else { break };
            let target = rest[..end].split_whitespace().next().unwrap_or_default();
            if let Some(problem) = problem_with(root, name, text, target) {
                findings.push(Finding::new(format!("{name}:{number}"), problem));
            }
        }
    }
    findings
}

fn problem_with(root: &Path, name: &str, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") || target.is_empty() {
        return None;
    }
    let (file, anchor) = target
        .split_once('#')
        .map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let linked;
    let text = if file.is_empty() {
        text
    } else {
        let folder = root
            .join(name)
            .parent()
            .map(Path::to_path_buf)
            .unwrap_or_default();
        let path = if let Some(absolute) = file.strip_prefix('/') {
            root.join(absolute)
        } else {
            folder.join(file)
        };
        if !path.exists() {
            return Some(format!("links to {file}, which is not there"));
        }
        linked = std::fs::read_to_string(path).unwrap_or_default();
        &linked
    };
    let anchor = anchor.filter(|_| file.is_empty() || file.ends_with(".md"))?;
    let known = prose(text).any(|(_, line)| line.starts_with('#') && slug(line) == anchor);
    (!known).then(|| format!("links to #{anchor}, and no heading there has that name"))
}

/// The anchor of a heading, as GitHub makes it.
fn slug(heading: &str) -> String {
    heading
        .trim_start_matches('#')
        .trim()
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

/// Lines outside fenced code, with their numbers.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            return None;
        }
        (!fenced).then_some((index + 1, line))
    })
}

/// Checks every `cargo xtask …` in the documents and in `.ci`, and, when the program is built, every `evalkit …`.
///
/// # Errors
/// When a file cannot be read or the program cannot be started.
pub fn commands(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    let mut words = BTreeMap::new();
    for (name, text) in texts(repo, "", &[".md", ".ci/run"])? {
        findings.extend(dead_commands(&name, &text));
        for (number, word) in evalkit_commands(&text) {
            words
                .entry(word)
                .or_insert_with(|| format!("{name}:{number}"));
        }
    }
    let program = server::program(repo, Mode::Dev);
    if program.is_file() {
        for (word, place) in words {
            let help = process::output(process::command(&program).args([&*word, "--help"]))?;
            if !help.status.success() {
                findings.push(Finding::new(
                    place,
                    format!("`evalkit {word}`: there is no such command"),
                ));
            }
        }
    }
    Ok(Outcome::Ran(findings))
}

/// The commands of `evalkit` that a document names: in code, at the start of a line or of a code span.
fn evalkit_commands(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let start = line.trim_start().trim_start_matches("$ ");
        let spans = line.split('`').skip(1).step_by(2);
        for code in std::iter::once(start).chain(spans) {
            let Some(rest) = code.strip_prefix("evalkit ") else {
                continue;
            };
            let word = rest.split_whitespace().next().unwrap_or_default();
            if !word.is_empty()
                && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
                && !word.starts_with('-')
            {
                found.push((number + 1, word.to_owned()));
            }
        }
    }
    found
}

fn dead_commands(name: &str, text: &str) -> Vec<Finding> {
    const START: &str = "cargo xtask ";
    let mut findings = Vec::new();
    for (number, line) in text.lines().enumerate() {
        for (at, _) in line.match_indices(START) {
            let rest = &line[at + START.len()..];
            let end = rest
                .find(['`', '#', '"', ')', ';', '|', '&', ','])
                .unwrap_or(rest.len());
            let mut words: Vec<_> = rest[..end].split_whitespace().collect();
            // Prose goes on after a command that is not quoted; only its first words are the command.
            if !line[..at].ends_with(['`', '$']) {
                let options = words
                    .iter()
                    .skip(1)
                    .take_while(|word| word.starts_with('-'))
                    .count();
                words.truncate(1 + options);
            }
            if words
                .first()
                .is_none_or(|word| !word.starts_with(|c: char| c.is_ascii_lowercase()))
            {
                continue;
            }
            if let Err(error) = args::parse(words.iter().map(std::ffi::OsString::from)) {
                findings.push(Finding::new(
                    format!("{name}:{}", number + 1),
                    format!("`{START}{}`: {error:#}", words.join(" ")),
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
    fn dead_links_are_found() -> Result<()> {
        let folder = tempfile::tempdir()?;
        std::fs::create_dir(folder.path().join("docs"))?;
        std::fs::write(folder.path().join("docs/b.md"), "# The Second Page\n")?;
        let found = |text: &str| dead_links(folder.path(), "docs/a.md", text).len();
        assert_eq!(
            found(
                "# A\n[b](b.md) [c](b.md#the-second-page) [d](#a) [e](https://example.org) [f](/docs/b.md)"
            ),
            0
        );
        assert_eq!(found("[b](c.md)"), 1);
        assert_eq!(found("[b](b.md#gone)"), 1);
        assert_eq!(found("[b](#gone)"), 1);
        assert_eq!(found("```\n[b](c.md)\n```"), 0);
        Ok(())
    }

    #[test]
    fn commands_of_the_program_are_found_in_code() {
        let text = "Use `evalkit run` or\n    $ evalkit sync cases\nas evalkit says. `evalkit <command>` `evalkit --help`";
        assert_eq!(
            evalkit_commands(text),
            [(1, "run".to_owned()), (2, "sync".to_owned())]
        );
    }

    #[test]
    fn dead_commands_are_found() {
        assert_eq!(
            dead_commands(
                "a.md",
                "Run `cargo xtask demo` or cargo xtask build --release now."
            ),
            []
        );
        assert_eq!(
            dead_commands("a.md", "`cargo xtask …` and `cargo xtask <command>`"),
            []
        );
        assert_eq!(dead_commands("a.md", "`cargo xtask deploy`").len(), 1);
        assert_eq!(dead_commands("a.md", "`cargo xtask demo --fast`").len(), 1);
    }
}
