//! What must be on the machine before a build starts. Checked in well under a second, all at once, so
//! that a person learns of everything that is missing in one go.

use std::{fmt::Write as _, process::Command};

use anyhow::{Result, bail};

use crate::process;

/// The oldest Rust that builds Evalkit.
pub const RUST: (u32, u32) = (1, 95);
/// The oldest Node that runs the build tools.
pub const NODE: (u32, u32) = (20, 0);

/// A program that has to be there.
pub struct Prerequisite {
    /// What a person calls it.
    pub name: &'static str,
    /// What is made with it.
    pub purpose: &'static str,
    /// Whether it is there: what was found, or what is wrong.
    probe: fn() -> Result<String, String>,
    /// The command that brings it, by system.
    install: Install,
}

struct Install {
    debian: &'static str,
    fedora: &'static str,
    macos: &'static str,
}

/// What every build needs.
pub static BUILD: [Prerequisite; 4] = [
    Prerequisite {
        name: "Rust 1.95 or newer",
        purpose: "compiles the server and the browser half",
        probe: || version_of("rustc", RUST),
        install: Install {
            debian: "rustup update stable   (rustup itself: https://rustup.rs)",
            fedora: "rustup update stable   (rustup itself: https://rustup.rs)",
            macos: "rustup update stable   (rustup itself: https://rustup.rs)",
        },
    },
    Prerequisite {
        name: "a C compiler",
        purpose: "compiles the bundled SQLite",
        probe: c_compiler,
        install: Install {
            debian: "sudo apt-get install build-essential",
            fedora: "sudo dnf install gcc",
            macos: "xcode-select --install",
        },
    },
    Prerequisite {
        name: "Node 20 or newer",
        purpose: "runs Tailwind, esbuild and wasm-opt while building",
        probe: || version_of("node", NODE),
        install: Install {
            debian: "sudo apt-get install nodejs   (Debian 12 has Node 18: take 20 from https://nodejs.org)",
            fedora: "sudo dnf install nodejs",
            macos: "brew install node",
        },
    },
    Prerequisite {
        name: "npm",
        purpose: "fetches the pinned build tools",
        probe: || version_of("npm", (0, 0)),
        install: Install {
            debian: "sudo apt-get install npm",
            fedora: "sudo dnf install npm",
            macos: "brew install node",
        },
    },
];

/// What some tests need; without it they are skipped by name.
pub static TESTS: [Prerequisite; 4] = [
    Prerequisite {
        name: "cargo-nextest",
        purpose: "runs the tests a process each (without it: cargo test)",
        probe: || version_of_args("cargo", &["nextest", "--version"], (0, 9)),
        install: Install {
            debian: "cargo install --locked cargo-nextest",
            fedora: "cargo install --locked cargo-nextest",
            macos: "cargo install --locked cargo-nextest",
        },
    },
    Prerequisite {
        name: "Chromium",
        purpose: "drives the browser tests",
        probe: || chromium().ok_or_else(|| "not found".into()),
        install: Install {
            debian: "sudo apt-get install chromium",
            fedora: "sudo dnf install chromium",
            macos: "brew install --cask chromium   (or set CHROMIUM to a Chrome)",
        },
    },
    Prerequisite {
        name: "strace",
        purpose: "lets tests fail system calls on purpose",
        probe: || found("strace"),
        install: Install {
            debian: "sudo apt-get install strace",
            fedora: "sudo dnf install strace",
            macos: "(not available: those tests are skipped)",
        },
    },
    Prerequisite {
        name: "PostgreSQL",
        purpose: "runs the store tests on the second database",
        probe: || crate::postgres::programs().map(|folder| folder.display().to_string()),
        install: Install {
            debian: "sudo apt-get install postgresql",
            fedora: "sudo dnf install postgresql-server",
            macos: "brew install postgresql",
        },
    },
];

/// The Chromium that browser tests drive: `CHROMIUM`, or the usual names on `PATH`.
pub fn chromium() -> Option<String> {
    if let Some(set) = std::env::var_os("CHROMIUM").filter(|set| !set.is_empty()) {
        return Some(set.to_string_lossy().into_owned());
    }
    ["chromium", "chromium-browser", "google-chrome"]
        .into_iter()
        .find_map(process::find)
        .map(|path| path.to_string_lossy().into_owned())
}

/// Fails with one message that lists everything that is missing.
///
/// # Errors
/// When anything is missing.
pub fn require(list: &[Prerequisite]) -> Result<()> {
    let missing: Vec<_> = list
        .iter()
        .filter_map(|item| (item.probe)().err().map(|problem| (item, problem)))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    bail!("{}", describe(&missing, System::present()));
}

/// Prints what is there and what is not.
pub fn print(list: &[Prerequisite]) {
    for item in list {
        match (item.probe)() {
            Ok(found) => println!("  ok       {:<20} {found}", item.name),
            Err(problem) => {
                println!("  missing  {:<20} {problem}; {}", item.name, item.purpose);
                for line in item.install.lines(System::present()) {
                    println!("           {line}");
                }
            }
        }
    }
}

fn describe(missing: &[(&Prerequisite, String)], system: Option<System>) -> String {
    let mut text = String::from("this machine lacks what the build needs:\n");
    for (item, problem) in missing {
        let _ = write!(text, "\n  {} ({problem}): {}\n", item.name, item.purpose);
        for line in item.install.lines(system) {
            let _ = writeln!(text, "      {line}");
        }
    }
    text
}

/// A family of systems by its package manager.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// Debian, Ubuntu and kin.
    Debian,
    /// Fedora, RHEL and kin.
    Fedora,
    /// macOS.
    Macos,
}

impl System {
    /// The system this runs on, where it is one of the three.
    pub fn present() -> Option<Self> {
        if cfg!(target_os = "macos") {
            return Some(Self::Macos);
        }
        Self::from_release(&std::fs::read_to_string("/etc/os-release").ok()?)
    }

    fn from_release(text: &str) -> Option<Self> {
        let names: Vec<String> = text
            .lines()
            .filter_map(|line| line.strip_prefix("ID=").or(line.strip_prefix("ID_LIKE=")))
            .map(|value| value.trim_matches('"').to_lowercase())
            .collect();
        let is = |name: &str| {
            names
                .iter()
                .any(|line| line.split(' ').any(|id| id == name))
        };
        if is("debian") || is("ubuntu") {
            Some(Self::Debian)
        } else if is("fedora") || is("rhel") {
            Some(Self::Fedora)
        } else {
            None
        }
    }
}

impl Install {
    /// The command for one system, or all three with their names where the system is unknown.
    fn lines(&self, system: Option<System>) -> Vec<String> {
        match system {
            Some(System::Debian) => vec![self.debian.into()],
            Some(System::Fedora) => vec![self.fedora.into()],
            Some(System::Macos) => vec![self.macos.into()],
            None => vec![
                format!("Debian: {}", self.debian),
                format!("Fedora: {}", self.fedora),
                format!("macOS:  {}", self.macos),
            ],
        }
    }
}

fn c_compiler() -> Result<String, String> {
    let program = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let first = program.split_whitespace().next().unwrap_or("cc").to_owned();
    found(&first)
}

fn found(program: &str) -> Result<String, String> {
    if program.contains('/') && std::path::Path::new(program).is_file() {
        return Ok(program.into());
    }
    process::find(program)
        .map(|path| path.display().to_string())
        .ok_or_else(|| format!("`{program}` is not on PATH"))
}

fn version_of(program: &str, least: (u32, u32)) -> Result<String, String> {
    version_of_args(program, &["--version"], least)
}

fn version_of_args(program: &str, args: &[&str], least: (u32, u32)) -> Result<String, String> {
    if process::find(program).is_none() {
        return Err(format!("`{program}` is not on PATH"));
    }
    let mut command: Command = process::command(program);
    let said = process::capture(command.args(args)).map_err(|_| "not installed".to_owned())?;
    let version =
        parse_version(&said).ok_or_else(|| format!("`{program}` tells no version: {said}"))?;
    let text = format!("{}.{}", version.0, version.1);
    if version < least {
        return Err(format!("found {text}, needs {}.{}", least.0, least.1));
    }
    Ok(text)
}

/// The first `major.minor` in a text such as `rustc 1.95.0 (…)` or `v20.20.2`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    text.split(|c: char| !(c.is_ascii_digit() || c == '.'))
        .filter_map(|word| {
            let mut parts = word.split('.');
            Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(
            parse_version("rustc 1.95.0 (59807616e 2026-04-14)"),
            Some((1, 95))
        );
        assert_eq!(parse_version("v20.20.2"), Some((20, 20)));
        assert_eq!(parse_version("cargo-nextest 0.9.143"), Some((0, 9)));
        assert_eq!(parse_version("no digits"), None);
    }

    #[test]
    fn systems_are_told_apart() {
        assert_eq!(System::from_release("ID=debian\n"), Some(System::Debian));
        assert_eq!(
            System::from_release("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\n"),
            Some(System::Debian)
        );
        assert_eq!(
            System::from_release("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n"),
            Some(System::Fedora)
        );
        assert_eq!(System::from_release("ID=alpine\n"), None);
    }

    #[test]
    fn every_missing_thing_is_listed_with_its_command() {
        let missing: Vec<_> = BUILD
            .iter()
            .map(|item| (item, "not there".to_owned()))
            .collect();
        let known = describe(&missing, Some(System::Fedora));
        for text in [
            "Rust 1.95",
            "dnf install gcc",
            "dnf install nodejs",
            "dnf install npm",
        ] {
            assert!(known.contains(text), "{text} in {known}");
        }
        assert!(!known.contains("apt-get"));
        let unknown = describe(&missing, None);
        assert!(unknown.contains("Debian: sudo apt-get") && unknown.contains("macOS:  brew"));
    }

    #[test]
    fn an_absent_program_is_a_problem_in_words() {
        assert_eq!(
            version_of("surely-not-a-program", (1, 0)),
            Err("`surely-not-a-program` is not on PATH".into())
        );
    }
}
