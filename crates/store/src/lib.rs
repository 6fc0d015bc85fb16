//! The store: datasets, cases, experiments, people and secrets in one database, fixture bytes in one folder.
//!
//! Every public function takes a [`Ctx`] and asks `core::policy` before it touches a row; the few that do not say
//! `unchecked` in their name and serve start-up, the engine's own work and tests. All SQL of Evalkit lives here, in
//! one text that SQLite and PostgreSQL both take; what differs sits in `dialect/`. A thing that belongs to a workspace
//! the caller cannot see is answered word for word like a thing that does not exist.
//!
//! What is absent: decisions. Who may do what, what a trial becomes, what a score is, all of it is `core`'s.

mod agent;
mod audit;
mod blob;
mod clock;
mod colour;
mod ctx;
mod db;
mod dialect;
mod error;
mod experiment;
mod facts;
mod folder;
mod judging;
mod people;
mod queue;
mod results;
mod row;
mod score;
mod secret;
mod settings;
mod store;
mod sync;
mod view;
mod workspace;
mod write;

pub use agent::{NewAgent, ResolvedAgent, SecretRef};
pub use blob::{BlobWriter, Limits};
pub use clock::{Clock, FixedClock, SystemClock};
pub use ctx::Ctx;
pub use error::StoreError;
pub use experiment::Frozen;
pub use experiment::create::{CreatedExperiment, NewExperiment};
pub use experiment::event::NumberedEvent;
pub use judging::Settled;
pub use people::session::COOKIE_SECONDS;
pub use people::setup::NewOwner;
pub use people::sign_in::SignedIn;
pub use people::token::NewTokenRequest;
pub use queue::{Claim, ExperimentPlan, Fence, Reaped, Recording, Taken, Wanted};
pub use results::Download;
pub use secret::SecretText;
pub use settings::{Database, Settings};
pub use store::Store;
pub use sync::{SyncReport, SyncRequest};
