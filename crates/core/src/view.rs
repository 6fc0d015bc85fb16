//! What pages show, as plain data. The store fills these; the app renders them; nothing here decides.

pub mod agents;
pub mod case;
pub mod dataset;
pub mod experiment;
pub mod home;
pub mod judging;
pub mod result;
pub mod runs;
pub mod session;
pub mod workspace;
