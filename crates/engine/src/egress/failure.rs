//! How a call fails, in a closed list that agents, judges and evaluators share.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use super::denied::Denied;

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FailureKind {
    /// Nothing accepts connections there, or no route leads there.
    Refused,
    /// The name does not resolve.
    Dns,
    /// TLS could not be agreed.
    Tls,
    /// The time allowed for the whole call ran out.
    Timeout,
    /// The policy does not let the address through.
    Denied,
    /// The connection ended before the reply was whole.
    Cut,
    /// The reply is larger than allowed, after decompression.
    TooLarge,
    /// The reply's encoding is broken or unknown.
    Encoding,
}

/// A failed call: the kind, and a sentence fit to store and show (no URL query, no credential, no body).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFailure {
    /// Which of the closed list.
    pub kind: FailureKind,
    /// For people.
    pub message: String,
}

impl CallFailure {
    /// A failure with its sentence.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
        }
    }

    pub(super) fn timed_out(allowed: Duration) -> Self {
        Self::new(
            FailureKind::Timeout,
            format!("No complete reply within {} s.", seconds(allowed)),
        )
    }

    /// Sorts a client error into the list. `https` says that TLS had to be agreed first.
    pub(super) fn of(error: &reqwest::Error, shown: &str, https: bool, allowed: Duration) -> Self {
        if let Some(denied) = find::<Denied>(error) {
            return Self::new(FailureKind::Denied, denied.to_string());
        }
        if find::<super::peer::UnknownPeer>(error).is_some() {
            return Self::new(
                FailureKind::Denied,
                format!("{shown} did not say which address answered, so nothing was sent."),
            );
        }
        if error.is_timeout() {
            return if error.is_connect() {
                Self::new(
                    FailureKind::Timeout,
                    format!("{shown} did not accept a connection in time."),
                )
            } else {
                Self::timed_out(allowed)
            };
        }
        if error.is_dns() {
            return Self::new(
                FailureKind::Dns,
                format!("The host of {shown} does not resolve."),
            );
        }
        if let Some(tls) = find_tls(error) {
            return Self::new(
                FailureKind::Tls,
                format!("{shown} and the server could not agree on TLS: {tls}."),
            );
        }
        if error.is_connect() {
            let io = find::<io::Error>(error).map(io::Error::kind);
            let no_server = matches!(
                io,
                Some(
                    io::ErrorKind::ConnectionRefused
                        | io::ErrorKind::HostUnreachable
                        | io::ErrorKind::NetworkUnreachable
                        | io::ErrorKind::AddrNotAvailable
                        | io::ErrorKind::PermissionDenied
                )
            );
            if https && !no_server {
                return Self::new(
                    FailureKind::Tls,
                    format!("{shown} ended the connection before TLS was agreed."),
                );
            }
            return Self::new(
                FailureKind::Refused,
                format!("Nothing accepts connections at {shown}."),
            );
        }
        // A connection that ends early also surfaces as a failed decoding; only the bytes themselves make it one.
        if error.is_decode() && find::<hyper::Error>(error).is_none() {
            return Self::new(
                FailureKind::Encoding,
                format!("The reply of {shown} is not in the encoding it names."),
            );
        }
        Self::new(
            FailureKind::Cut,
            format!("{shown} ended the connection before its reply was whole."),
        )
    }
}

/// `0.3` or `30`, without trailing zeros.
pub(super) fn seconds(duration: Duration) -> String {
    let text = format!("{:.1}", duration.as_secs_f64());
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}

/// The first error of type `T` in the chain, looking inside I/O errors too.
fn find<'e, T: StdError + 'static>(error: &'e (dyn StdError + 'static)) -> Option<&'e T> {
    let mut next = Some(error);
    while let Some(current) = next {
        if let Some(found) = current.downcast_ref::<T>() {
            return Some(found);
        }
        if let Some(io) = current.downcast_ref::<io::Error>()
            && let Some(inner) = io.get_ref()
            && let Some(found) = find_ref::<T>(inner)
        {
            return Some(found);
        }
        next = current.source();
    }
    None
}

fn find_ref<'e, T: StdError + 'static>(
    error: &'e (dyn StdError + Send + Sync + 'static),
) -> Option<&'e T> {
    find::<T>(error)
}

fn find_tls(error: &(dyn StdError + 'static)) -> Option<String> {
    find::<rustls::Error>(error).map(|tls| match tls {
        rustls::Error::InvalidCertificate(_) => "its certificate is not accepted".to_owned(),
        rustls::Error::InvalidMessage(_) => "it does not speak TLS".to_owned(),
        rustls::Error::AlertReceived(alert) => format!("it answered with the alert {alert:?}"),
        other => super::scrub::shorten(&other.to_string(), 200),
    })
}
