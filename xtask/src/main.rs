//! `cargo xtask`: everything a person does with a clone of Evalkit beyond editing it.
//!
//! This crate stays light, so that the first thing a fresh clone does is to check its prerequisites
//! and not to compile for a minute. Steps with heavy libraries (wasm-bindgen, brotli) live in the
//! program `xtask-build`, which is built when it is first needed.
#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

mod args;
mod bench;
mod build;
mod demo;
mod prerequisite;
mod process;
mod progress;
mod repo;
mod served;
mod setup;
mod stamp;
mod tally;
mod test;
mod tidy;
mod watch;

use std::process::ExitCode;

use anyhow::Result;

use crate::{args::Command, repo::Repo};

fn main() -> ExitCode {
    let command = match args::parse(std::env::args_os().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error:#}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let repo = Repo::find()?;
    match command {
        Command::Help => println!("{}", args::USAGE),
        Command::Setup { system } => setup::run(&repo, system)?,
        Command::Build { release } => {
            prerequisite::require(&prerequisite::BUILD)?;
            build::all(&repo, build::Mode::of(release))?.print();
        }
        Command::Serve { release, rest } => demo::serve(&repo, build::Mode::of(release), &rest)?,
        Command::Demo { release, rest } => demo::demo(&repo, build::Mode::of(release), &rest)?,
        Command::Watch { rest } => watch::run(&repo, &rest)?,
        Command::Test { list: true, .. } => {
            list(test::PARTS.iter().map(|part| (part.name, part.says)))
        }
        Command::Bench { list: true, .. } => {
            list(bench::BENCHES.iter().map(|bench| (bench.name, bench.says)))
        }
        Command::Tidy { list: true, .. } => {
            list(tidy::CHECKS.iter().map(|check| (check.name, check.says)))
        }
        Command::Test { only, .. } => return Ok(code(test::run(&repo, &only)?)),
        Command::Bench { only, .. } => return Ok(code(bench::run(&repo, &only)?)),
        Command::Tidy { only, .. } => {
            let tally = tidy::run(&repo, &only)?;
            let holds = tally.failed.is_empty();
            println!("\n{}", tally::table(&[tally]));
            return Ok(code(holds));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn code(holds: bool) -> ExitCode {
    if holds {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn list<'a>(entries: impl Iterator<Item = (&'a str, &'a str)>) {
    for (name, says) in entries {
        println!("  {name:<14} {says}");
    }
}
