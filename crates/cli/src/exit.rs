//! Exit codes (`cli.md`) and failures: what happened, where, and what to do next.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done and met.
    Met,
    /// Not met: lint errors, a missed threshold, a sync conflict.
    NotMet,
    /// Something is not done or unscored.
    Incomplete,
    /// Configuration or usage.
    Misuse,
    /// Ctrl-C: 128 + the signal's number.
    Interrupted,
}

impl Exit {
    /// The number.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Met => 0,
            Self::NotMet => 1,
            Self::Incomplete => 2,
            Self::Misuse => 3,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why a command could not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// How the command ends.
    pub exit: Exit,
    /// The stable code, for what a server refused.
    pub code: Option<String>,
    /// What happened and where.
    pub message: String,
    /// What to do next.
    pub next: String,
    /// Further lines.
    pub details: Vec<String>,
}

impl Failure {
    /// Configuration, usage, or input that cannot be used.
    pub(crate) fn misuse(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::new(Exit::Misuse, message, next)
    }

    /// A failure that ends in `exit`.
    pub(crate) fn new(exit: Exit, message: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            exit,
            code: None,
            message: message.into(),
            next: next.into(),
            details: Vec::new(),
        }
    }
}

/// What a command hands back.
pub(crate) type Outcome = Result<Exit, Failure>;
