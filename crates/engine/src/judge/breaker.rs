//! The circuit breaker of one endpoint: after several failures in a row it is left alone, then probed by one call.

use std::time::Duration;

use tokio::time::Instant;

/// Failures in a row that open it.
const MOST_FAILURES: u32 = 8;
/// Probes that failed in a row before calls no longer wait for the next one.
const PATIENCE: u32 = 2;

/// The state. Pure: times come from the caller.
#[derive(Debug)]
pub(super) struct Breaker {
    failures: u32,
    failed_probes: u32,
    state: State,
    rest: Duration,
    why: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    Open { until: Instant },
    Probing,
}

/// Whether a call may start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum May {
    /// Now.
    Go,
    /// Now, and what comes of it decides for the others.
    Probe,
    /// Not before this time.
    WaitUntil(Instant),
    /// A probe is under way.
    WaitForProbe,
    /// The endpoint has failed for long; waiting is of no use. With what the last failure said.
    GiveUp(String),
}

impl Breaker {
    pub(super) fn new(rest: Duration) -> Self {
        Self {
            failures: 0,
            failed_probes: 0,
            state: State::Closed,
            rest,
            why: String::new(),
        }
    }

    pub(super) fn may(&mut self, now: Instant) -> May {
        match self.state {
            State::Closed => May::Go,
            State::Open { until } if until <= now => {
                self.state = State::Probing;
                May::Probe
            }
            _ if self.failed_probes >= PATIENCE => May::GiveUp(self.why.clone()),
            State::Open { until } => May::WaitUntil(until),
            State::Probing => May::WaitForProbe,
        }
    }

    /// A call was answered. True when that closed the breaker.
    pub(super) fn answered(&mut self) -> bool {
        self.failures = 0;
        self.failed_probes = 0;
        std::mem::replace(&mut self.state, State::Closed) != State::Closed
    }

    /// A call failed; gives the time of the next probe when that opened the breaker.
    pub(super) fn failed(&mut self, now: Instant, why: &str) -> Option<Instant> {
        why.clone_into(&mut self.why);
        match self.state {
            State::Closed => {
                self.failures += 1;
                if self.failures < MOST_FAILURES {
                    return None;
                }
            }
            State::Probing => self.failed_probes += 1,
            // A call from before it opened.
            State::Open { .. } => return None,
        }
        let until = now + self.rest;
        self.state = State::Open { until };
        Some(until)
    }

    /// A probe ended without an answer or a failure: its run was cancelled. The next call probes.
    pub(super) fn abandoned(&mut self, now: Instant) {
        if self.state == State::Probing {
            self.state = State::Open { until: now };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: Duration = Duration::from_secs(30);

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::new(REST);
        for n in 1..=MOST_FAILURES {
            assert_eq!(breaker.may(now), May::Go);
            assert_eq!(
                breaker.failed(now, "HTTP 500").is_some(),
                n == MOST_FAILURES
            );
        }
        breaker
    }

    #[test]
    fn it_opens_within_ten_failures_and_probes_within_a_minute() {
        const { assert!(MOST_FAILURES <= 10) };
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.may(now), May::WaitUntil(now + REST));
        assert_eq!(breaker.may(now + REST), May::Probe);
        assert_eq!(
            breaker.may(now + REST),
            May::WaitForProbe,
            "one probe at a time"
        );
        assert!(breaker.answered());
        assert_eq!(breaker.may(now + REST), May::Go);
        assert!(!breaker.answered());
    }

    #[test]
    fn failures_that_are_not_in_a_row_do_not_open_it() {
        let now = Instant::now();
        let mut breaker = Breaker::new(REST);
        for _ in 0..5 * MOST_FAILURES {
            assert_eq!(breaker.failed(now, "x"), None);
            breaker.answered();
        }
    }

    #[test]
    fn after_two_failed_probes_nobody_waits() {
        let mut now = Instant::now();
        let mut breaker = opened(now);
        for probe in 1..=PATIENCE {
            now += REST;
            assert_eq!(breaker.may(now), May::Probe);
            assert_eq!(breaker.failed(now, "still down"), Some(now + REST));
            let wanted = if probe < PATIENCE {
                May::WaitUntil(now + REST)
            } else {
                May::GiveUp("still down".to_owned())
            };
            assert_eq!(breaker.may(now), wanted);
        }
        assert_eq!(
            breaker.may(now + REST),
            May::Probe,
            "it is probed all the same"
        );
        assert!(breaker.answered());
        assert_eq!(breaker.may(now), May::Go);
    }

    #[test]
    fn a_probe_that_was_cancelled_leaves_room_for_the_next() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert_eq!(breaker.may(now + REST), May::Probe);
        breaker.abandoned(now + REST);
        assert_eq!(breaker.may(now + REST), May::Probe);
    }
}
