//! The composition root: configuration, wiring, the axum router. The binary `evalkit` is this and the commands of
//! `evalkit-cli`.

pub mod api;
pub mod config;
pub mod pages;
pub mod serve;
pub mod session;
pub mod site;
