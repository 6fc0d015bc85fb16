//! When a failed call is made again.

use std::time::Duration;

use crate::adapter::Again;

/// The first pause; it doubles with each attempt.
const FIRST: Duration = Duration::from_millis(250);
/// No pause of ours is longer.
const LONGEST: Duration = Duration::from_secs(30);

/// How long to wait before another attempt; `None` when there is none. `attempts` counts those made, `luck` in 0..1
/// spreads calls that failed together.
pub(crate) fn pause(again: Again, attempts: u32, max_attempts: u32, luck: f64) -> Option<Duration> {
    if attempts >= max_attempts.max(1) {
        return None;
    }
    let doubled = FIRST
        .saturating_mul(1 << attempts.saturating_sub(1).min(10))
        .min(LONGEST);
    match again {
        Again::Never => None,
        Again::Soon => Some(doubled.mul_f64(0.75 + luck.clamp(0.0, 1.0) * 0.5)),
        // Never sooner than asked; a little later, so that not everybody comes back at once.
        Again::After(asked) => Some(asked + doubled.min(asked / 10).mul_f64(luck.clamp(0.0, 1.0))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        assert_eq!(pause(Again::Never, 1, 3, 0.5), None);
        assert_eq!(
            pause(Again::Soon, 1, 3, 0.5),
            Some(Duration::from_millis(250))
        );
        assert_eq!(
            pause(Again::Soon, 2, 3, 0.5),
            Some(Duration::from_millis(500))
        );
        assert_eq!(pause(Again::Soon, 3, 3, 0.5), None);
        assert_eq!(pause(Again::Soon, 19, 20, 0.5), Some(LONGEST));
        for luck in [0.0, 0.5, 1.0] {
            let asked = Duration::from_secs(10);
            let wait = pause(Again::After(asked), 1, 3, luck).unwrap();
            assert!(wait >= asked && wait <= asked.mul_f64(1.2), "{wait:?}");
        }
    }
}
