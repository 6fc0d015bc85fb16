//! People: who they are and how the server knows them (`review.md`, Sign-in).

pub(crate) mod password;
pub(crate) mod person;
pub(crate) mod random;
pub(crate) mod session;
pub(crate) mod setup;
pub(crate) mod sign_in;
pub(crate) mod token;
