//! Where the programs of PostgreSQL are: on `PATH`, or in the folders that systems keep them in.

use std::path::{Path, PathBuf};

use crate::process;

/// Folders of versions, of which the newest is taken, with what stands between version and program.
const FOLDERS: [(&str, &str); 3] = [
    ("/usr/lib/postgresql", "bin"),
    ("/usr/local/opt", "bin"),
    ("/opt/homebrew/opt", "bin"),
];

/// The folder that holds `initdb` and `postgres`.
///
/// # Errors
/// Says that there is none.
pub fn programs() -> Result<PathBuf, String> {
    on_path()
        .or_else(|| {
            FOLDERS
                .iter()
                .find_map(|(folder, below)| newest(Path::new(folder), below))
        })
        .ok_or_else(|| {
            "`initdb` and `postgres` are not on PATH, nor where Debian keeps them".into()
        })
}

fn holds(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

/// Beside the `postgres` or `initdb` of `PATH`, links followed.
fn on_path() -> Option<PathBuf> {
    ["postgres", "initdb"].into_iter().find_map(|program| {
        let found = process::find(program)?;
        let real = found.canonicalize().unwrap_or(found);
        real.parent()
            .filter(|folder| holds(folder))
            .map(Path::to_owned)
    })
}

fn newest(folder: &Path, below: &str) -> Option<PathBuf> {
    std::fs::read_dir(folder)
        .ok()?
        .filter_map(Result::ok)
        .filter_map(|entry| {
            let name = entry.file_name();
            let version: u32 = name
                .to_string_lossy()
                .trim_start_matches("postgresql")
                .trim_start_matches(['@', '-'])
                .parse()
                .ok()?;
            let programs = entry.path().join(below);
            holds(&programs).then_some((version, programs))
        })
        .max()
        .map(|(_, programs)| programs)
}
