//! The contract is readable before any script runs.

use evalkit_core::view::case::Case;

use super::*;
use crate::pages::samples;

fn page(case: Case) -> String {
    samples::html(
        "/w/research/d/credit/c/halden-net-debt-ebitda-fy2024",
        move || {
            let head = CaseHead::from(&case);
            view! {
                <Head case=head/>
                <drawn::Document case/>
            }
        },
    )
}

#[test]
fn a_stakeholder_reads_the_contract() {
    let html = page(samples::case());
    for words in [
        "Facts to find",
        "Worked out from them",
        "Reading of the evidence",
        "Halden annual report",
        "In short: ",
        "How it should be derived",
        "How it should look",
        "max_response_time",
        "overlay desk-tools",
        "this case",
        "4.1 MB",
        "Run…",
        "synced from files",
        "Show the YAML",
    ] {
        assert!(html.contains(words), "{words} is missing");
    }
    assert!(
        !html.contains(" style="),
        "the policy forbids style attributes"
    );
}

#[test]
fn verdicts_stand_beside_their_sentence_and_say_which_version_they_measured() {
    let html = page(samples::case());
    assert!(
        html.contains("/w/research/runs/466/c/halden-net-debt-ebitda-fy2024?trial=1&amp;r=R2#R2"),
        "each leads to its explanation"
    );
    assert!(
        html.contains("atlas-research on v3"),
        "an older version is said"
    );
}

#[test]
fn a_case_that_never_ran_says_so() {
    let mut case = samples::case();
    case.agents.clear();
    case.history.clear();
    let html = page(case);
    assert!(html.contains("Not run yet"));
    assert!(!html.contains("satisfied"));
}

#[test]
fn an_old_version_leads_to_the_newest() {
    let mut case = samples::case();
    case.version = 3;
    assert!(page(case).contains("The newest is v"));
}

#[test]
fn who_may_not_run_reads_why() {
    let mut case = samples::case();
    case.may_run = false;
    let html = page(case);
    assert!(html.contains("Someone with the author role can run it."));
    assert!(!html.contains("<form"));
}
