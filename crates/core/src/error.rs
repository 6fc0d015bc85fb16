//! The catalogue of server error codes (`cli.md`: "Server errors have codes `S-…` in one catalogue file").
//!
//! An error that reaches a person has a code, what happened, what to do next, and a request id (added at the edge).

use serde::{Deserialize, Serialize};

macro_rules! catalogue {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $status:literal;)*) => {
        /// A stable error code.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $code)] $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// The code as people and formats see it.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code,)* }
            }

            /// The HTTP status it answers with.
            pub const fn status(self) -> u16 {
                match self { $(Self::$name => $status,)* }
            }
        }
    };
}

catalogue! {
    /// There is no such thing, or the caller may not see it; the two are never told apart (`review.md`).
    NotFound = "S-NOT-FOUND", 404;
    /// Nobody is signed in, or the token is unknown, ended or revoked.
    SignIn = "S-SIGN-IN", 401;
    /// The caller sees the thing but may not do this to it.
    Forbidden = "S-FORBIDDEN", 403;
    /// A field of the request is not valid.
    Invalid = "S-INVALID", 422;
    /// The name is in use.
    NameTaken = "S-NAME-TAKEN", 409;
    /// The thing moved since the caller saw it, or its state does not allow this.
    Conflict = "S-CONFLICT", 409;
    /// Lint errors refuse a sync; the body lists every diagnostic.
    Lint = "S-LINT", 422;
    /// Fixture bytes are missing or differ from the registry; the body names every key.
    Fixtures = "S-FIXTURES", 422;
    /// The body or an upload is larger than its limit.
    TooLarge = "S-TOO-LARGE", 413;
    /// A limit of `config.yaml` is reached.
    Limit = "S-LIMIT", 422;
    /// Too many attempts; try again later.
    RateLimited = "S-RATE-LIMITED", 429;
    /// A request with a cookie came from another site.
    CrossSite = "S-CROSS-SITE", 403;
    /// The server refuses to call this address.
    EgressDenied = "S-EGRESS-DENIED", 422;
    /// The setup link was used, or is not the one printed.
    SetupLink = "S-SETUP-LINK", 404;
    /// The database is busy; try again.
    Busy = "S-BUSY", 503;
    /// No space is left to write.
    StorageFull = "S-STORAGE-FULL", 507;
    /// A fault of the server; the log has it under the request id.
    Internal = "S-INTERNAL", 500;
}

/// An error as data: what happened and what to do next. Crosses HTTP, server functions and the command alike.
#[derive(
    Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error, utoipa::ToSchema,
)]
#[error("{message}")]
pub struct Fault {
    /// The stable code.
    #[schema(value_type = String, example = "S-NOT-FOUND")]
    pub code: Code,
    /// What happened and where, one sentence.
    pub message: String,
    /// What to do next, one sentence.
    pub next: String,
    /// Further lines, e.g. each diagnostic or key.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// The request it came from; added at the edge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Fault {
    /// A fault without details.
    pub fn new(code: Code, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            next: next.into(),
            details: Vec::new(),
            request_id: None,
        }
    }

    /// The one answer for "missing" and "not yours", word for word the same.
    pub fn not_found() -> Self {
        Self::new(
            Code::NotFound,
            "There is nothing at this address that you can see.",
            "Check the address, or ask someone who shares the workspace with you.",
        )
    }

    /// The same fault with further lines.
    #[must_use]
    pub fn with_details(mut self, details: Vec<String>) -> Self {
        self.details = details;
        self
    }
}
