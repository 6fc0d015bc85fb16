//! A run is readable before any script runs, and says what its numbers are worth.

use evalkit_core::view::experiment::Experiment;

use super::*;
use crate::pages::samples;

fn page(experiment: Experiment) -> String {
    samples::html("/w/clinical/runs/482", move || {
        let (run, parts) = parts_of(0, experiment);
        view! { <ExperimentView run parts=parts.into()/> }
    })
}

#[test]
fn a_running_experiment_counts_scores_and_explains() {
    let html = page(samples::experiment());
    for words in [
        "Run <!>482",
        "1,206 of 1,689",
        "68.2 to 74.5",
        "not a quality signal",
        "You can leave this page",
        "Refresh",
        "case-002: red, 5 of 9, needs a look",
        "Failures, grouped",
        "No answer within 120 s",
        "If it ended now: 2, incomplete",
        "Frozen on",
        "evalkit collect",
        "Pause",
        "Cancel the run",
        "median ",
    ] {
        let words = words.replace("<!>", "");
        assert!(
            html.replace("<!>", "").contains(&words),
            "{words} is missing"
        );
    }
    assert!(
        !html.contains(" style="),
        "the policy forbids style attributes"
    );
}

#[test]
fn who_may_not_control_sees_no_verbs() {
    let mut experiment = samples::experiment();
    experiment.may_control = false;
    assert!(!page(experiment).contains("<form"));
}

#[test]
fn a_finished_run_offers_its_failed_trials() {
    let mut experiment = samples::experiment();
    experiment.row.state = ExperimentState::Finished;
    experiment.row.counts.queued = 0;
    experiment.row.counts.running = 0;
    let html = page(experiment).replace("<!>", "");
    assert!(html.contains("Re-run the "));
    assert!(!html.contains(">Pause"));
}
