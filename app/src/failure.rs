//! The error of every server function: a fault of the core's catalogue (`S-…`), carried as JSON.

use evalkit_core::error::{Code, Fault};
use leptos::server_fn::codec::JsonEncoding;
use leptos::server_fn::error::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

/// A [`Fault`] on its way from a server function to a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("{0}")]
#[serde(transparent)]
pub struct Failure(pub Fault);

impl Failure {
    /// The server did not answer, or with something else.
    pub fn away() -> Self {
        Self(Fault::new(
            Code::Busy,
            "The server did not answer.",
            "Check your connection and try again; what you typed is still here.",
        ))
    }

    /// What the server sent is not what this page reads.
    pub fn other_version() -> Self {
        Self(Fault::new(
            Code::Internal,
            "The server's answer was not understood.",
            "Evalkit was probably updated while this page was open: load the page again.",
        ))
    }

    /// A fault of ours without more to say.
    pub fn internal() -> Self {
        Self(Fault::new(
            Code::Internal,
            "This failed on our side.",
            "Load the page again; the server's log has the cause.",
        ))
    }
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Self {
        Self(fault)
    }
}

impl FromServerFnError for Failure {
    type Encoder = JsonEncoding;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        Self(match error {
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Response(_) => return Self::away(),
            ServerFnErrorErr::Args(what) | ServerFnErrorErr::MissingArg(what) => Fault::new(
                Code::Invalid,
                format!("The form was not understood: {what}."),
                "Load the page again and repeat what you did.",
            ),
            ServerFnErrorErr::Deserialization(_) => return Self::other_version(),
            _ => return Self::internal(),
        })
    }
}
