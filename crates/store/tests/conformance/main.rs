//! Every function of the store against a real database of its own: SQLite, and PostgreSQL where a server is named.
#![expect(
    clippy::print_stdout,
    reason = "measured times are shown, not asserted"
)]

mod agents;
mod blobs;
mod complete;
mod engine_doors;
mod experiments;
mod hostile;
mod judging;
mod pages;
mod people;
mod queue;
mod schema;
mod servers;
mod start;
mod sync;
mod world;
