//! The command line and the environment.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Printed for `--help` and after a mistake.
pub const USAGE: &str = "\
Usage: evalkit-example-agent [--port N] [--log FILE] [--delay-ms N]

  --port N       listen on 127.0.0.1:N; 0 takes a free port and prints it (FACTS_BOT_PORT, default 8090)
  --log FILE     append one JSON line for each call (FACTS_BOT_LOG)
  --delay-ms N   wait before each answer (FACTS_BOT_DELAY_MS, default 0)

  FACTS_BOT_SECRET   when set, calls need \"Authorization: Bearer <secret>\"";

/// How the agent runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// Where it listens; always this machine only.
    pub bind: SocketAddr,
    /// Where calls are logged.
    pub log: Option<PathBuf>,
    /// Wait before each answer.
    pub delay: Duration,
    /// What callers must know.
    pub secret: Option<String>,
}

impl Options {
    /// Reads the arguments; what they leave open comes from the environment.
    ///
    /// # Errors
    /// A sentence on what is wrong, or an empty text when help was asked for.
    pub fn read(
        arguments: impl IntoIterator<Item = String>,
        environment: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let mut port = environment("FACTS_BOT_PORT");
        let mut log = environment("FACTS_BOT_LOG");
        let mut delay = environment("FACTS_BOT_DELAY_MS");
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let slot = match argument.as_str() {
                "--port" => &mut port,
                "--log" => &mut log,
                "--delay-ms" => &mut delay,
                "--help" | "-h" => return Err(String::new()),
                other => return Err(format!("facts-bot: unknown argument {other}")),
            };
            let value = arguments.next();
            *slot = Some(value.ok_or_else(|| format!("facts-bot: {argument} needs a value"))?);
        }
        let port = match port {
            None => 8090,
            Some(text) => text
                .parse::<u16>()
                .map_err(|_| format!("facts-bot: {text} is not a port (0 to 65535)"))?,
        };
        let delay = match delay {
            None => 0,
            Some(text) => text
                .parse::<u64>()
                .map_err(|_| format!("facts-bot: {text} is not a number of milliseconds"))?,
        };
        Ok(Self {
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
            log: log.filter(|path| !path.is_empty()).map(PathBuf::from),
            delay: Duration::from_millis(delay),
            secret: environment("FACTS_BOT_SECRET").filter(|secret| !secret.is_empty()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    fn read(arguments: &[&str]) -> Result<Options, String> {
        Options::read(arguments.iter().map(|text| (*text).to_owned()), |name| {
            (name == "FACTS_BOT_PORT").then(|| "8100".to_owned())
        })
    }

    #[test]
    fn arguments_win_over_the_environment() {
        assert_eq!(read(&[]).unwrap().bind.port(), 8100);
        let given = read(&["--port", "0", "--delay-ms", "50", "--log", "calls.jsonl"]).unwrap();
        assert_eq!((given.bind.port(), given.delay.as_millis()), (0, 50));
        assert!(given.log.is_some());
    }

    #[test]
    fn mistakes_are_named() {
        for wrong in [
            &["--port"][..],
            &["--port", "70000"],
            &["--delay-ms", "soon"],
            &["--fast"],
        ] {
            assert!(read(wrong).is_err_and(|why| !why.is_empty()), "{wrong:?}");
        }
        assert_eq!(read(&["--help"]), Err(String::new()));
    }
}
