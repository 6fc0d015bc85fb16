//! `xtask-check`: what `cargo xtask test`, `bench` and `tidy` do. Called by `cargo xtask`, not by people.
#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod bench;
mod postgres;
mod served;
mod tally;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::{Result, bail};
use xtask::{args, build, demo, prerequisite, process, repo};

use crate::{args::Command, repo::Repo};

fn main() -> ExitCode {
    let holds = args::parse(std::env::args_os().skip(1)).and_then(run);
    match holds {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs one command. Returns whether everything held.
fn run(command: Command) -> Result<bool> {
    let repo = Repo::find()?;
    match command {
        Command::Test { list: true, .. } => {
            list(test::PARTS.iter().map(|part| (part.name, part.says)))
        }
        Command::Bench { list: true, .. } => {
            list(bench::BENCHES.iter().map(|bench| (bench.name, bench.says)))
        }
        Command::Tidy { list: true, .. } => {
            list(tidy::CHECKS.iter().map(|check| (check.name, check.says)))
        }
        Command::Test { only, .. } => test::run(&repo, &only),
        Command::Bench { only, write, .. } => bench::run(&repo, &only, write),
        Command::Tidy { only, .. } => {
            let tally = tidy::run(&repo, &only)?;
            let holds = tally.failed.is_empty();
            println!("\n{}", tally::table(&[tally]));
            Ok(holds)
        }
        _ => bail!("this program is called by `cargo xtask test`, `bench` and `tidy`"),
    }
}

fn list<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) -> Result<bool> {
    for (name, says) in entries {
        println!("  {name:<14} {says}");
    }
    Ok(true)
}
