//! The program, killed, paused and starved while it works (`reliability.md`, section 4), on each database. After every
//! test the invariants I1 to I8 are checked over the database and over the log that the agent kept for itself.
//!
//! Randomness comes from a seed that is printed; `EVALKIT_CHAOS_SEED` repeats one. `EVALKIT_PROGRAM` names another
//! program than the one built with the tests, such as one that is wrong on purpose (`docs/adr/0025`).
#![expect(
    clippy::print_stdout,
    reason = "a test says its seed and what it counted"
)]

mod boot;
mod deploy;
mod host;
mod kills;
mod pauses;
mod seed;
mod server;
