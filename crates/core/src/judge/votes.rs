//! Several votes on the same entries (`grading.md`, The judge: `votes`): the majority of each verdict, disagreement shown.

use super::{JudgedEntry, JudgedVerdict};
use crate::verdict::{CheckVerdict, Unscored, Verdict};

/// One entry from an odd number of votes. The verdict is the one that more than half of **all** votes gave, votes without a
/// verdict included; so is the verdict on the source, of the votes that gave one. Where there is no majority, nobody chose:
/// the entry is unscored as `contradiction`, or with the reason of the votes that reached nothing.
pub fn majority(ballots: &[JudgedEntry]) -> JudgedEntry {
    let words: Vec<String> = ballots.iter().map(word).collect();
    let Some(first) = ballots.first() else {
        return JudgedEntry::unscored(Unscored::MissingIds, "No vote was given.");
    };
    if ballots.len() == 1 {
        return first.clone();
    }
    let winner = ballots.iter().find(|ballot| {
        ballot.verdict.is_ok()
            && 2 * ballots
                .iter()
                .filter(|b| b.verdict == ballot.verdict)
                .count()
                > ballots.len()
    });
    let Some(winner) = winner else {
        let unscored = ballots.iter().find(|ballot| ballot.verdict.is_err());
        return JudgedEntry {
            votes: words.clone(),
            ..match unscored {
                Some(ballot) => ballot.clone(),
                None => JudgedEntry::unscored(
                    Unscored::Contradiction,
                    format!("The votes have no majority: {}.", words.join(", ")),
                ),
            }
        };
    };
    let sources: Vec<Verdict> = ballots.iter().filter_map(|ballot| ballot.source).collect();
    let source = match winner.source {
        None => None,
        Some(_) => sources
            .iter()
            .find(|source| 2 * sources.iter().filter(|s| s == source).count() > sources.len())
            .copied(),
    };
    if winner.source.is_some() && source.is_none() {
        return JudgedEntry {
            votes: words,
            ..JudgedEntry::unscored(
                Unscored::Contradiction,
                "The votes have no majority on the source.",
            )
        };
    }
    // The reasons shown are of a vote that gave both verdicts, where there is one.
    let speaker = ballots
        .iter()
        .find(|ballot| ballot.verdict == winner.verdict && ballot.source == source)
        .unwrap_or(winner);
    JudgedEntry {
        source,
        votes: words,
        cached: ballots.iter().all(|ballot| ballot.cached),
        ..speaker.clone()
    }
}

/// A vote in words: `satisfied`, with the source's verdict where there is one, or why there is none.
fn word(ballot: &JudgedEntry) -> String {
    let verdict = match ballot.verdict {
        Ok(JudgedVerdict::Answer(Verdict::Satisfied)) => "satisfied",
        Ok(JudgedVerdict::Answer(Verdict::Incorrect)) => "incorrect",
        Ok(JudgedVerdict::Answer(Verdict::Absent)) => "absent",
        Ok(JudgedVerdict::Check(CheckVerdict::Satisfied)) => "satisfied",
        Ok(JudgedVerdict::Check(CheckVerdict::Unsatisfied)) => "unsatisfied",
        Err(why) => why.as_str(),
    };
    match ballot.source {
        Some(Verdict::Satisfied) | None => verdict.to_owned(),
        Some(Verdict::Incorrect) => format!("{verdict}, source incorrect"),
        Some(Verdict::Absent) => format!("{verdict}, source absent"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Absent, Incorrect, Satisfied};

    fn vote(verdict: Verdict, source: Option<Verdict>) -> JudgedEntry {
        JudgedEntry {
            source,
            ..JudgedEntry::bare(JudgedVerdict::Answer(verdict))
        }
    }

    fn won(ballots: &[JudgedEntry]) -> Result<JudgedVerdict, Unscored> {
        majority(ballots).verdict
    }

    #[test]
    fn more_than_half_decides() {
        let s = vote(Satisfied, None);
        let i = vote(Incorrect, None);
        let a = vote(Absent, None);
        let none = JudgedEntry::unscored(Unscored::Refusal, "no");
        let answer = |verdict| Ok(JudgedVerdict::Answer(verdict));
        assert_eq!(won(std::slice::from_ref(&i)), answer(Incorrect));
        assert_eq!(won(&[s.clone(), i.clone(), s.clone()]), answer(Satisfied));
        assert_eq!(won(&[none.clone(), a.clone(), a.clone()]), answer(Absent));
        assert_eq!(
            won(&[s.clone(), i.clone(), a.clone()]),
            Err(Unscored::Contradiction)
        );
        assert_eq!(
            won(&[s.clone(), i.clone(), none.clone()]),
            Err(Unscored::Refusal)
        );
        assert_eq!(
            won(&[s.clone(), none.clone(), none]),
            Err(Unscored::Refusal)
        );
        assert_eq!(won(&[]), Err(Unscored::MissingIds));
        assert_eq!(
            majority(&[s.clone(), i, s]).votes,
            ["satisfied", "incorrect", "satisfied"]
        );
    }

    #[test]
    fn a_source_has_a_majority_of_its_own() {
        let ballots = [
            vote(Satisfied, Some(Satisfied)),
            vote(Satisfied, Some(Absent)),
            vote(Incorrect, Some(Absent)),
        ];
        let entry = majority(&ballots);
        assert_eq!(entry.verdict, Ok(JudgedVerdict::Answer(Satisfied)));
        assert_eq!(entry.source, Some(Absent));
        let split = [
            vote(Satisfied, Some(Satisfied)),
            vote(Satisfied, Some(Absent)),
            vote(Absent, None),
        ];
        assert_eq!(won(&split), Err(Unscored::Contradiction));
        let absent = [
            vote(Absent, None),
            vote(Absent, None),
            vote(Satisfied, Some(Satisfied)),
        ];
        assert_eq!(majority(&absent).source, None);
    }
}
