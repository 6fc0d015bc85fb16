//! What bounds the calls to one agent across all experiments: calls at once, calls a second, and pauses it asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

/// The bounds of one agent.
#[derive(Debug)]
pub(crate) struct Gate {
    /// Calls at once.
    pub(crate) calls: Arc<Semaphore>,
    pace: Mutex<Pace>,
}

/// A token bucket of one second's calls, as the time at which it would be full again.
#[derive(Debug)]
struct Pace {
    interval: Duration,
    burst: Duration,
    full_at: Instant,
    held_until: Instant,
}

impl Gate {
    /// A gate for `concurrency` calls at once and, when given, `rate_per_s` calls a second.
    pub(crate) fn new(concurrency: u32, rate_per_s: Option<f64>, now: Instant) -> Self {
        let rate = rate_per_s.filter(|rate| rate.is_finite() && *rate > 0.0);
        let interval = rate.map_or(Duration::ZERO, |rate| {
            Duration::try_from_secs_f64(1.0 / rate).unwrap_or(Duration::MAX / 4)
        });
        Self {
            calls: Arc::new(Semaphore::new(concurrency.max(1) as usize)),
            pace: Mutex::new(Pace {
                // A second's worth may go at once; below one call a second, one.
                burst: Duration::from_secs(1).saturating_sub(interval),
                interval,
                full_at: now,
                held_until: now,
            }),
        }
    }

    /// Takes the next free place and gives the time at which its call may start.
    pub(crate) fn reserve(&self, now: Instant) -> Instant {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        let earliest = pace.full_at.checked_sub(pace.burst).unwrap_or(now);
        let start = now.max(earliest).max(pace.held_until);
        pace.full_at = pace.full_at.max(start) + pace.interval;
        start
    }

    /// Lets no call start for `pause`: the agent asked for it.
    pub(crate) fn hold(&self, now: Instant, pause: Duration) {
        let mut pace = self.pace.lock().unwrap_or_else(PoisonError::into_inner);
        pace.held_until = pace.held_until.max(now + pause);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(rate: Option<f64>, n: usize) -> Vec<u128> {
        let now = Instant::now();
        let gate = Gate::new(4, rate, now);
        (0..n)
            .map(|_| (gate.reserve(now) - now).as_millis())
            .collect()
    }

    #[tokio::test]
    async fn a_second_of_calls_at_once_then_evenly() {
        assert_eq!(starts(None, 3), [0, 0, 0]);
        assert_eq!(starts(Some(4.0), 7), [0, 0, 0, 0, 250, 500, 750]);
        assert_eq!(starts(Some(0.5), 3), [0, 2_000, 4_000]);
        assert_eq!(starts(Some(f64::NAN), 2), [0, 0]);
    }

    #[tokio::test]
    async fn a_pause_holds_every_call() {
        let now = Instant::now();
        let gate = Gate::new(1, None, now);
        gate.hold(now, Duration::from_secs(3));
        gate.hold(now, Duration::from_secs(1));
        assert_eq!(gate.reserve(now) - now, Duration::from_secs(3));
        assert_eq!(
            gate.reserve(now + Duration::from_secs(5)),
            now + Duration::from_secs(5)
        );
    }
}
