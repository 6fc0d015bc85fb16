//! The browser tests: one demo server, Node's own test runner, the Chromium that is installed.

use std::{fs, path::Path};

use anyhow::Result;

use crate::{
    build::{self, Mode, npm},
    prerequisite, process,
    repo::Repo,
    served::Served,
    tally::Tally,
};

/// Where the tests lie.
const TESTS: &str = "end2end/tests";
/// What the server said meanwhile, below the target folder.
const LOG: &str = "test-logs/browser-server.log";

/// Builds the demo, serves it with fresh data, and runs every test file.
///
/// # Errors
/// When the demo does not build or does not start.
pub fn run(repo: &Repo) -> Result<Tally> {
    let mut tally = Tally::new("browser");
    let files: Vec<_> = repo
        .files(TESTS)?
        .into_iter()
        .filter(|file| file.to_string_lossy().ends_with(".test.js"))
        .collect();
    if files.is_empty() {
        tally.skip("browser", format!("there are no tests in {TESTS}"));
        return Ok(tally);
    }
    let Some(chromium) = prerequisite::chromium() else {
        for file in &files {
            tally.skip(repo.relative(file), "needs program chromium");
        }
        return Ok(tally);
    };
    build::all(repo, Mode::Dev)?;
    npm::install(repo, "end2end")?;
    let data = repo.target("test-logs/browser-data");
    empty(&data)?;
    let server = Served::start(repo, Mode::Dev, &data, &repo.target(LOG))?;

    let mut node = process::command("node");
    node.current_dir(repo.path("end2end"))
        .args(["--test", "--test-reporter=tap", "--test-concurrency=1"])
        .args(&files)
        .env("EVALKIT_URL", server.url())
        .env("EVALKIT_PROGRAM", build::server::program(repo, Mode::Dev))
        .env("EVALKIT_SITE_DIR", Mode::Dev.site(repo))
        .env("CHROMIUM", chromium);
    let output = process::output(&mut node)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    fs::write(repo.target("test-logs/browser.log"), &text)?;
    count(&text, &mut tally);
    if !output.status.success() {
        println!(
            "{text}\n{}",
            process::tail(&String::from_utf8_lossy(&output.stderr), 40)
        );
        if tally.failed.is_empty() {
            tally.fail("browser: the runner failed");
        }
    }
    server.stop()?;
    let said = fs::read_to_string(repo.target(LOG))?;
    match panics(&said) {
        0 => tally.passed += 1,
        n => {
            println!("{}", process::tail(&said, 60));
            tally.fail(format!(
                "browser: the server panicked {n} times while it served the pages ({LOG})"
            ));
        }
    }
    Ok(tally)
}

/// Panics in the output of a server. One in the middle of a page shows in no status, only as a connection that ends.
fn panics(said: &str) -> usize {
    said.lines()
        .filter(|line| line.starts_with("thread '") && line.contains("panicked at"))
        .count()
}

fn empty(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(fs::create_dir_all(folder)?)
}

/// Counts the lines of a TAP stream: `ok 1 - name`, `not ok 2 - name`, `ok 3 - name # SKIP reason`.
/// A line that stands for a group of others ends in `type: 'suite'` and is not counted.
fn count(text: &str, tally: &mut Tally) {
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let line = line.trim();
        let (ok, rest) = match (line.strip_prefix("ok "), line.strip_prefix("not ok ")) {
            (Some(rest), _) => (true, rest),
            (_, Some(rest)) => (false, rest),
            _ => continue,
        };
        let group = lines[index + 1..]
            .iter()
            .take_while(|line| line.trim() != "...")
            .take(4)
            .any(|line| line.trim() == "type: 'suite'");
        if group {
            continue;
        }
        let name = rest.split_once(" - ").map_or(rest, |(_, name)| name);
        match name.split_once(" # SKIP") {
            Some((name, why)) => tally.skip(name, why.trim()),
            None if ok => tally.passed += 1,
            None => tally.fail(format!("browser: {name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_of_the_server_are_counted() {
        let said = "thread 'tokio-rt-worker' (24449) panicked at core/src/ptr/mod.rs:805:1:\nDropped SendWrapper<T>\n";
        assert_eq!(panics(said), 1);
        assert_eq!(panics("a word that is panicked at nothing\n"), 0);
    }

    #[test]
    fn a_tap_stream_is_counted() {
        let text = "TAP version 13\n# Subtest: a\nok 1 - a\n  ---\n  duration_ms: 1\n  type: 'test'\n  ...\nnot ok 2 - b\n  ---\n  type: 'test'\n  ...\nok 3 - c # SKIP needs program strace\n  ---\n  type: 'test'\n  ...\n    ok 1 - inner\n      ---\n      type: 'test'\n      ...\nok 4 - group\n  ---\n  duration_ms: 2\n  type: 'suite'\n  ...\n1..4\n";
        let mut tally = Tally::new("browser");
        count(text, &mut tally);
        assert_eq!(tally.passed, 2);
        assert_eq!(tally.failed, ["browser: b"]);
        assert_eq!(
            tally.skipped,
            [("c".to_owned(), "needs program strace".to_owned())]
        );
    }
}
