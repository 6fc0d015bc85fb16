//! The label set: what arithmetic and the offline judge say against what people say.

use anyhow::{Context, Result, bail};

use super::Figure;
use crate::{process, repo::Repo};

/// Runs the label tests of the core, prints their confusion matrices, and reads their totals.
///
/// # Errors
/// When a label test fails: then a promise is broken, and the message says for which pairs.
pub fn labels(repo: &Repo) -> Result<Vec<Figure>> {
    let mut cargo = process::command("cargo");
    cargo
        .current_dir(repo.root())
        .env("CARGO_TARGET_DIR", repo.target(""))
        .args(["test", "--quiet", "--locked", "--package", "evalkit-core"])
        .args(["--test", "figure_labels", "--test", "offline_labels"])
        .args(["--", "--nocapture"]);
    let output = process::output(&mut cargo)?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    for line in said.lines().filter(|line| is_matrix(line)) {
        println!("   {line}");
    }
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        bail!(
            "the label set is not met\n{}\n{}",
            process::tail(&said, 60),
            process::tail(&errors, 20)
        );
    }
    figures(&said)
}

fn is_matrix(line: &str) -> bool {
    let line = line.trim();
    !line.is_empty()
        && !line.starts_with("running ")
        && !line.starts_with("test ")
        && line.contains(char::is_alphabetic)
}

/// Reads `decided 400, wrong 1, decisions lost 7`.
fn figures(said: &str) -> Result<Vec<Figure>> {
    let totals = said
        .lines()
        .find(|line| line.trim_start().starts_with("decided ") && line.contains("wrong "))
        .context("the label test printed no totals")?;
    let number = |word: &str| -> Result<f64> {
        let at = totals
            .find(word)
            .with_context(|| format!("no `{word}` in: {totals}"))?
            + word.len();
        let digits: String = totals[at..]
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        Ok(digits.parse()?)
    };
    let (decided, wrong) = (number("decided")?, number("wrong")?);
    let right = if decided > 0.0 {
        100.0 * (decided - wrong) / decided
    } else {
        0.0
    };
    let mut share = Figure::new("label set: decided figures that are right", right, "%");
    share.at_least = Some(99.0);
    Ok(vec![
        Figure::new("label set: figures decided", decided, "pairs"),
        share,
        Figure::new(
            "label set: decisions lost to caution",
            number("lost")?,
            "pairs",
        ),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_totals_are_read() -> Result<()> {
        let read = figures("label set: 660 pairs\n decided 400, wrong 2, decisions lost 7\n")?;
        assert_eq!(read[1].value, 99.5);
        assert!(read[1].holds());
        assert_eq!(read[2].value, 7.0);
        assert!(!figures("decided 100, wrong 2, decisions lost 0")?[1].holds());
        assert!(figures("nothing").is_err());
        Ok(())
    }
}
