//! `docs/bench.md`: the last table, with the machine it was measured on.

use std::{fmt::Write as _, fs, thread};

use anyhow::Result;

use super::Figure;
use crate::{process, repo::Repo};

/// Writes the table.
///
/// # Errors
/// When the file cannot be written.
pub fn write(repo: &Repo, figures: &[Figure]) -> Result<()> {
    fs::write(
        repo.path("docs/bench.md"),
        text(figures, &machine(), &rustc()),
    )?;
    println!("kept as docs/bench.md");
    Ok(())
}

fn text(figures: &[Figure], machine: &str, rustc: &str) -> String {
    let mut text = format!(
        "# Measured\n\nMade by `cargo xtask bench --write`, not by hand. Compare figures of one table with each other, and the same figure on the\n\
         same machine over time; on another machine only the ratios carry over. KB are 1,000 bytes.\n\n\
         Machine: {machine}. {rustc}.\n\n| Figure | Value | Promised | Holds |\n|---|---|---|---|\n"
    );
    for figure in figures {
        let promised = figure.promised();
        let holds = match (promised.is_empty(), figure.holds()) {
            (true, _) => "",
            (false, true) => "yes",
            (false, false) => "**no**",
        };
        let _ = writeln!(
            text,
            "| {} | {} {} | {promised} | {holds} |",
            figure.name,
            figure.shown(),
            figure.unit
        );
    }
    text
}

/// Processor, cores and system, as far as the machine says.
fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let processor = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            text.lines()
                .find_map(|line| line.strip_prefix("model name"))
                .map(|rest| rest.trim_start_matches([' ', '\t', ':']).trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{processor}, {cores} cores, {}", std::env::consts::OS)
}

fn rustc() -> String {
    process::output(process::command("rustc").arg("--version"))
        .ok()
        .map(|output| {
            String::from_utf8_lossy(&output.stdout)
                .trim()
                .split(" (")
                .next()
                .unwrap_or_default()
                .to_owned()
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_says_what_holds() {
        let figures = [
            Figure::new("fast", 3.12, "ms").at_most(20.0),
            Figure::new("large", 700.0, "KB").at_most(350.0),
            Figure::new("other", 2.0, "pairs"),
        ];
        let text = text(&figures, "a machine", "rustc 1.95.0");
        assert!(
            text.contains("| fast | 3.1 ms | at most 20 | yes |"),
            "{text}"
        );
        assert!(
            text.contains("| large | 700.0 KB | at most 350 | **no** |"),
            "{text}"
        );
        assert!(text.contains("| other | 2.0 pairs |  |  |"), "{text}");
    }
}
