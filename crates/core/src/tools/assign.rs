//! Which call stands for which expected call. Both ways of matching are exact and polynomial: 2,000 calls against 200
//! entries take milliseconds.

use std::collections::VecDeque;

/// Which call fits which entry.
pub(super) struct Grid {
    entries: usize,
    calls: usize,
    fits: Vec<bool>,
}

impl Grid {
    pub(super) fn new(entries: usize, calls: usize, fits: impl Fn(usize, usize) -> bool) -> Self {
        Self {
            entries,
            calls,
            fits: (0..entries)
                .flat_map(|entry| (0..calls).map(move |call| (entry, call)))
                .map(|(entry, call)| fits(entry, call))
                .collect(),
        }
    }

    pub(super) fn fits(&self, entry: usize, call: usize) -> bool {
        self.fits[entry * self.calls + call]
    }
}

/// For each entry its call: a maximum matching. Of all maximum matchings, one that uses the earliest calls and serves the
/// earliest entries; each entry in turn then has the earliest call that leaves the others theirs.
///
/// Both sets can be had at once: a matching that covers the best set of calls and one that covers the best set of entries
/// combine into one that covers both (Mendelsohn and Dulmage, 1958). Serving vertices in order by augmenting paths finds
/// the first set in lexicographic order, since the sets that can be matched form a matroid.
pub(super) fn unordered(grid: &Grid) -> Vec<Option<usize>> {
    let mut by_call = Matching::new(grid.calls, grid.entries);
    for call in 0..grid.calls {
        if by_call.size == grid.entries {
            break;
        }
        by_call.serve(call, |call, entry| grid.fits(entry, call));
    }
    let calls: Vec<usize> = (0..grid.calls)
        .filter(|c| by_call.right_of[*c].is_some())
        .collect();
    let mut by_entry = Matching::new(grid.entries, calls.len());
    for entry in 0..grid.entries {
        by_entry.serve(entry, |entry, at| grid.fits(entry, calls[at]));
    }
    by_entry.settle(|entry, at| grid.fits(entry, calls[at]));
    by_entry
        .right_of
        .iter()
        .map(|at| at.map(|at| calls[at]))
        .collect()
}

/// A matching of left vertices to right vertices.
struct Matching {
    right_of: Vec<Option<usize>>,
    left_of: Vec<Option<usize>>,
    /// Right vertices that a failed search has reached: no later search gains by them.
    dead: Vec<bool>,
    size: usize,
}

impl Matching {
    fn new(left: usize, right: usize) -> Self {
        Self {
            right_of: vec![None; left],
            left_of: vec![None; right],
            dead: vec![false; right],
            size: 0,
        }
    }

    /// Matches one more left vertex, moving others where needed; those matched stay matched.
    fn serve(&mut self, start: usize, edge: impl Fn(usize, usize) -> bool) {
        let rights = self.left_of.len();
        let mut from: Vec<Option<usize>> = vec![None; rights];
        let mut queue = VecDeque::from([start]);
        while let Some(left) = queue.pop_front() {
            for right in 0..rights {
                if self.dead[right] || from[right].is_some() || !edge(left, right) {
                    continue;
                }
                from[right] = Some(left);
                match self.left_of[right] {
                    Some(next) => queue.push_back(next),
                    None => return self.shift(right, &from),
                }
            }
        }
        for (dead, from) in self.dead.iter_mut().zip(from) {
            *dead |= from.is_some();
        }
    }

    /// Walks a path back, giving each left vertex on it the right one it was searched through.
    fn shift(&mut self, end: usize, from: &[Option<usize>]) {
        let mut next = Some(end);
        while let Some(right) = next {
            let Some(left) = from[right] else { break };
            next = self.right_of[left].replace(right);
            self.left_of[right] = Some(left);
        }
        self.size += 1;
    }

    /// Gives each left vertex in turn the first right vertex that leaves all others matched.
    fn settle(&mut self, edge: impl Fn(usize, usize) -> bool) {
        for left in 0..self.right_of.len() {
            let Some(own) = self.right_of[left] else {
                continue;
            };
            let onward = self.onward(left, own, &edge);
            let better = (0..own).find(|right| {
                edge(left, *right)
                    && self.left_of[*right]
                        .is_some_and(|owner| owner > left && onward[owner].is_some())
            });
            let Some(better) = better else { continue };
            let mut displaced = self.left_of[better];
            self.right_of[left] = Some(better);
            self.left_of[better] = Some(left);
            while let Some(moved) = displaced {
                let Some(to) = onward[moved] else { break };
                displaced = if to == own { None } else { self.left_of[to] };
                self.right_of[moved] = Some(to);
                self.left_of[to] = Some(moved);
            }
        }
    }

    /// For each later left vertex: the right vertex it could move to, on a chain of moves that ends at `free`.
    fn onward(
        &self,
        settled: usize,
        free: usize,
        edge: impl Fn(usize, usize) -> bool,
    ) -> Vec<Option<usize>> {
        let mut onward = vec![None; self.right_of.len()];
        let mut queue = VecDeque::from([free]);
        while let Some(right) = queue.pop_front() {
            for (left, own) in self.right_of.iter().enumerate().skip(settled + 1) {
                if onward[left].is_none()
                    && edge(left, right)
                    && let Some(own) = own
                {
                    onward[left] = Some(right);
                    queue.push_back(*own);
                }
            }
        }
        onward
    }
}

/// For each entry its call: the longest assignment in which entries and calls go up together; of equally long ones, the
/// one with the earliest calls, served to the earliest entries.
pub(super) fn ordered(grid: &Grid) -> Vec<Option<usize>> {
    // longest(entry, call): how many can be matched from there on.
    let width = grid.calls + 1;
    let mut table = vec![0u32; (grid.entries + 1) * width];
    for entry in (0..grid.entries).rev() {
        for call in (0..grid.calls).rev() {
            let skip = table[(entry + 1) * width + call].max(table[entry * width + call + 1]);
            let take = if grid.fits(entry, call) {
                1 + table[(entry + 1) * width + call + 1]
            } else {
                0
            };
            table[entry * width + call] = skip.max(take);
        }
    }
    let longest = |entry: usize, call: usize| table[entry * width + call];
    let mut assigned = vec![None; grid.entries];
    let mut next_entry = 0;
    for call in 0..grid.calls {
        let left = longest(next_entry, call);
        // The first entry that the call fits leaves the most behind it.
        let first = (next_entry..grid.entries).find(|entry| grid.fits(*entry, call));
        if let Some(entry) = first
            && 1 + longest(entry + 1, call + 1) == left
        {
            assigned[entry] = Some(call);
            next_entry = entry + 1;
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Every assignment there is, by trying.
    fn all(grid: &Grid, ordered: bool) -> Vec<Vec<Option<usize>>> {
        let mut out = vec![Vec::new()];
        for entry in 0..grid.entries {
            let mut next = Vec::new();
            for partial in out {
                for call in std::iter::once(None).chain((0..grid.calls).map(Some)) {
                    let fits = call.is_none_or(|c| {
                        grid.fits(entry, c)
                            && !partial.contains(&Some(c))
                            && (!ordered || partial.iter().flatten().all(|p: &usize| *p < c))
                    });
                    if fits {
                        let mut longer = partial.clone();
                        longer.push(call);
                        next.push(longer);
                    }
                }
            }
            out = next;
        }
        out
    }

    /// The rule, word for word: most entries, then earliest calls, then earliest entries, then each entry its earliest call.
    fn best(grid: &Grid, ordered: bool) -> Vec<Option<usize>> {
        all(grid, ordered)
            .into_iter()
            .min_by_key(|assigned| {
                let mut calls: Vec<usize> = assigned.iter().flatten().copied().collect();
                let served: Vec<usize> = (0..assigned.len())
                    .filter(|e| assigned[*e].is_some())
                    .collect();
                let in_turn = calls.clone();
                calls.sort_unstable();
                (std::cmp::Reverse(calls.len()), calls, served, in_turn)
            })
            .unwrap()
    }

    proptest! {
        #[test]
        fn both_ways_agree_with_trying_everything(
            entries in 0usize..5, calls in 0usize..6, bits in prop::collection::vec(any::<bool>(), 30), dense in any::<bool>(), more in prop::collection::vec(any::<bool>(), 30),
        ) {
            let grid = Grid::new(entries, calls, |e, c| bits[e * 6 + c] || (dense && more[e * 6 + c]));
            prop_assert_eq!(unordered(&grid), best(&grid, false));
            prop_assert_eq!(ordered(&grid), best(&grid, true));
        }
    }

    #[test]
    fn a_greedy_choice_would_lose_an_entry() {
        // Entry 0 fits both calls, entry 1 only the first.
        let grid = Grid::new(2, 2, |entry, call| entry == 0 || call == 0);
        assert_eq!(unordered(&grid), [Some(1), Some(0)]);
        assert_eq!(ordered(&grid), [Some(0), None]);
    }
}
