//! A refusal, in words that end with what to do.

use std::fmt;

use evalkit_core::error::{Code, Fault};

use super::address::AddressKind;

/// A URL that the server does not call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// The address without credentials and query.
    pub shown: String,
    /// Why.
    pub reason: DeniedReason,
    /// The lines for `config.yaml`; absent where nothing can allow it.
    pub lines: Option<String>,
}

/// Why a URL is not called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeniedReason {
    /// It is no URL, or a repaired spelling of one; the text says which part.
    Malformed(&'static str),
    /// Something else than `http` or `https`.
    Scheme,
    /// A user name or password inside the URL.
    Credentials,
    /// A port that belongs to another protocol.
    Port(u16),
    /// The host is, or resolves to, an address that the rules do not let through.
    Address(AddressKind),
    /// `http:` to a host that no rule allows.
    PlainHttp,
}

impl Denied {
    /// What happened, one sentence, without the lines to add.
    pub fn sentence(&self) -> String {
        let shown = &self.shown;
        match &self.reason {
            DeniedReason::Malformed(what) => format!("This is not a usable URL: {what}."),
            DeniedReason::Scheme => format!("{shown} is neither http nor https."),
            DeniedReason::Credentials => format!(
                "The URL of {shown} holds a user name or password. Store the secret with the agent, not in its URL."
            ),
            DeniedReason::Port(port) => format!(
                "The server does not call {shown}: port {port} belongs to another protocol."
            ),
            DeniedReason::Address(kind) if self.lines.is_none() => format!(
                "The server does not call {shown}: it is {}, which is never called.",
                kind.describe()
            ),
            DeniedReason::Address(kind) => format!(
                "The server does not call {shown}: it is {}, and `egress.allow` does not name it.",
                kind.describe()
            ),
            DeniedReason::PlainHttp => format!(
                "The server does not call {shown}: it is plain http, and `egress.allow` does not name it."
            ),
        }
    }

    /// The lines that allow `entry`, as they stand in `config.yaml`; with a list already there, the one line to add to it.
    pub(super) fn lines_for(entry: &str, list_exists: bool) -> String {
        if list_exists {
            format!("    - \"{entry}\"   # under egress: allow:")
        } else {
            format!("egress:\n  allow:\n    - \"{entry}\"")
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence())?;
        if let Some(lines) = &self.lines {
            write!(
                f,
                " To allow it, add to the server's config.yaml:\n\n{lines}"
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Denied {}

impl From<Denied> for Fault {
    fn from(denied: Denied) -> Self {
        let code = match denied.reason {
            DeniedReason::Malformed(_) | DeniedReason::Scheme | DeniedReason::Credentials => {
                Code::Invalid
            }
            DeniedReason::Port(_) | DeniedReason::Address(_) | DeniedReason::PlainHttp => {
                Code::EgressDenied
            }
        };
        let next = match &denied.lines {
            Some(_) => {
                "Add the lines below to the server's config.yaml and restart it, or use another address."
            }
            None => "Use another address.",
        };
        let details = denied
            .lines
            .iter()
            .flat_map(|lines| lines.lines())
            .map(str::to_owned)
            .collect();
        Self::new(code, denied.sentence(), next).with_details(details)
    }
}
