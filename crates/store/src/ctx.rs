//! Who asks, under which request, and when: the first argument of every store function.

use evalkit_core::policy::Actor;

/// The context of one call. Built once a request and never stored.
#[derive(Debug, Clone)]
pub struct Ctx {
    /// Who acts.
    pub actor: Actor,
    /// The request's id, for audit rows and error pages.
    pub request_id: String,
    /// Microseconds since 1970-01-01 UTC, read once a request.
    pub now: i64,
    /// The caller's network address, for audit rows and the sign-in limit; empty inside the server.
    pub ip: String,
}

impl Ctx {
    /// The id of the person who acts; `None` for nobody and for the engine.
    pub(crate) fn person_id(&self) -> Option<&str> {
        match &self.actor {
            Actor::Person { user_id, .. } => Some(user_id),
            Actor::Anonymous | Actor::System => None,
        }
    }

    /// The name that audit rows and pages give the actor.
    pub(crate) fn actor_name(&self) -> &str {
        match &self.actor {
            Actor::Person { name, .. } => name,
            Actor::Anonymous => "nobody",
            Actor::System => "evalkit",
        }
    }

    /// The token used, when there is one.
    pub(crate) fn token_id(&self) -> Option<&str> {
        match &self.actor {
            Actor::Person { token_id, .. } => token_id.as_deref(),
            Actor::Anonymous | Actor::System => None,
        }
    }
}
