//! What a command takes from the environment, read once (`cli.md`, `config.md`).

use std::path::PathBuf;

use etcetera::{BaseStrategy as _, choose_base_strategy};

/// The environment of one command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// `EVALKIT_SERVER`.
    pub server: Option<String>,
    /// `EVALKIT_TOKEN`, which goes before stored tokens.
    pub token: Option<String>,
    /// `CI` is set: no progress bars, no questions.
    pub ci: bool,
    /// Where the command keeps what it knows about servers; the platform's configuration folder.
    pub config: Option<PathBuf>,
    /// The working directory.
    pub folder: PathBuf,
}

impl Environment {
    /// Reads the process's environment.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place where commands read it"
    )]
    pub(crate) fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|text| !text.is_empty());
        Self {
            server: text("EVALKIT_SERVER"),
            token: text("EVALKIT_TOKEN"),
            ci: text("CI").is_some_and(|ci| ci != "false" && ci != "0"),
            config: choose_base_strategy()
                .ok()
                .map(|strategy| strategy.config_dir().join("evalkit")),
            folder: std::env::current_dir().unwrap_or_default(),
        }
    }
}

/// A secret that an option names by its environment variable, so that it stands on no command line.
#[expect(
    clippy::disallowed_methods,
    reason = "the user names the variable on the command line"
)]
pub(crate) fn secret(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|text| !text.is_empty())
}
