//! The only way out of the server (`runs.md`, Egress; D9, D12, D13 of the reliability design).
//!
//! A URL is parsed once into a [`Target`], which carries the decision of the policy. A [`Caller`] is a client for one
//! target and one credential: it follows no redirect, uses no proxy, checks every resolved address and the address it is
//! connected to before a byte of the request leaves, bounds the whole call in time and the decompressed body in bytes.
//!
//! Absent: a way to call a plain string. Nothing outside this module builds an HTTP client.

mod address;
mod allow;
mod caller;
mod denied;
mod failure;
mod peer;
mod scrub;
mod target;

#[cfg(test)]
mod spellings;

use std::sync::Arc;

pub use address::{AddressKind, Rule};
pub use allow::{AllowRule, AllowRuleError};
pub use caller::{Answer, Call, Caller, Spool};
pub use denied::{Denied, DeniedReason};
pub use failure::{CallFailure, FailureKind};
pub use scrub::{MAX_SHOWN_CHARS, scrub, shown_url};
pub use target::Target;

/// Where an address was written (`runs.md`, Egress).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Trust {
    /// In the server's `config.yaml`: called as written, metadata addresses apart.
    Config,
    /// Through the product, by a person: the rules apply.
    Product,
}

/// What the operator allows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EgressSettings {
    /// `egress.allow` of `config.yaml`.
    pub allow: Vec<AllowRule>,
    /// The server itself listens on loopback only, so loopback agents are the caller's own.
    pub listens_on_loopback: bool,
}

/// The policy, shared by every caller.
#[derive(Debug, Clone, Default)]
pub struct Egress {
    settings: Arc<EgressSettings>,
}

impl Egress {
    /// A policy from the operator's settings.
    pub fn new(settings: EgressSettings) -> Self {
        Self {
            settings: Arc::new(settings),
        }
    }

    /// Parses `url` and decides what can be decided without the network. Names are decided again at each connection,
    /// address by address.
    ///
    /// # Errors
    /// [`Denied`] with the reason and, where the operator could allow it, the lines to add.
    pub fn target(&self, url: &str, trust: Trust) -> Result<Target, Denied> {
        Target::parse(Arc::clone(&self.settings), url, trust)
    }
}
