//! What the databases do differently. Everything else is one SQL text in the module of its subject.

pub(crate) mod postgres;
pub(crate) mod sqlite;
