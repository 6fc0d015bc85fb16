//! What one call asks about: the order of the entries and the chunks of long lists (`grading.md`, The judge).

use super::{JudgeTask, Judged};
use crate::canonical;

/// Answer rubrics that one call asks about at most.
pub const MOST_AT_ONCE: usize = 40;

/// The entries of a task in the order they are asked in, one list a call. The order is shuffled by a seed of case, trial
/// and vote (0 for a judge without votes), so that no rubric always stands first. Lists of answer rubrics above
/// [`MOST_AT_ONCE`] go in chunks of even size; everything else goes in one call.
pub fn calls(task: &JudgeTask, vote: u32) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..task.entries.len()).collect();
    let seed = canonical::hash_bytes(
        format!(
            "{}\n{}\n{}\n{vote}",
            task.case_id,
            task.trial,
            task.evaluator.as_str()
        )
        .as_bytes(),
    );
    let mut dice = Dice(u64::from_str_radix(seed.get(..16).unwrap_or("0"), 16).unwrap_or(0));
    for last in (1..order.len()).rev() {
        order.swap(last, dice.below(last + 1));
    }
    if order.is_empty() {
        return Vec::new();
    }
    if task.evaluator != Judged::AnswerRubrics {
        return vec![order];
    }
    let calls = order.len().div_ceil(MOST_AT_ONCE);
    let size = order.len().div_ceil(calls);
    order.chunks(size).map(<[usize]>::to_vec).collect()
}

/// How an entry is called in a request: `r1` for the first of the case. From 0.
pub fn id(index: usize) -> String {
    format!("r{}", index + 1)
}

/// The entry an id names: `r1` is 0. Only the plain form counts, no leading zeros.
pub fn index(id: &str) -> Option<usize> {
    let digits = id.strip_prefix('r')?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    let number: usize = plain.then(|| digits.parse().ok())??;
    number.checked_sub(1)
}

/// SplitMix64: enough to shuffle with, and the same everywhere.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.roll() % (n.max(1) as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::testing::task;

    #[test]
    fn long_lists_go_in_even_chunks_that_hold_every_entry_once() {
        for (n, sizes) in [
            (1, vec![1]),
            (40, vec![40]),
            (41, vec![21, 20]),
            (100, vec![34, 34, 32]),
        ] {
            let task = task(n, "x");
            let calls = calls(&task, 0);
            assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), sizes);
            let mut all: Vec<usize> = calls.concat();
            all.sort_unstable();
            assert_eq!(all, (0..n).collect::<Vec<_>>());
        }
        let mut presentation = task(60, "x");
        presentation.evaluator = Judged::PresentationJudge;
        assert_eq!(calls(&presentation, 0).len(), 1);
        assert!(calls(&task(0, "x"), 0).is_empty());
    }

    #[test]
    fn the_order_follows_from_case_trial_and_vote() {
        let one = task(12, "x");
        assert_eq!(calls(&one, 0), calls(&one, 0));
        assert_ne!(calls(&one, 0), calls(&one, 1));
        let mut two = one.clone();
        two.trial = 2;
        assert_ne!(calls(&one, 0), calls(&two, 0));
        assert_ne!(calls(&one, 0)[0], (0..12).collect::<Vec<_>>());
    }

    #[test]
    fn ids() {
        assert_eq!(index(&id(0)), Some(0));
        assert_eq!(index(&id(99)), Some(99));
        for bad in [
            "r0",
            "r01",
            "R1",
            "1",
            "r",
            "r-1",
            "r1 ",
            "r99999999999999999999",
        ] {
            assert_eq!(index(bad), None, "{bad}");
        }
    }
}
