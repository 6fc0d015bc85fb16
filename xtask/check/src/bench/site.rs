//! The weight of a page.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::Figure;
use crate::{
    build::{self, Mode},
    repo::Repo,
};

/// What a page loads before it is interactive.
const FIRST_LOAD: [&str; 3] = ["app.wasm", "app.js", "app.css"];
/// The promise of `web.md`, in KB.
const LIMIT: f64 = 350.0;

/// Brotli sizes of the first load, of the release build and, for comparison, of the daily one.
///
/// # Errors
/// When a build fails.
pub fn first_load(repo: &Repo) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for mode in [Mode::Release, Mode::Dev] {
        build::site(repo, mode)?.print();
        let site = mode.site(repo);
        let manifest: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(site.join("manifest.json"))?)?;
        let mut sum = 0.0;
        for name in FIRST_LOAD {
            let url = manifest["files"][name]
                .as_str()
                .with_context(|| format!("the manifest has no {name}"))?;
            let size = packed(&site, url)?;
            sum += size;
            if mode == Mode::Release {
                figures.push(Figure::new(format!("{name}, brotli"), size, "KB"));
            }
        }
        // A page also loads its own chunk; the heaviest counts.
        let mut heaviest = 0.0_f64;
        let chunks = manifest["chunks"].as_object().cloned().unwrap_or_default();
        for (chunk, modules) in &chunks {
            let mut own = 0.0;
            for url in modules.as_array().into_iter().flatten() {
                own += packed(&site, url.as_str().unwrap_or_default())?;
            }
            heaviest = heaviest.max(own);
            if mode == Mode::Release {
                figures.push(Figure::new(
                    format!("chunk of pages `{chunk}`, brotli"),
                    own,
                    "KB",
                ));
            }
        }
        sum += heaviest;
        let figure = Figure::new(
            format!("first load of the heaviest page, {}", mode.name()),
            sum,
            "KB",
        );
        figures.push(if mode == Mode::Release {
            figure.at_most(LIMIT)
        } else {
            figure
        });
    }
    Ok(figures)
}

/// The size of a file as it is sent, in KB: compressed where that is smaller.
fn packed(site: &Path, url: &str) -> Result<f64> {
    let plain = site.join(url.trim_start_matches('/'));
    let brotli = PathBuf::from(format!("{}.br", plain.display()));
    let path = if brotli.exists() { brotli } else { plain };
    let bytes = fs::metadata(&path)
        .with_context(|| path.display().to_string())?
        .len();
    Ok(bytes as f64 / 1000.0)
}
