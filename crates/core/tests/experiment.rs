//! The trial machine, every state against every event, and the counts that must always add up.

use TrialEvent as E;
use TrialState as S;
use evalkit_core::experiment::{TrialCounts, TrialEvent, TrialState, next};
use proptest::prelude::*;

const EVENTS: [TrialEvent; 9] = [
    E::Claimed,
    E::Recorded,
    E::GradingStarted,
    E::Graded,
    E::Retry,
    E::Failed,
    E::Cancel,
    E::OverBudget,
    E::Rerun,
];

/// Every move there is; what is not here is refused.
const MOVES: [(TrialState, TrialEvent, TrialState); 18] = [
    (S::Queued, E::Claimed, S::Running),
    (S::Queued, E::Cancel, S::Cancelled),
    (S::Queued, E::OverBudget, S::Budget),
    // A worker that died is replaced: the next one claims the same trial.
    (S::Running, E::Claimed, S::Running),
    (S::Running, E::Recorded, S::Recorded),
    (S::Running, E::Retry, S::Queued),
    (S::Running, E::Failed, S::Error),
    (S::Running, E::Cancel, S::Cancelled),
    (S::Recorded, E::GradingStarted, S::Grading),
    (S::Recorded, E::Failed, S::Error),
    (S::Recorded, E::Cancel, S::Cancelled),
    (S::Grading, E::GradingStarted, S::Grading),
    (S::Grading, E::Graded, S::Done),
    (S::Grading, E::Failed, S::Error),
    (S::Grading, E::Cancel, S::Cancelled),
    (S::Error, E::Rerun, S::Queued),
    (S::Cancelled, E::Rerun, S::Queued),
    (S::Budget, E::Rerun, S::Queued),
];

#[test]
fn every_pair_is_a_listed_move_or_refused() {
    for state in S::ALL {
        for event in EVENTS {
            let listed = MOVES
                .iter()
                .find(|(from, with, _)| *from == state && *with == event);
            match (next(state, event), listed) {
                (Ok(to), Some((_, _, expected))) => {
                    assert_eq!(to, *expected, "{state:?} {event:?}")
                }
                (Err(refused), None) => assert_eq!((refused.state, refused.event), (state, event)),
                (answer, _) => panic!("{state:?} {event:?}: {answer:?}"),
            }
        }
    }
}

#[test]
fn a_recorded_answer_is_never_asked_for_again() {
    for state in [S::Recorded, S::Grading, S::Done] {
        for event in EVENTS {
            let to = next(state, event);
            assert!(
                !matches!(to, Ok(S::Queued | S::Running)),
                "{state:?} {event:?}"
            );
        }
    }
}

#[test]
fn names_are_read_back() {
    for state in S::ALL {
        assert_eq!(TrialState::parse(state.as_str()), Some(state));
    }
    assert_eq!(TrialState::parse("finished"), None);
}

proptest! {
    /// Planned = done + error + cancelled + budget + open, whatever happens in whatever order.
    #[test]
    fn no_trial_is_ever_lost(count in 1usize..8, events in prop::collection::vec((0usize..8, prop::sample::select(EVENTS.to_vec())), 0..60)) {
        let mut trials = vec![S::Queued; count];
        for (trial, event) in events {
            let state = &mut trials[trial % count];
            let was = *state;
            if let Ok(to) = next(*state, event) {
                *state = to;
            }
            prop_assert!(was != S::Done || *state == S::Done, "done stays done");
        }
        let mut counts = TrialCounts::default();
        for state in &trials {
            counts.add(*state, 1);
        }
        prop_assert_eq!(counts.planned(), count as u64);
        prop_assert_eq!(S::ALL.into_iter().map(|state| counts.of(state)).sum::<u64>(), count as u64);
        let open = trials.iter().filter(|state| !state.is_final()).count();
        prop_assert_eq!(counts.open(), open as u64);
    }
}
