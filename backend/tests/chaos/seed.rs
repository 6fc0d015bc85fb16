//! Numbers that can be repeated.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

/// SplitMix64: enough for moments and choices, and the same everywhere.
pub struct Seed(u64);

impl Seed {
    /// From `EVALKIT_CHAOS_SEED`, else a new one; printed, so that a failure can be repeated.
    pub fn new(test: &str) -> Self {
        let seed = variable("EVALKIT_CHAOS_SEED")
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| RandomState::new().build_hasher().finish());
        println!("{test}: EVALKIT_CHAOS_SEED={seed}");
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From `low` to below `high`.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test process learns from its environment what it tests"
)]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
