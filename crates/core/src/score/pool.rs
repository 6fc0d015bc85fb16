//! Corpus scores: pooled counts with a 95 % interval (`grading.md`: Σs ÷ Σn; Repeats: cluster bootstrap over cases).

use std::collections::BTreeMap;

use crate::results::PooledScore;

/// What one trial gives to one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution<'a> {
    /// The case, which is the cluster: trials of one case are resampled together.
    pub case: &'a str,
    /// What held; for a score on a scale of its own, the number.
    pub num: f64,
    /// What was asked; for a score on a scale of its own, 1.
    pub den: f64,
}

/// Resamples that an interval is made from.
pub const RESAMPLES: usize = 2_000;

/// Pools contributions: Σ num ÷ Σ den, with the 2.5th and 97.5th percentile (nearest rank) of the same quotient over
/// [`RESAMPLES`] resamples of as many cases as there are, drawn with replacement. The draws come from a fixed seed, so
/// equal input gives equal intervals everywhere. Without two cases there is no interval; `None` when nothing was asked.
pub fn pool(contributions: &[Contribution<'_>], of_cases: u64) -> Option<PooledScore> {
    let mut clusters: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for contribution in contributions {
        let cluster = clusters.entry(contribution.case).or_default();
        cluster.0 += contribution.num;
        cluster.1 += contribution.den;
    }
    let clusters: Vec<(f64, f64)> = clusters.into_values().collect();
    let num: f64 = clusters.iter().map(|c| c.0).sum();
    let den: f64 = clusters.iter().map(|c| c.1).sum();
    if den <= 0.0 {
        return None;
    }
    let interval = interval(&clusters);
    Some(PooledScore {
        value: num / den,
        num,
        den,
        low: interval.map(|i| i.0),
        high: interval.map(|i| i.1),
        cases: contributions.len() as u64,
        of_cases,
    })
}

fn interval(clusters: &[(f64, f64)]) -> Option<(f64, f64)> {
    if clusters.len() < 2 {
        return None;
    }
    let mut draw = SplitMix(0x45_76_61_6c_6b_69_74);
    let mut values: Vec<f64> = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let (mut num, mut den) = (0.0, 0.0);
        for _ in 0..clusters.len() {
            let cluster = clusters[draw.below(clusters.len())];
            num += cluster.0;
            den += cluster.1;
        }
        // Clusters that were asked nothing may fill a resample; it says nothing then.
        if den > 0.0 {
            values.push(num / den);
        }
    }
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    // Nearest rank: of 2,000 values the 50th and the 1,950th.
    let rank = |per_mille: usize| (values.len() * per_mille).div_ceil(1_000).saturating_sub(1);
    Some((values[rank(25).min(last)], values[rank(975).min(last)]))
}

/// SplitMix64 (Steele, Lea and Flood, 2014): small, and good enough to draw cases.
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// An index below `n`, by the high half of a product; the bias is below 2^-32 for any list that fits in memory.
    fn below(&mut self, n: usize) -> usize {
        let wide = u128::from(self.next()) * (n as u128);
        usize::try_from(wide >> 64).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(list: &[(&'static str, f64, f64)]) -> Vec<Contribution<'static>> {
        list.iter()
            .map(|(case, num, den)| Contribution {
                case,
                num: *num,
                den: *den,
            })
            .collect()
    }

    #[test]
    fn counts_are_pooled_and_never_averaged() {
        let pooled = pool(&shares(&[("a", 1.0, 1.0), ("b", 0.0, 9.0)]), 5).unwrap();
        assert!(
            (pooled.value - 0.1).abs() < 1e-12,
            "not 0.5, the mean of the cases"
        );
        assert_eq!(
            (pooled.num, pooled.den, pooled.cases, pooled.of_cases),
            (1.0, 10.0, 2, 5)
        );
        assert_eq!(pool(&[], 3), None);
        assert_eq!(pool(&shares(&[("a", 0.0, 0.0)]), 3), None);
    }

    #[test]
    fn trials_of_one_case_are_one_cluster() {
        let one = pool(&shares(&[("a", 1.0, 2.0), ("a", 2.0, 2.0)]), 2).unwrap();
        assert_eq!((one.low, one.high), (None, None));
        let same = pool(&shares(&[("a", 1.0, 2.0), ("b", 1.0, 2.0)]), 2).unwrap();
        assert_eq!((same.low, same.high), (Some(0.5), Some(0.5)));
    }

    #[test]
    fn the_interval_has_the_width_that_theory_expects() {
        // 100 cases of one rubric each, 70 of which hold: the binomial 95 % interval is about 0.70 ± 0.09.
        let names: Vec<String> = (0..100).map(|n| format!("c{n}")).collect();
        let list: Vec<Contribution<'_>> = names
            .iter()
            .enumerate()
            .map(|(n, case)| Contribution {
                case,
                num: f64::from(u8::from(n < 70)),
                den: 1.0,
            })
            .collect();
        let pooled = pool(&list, 100).unwrap();
        let (low, high) = (pooled.low.unwrap(), pooled.high.unwrap());
        assert!((0.59..0.63).contains(&low), "{low}");
        assert!((0.77..0.81).contains(&high), "{high}");
        assert_eq!(
            pool(&list, 100),
            Some(pooled),
            "equal input, equal interval"
        );
    }

    proptest! {
        #[test]
        fn the_interval_lies_within_the_cases(list in prop::collection::vec((0u32..6, 1u32..6), 2..8)) {
            let names: Vec<String> = (0..list.len()).map(|n| n.to_string()).collect();
            let contributions: Vec<Contribution<'_>> = list.iter().zip(&names).map(|((num, den), case)| {
                Contribution { case, num: f64::from(*num.min(den)), den: f64::from(*den) }
            }).collect();
            let pooled = pool(&contributions, 8).unwrap();
            let (low, high) = (pooled.low.unwrap(), pooled.high.unwrap());
            let rates: Vec<f64> = contributions.iter().map(|c| c.num / c.den).collect();
            let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
            let most = rates.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(least - 1e-9 <= low && low <= high && high <= most + 1e-9);
            prop_assert!(low <= pooled.value + 1e-9 && pooled.value <= high + 1e-9);
        }
    }
}
