//! `cargo xtask setup`: what a build needs, brought once.

mod debian;

use anyhow::Result;

use crate::{
    build::{npm, toolchain::Toolchain},
    prerequisite,
    progress::{Board, Fresh},
    repo::Repo,
};

/// Checks the prerequisites, brings the wasm32 target and the npm packages. With `system`, also installs
/// what the tests use and, where rustup cannot fetch the target, builds it from the sources of the system.
///
/// # Errors
/// When something is missing that cannot be brought.
pub fn run(repo: &Repo, system: bool) -> Result<()> {
    if system {
        debian::install(repo)?;
    }
    println!("To build:");
    prerequisite::print(&prerequisite::BUILD);
    println!("To run every test:");
    prerequisite::print(&prerequisite::TESTS);
    prerequisite::require(&prerequisite::BUILD)?;
    let toolchain = Toolchain::find_or_fetch()?;
    println!("  ok       wasm32 target        {toolchain:?} toolchain");
    let board = Board::start();
    board.step("npm", |_| npm::install(repo, "."))?;
    board.step("npm tests", |_| {
        if repo.path("end2end/package-lock.json").is_file() {
            npm::install(repo, "end2end")
        } else {
            Ok(Fresh::Unchanged)
        }
    })?;
    board.finish().print();
    println!("Ready: `cargo xtask demo`.");
    Ok(())
}
