//! The two lock files: one of each stack, nothing banned, and no address of a download.

use std::collections::BTreeMap;

use anyhow::{Context, Result};

use super::{Finding, Outcome, texts};
use crate::{process, repo::Repo};

/// Crates of which there must be exactly one.
const ONE: [&str; 3] = ["sqlx", "rustls", "libsqlite3-sys"];
/// Crates that must not be there, as in `deny.toml`, which gives the reasons.
const NONE: [&str; 6] = [
    "rusqlite",
    "aws-lc-rs",
    "aws-lc-sys",
    "openssl",
    "openssl-sys",
    "native-tls",
];
/// The one source of packages, as Cargo writes it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Checks `Cargo.lock`, and runs cargo-deny on the same rules where it is installed.
///
/// # Errors
/// When the lock file cannot be read.
pub fn check(repo: &Repo) -> Result<Outcome> {
    let text = std::fs::read_to_string(repo.path("Cargo.lock"))?;
    let mut findings = cargo_lock(&text)?;
    if process::find("cargo-deny").is_some() {
        let mut deny = process::command("cargo");
        deny.current_dir(repo.root()).args([
            "deny",
            "--offline",
            "check",
            "bans",
            "licenses",
            "sources",
        ]);
        let output = process::output(&mut deny)?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            findings.push(Finding::new("deny.toml", process::tail(&said, 30)));
        }
    }
    Ok(Outcome::Ran(findings))
}

fn cargo_lock(text: &str) -> Result<Vec<Finding>> {
    let lock: toml::Table = text.parse().context("Cargo.lock")?;
    let packages = lock
        .get("package")
        .and_then(toml::Value::as_array)
        .context("Cargo.lock has no package")?;
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut findings = Vec::new();
    for package in packages {
        let get = |key: &str| package.get(key).and_then(toml::Value::as_str);
        let name = get("name").unwrap_or_default();
        versions
            .entry(name)
            .or_default()
            .push(get("version").unwrap_or_default());
        if get("source").is_some_and(|source| source != REGISTRY) {
            findings.push(Finding::new(name, "does not come from the public registry"));
        }
    }
    for name in ONE {
        let found = versions.get(name).map_or(&[][..], Vec::as_slice);
        if found.len() > 1 {
            findings.push(Finding::new(
                name,
                format!("is there {} times: {}", found.len(), found.join(", ")),
            ));
        }
    }
    for name in NONE {
        if versions.contains_key(name) {
            findings.push(Finding::new(
                name,
                format!("is banned (deny.toml says why): `cargo tree -i {name} --all-features`"),
            ));
        }
    }
    Ok(findings)
}

/// Checks every `package-lock.json`.
///
/// # Errors
/// When a file cannot be read.
pub fn npm(repo: &Repo) -> Result<Outcome> {
    let mut findings = Vec::new();
    for (name, text) in texts(repo, "", &["package-lock.json"])? {
        if let Some(finding) = addresses(&name, &text) {
            findings.push(finding);
        }
    }
    Ok(Outcome::Ran(findings))
}

fn addresses(name: &str, text: &str) -> Option<Finding> {
    let count = text.matches("\"resolved\"").count();
    (count > 0).then(|| {
        Finding::new(name, format!("holds {count} download addresses: keep `omit-lockfile-registry-resolved=true` in .npmrc and write the lock again"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lock(packages: &[(&str, &str, &str)]) -> String {
        let entry = |(name, version, source): &(&str, &str, &str)| {
            format!(
                "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\n\n"
            )
        };
        packages.iter().map(entry).collect()
    }

    #[test]
    fn a_second_sqlx_and_a_banned_crate_are_found() -> Result<()> {
        let text = lock(&[
            ("sqlx", "0.8.0", REGISTRY),
            ("sqlx", "0.9.0", REGISTRY),
            ("aws-lc-rs", "1.0.0", REGISTRY),
        ]);
        let found = cargo_lock(&text)?;
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(cargo_lock(&lock(&[("sqlx", "0.9.0", REGISTRY)]))?, []);
        Ok(())
    }

    #[test]
    fn another_source_is_found() -> Result<()> {
        assert_eq!(
            cargo_lock(&lock(&[("x", "1.0.0", "git+https://example.org/x")]))?.len(),
            1
        );
        Ok(())
    }

    #[test]
    fn a_download_address_is_found() {
        assert!(addresses("package-lock.json", "{\"resolved\": \"x\"}").is_some());
        assert!(addresses("package-lock.json", "{\"version\": \"1\"}").is_none());
    }
}
