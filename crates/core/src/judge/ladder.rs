//! The ladder of one call's entries as a state machine (`grading.md`, The judge): the same request at most twice more with
//! what was wrong, then only the missing ids, then the second judge, then `unscored`. No clock, no network: the engine
//! carries out each [`Ask`] and says what it [`Heard`].

use std::collections::BTreeMap;
use std::sync::Arc;

use super::prompt::Again;
use super::reply::{self, Unreadable};
use super::{JudgeTask, JudgedEntry, asking};
use crate::verdict::Unscored;

/// Requests about the same entries to one judge.
pub const MOST_TRIES: u32 = 3;
/// A judge that refuses is asked once more in neutral words.
const MOST_REFUSALS: u32 = 2;
/// Problems that a message names.
const NAMED: usize = 8;

/// Which judge is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seat {
    /// The judge of the run.
    First,
    /// The one that is asked when the first reached nothing.
    Second,
}

impl Seat {
    /// `first` or `second`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }
}

/// What to ask next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ask {
    /// Whom.
    pub seat: Seat,
    /// The request's number for this judge and these entries, from 1; at most four.
    pub attempt: u32,
    /// About which entries.
    pub entries: Vec<usize>,
    /// What to add to the request.
    pub again: Again,
    /// The reply before was cut: allow a longer one.
    pub roomier: bool,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// A whole reply.
    Text(String),
    /// The provider says that it cut the reply.
    Cut,
    /// The provider says that the judge refused, or why it was stopped.
    Refused(String),
    /// More than a reply may hold.
    TooLong,
    /// No reply, after everything the transport could do.
    Failed(Unscored, String),
}

/// What follows.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Another request.
    Ask(Ask),
    /// One entry for each that was asked, in any order. What has no verdict says why.
    Settled(BTreeMap<usize, JudgedEntry>),
}

/// How a request ended, for the record of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Every entry asked got a verdict.
    Whole,
    /// Some did.
    Part,
    /// None did.
    Nothing,
}

/// The state.
#[derive(Debug, Clone)]
pub struct Ladder {
    task: Arc<JudgeTask>,
    /// The second judge's name, when there is one.
    second: Option<String>,
    seat: Seat,
    /// What this judge was given.
    given: Vec<usize>,
    /// What the request under way asks.
    asked: Vec<usize>,
    tries: u32,
    refusals: u32,
    only_missing: bool,
    roomier: bool,
    kept: BTreeMap<usize, JudgedEntry>,
    problems: BTreeMap<usize, (Unscored, String)>,
    /// How the last request was of use, and what was wrong with it.
    used: Use,
    trouble: String,
}

impl Ladder {
    /// Begins with the entries of one call. `second` names the second judge, when there is one.
    pub fn start(task: Arc<JudgeTask>, entries: Vec<usize>, second: Option<String>) -> (Self, Ask) {
        let mut ladder = Self {
            task,
            second,
            seat: Seat::First,
            given: entries.clone(),
            asked: entries,
            tries: 0,
            refusals: 0,
            only_missing: false,
            roomier: false,
            kept: BTreeMap::new(),
            problems: BTreeMap::new(),
            used: Use::Nothing,
            trouble: String::new(),
        };
        let ask = ladder.ask(Again::default());
        (ladder, ask)
    }

    /// How the last request was of use.
    pub const fn used(&self) -> Use {
        self.used
    }

    /// What was wrong with the last reply, in one line; empty when nothing was.
    pub fn trouble(&self) -> &str {
        &self.trouble
    }

    fn troubles(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (index, (_, problem)) in &self.problems {
            if self.kept.contains_key(index) {
                continue;
            }
            // The same trouble for all is said once.
            let line = if self.problems.values().all(|(_, other)| other == problem) {
                problem.clone()
            } else {
                format!("{}: {problem}", asking::id(*index))
            };
            if lines.last() != Some(&line) {
                lines.push(line);
            }
        }
        let more = lines.len().saturating_sub(NAMED);
        lines.truncate(NAMED);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        lines.join("; ")
    }

    /// Takes what was heard and says what follows.
    pub fn next(&mut self, heard: &Heard) -> Next {
        self.used = Use::Nothing;
        self.trouble.clear();
        match heard {
            Heard::Text(text) => self.read(text),
            Heard::Cut => {
                self.roomier = true;
                self.all(Unscored::TruncatedReply, "the reply was cut before its end");
                self.invalid()
            }
            Heard::TooLong => {
                self.all(Unscored::ParseFailure, "the reply is larger than 1 MiB");
                self.invalid()
            }
            Heard::Refused(words) => self.refused(words),
            Heard::Failed(why, message) => {
                self.all(*why, message);
                self.leave_seat()
            }
        }
    }

    fn read(&mut self, text: &str) -> Next {
        match reply::read(text, &self.task, &self.asked) {
            Err(Unreadable::Refusal) => self.refused("the judge declined in words"),
            Err(Unreadable::Problem(problem)) => {
                self.all(Unscored::ParseFailure, &problem);
                self.invalid()
            }
            Ok(replied) => {
                self.used = match (replied.valid.is_empty(), replied.refused.is_empty()) {
                    (true, _) => Use::Nothing,
                    (false, true) => Use::Whole,
                    (false, false) => Use::Part,
                };
                let by = match self.seat {
                    Seat::First => None,
                    Seat::Second => self.second.clone(),
                };
                for (index, entry) in replied.valid {
                    self.problems.remove(&index);
                    let by = by.clone();
                    self.kept.insert(index, JudgedEntry { by, ..entry });
                }
                self.problems.extend(replied.refused);
                if self.missing().is_empty() {
                    return self.settle();
                }
                self.invalid()
            }
        }
    }

    fn refused(&mut self, words: &str) -> Next {
        self.refusals += 1;
        self.all(Unscored::Refusal, words);
        words.clone_into(&mut self.trouble);
        if self.refusals >= MOST_REFUSALS || self.tries >= MOST_TRIES || self.only_missing {
            return self.leave_seat();
        }
        Next::Ask(self.ask(Again {
            problem: None,
            neutral: true,
        }))
    }

    fn invalid(&mut self) -> Next {
        self.trouble = self.troubles();
        if self.only_missing {
            return self.leave_seat();
        }
        let problem = Some(self.trouble.clone());
        let again = Again {
            problem,
            neutral: self.refusals > 0,
        };
        if self.tries < MOST_TRIES {
            return Next::Ask(self.ask(again));
        }
        let missing = self.missing();
        // With nothing kept, this would be the same request a fourth time.
        if missing.len() < self.given.len() {
            self.only_missing = true;
            self.asked = missing;
            return Next::Ask(self.ask(again));
        }
        self.leave_seat()
    }

    fn leave_seat(&mut self) -> Next {
        if self.seat == Seat::First && self.second.is_some() {
            self.seat = Seat::Second;
            self.given = self.missing();
            self.asked = self.given.clone();
            self.tries = 0;
            self.refusals = 0;
            self.only_missing = false;
            self.roomier = false;
            return Next::Ask(self.ask(Again::default()));
        }
        self.settle()
    }

    fn settle(&mut self) -> Next {
        let mut settled = std::mem::take(&mut self.kept);
        for (index, (why, problem)) in std::mem::take(&mut self.problems) {
            settled
                .entry(index)
                .or_insert_with(|| JudgedEntry::unscored(why, sentence(&problem)));
        }
        Next::Settled(settled)
    }

    fn ask(&mut self, again: Again) -> Ask {
        self.tries += 1;
        Ask {
            seat: self.seat,
            attempt: self.tries,
            entries: self.asked.clone(),
            again,
            roomier: self.roomier,
        }
    }

    fn missing(&self) -> Vec<usize> {
        let without = |index: &&usize| !self.kept.contains_key(index);
        self.given.iter().filter(without).copied().collect()
    }

    /// The same trouble for every entry asked that has no verdict.
    fn all(&mut self, why: Unscored, problem: &str) {
        for index in self.asked.clone() {
            if !self.kept.contains_key(&index) {
                self.problems.insert(index, (why, problem.to_owned()));
            }
        }
    }
}

/// A problem as people read it.
fn sentence(problem: &str) -> String {
    let mut letters = problem.chars();
    let first: String = letters
        .next()
        .map(|c| c.to_uppercase().collect())
        .unwrap_or_default();
    let stop = if problem.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{first}{}{stop}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::testing::task;
    use crate::judge::{JudgedVerdict, Verdict};
    use proptest::prelude::*;
    use serde_json::json;

    const ANSWER: &str = "It is five.";

    fn text(ids: &[usize]) -> Heard {
        let entries: Vec<_> = ids
            .iter()
            .map(|index| {
                json!({"id": asking::id(*index), "evidence": ["it is five"], "reasoning": "r", "verdict": "satisfied",
                    "said": null, "source": null})
            })
            .collect();
        Heard::Text(json!({"verdicts": entries}).to_string())
    }

    fn garbage() -> Heard {
        Heard::Text("garbage".to_owned())
    }

    fn start(n: usize, second: bool) -> (Ladder, Ask) {
        let mut task = task(n, ANSWER);
        for entry in &mut task.entries {
            entry.source = None;
        }
        Ladder::start(
            Arc::new(task),
            (0..n).collect(),
            second.then(|| "other model".to_owned()),
        )
    }

    fn asked(next: Next) -> Ask {
        match next {
            Next::Ask(ask) => ask,
            Next::Settled(entries) => panic!("settled: {entries:?}"),
        }
    }

    fn settled(next: Next) -> Vec<Result<JudgedVerdict, Unscored>> {
        match next {
            Next::Settled(entries) => entries.into_values().map(|entry| entry.verdict).collect(),
            Next::Ask(ask) => panic!("asks: {ask:?}"),
        }
    }

    const GOOD: Result<JudgedVerdict, Unscored> = Ok(JudgedVerdict::Answer(Verdict::Satisfied));

    #[test]
    fn a_good_reply_settles_at_once() {
        let (mut ladder, ask) = start(2, true);
        assert_eq!(
            (ask.seat, ask.attempt, ask.entries.len()),
            (Seat::First, 1, 2)
        );
        assert_eq!(settled(ladder.next(&text(&[0, 1]))), [GOOD, GOOD]);
        assert_eq!(ladder.used(), Use::Whole);
    }

    #[test]
    fn three_tries_then_unscored() {
        let (mut ladder, _) = start(2, false);
        for attempt in 2..=3 {
            let ask = asked(ladder.next(&garbage()));
            assert_eq!(ask.attempt, attempt);
            assert!(ask.again.problem.is_some_and(|p| p.contains("JSON")));
        }
        assert_eq!(
            settled(ladder.next(&garbage())),
            [Err(Unscored::ParseFailure); 2]
        );
    }

    #[test]
    fn missing_ids_are_asked_for_alone_and_once() {
        let (mut ladder, _) = start(3, false);
        let _ = asked(ladder.next(&text(&[0, 2])));
        let _ = asked(ladder.next(&garbage()));
        let ask = asked(ladder.next(&text(&[0])));
        assert_eq!((ask.attempt, ask.entries), (4, vec![1]));
        assert_eq!(settled(ladder.clone().next(&text(&[1]))), [GOOD; 3]);
        assert_eq!(
            settled(ladder.next(&text(&[]))),
            [GOOD, Err(Unscored::MissingIds), GOOD]
        );
    }

    #[test]
    fn the_second_judge_gets_what_is_left() {
        let (mut ladder, _) = start(3, true);
        for _ in 0..3 {
            let _ = asked(ladder.next(&text(&[0])));
        }
        let ask = asked(ladder.next(&garbage()));
        assert_eq!(
            (ask.seat, ask.attempt, ask.entries.clone()),
            (Seat::Second, 1, vec![1, 2])
        );
        assert_eq!(ask.again, Again::default());
        let Next::Settled(entries) = ladder.next(&text(&[1, 2])) else {
            panic!()
        };
        assert_eq!(entries[&0].by, None);
        assert_eq!(entries[&1].by.as_deref(), Some("other model"));
    }

    #[test]
    fn a_refusal_is_asked_once_more_in_neutral_words() {
        let (mut ladder, _) = start(1, false);
        let ask = asked(ladder.next(&Heard::Refused("policy".to_owned())));
        assert!(ask.again.neutral);
        let refused = ladder.next(&Heard::Text("I cannot judge this.".to_owned()));
        assert_eq!(settled(refused), [Err(Unscored::Refusal)]);
    }

    #[test]
    fn a_cut_reply_gets_more_room_and_never_counts() {
        let (mut ladder, _) = start(1, false);
        assert!(asked(ladder.next(&Heard::Cut)).roomier);
        let _ = asked(ladder.next(&Heard::Cut));
        assert_eq!(
            settled(ladder.next(&Heard::Cut)),
            [Err(Unscored::TruncatedReply)]
        );
    }

    #[test]
    fn a_failed_transport_goes_to_the_second_judge_at_once() {
        let failed = Heard::Failed(Unscored::Timeout, "No reply.".to_owned());
        let (mut ladder, _) = start(1, true);
        assert_eq!(asked(ladder.next(&failed)).seat, Seat::Second);
        assert_eq!(settled(ladder.next(&failed)), [Err(Unscored::Timeout)]);
    }

    proptest! {
        /// Whatever a judge says: at most four requests a judge, every entry asked comes back once, and a verdict is
        /// there only where a reply gave it.
        #[test]
        fn the_ladder_ends(script in proptest::collection::vec(0u8..7, 8), second: bool) {
            let (mut ladder, mut ask) = start(4, second);
            let mut given = std::collections::BTreeSet::new();
            for (n, step) in script.into_iter().enumerate() {
                prop_assert!(ask.attempt <= 4);
                let most = if second { 8 } else { 4 };
                prop_assert!(n < most);
                let heard = match step {
                    0 => garbage(),
                    1 => Heard::Cut,
                    2 => Heard::Refused("no".to_owned()),
                    3 => Heard::Failed(Unscored::ProviderError, "down".to_owned()),
                    4 => text(&[9]),
                    5 => text(&[ask.entries[0], ask.entries[0]]),
                    _ => {
                        given.insert(ask.entries[0]);
                        text(&ask.entries[..1])
                    }
                };
                match ladder.next(&heard) {
                    Next::Ask(next) => ask = next,
                    Next::Settled(entries) => {
                        prop_assert_eq!(entries.keys().copied().collect::<Vec<_>>(), vec![0, 1, 2, 3]);
                        for (index, entry) in entries {
                            prop_assert_eq!(entry.verdict.is_ok(), given.contains(&index));
                        }
                        return Ok(());
                    }
                }
            }
            prop_assert!(false, "the ladder did not end");
        }
    }
}
