//! One page, one file, with its server functions.

pub mod errors;
pub mod kit;
