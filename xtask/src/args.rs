//! The command line of `cargo xtask`.

use std::ffi::OsString;

use anyhow::{Result, bail};
use lexopt::prelude::*;

/// What `cargo xtask help` prints.
pub const USAGE: &str = "\
cargo xtask <command>

  setup [--system]         check prerequisites, fetch npm packages and the wasm32 target
                           --system: on Debian, bring what rustup cannot (needs root)
  build [--release]        build the browser half, the styles and the server
                           --release: one optimised `evalkit` with the site embedded
  demo [--release]         build, then serve the demo on the first free port of 3000 to 3009
  serve [--release] [-- …] build, then `evalkit serve …`
  watch [-- …]             serve the demo, rebuild and restart on every change
  test [--only PART]…      set up and run every check and test, then print the counts
  bench [--only NAME]…     measure and print one table
                           --write: keep the whole table as docs/bench.md
  tidy [--only CHECK]…     check the invariants of ARCHITECTURE.md

`test --list`, `bench --list` and `tidy --list` name the parts.";

/// One parsed command line.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Print the usage.
    Help,
    /// Prerequisites, npm packages, wasm32 target.
    Setup {
        /// Install what is missing with the package manager of the system.
        system: bool,
    },
    /// Build everything.
    Build {
        /// The optimised single file.
        release: bool,
    },
    /// Build and run `evalkit serve`.
    Serve {
        /// Use the release build.
        release: bool,
        /// Arguments for `evalkit serve`.
        rest: Vec<OsString>,
    },
    /// Build and run the demo.
    Demo {
        /// Use the release build.
        release: bool,
        /// Further arguments for `evalkit serve --demo`.
        rest: Vec<OsString>,
    },
    /// Rebuild and restart on change.
    Watch {
        /// Arguments for `evalkit serve` in place of `--demo`.
        rest: Vec<OsString>,
    },
    /// Every check and test.
    Test {
        /// Only these parts; all when empty.
        only: Vec<String>,
        /// Name the parts instead.
        list: bool,
    },
    /// Measurements.
    Bench {
        /// Only these benches; all when empty.
        only: Vec<String>,
        /// Keep the table as `docs/bench.md`.
        write: bool,
        /// Name the benches instead.
        list: bool,
    },
    /// The invariants.
    Tidy {
        /// Only these checks; all when empty.
        only: Vec<String>,
        /// Name the checks instead.
        list: bool,
    },
}

/// Parses the arguments after the program name.
///
/// # Errors
/// An unknown command or option, with its name.
pub fn parse(arguments: impl Iterator<Item = OsString>) -> Result<Command> {
    let mut parser = lexopt::Parser::from_args(arguments);
    let name = match parser.next()? {
        None | Some(Short('h') | Long("help")) => return Ok(Command::Help),
        Some(Value(name)) => name.string()?,
        Some(other) => return Err(other.unexpected().into()),
    };
    let (mut release, mut system, mut list, mut write) = (false, false, false, false);
    let (mut rest, mut only) = (Vec::new(), Vec::new());
    let parted = matches!(&*name, "test" | "bench" | "tidy");
    while let Some(argument) = parser.next()? {
        match argument {
            Long("release") if matches!(&*name, "build" | "serve" | "demo") => release = true,
            Long("system") if name == "setup" => system = true,
            Long("only") if parted => only.push(parser.value()?.string()?),
            Long("list") if parted => list = true,
            Long("write") if name == "bench" => write = true,
            Short('h') | Long("help") => return Ok(Command::Help),
            Value(value) if matches!(&*name, "serve" | "demo" | "watch") => {
                rest.push(value);
                rest.extend(parser.raw_args()?);
            }
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(match &*name {
        "help" => Command::Help,
        "setup" => Command::Setup { system },
        "build" => Command::Build { release },
        "serve" => Command::Serve { release, rest },
        "demo" => Command::Demo { release, rest },
        "watch" => Command::Watch { rest },
        "test" => Command::Test { only, list },
        "bench" => Command::Bench { only, write, list },
        "tidy" => Command::Tidy { only, list },
        _ => bail!("there is no command `{name}`"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn commands_and_options_are_read() -> Result<()> {
        assert_eq!(parsed("")?, Command::Help);
        assert_eq!(parsed("build --release")?, Command::Build { release: true });
        assert_eq!(parsed("setup --system")?, Command::Setup { system: true });
        assert_eq!(
            parsed("serve -- --bind 127.0.0.1:4000")?,
            Command::Serve {
                release: false,
                rest: vec!["--bind".into(), "127.0.0.1:4000".into()]
            }
        );
        Ok(())
    }

    #[test]
    fn an_option_of_another_command_is_refused() {
        for line in [
            "build --system",
            "tidy --release",
            "tidy --write",
            "setup extra",
            "nonsense",
        ] {
            assert!(parsed(line).is_err(), "{line}");
        }
    }
}
