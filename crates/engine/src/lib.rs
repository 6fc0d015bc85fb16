//! The run engine (`runs.md`): agents are called, their answers recorded, graded, and every step is durable.
//!
//! Decisions are the core's, rows are the store's; this crate carries them out against the outside world.

pub mod adapter;
pub mod egress;
