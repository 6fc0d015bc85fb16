//! `cargo xtask`: everything a person does with a clone of Evalkit beyond editing it.
//!
//! This crate stays light, so that the first thing a fresh clone does is to check its prerequisites
//! and not to compile for a minute. What needs more lives in two programs beside it, each built when it is
//! first needed: `xtask-build` (wasm-bindgen, brotli) and `xtask-check` (`test`, `bench`, `tidy`).
#![expect(
    clippy::print_stdout,
    reason = "a command line tool talks on standard output"
)]

pub mod args;
pub mod build;
pub mod demo;
pub mod postgres;
pub mod prerequisite;
pub mod process;
pub mod progress;
pub mod repo;
pub mod setup;
pub mod stamp;
pub mod watch;
