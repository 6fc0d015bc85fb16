//! The Rust tests: nextest where it is there (a process each, which Leptos needs), else `cargo test`.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{BufRead as _, BufReader, Write as _},
    process::{Command, ExitStatus, Stdio},
};

use anyhow::{Context, Result};

use super::cargo;
use crate::{
    build::{Mode, server},
    postgres::{self, Cluster},
    process,
    repo::Repo,
    tally::Tally,
};

/// How a test says that it could not run: `SKIPPED: <what>: <why>`.
const SKIPPED: &str = "SKIPPED: ";

/// All of the product that runs on the host. The tools are apart, for their dependencies would change the
/// features of the product's.
pub const PRODUCT: [&str; 11] = [
    "--workspace",
    "--exclude",
    "evalkit-frontend",
    "--exclude",
    "evalkit-lint-wasm",
    "--exclude",
    "xtask",
    "--exclude",
    "xtask-build",
    "--exclude",
    "xtask-check",
];
/// The tools.
const TOOLS: [&str; 6] = [
    "--package",
    "xtask",
    "--package",
    "xtask-build",
    "--package",
    "xtask-check",
];

/// Runs all tests outside the browser half.
///
/// # Errors
/// When cargo cannot be started.
pub fn run(repo: &Repo) -> Result<Tally> {
    let nextest = process::output(process::command("cargo").args(["nextest", "--version"]))
        .is_ok_and(|output| output.status.success());
    if !nextest {
        println!("   cargo-nextest is not installed: `cargo test` instead");
    }
    let mut tally = Tally::new("rust");
    // Gone with this function. Without it, tests on PostgreSQL say that they were skipped.
    let cluster = match Cluster::start() {
        Ok(cluster) => Some(cluster),
        Err(error) => {
            println!("   no PostgreSQL: {error:#}");
            None
        }
    };
    for (name, packages) in [("product", &PRODUCT[..]), ("tools", &TOOLS[..])] {
        let mut command = if nextest {
            cargo(
                repo,
                &["nextest", "run", "--no-fail-fast", "--status-level", "all"],
            )
        } else {
            cargo(repo, &["test", "--no-fail-fast"])
        };
        command.arg("--locked").args(packages);
        if nextest {
            // What a passing test says is kept in the log: it may say that it was skipped.
            command.args([
                "--success-output",
                "immediate",
                "--failure-output",
                "immediate-final",
            ]);
        } else {
            command.args([
                "--bins",
                "--lib",
                "--tests",
                "--examples",
                "--",
                "--show-output",
            ]);
        }
        // Tests that drive the command use the program that the demo uses.
        command.env("EVALKIT_PROGRAM", server::program(repo, Mode::Dev));
        if let Some(cluster) = &cluster {
            command.env(postgres::VARIABLE, cluster.url());
        }
        counted(repo, &mut command, name, nextest, &mut tally)?;
    }
    // Examples in the documentation, which nextest does not run.
    let mut command = cargo(repo, &["test", "--doc", "--locked", "--no-fail-fast"]);
    command.args(PRODUCT);
    counted(repo, &mut command, "doc", false, &mut tally)?;
    Ok(tally)
}

/// Runs one command, counts its tests, and shows what failed.
fn counted(
    repo: &Repo,
    command: &mut Command,
    name: &str,
    nextest: bool,
    tally: &mut Tally,
) -> Result<()> {
    let log = repo.target(format!("test-logs/{name}.log"));
    let (status, text) = logged(command, &log)?;
    let counts = count(&text, nextest);
    if !status.success() {
        println!("{}", failures(&text, nextest));
        println!("   all output: {}", log.display());
        if counts.failed.is_empty() {
            tally.fail(format!(
                "rust {name}: a test did not build, or the runner failed ({status})"
            ));
        }
    }
    tally.passed += counts.passed;
    tally.failed.extend(counts.failed);
    tally.skipped.extend(counts.skipped);
    Ok(())
}

/// Runs with all output in a file, and the names of tests as they end on the terminal when one is there.
fn logged(command: &mut Command, log: &std::path::Path) -> Result<(ExitStatus, String)> {
    if let Some(folder) = log.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create(log)?;
    let (reader, writer) = std::io::pipe()?;
    let mut child = command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()
        .with_context(|| format!("cannot start `{}`", process::line(command)))?;
    // Our own ends of the pipe must go, or reading would never end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut text = String::new();
    for line in BufReader::new(reader).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        writeln!(file, "{line}")?;
        let first = line.split_whitespace().next().unwrap_or_default();
        if matches!(
            first,
            "FAIL" | "SIGABRT" | "SIGSEGV" | "TIMEOUT" | "SLOW" | "Summary" | "error:" | "error"
        ) || line.starts_with("error[")
        {
            println!("   {}", line.trim());
        }
        text.push_str(&line);
        text.push('\n');
    }
    Ok((child.wait()?, text))
}

fn count(text: &str, nextest: bool) -> Tally {
    let mut tally = Tally::new("rust");
    let mut failed = BTreeSet::new();
    let mut skipped = BTreeSet::new();
    for line in text.lines() {
        let line = line.trim();
        if let Some(at) = line.find(SKIPPED) {
            let said = &line[at + SKIPPED.len()..];
            let (what, why) = said.split_once(": ").unwrap_or((said, "no reason given"));
            skipped.insert((what.to_owned(), why.to_owned()));
        }
        if nextest {
            let mut words = line.split_whitespace();
            match words.next() {
                Some("PASS" | "LEAK") => tally.passed += 1,
                Some("FAIL" | "SIGABRT" | "SIGSEGV" | "SIGKILL" | "TIMEOUT") => {
                    failed.insert(after_bracket(line).to_owned());
                }
                _ => {}
            }
        } else if let Some(test) = line.strip_prefix("test ")
            && let Some((name, end)) = test.rsplit_once(" ... ")
        {
            match end {
                "ok" => tally.passed += 1,
                "FAILED" => {
                    failed.insert(name.to_owned());
                }
                ignored if ignored.starts_with("ignored") => {
                    let why = ignored
                        .strip_prefix("ignored, ")
                        .unwrap_or("marked #[ignore]");
                    skipped.insert((name.to_owned(), why.to_owned()));
                }
                _ => {}
            }
        }
    }
    // A test that says that it was skipped ends as passed: it is counted once, as skipped.
    tally.passed = tally
        .passed
        .saturating_sub(if nextest { skipped.len() } else { 0 });
    tally.failed = failed.into_iter().collect();
    tally.skipped = skipped.into_iter().collect();
    tally
}

/// `FAIL [   0.010s] package module::test` without the time and count.
fn after_bracket(line: &str) -> &str {
    let rest = line.split_once(']').map_or(line, |(_, rest)| rest).trim();
    match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, name)) => name.trim(),
        None => rest,
    }
}

/// What failed, with its output.
fn failures(text: &str, nextest: bool) -> String {
    let start = if nextest {
        text.find("     Summary [")
    } else {
        text.find("\nfailures:")
    };
    match start {
        Some(at) => process::tail(&text[at..], 400),
        None => process::tail(text, 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_output_is_counted() {
        let text = "        PASS [   0.011s] ( 1/4) evalkit-core figures::one\n        PASS [   0.011s] ( 2/4) evalkit-core golden\nSKIPPED: golden files: the data folder is not here\n        FAIL [   0.020s] ( 3/4) evalkit-core figures::two\n     Summary [   0.1s] 4 tests run: 3 passed, 1 failed, 0 skipped\n        FAIL [   0.020s] ( 3/4) evalkit-core figures::two\n";
        let tally = count(text, true);
        assert_eq!(tally.passed, 1);
        assert_eq!(tally.failed, ["evalkit-core figures::two"]);
        assert_eq!(
            tally.skipped,
            [(
                "golden files".to_owned(),
                "the data folder is not here".to_owned()
            )]
        );
    }

    #[test]
    fn cargo_test_output_is_counted() {
        let text = "test a::b ... ok\ntest a::c ... FAILED\ntest a::d ... ignored, needs root\ntest result: FAILED. 1 passed; 1 failed\n";
        let tally = count(text, false);
        assert_eq!(tally.passed, 1);
        assert_eq!(tally.failed, ["a::c"]);
        assert_eq!(
            tally.skipped,
            [("a::d".to_owned(), "needs root".to_owned())]
        );
    }
}
