//! The command `cargo xtask`. See the library for what it does.
#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

use std::process::ExitCode;

use anyhow::Result;
use xtask::{
    args::{self, Command},
    build, demo, prerequisite, process,
    repo::Repo,
    setup, watch,
};

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let command = match args::parse(arguments.iter().cloned()) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error:#}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(command, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command, arguments: &[std::ffi::OsString]) -> Result<()> {
    let repo = Repo::find()?;
    match command {
        Command::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Command::Setup { system } => setup::run(&repo, system),
        Command::Build { release } => {
            prerequisite::require(&prerequisite::BUILD)?;
            build::all(&repo, build::Mode::of(release))?.print();
            Ok(())
        }
        Command::Serve { release, rest } => demo::serve(&repo, build::Mode::of(release), &rest),
        Command::Demo { release, rest } => demo::demo(&repo, build::Mode::of(release), &rest),
        Command::Watch { rest } => watch::run(&repo, &rest),
        Command::Test { .. } | Command::Bench { .. } | Command::Tidy { .. } => {
            prerequisite::require(&prerequisite::BUILD)?;
            let mut check = process::command("cargo");
            check
                .current_dir(repo.root())
                .env("CARGO_TARGET_DIR", repo.target(""))
                .args([
                    "run",
                    "--quiet",
                    "--locked",
                    "--package",
                    "xtask-check",
                    "--",
                ])
                .args(arguments);
            process::replace(check)
        }
    }
}
