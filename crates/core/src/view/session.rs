//! The frame around every page.

use serde::{Deserialize, Serialize};

/// Who looks, and what the bar and banners need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// Absent when nobody is signed in.
    pub person: Option<Person>,
    /// Workspaces for the switch, personal first.
    pub workspaces: Vec<String>,
    /// The server runs `--demo`: every page says so.
    pub demo: bool,
    /// `public_url` is plain http on a non-loopback host: a "no TLS" banner.
    pub no_tls: bool,
    /// The judge in use.
    pub judge: JudgeInUse,
    /// Server clock, microseconds since 1970-01-01 UTC; relative times count from here on both sides.
    pub now: i64,
    /// The server's version, for the foot of the page.
    pub version: String,
}

/// A person as pages name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// The slug, also the personal workspace.
    pub name: String,
    /// As they write it.
    pub display_name: String,
    /// The server's owner.
    pub owner: bool,
}

/// The judge that new runs use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgeInUse {
    /// `offline`, `fake`, `replay`, ….
    pub provider: String,
    /// The model, when there is one.
    pub model: Option<String>,
    /// False for `offline` and `fake`.
    pub quality_signal: bool,
}

/// A person's access token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenRow {
    /// Its id.
    pub id: String,
    /// The name its maker gave it.
    pub name: String,
    /// Scopes as spelled.
    pub scopes: Vec<String>,
    /// Microseconds since 1970-01-01 UTC.
    pub created_at: i64,
    /// The end.
    pub expires_at: i64,
    /// Absent when never used.
    pub last_used_at: Option<i64>,
}

/// A token at the moment of its making: shown once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    /// What will be listed.
    pub row: TokenRow,
    /// `evk_…`, never shown again.
    pub secret: String,
    /// The line to paste into a terminal.
    pub login_line: String,
}
