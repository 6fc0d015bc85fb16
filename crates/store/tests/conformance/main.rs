//! Every function of the store against a real database in a folder of its own.

mod agents;
mod blobs;
mod experiments;
mod people;
mod queue;
mod start;
mod sync;
mod world;
