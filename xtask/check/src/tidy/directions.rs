//! The direction of knowledge, from the manifests: who may name whom.

use anyhow::{Context, Result};

use super::{Finding, Outcome};
use crate::repo::Repo;

/// A crate and the crates of ours that it may name. `optional` ones stay behind a feature.
struct Rule {
    manifest: &'static str,
    may: &'static [&'static str],
    optional: &'static [&'static str],
}

const RULES: [Rule; 8] = [
    Rule {
        manifest: "crates/core",
        may: &[],
        optional: &[],
    },
    Rule {
        manifest: "crates/lint",
        may: &["evalkit-core"],
        optional: &[],
    },
    Rule {
        manifest: "crates/lint-wasm",
        may: &["evalkit-core", "evalkit-lint"],
        optional: &[],
    },
    Rule {
        // A sync parses and stores in one transaction, so the store knows the case language.
        manifest: "crates/store",
        may: &["evalkit-core", "evalkit-lint"],
        optional: &[],
    },
    Rule {
        manifest: "crates/engine",
        may: &["evalkit-core", "evalkit-lint", "evalkit-store"],
        optional: &[],
    },
    // The command speaks HTTP to a server: it never opens a store.
    Rule {
        manifest: "crates/cli",
        may: &["evalkit-core", "evalkit-lint", "evalkit-engine"],
        optional: &[],
    },
    Rule {
        manifest: "app",
        may: &["evalkit-core", "evalkit-lint"],
        optional: &["evalkit-store", "evalkit-engine"],
    },
    Rule {
        manifest: "frontend",
        may: &["evalkit-app"],
        optional: &[],
    },
];

/// Checks every manifest of the map.
///
/// # Errors
/// When a manifest cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for rule in &RULES {
        let place = format!("{}/Cargo.toml", rule.manifest);
        let text = std::fs::read_to_string(repo.path(&place)).with_context(|| place.clone())?;
        findings.extend(against(rule, &place, &text)?);
    }
    Ok(Outcome::Ran(findings))
}

fn against(rule: &Rule, place: &str, text: &str) -> Result<Vec<Finding>> {
    let manifest: toml::Table = text.parse().with_context(|| place.to_owned())?;
    let Some(dependencies) = manifest.get("dependencies").and_then(toml::Value::as_table) else {
        return Ok(Vec::new());
    };
    let mut findings = Vec::new();
    for (name, value) in dependencies {
        if !(name == "evalkit" || name.starts_with("evalkit-")) || rule.may.contains(&&**name) {
            continue;
        }
        let optional = value.get("optional").and_then(toml::Value::as_bool) == Some(true);
        if !rule.optional.contains(&&**name) {
            findings.push(Finding::new(place, format!("must not know {name}")));
        } else if !optional {
            findings.push(Finding::new(
                place,
                format!("may know {name} only as an optional dependency"),
            ));
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(manifest: &str, text: &str) -> Result<usize> {
        let rule = RULES
            .iter()
            .find(|rule| rule.manifest == manifest)
            .context("no rule")?;
        Ok(against(rule, manifest, text)?.len())
    }

    #[test]
    fn the_command_must_not_open_a_store() -> Result<()> {
        let text =
            "[dependencies]\nevalkit-engine.workspace = true\nevalkit-store.workspace = true\n";
        assert_eq!(found("crates/cli", text)?, 1);
        assert_eq!(
            found(
                "crates/engine",
                "[dependencies]\nevalkit-store.workspace = true\n"
            )?,
            0
        );
        Ok(())
    }

    #[test]
    fn the_app_knows_the_store_only_on_the_server() -> Result<()> {
        let bare = "[dependencies]\nevalkit-store.workspace = true\n";
        let optional = "[dependencies]\nevalkit-store = { workspace = true, optional = true }\n";
        assert_eq!(found("app", bare)?, 1);
        assert_eq!(found("app", optional)?, 0);
        assert_eq!(
            found("crates/store", "[dependencies]\nevalkit.workspace = true\n")?,
            1
        );
        Ok(())
    }
}
