//! The run engine (`runs.md`): agents are called, their answers recorded, graded, and every step is durable.
//!
//! Decisions are the core's, rows are the store's; this crate carries them out against the outside world. [`Engine`] is
//! the handle for servers; `adapter`, `egress`, `judge` and [`grade_run`] also serve the command, which has no store.

pub mod adapter;
mod check;
pub mod demo;
pub mod egress;
mod engine;
mod grade;
mod harness;
pub mod judge;
mod settings;
mod worker;

pub use engine::{Engine, NewExperiment, StartedExperiment};
pub use grade::grade_run;
pub use settings::EngineSettings;
