//! Which Rust compiles the browser half.
//!
//! Usually the default one, with the target that rustup brings. Where rustup cannot fetch it,
//! `cargo xtask setup --system` makes a second toolchain, known to rustup as [`LINKED`].

use std::{path::Path, process::Command, time::Duration};

use anyhow::{Result, bail};

use crate::process;

/// The target of the browser half.
pub const TARGET: &str = "wasm32-unknown-unknown";
/// The name under which `setup --system` makes the toolchain of the system known to rustup.
pub const LINKED: &str = "evalkit-wasm";
/// How long `rustup target add` may take before the network counts as absent.
const FETCH_LIMIT: Duration = Duration::from_secs(180);

/// A Rust that can compile for [`TARGET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// The one that plain `cargo` uses.
    Default,
    /// The toolchain of the system, linked into rustup.
    Linked,
}

impl Toolchain {
    /// The first toolchain that has the target.
    pub fn find() -> Option<Self> {
        [Self::Default, Self::Linked]
            .into_iter()
            .find(|toolchain| toolchain.has_target())
    }

    /// Finds one, and lets rustup fetch the target where there is none yet.
    ///
    /// # Errors
    /// When rustup cannot fetch it; the message names the other way.
    pub fn find_or_fetch() -> Result<Self> {
        if let Some(found) = Self::find() {
            return Ok(found);
        }
        let mut add = process::command("rustup");
        add.args(["target", "add", TARGET]);
        eprintln!("  $ {}", process::line(&add));
        let problem = if process::find("rustup").is_none() {
            "rustup is not on PATH".to_owned()
        } else {
            match process::capture_within(&mut add, FETCH_LIMIT)? {
                Some((true, _)) => match Self::find() {
                    Some(found) => return Ok(found),
                    None => "rustup reports success, yet the target is not there".into(),
                },
                Some((false, said)) => cause(&said),
                None => format!("no answer within {} s", FETCH_LIMIT.as_secs()),
            }
        };
        bail!(
            "the Rust target {TARGET} is missing and could not be fetched:\n{problem}\n\n\
             Bring it with `rustup target add {TARGET}`. Where rustup cannot fetch it, on Debian run\n\
             `cargo xtask setup --system` as root: it builds the target from Debian's sources."
        )
    }

    fn has_target(self) -> bool {
        let mut rustc = self.command("rustc");
        rustc.args(["--print", "target-libdir", "--target", TARGET]);
        process::capture(&mut rustc).is_ok_and(|folder| holds_core(Path::new(&folder)))
    }

    /// `cargo` or `rustc` of this toolchain.
    pub fn command(self, program: &str) -> Command {
        let mut command = process::command(program);
        if self == Self::Linked {
            command.env("RUSTUP_TOOLCHAIN", LINKED);
        }
        command
    }

    /// The exact version, an input of everything it compiles.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn version(self) -> Result<String> {
        process::capture(self.command("rustc").arg("-vV"))
    }
}

/// The lines of rustup's output that say what went wrong.
fn cause(said: &str) -> String {
    let causes: Vec<&str> = said
        .lines()
        .filter(|line| line.starts_with("error") || line.starts_with("Caused by"))
        .collect();
    if causes.is_empty() {
        process::tail(said, 5)
    } else {
        causes.join("\n")
    }
}

/// Whether a library folder of rustc is filled for its target.
pub fn holds_core(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return false;
    };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libcore-") && name.ends_with(".rlib")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_trace_is_no_cause() {
        let said =
            "info: downloading\nerror: could not download file\n\nStack backtrace:\n   0: main";
        assert_eq!(cause(said), "error: could not download file");
        assert_eq!(cause("no network"), "no network");
    }

    #[test]
    fn an_empty_library_folder_is_no_target() -> Result<()> {
        let folder = tempfile::tempdir()?;
        assert!(!holds_core(folder.path()));
        std::fs::write(folder.path().join("libcore-1f.rlib"), "")?;
        assert!(holds_core(folder.path()));
        assert!(!holds_core(&folder.path().join("absent")));
        Ok(())
    }
}
