//! Benches that are examples of other crates.
//!
//! Such a program prints, among whatever a person should see, one line of JSON a figure:
//! `{"bench":"name","value":1.5,"unit":"ms","at_most":20}` or with `at_least`.

use anyhow::Result;
use serde_json::Value;

use super::Figure;
use crate::{process, repo::Repo};

/// The label set: what the offline judge and the arithmetic say against what people say.
///
/// # Errors
/// When it does not build or fails.
pub fn labels(repo: &Repo) -> Result<Vec<Figure>> {
    example(repo, "evalkit-core", "crates/core", "bench_labels")
}

/// Runs one example and collects its figures.
fn example(repo: &Repo, package: &str, folder: &str, name: &str) -> Result<Vec<Figure>> {
    if !repo
        .path(folder)
        .join(format!("examples/{name}.rs"))
        .is_file()
    {
        println!("   skipped: {folder}/examples/{name}.rs is not there");
        return Ok(Vec::new());
    }
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .env("CARGO_TARGET_DIR", repo.target(""))
        .args([
            "run",
            "--quiet",
            "--locked",
            "--package",
            package,
            "--example",
            name,
        ]);
    let said = process::capture(&mut cargo)?;
    let (figures, rest): (Vec<_>, Vec<_>) = said
        .lines()
        .map(|line| (figure(line), line))
        .partition(|(figure, _)| figure.is_some());
    for (_, line) in rest {
        println!("   {line}");
    }
    Ok(figures
        .into_iter()
        .filter_map(|(figure, _)| figure)
        .collect())
}

fn figure(line: &str) -> Option<Figure> {
    let value: Value = serde_json::from_str(line).ok()?;
    Some(Figure {
        name: value["bench"].as_str()?.to_owned(),
        value: value["value"].as_f64()?,
        unit: value["unit"].as_str().unwrap_or("1").to_owned(),
        at_most: value["at_most"].as_f64(),
        at_least: value["at_least"].as_f64(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_a_line_of_json() {
        let read = figure(r#"{"bench":"decided right","value":99.4,"unit":"%","at_least":99}"#);
        assert!(
            read.as_ref()
                .is_some_and(|figure| figure.holds() && figure.at_least == Some(99.0))
        );
        assert_eq!(figure("confusion matrix"), None);
        assert_eq!(figure("{\"other\":1}"), None);
    }
}
