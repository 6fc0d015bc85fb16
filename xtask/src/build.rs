//! `cargo xtask build`: the browser half, the styles, and the server, side by side.
//!
//! ```text
//! cargo (wasm32) ─ split ─ bindgen ─ wasm-opt ─┐
//! npm ─ Tailwind, esbuild ─────────────────────┼─ pack ─ site ─┐
//! fonts, public files ─────────────────────────┘               ├─ evalkit (release: with the site inside)
//! cargo (host) ── xtask-build ─────────────────────────────────┘
//! ```
//!
//! What the site folder holds and how the server finds it: `docs/site-folder.md`.

pub mod assets;
pub mod browser;
pub mod npm;
pub mod pack;
pub mod server;
pub mod toolchain;

use std::{path::PathBuf, thread};

use anyhow::{Result, anyhow};

use crate::{
    progress::{Board, Times},
    repo::Repo,
};
use toolchain::Toolchain;

/// Which of the two builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Serves the demo, the tests and daily work.
    Dev,
    /// One optimised file to hand out.
    Release,
}

impl Mode {
    /// The mode of a `--release` switch.
    pub fn of(release: bool) -> Self {
        if release { Self::Release } else { Self::Dev }
    }

    /// A word for folder names and inputs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dev => "dev",
            Self::Release => "release",
        }
    }

    /// The finished site.
    pub fn site(self, repo: &Repo) -> PathBuf {
        match self {
            Self::Dev => repo.target("site"),
            Self::Release => repo.target("site-release"),
        }
    }

    /// Intermediate files and stamps.
    pub fn work(self, repo: &Repo) -> PathBuf {
        repo.target("site-work").join(self.name())
    }
}

/// Builds everything that changed.
///
/// # Errors
/// The first step that failed, with all it said.
pub fn all(repo: &Repo, mode: Mode) -> Result<Times> {
    steps(repo, mode, true)
}

/// Builds the site without the server.
///
/// # Errors
/// The first step that failed, with all it said.
pub fn site(repo: &Repo, mode: Mode) -> Result<Times> {
    steps(repo, mode, false)
}

fn steps(repo: &Repo, mode: Mode, with_server: bool) -> Result<Times> {
    let toolchain = Toolchain::find_or_fetch()?;
    let board = Board::start();
    // Each lane does its steps in order; lanes meet where one needs the work of another.
    let (browser, tools) = thread::scope(|scope| {
        let browser = scope.spawn(|| browser::compile(repo, mode, toolchain, &board));
        let assets = scope.spawn(|| assets::all(repo, mode, &board));
        let tools = pack::tool(repo, &board).and_then(|tool| {
            // A release embeds the site, so its server waits for it.
            if with_server && mode == Mode::Dev {
                server::compile(repo, mode, &board)?;
            }
            Ok(tool)
        });
        (
            join(browser).and_then(|module| join(assets).map(|()| module)),
            tools,
        )
    });
    let (module, tool) = match (browser, tools) {
        (Ok(module), Ok(tool)) => (module, tool),
        (Err(error), _) | (_, Err(error)) => {
            drop(board.finish());
            return Err(error);
        }
    };
    browser::bind(repo, mode, &tool, &module, &board)?;
    pack::site(repo, mode, &tool, &board)?;
    if with_server && mode == Mode::Release {
        server::compile(repo, mode, &board)?;
    }
    Ok(board.finish())
}

fn join<T>(lane: thread::ScopedJoinHandle<'_, Result<T>>) -> Result<T> {
    lane.join()
        .unwrap_or_else(|_| Err(anyhow!("a build step panicked")))
}
