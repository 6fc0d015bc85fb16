//! `cargo xtask watch`: the supported loop of daily work. Rebuilds what changed and restarts the server.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::PathBuf,
    process::Child,
    thread,
    time::{Duration, SystemTime},
};

use anyhow::Result;

use crate::{
    build::{self, Mode},
    demo, prerequisite, process,
    repo::Repo,
};

/// How often the sources are looked at. A few hundred files are a few milliseconds.
const EVERY: Duration = Duration::from_millis(400);
/// How long an editor may take to finish writing a set of files.
const SETTLE: Duration = Duration::from_millis(150);
/// How long the server may drain.
const DRAIN: Duration = Duration::from_secs(5);
/// What is looked at.
const SOURCES: [&str; 9] = [
    "app",
    "backend",
    "crates",
    "editor",
    "examples",
    "frontend",
    "migrations",
    "style",
    "Cargo.lock",
];

/// Serves the demo (or `evalkit serve <rest>`) and keeps it at the state of the sources.
///
/// # Errors
/// When a prerequisite is missing or the sources cannot be read. A build that fails is printed, and the
/// last good server stays up.
pub fn run(repo: &Repo, rest: &[OsString]) -> Result<()> {
    prerequisite::require(&prerequisite::BUILD)?;
    let mut seen = times(repo)?;
    let mut server: Option<Child> = None;
    let port = demo::free_port(3000..=3009).unwrap_or(3000);
    loop {
        match build::all(repo, Mode::Dev) {
            Ok(times) => {
                times.print();
                if let Some(mut old) = server.take() {
                    process::terminate(&mut old, DRAIN)?;
                }
                let mut command = demo::server(repo, Mode::Dev);
                if rest.is_empty() {
                    command.args(["--demo", "--bind", &format!("127.0.0.1:{port}")]);
                } else {
                    command.args(rest);
                }
                server = Some(command.spawn()?);
            }
            Err(error) => eprintln!("error: {error:#}\n(waiting for a change)"),
        }
        seen = wait_for_change(repo, &seen)?;
    }
}

type Times = BTreeMap<PathBuf, SystemTime>;

fn wait_for_change(repo: &Repo, seen: &Times) -> Result<Times> {
    loop {
        thread::sleep(EVERY);
        let mut now = times(repo)?;
        if now != *seen {
            loop {
                thread::sleep(SETTLE);
                let later = times(repo)?;
                if later == now {
                    return Ok(now);
                }
                now = later;
            }
        }
    }
}

fn times(repo: &Repo) -> Result<Times> {
    let mut found = Times::new();
    for source in SOURCES {
        for file in repo.files(source)? {
            if let Ok(time) = file.metadata().and_then(|meta| meta.modified()) {
                found.insert(file, time);
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_changed_and_removed_files_are_changes() -> Result<()> {
        let folder = tempfile::tempdir()?;
        let repo = Repo::at(folder.path());
        let file = repo.path("style/app.css");
        std::fs::create_dir_all(repo.path("style"))?;
        let before = times(&repo)?;
        std::fs::write(&file, "a")?;
        let written = times(&repo)?;
        assert_ne!(before, written);
        std::fs::remove_file(&file)?;
        assert_eq!(times(&repo)?, before);
        Ok(())
    }
}
