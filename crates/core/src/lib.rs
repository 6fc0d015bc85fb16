//! The domain of Evalkit, pure: no I/O, no clock, no randomness, no async. Builds for `wasm32-unknown-unknown`.
//!
//! Everything that decides (a verdict, a score, who may do what, what a trial becomes next) is a function
//! here, of plain data to plain data. The other crates carry the decisions out.

pub mod agent;
pub mod api;
pub mod atif;
pub mod canonical;
pub mod case;
pub mod error;
pub mod experiment;
pub mod explanation;
pub mod failures;
pub mod figures;
pub mod grade;
pub mod grading;
pub mod judge;
pub mod name;
pub mod next_act;
pub mod overlay;
pub mod policy;
pub mod quote;
pub mod results;
pub mod run;
pub mod score;
pub mod tools;
pub mod verdict;
pub mod view;
