//! How an agent call fails, and whether another attempt may help.

use std::time::Duration;

use evalkit_core::run::{AgentErrorClass, RunError};

use crate::egress::{CallFailure, Denied, FailureKind};

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", error.class.as_str(), error.message)]
pub struct AgentFailure {
    /// Class and sentence, fit to store and show.
    pub error: RunError,
    /// Whether to try again.
    pub again: Again,
    /// Milliseconds the attempt took, by the engine's clock or as recorded.
    pub latency_ms: Option<u64>,
}

/// Whether another attempt may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The same call would end the same way, or has had its whole time.
    Never,
    /// After a pause of the engine's choice.
    Soon,
    /// Not before this pause, which the agent asked for.
    After(Duration),
}

impl AgentFailure {
    /// A failure that another attempt does not mend.
    pub fn of(class: AgentErrorClass, message: impl Into<String>) -> Self {
        Self {
            error: RunError {
                class,
                message: message.into(),
            },
            again: Again::Never,
            latency_ms: None,
        }
    }

    /// The same with another chance.
    #[must_use]
    pub fn again(mut self, again: Again) -> Self {
        self.again = again;
        self
    }

    /// The same with the time it took.
    #[must_use]
    pub fn took(mut self, elapsed: Duration) -> Self {
        self.latency_ms = Some(millis(elapsed));
        self
    }
}

impl From<CallFailure> for AgentFailure {
    fn from(failure: CallFailure) -> Self {
        use AgentErrorClass as C;
        let (class, again) = match failure.kind {
            FailureKind::Refused => (C::Refused, Again::Soon),
            FailureKind::Dns => (C::Dns, Again::Soon),
            FailureKind::Cut => (C::Cut, Again::Soon),
            FailureKind::Tls => (C::Tls, Again::Never),
            // The deadline is the trial's: no time is left for another attempt.
            FailureKind::Timeout => (C::Timeout, Again::Never),
            FailureKind::Denied => (C::EgressDenied, Again::Never),
            FailureKind::TooLarge => (C::TooLarge, Again::Never),
            FailureKind::Encoding => (C::NotJson, Again::Never),
        };
        Self::of(class, failure.message).again(again)
    }
}

impl From<Denied> for AgentFailure {
    fn from(denied: Denied) -> Self {
        Self::of(AgentErrorClass::EgressDenied, denied.to_string())
    }
}

/// Whole milliseconds, rounded.
pub(super) fn millis(elapsed: Duration) -> u64 {
    u64::try_from((elapsed.as_micros() + 500) / 1_000).unwrap_or(u64::MAX)
}
