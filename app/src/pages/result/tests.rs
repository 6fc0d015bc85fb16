//! What a reader must find on the page, before any script runs.

use leptos_router::hooks::use_query_map;

use evalkit_core::view::result::ResultPage;

use super::*;
use crate::pages::samples;

/// The page as the server renders it at an address.
pub fn page(address: &'static str, page: ResultPage) -> String {
    samples::html(address, move || {
        let map = use_query_map();
        let path = address.split('?').next().unwrap_or_default().to_owned();
        let query = Memo::new(move |_| ResultQuery::read(path.clone(), &map.read()));
        let (data, parts) = drawn::parts_of(0, page, query.get_untracked());
        view! { <ResultView data parts=parts.into() query/> }
    })
}

const HERE: &str = "/w/research/runs/466/c/halden-net-debt-ebitda-fy2024";

#[test]
fn a_red_case_answers_what_fell_and_who_acts_next() {
    let html = page(HERE, samples::result());
    for words in [
        "Red, 2 of 6",
        "Who acts next",
        "The team of ledger-bot",
        "A reviewer",
        "Said instead",
        "to £172.9m",
        "States that FY2024 adjusted EBITDA was £171.9 million.",
        "misattributed",
        "uncited",
        "arithmetic: ",
        "needs a look",
        "args mismatch",
        "name miss",
        "differs: ",
        "Recorded judge",
        "copied context",
        "1 problem",
        "custom:cost_cap",
        "explanation.json",
    ] {
        assert!(html.contains(words), "{words} is missing");
    }
}

#[test]
fn what_is_selected_in_the_address_is_lit_without_script() {
    let html = page(
        "/w/research/runs/466/c/halden-net-debt-ebitda-fy2024?r=R5",
        samples::result(),
    );
    assert!(
        html.contains("class=\"ev q on\" data-r=\"R5\""),
        "the passage is lit"
    );
    assert_eq!(html.matches(" on\" data-r=").count(), 1, "and it alone");
    assert!(html.contains("#R5"), "the rubric links to itself");
}

#[test]
fn the_step_of_the_address_is_open() {
    let html = page(
        "/w/research/runs/466/c/halden-net-debt-ebitda-fy2024?step=filing%3A2",
        samples::result(),
    );
    assert!(html.contains("412.6"), "its result is shown");
    assert!(!html.contains("adj_ebitda_proforma"), "others are closed");
    let first = page(HERE, samples::result());
    assert!(
        first.contains("adj_ebitda_proforma"),
        "the step of the missed checkpoint opens by itself"
    );
}

#[test]
fn a_failed_call_says_what_happened_what_was_done_and_what_helps() {
    let html = page(HERE, samples::failed());
    for words in [
        "What happened",
        "before its deadline",
        "tried 3 times",
        "What to do next",
        "no answer within 120 s",
        "timeout",
    ] {
        assert!(html.contains(words), "{words} is missing");
    }
}

#[test]
fn an_untrusted_answer_stays_text_and_nothing_has_a_style_attribute() {
    let html = page(HERE, samples::result());
    assert!(!html.contains("<img"), "no image of the answer");
    assert!(
        !html.contains(" style="),
        "the policy forbids style attributes"
    );
}
