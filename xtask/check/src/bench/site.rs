//! The weight of a page.

use std::fs;

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
            let path = site.join(format!("{}.br", url.trim_start_matches('/')));
            let size = fs::metadata(&path)
                .with_context(|| path.display().to_string())?
                .len() as f64
                / 1000.0;
            sum += size;
            if mode == Mode::Release {
                figures.push(Figure::new(format!("{name}, brotli"), size, "KB"));
            }
        }
        let figure = Figure::new(format!("first load, {}", mode.name()), sum, "KB");
        figures.push(if mode == Mode::Release {
            figure.at_most(LIMIT)
        } else {
            figure
        });
    }
    Ok(figures)
}
