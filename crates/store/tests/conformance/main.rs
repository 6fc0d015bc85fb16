//! Every function of the store against a real database in a folder of its own.
#![expect(
    clippy::print_stdout,
    reason = "measured times are shown, not asserted"
)]

mod agents;
mod blobs;
mod experiments;
mod pages;
mod people;
mod queue;
mod start;
mod sync;
mod world;
