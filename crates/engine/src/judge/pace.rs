//! How long a judge is waited for.

use std::time::Duration;

/// How patient judges are. The defaults are for production; tests scale them down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgePace {
    /// From the first byte sent to the last byte read of one call.
    pub allowed: Duration,
    /// Before the second try; doubled for each further one.
    pub first_pause: Duration,
    /// No pause of our own is longer.
    pub longest_pause: Duration,
    /// The longest pause that an endpoint may ask for; beyond, the call has failed.
    pub longest_asked: Duration,
    /// How long an endpoint that failed is left alone before a probe; at most 60 s.
    pub rest: Duration,
}

impl Default for JudgePace {
    fn default() -> Self {
        Self {
            allowed: Duration::from_secs(120),
            first_pause: Duration::from_millis(500),
            longest_pause: Duration::from_secs(20),
            longest_asked: Duration::from_secs(120),
            rest: Duration::from_secs(30),
        }
    }
}
