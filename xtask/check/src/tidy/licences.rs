//! Every dependency of what we hand out has a licence that `deny.toml` allows.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Finding, Outcome};
use crate::{process, repo::Repo};

/// Reads the licences from cargo's metadata and the allowed ones from `deny.toml`.
///
/// # Errors
/// When cargo fails or `deny.toml` cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let rules: toml::Table = std::fs::read_to_string(repo.path("deny.toml"))?
        .parse()
        .context("deny.toml")?;
    let allowed: BTreeSet<String> = rules
        .get("licenses")
        .and_then(|licenses| licenses.get("allow"))
        .and_then(toml::Value::as_array)
        .context("deny.toml has no licenses.allow")?
        .iter()
        .filter_map(toml::Value::as_str)
        .map(str::to_owned)
        .collect();
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .args(["metadata", "--locked", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&process::capture(&mut cargo)?)?;
    let packages = metadata["packages"]
        .as_array()
        .context("cargo metadata has no packages")?;
    let findings = packages.iter().filter_map(|package| {
        let name = package["name"].as_str().unwrap_or_default();
        match package["license"].as_str() {
            Some(licence) if satisfied(licence, &allowed) => None,
            Some(licence) => Some(Finding::new(
                name,
                format!("has the licence {licence}, which deny.toml does not allow"),
            )),
            None if package["license_file"].is_string() => Some(Finding::new(
                name,
                "has a licence file of its own: read it, then list it in deny.toml",
            )),
            None => Some(Finding::new(name, "names no licence")),
        }
    });
    Ok(Outcome::Ran(findings.collect()))
}

/// Whether an SPDX expression can be met: `OR` needs one side, `AND` both. The old `/` means `OR`.
fn satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression
        .replace('/', " OR ")
        .replace('(', " ( ")
        .replace(')', " ) ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let met = any_of(&tokens, &mut at, allowed);
    met && at == tokens.len()
}

fn any_of(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = all_of(tokens, at, allowed);
    while tokens.get(*at) == Some(&"OR") {
        *at += 1;
        met |= all_of(tokens, at, allowed);
    }
    met
}

fn all_of(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut met = one(tokens, at, allowed);
    while tokens.get(*at) == Some(&"AND") {
        *at += 1;
        met &= one(tokens, at, allowed);
    }
    met
}

fn one(tokens: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let Some(token) = tokens.get(*at) else {
        return false;
    };
    *at += 1;
    if *token == "(" {
        let met = any_of(tokens, at, allowed);
        *at += usize::from(tokens.get(*at) == Some(&")"));
        return met;
    }
    let mut licence = (*token).to_owned();
    if tokens.get(*at) == Some(&"WITH") {
        let exception = tokens.get(*at + 1).copied().unwrap_or_default();
        licence = format!("{licence} WITH {exception}");
        *at += 2;
    }
    allowed.contains(&licence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_or_not() {
        let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
            .map(str::to_owned)
            .into();
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "MIT/Apache-2.0",
            "(GPL-3.0 OR MIT) AND Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR X",
        ] {
            assert!(satisfied(good, &allowed), "{good}");
        }
        for bad in [
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "MIT WITH LLVM-exception",
            "",
            "MIT )",
        ] {
            assert!(!satisfied(bad, &allowed), "{bad}");
        }
    }
}
