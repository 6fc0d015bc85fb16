//! The clock, handed in at construction so that tests decide what time it is.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

/// One second in the store's unit of time.
pub(crate) const SECOND: i64 = 1_000_000;
/// One minute.
pub(crate) const MINUTE: i64 = 60 * SECOND;
/// One hour.
pub(crate) const HOUR: i64 = 60 * MINUTE;
/// One day.
pub(crate) const DAY: i64 = 24 * HOUR;

/// Tells the time in microseconds since 1970-01-01 UTC.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> i64;
}

/// The machine's clock.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that reads the machine's time"
    )]
    fn now(&self) -> i64 {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        i64::try_from(since.as_micros()).unwrap_or(i64::MAX)
    }
}

/// A clock that stands still until it is moved. For tests.
#[derive(Debug, Default)]
pub struct FixedClock(AtomicI64);

impl FixedClock {
    /// A clock that shows `now`, in microseconds.
    pub fn at(now: i64) -> Self {
        Self(AtomicI64::new(now))
    }

    /// Moves the clock by `micros`, which may be negative.
    pub fn advance(&self, micros: i64) {
        self.0.fetch_add(micros, Ordering::SeqCst);
    }
}

impl Clock for FixedClock {
    fn now(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}
