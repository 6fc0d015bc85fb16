use serde_json::json;

use super::*;
use crate::case::{Case, Input};
use crate::verdict::FigureResult;

fn page() -> ResultPage {
    ResultPage {
        workspace: "research".into(),
        dataset: "credit".into(),
        run: 466,
        agent: "ledger-bot".into(),
        version: 4,
        case: Case {
            id: "leverage".into(),
            tags: Vec::new(),
            input: Input {
                question: Some("How did leverage move?".into()),
                messages: Vec::new(),
            },
            fixtures: Vec::new(),
            expected: None,
            context: None,
            max_response_time: Some(60.0),
            approvals: Vec::new(),
            expect: serde_json::Map::new(),
            metrics: std::collections::BTreeMap::new(),
            metadata: serde_json::Map::new(),
            evaluators: crate::case::Evaluators::default(),
        },
        origins: std::collections::BTreeMap::new(),
        trial: 1,
        trials: vec![(1, Colour::Red)],
        state: "done".into(),
        colour: Colour::Red,
        conclusion: String::new(),
        answer: Some("to £172.9m".into()),
        answer_from: None,
        output: None,
        error: None,
        attempts: 1,
        latency_ms: Some(65_240),
        usage: None,
        grades: Vec::new(),
        judge: crate::results::ResultsJudge::default(),
        trajectory: None,
        addresses_grader: false,
        judge_calls: Vec::new(),
        previous: None,
        before: None,
        after: None,
        next_red: None,
        at: 0,
    }
}

fn grade(evaluator: &str, outcome: Outcome, explanation: serde_json::Value) -> Grade {
    Grade {
        evaluator: evaluator.into(),
        outcome,
        scores: std::collections::BTreeMap::new(),
        skipped: std::collections::BTreeMap::new(),
        explanation,
        judge: None,
    }
}

fn rubric(sentence: &str, verdict: Verdict) -> RubricVerdict {
    RubricVerdict {
        rubric: sentence.into(),
        kind: RubricType::FactualRetrieval,
        verdict: Some(verdict),
        unscored: None,
        evidence: Vec::new(),
        said: None,
        reason: None,
        source: None,
        second_opinion: None,
        needs_a_look: false,
        overridden: None,
        how: Default::default(),
    }
}

fn with_rubrics(rubrics: &[RubricVerdict]) -> ResultPage {
    let mut page = page();
    page.grades = vec![grade(
        "answer_rubrics",
        Outcome::Scored { met: false },
        json!({ "verdicts": rubrics }),
    )];
    page
}

fn acts(page: &ResultPage) -> Vec<(Who, String)> {
    next_acts(page)
        .into_iter()
        .map(|act| (act.who, plain(&act.what)))
        .collect()
}

#[test]
fn a_red_case_names_the_sentence_and_the_rubric_it_broke() {
    let mut wrong = rubric("States that EBITDA was £171.9 million.", Verdict::Incorrect);
    wrong.said = Some("“to £172.9m”".into());
    let mut credited = rubric(
        "States that net debt was £468.0 million.",
        Verdict::Satisfied,
    );
    credited.source = Some(crate::verdict::SourceVerdict {
        expected: "annual report".into(),
        verdict: Some(Verdict::Incorrect),
        cited: Some("Northgate Wire".into()),
    });
    let page = with_rubrics(&[
        rubric("States A.", Verdict::Satisfied),
        wrong,
        credited,
        rubric("States last year’s EBITDA.", Verdict::Absent),
    ]);
    assert_eq!(
        plain(&what_fell(&page)),
        "The answer says something else on R2, never engages R4, and credits R3 to another source. \
         On R2 it says “to £172.9m”; right is: “States that EBITDA was £171.9 million”."
    );
    assert_eq!(
        acts(&page),
        vec![(
            Who::AgentTeam,
            "put right R2, answer R4, and credit R3 to its source. \
             If a rubric asks for the wrong thing, the case’s author changes it."
                .to_owned()
        )]
    );
}

#[test]
fn labels_are_parts_so_that_a_page_can_link_them() {
    let page = with_rubrics(&[
        rubric("a", Verdict::Absent),
        rubric("b", Verdict::Absent),
        rubric("c", Verdict::Absent),
    ]);
    let labels: Vec<_> = what_fell(&page)
        .into_iter()
        .filter(|part| matches!(part, Part::Label(_)))
        .collect();
    assert_eq!(
        labels,
        ["R1", "R2", "R3"]
            .map(|l| Part::Label(l.to_owned()))
            .to_vec()
    );
    assert_eq!(
        plain(&what_fell(&page)),
        "The answer never engages R1, R2 and R3."
    );
}

#[test]
fn a_verdict_that_needs_a_look_goes_to_a_reviewer_first() {
    let mut looked = rubric("Calculates 2.40x.", Verdict::Incorrect);
    looked.second_opinion = Some(FigureResult::Matches);
    looked.needs_a_look = true;
    let page = with_rubrics(&[looked]);
    let whos: Vec<_> = acts(&page).into_iter().map(|(who, _)| who).collect();
    assert_eq!(whos, vec![Who::Reviewer, Who::AgentTeam]);
}

#[test]
fn an_overridden_verdict_stands() {
    let mut fixed = rubric("Calculates 2.40x.", Verdict::Incorrect);
    fixed.needs_a_look = true;
    fixed.overridden = Some(crate::verdict::Override {
        verdict: Verdict::Satisfied,
        reason: "inside the band".into(),
        by: "ines".into(),
        at: 0,
    });
    let mut page = with_rubrics(&[fixed]);
    page.colour = Colour::Green;
    assert_eq!(acts(&page)[0].0, Who::Nobody);
    assert_eq!(what_fell(&page), Vec::new());
}

#[test]
fn every_error_class_says_what_happened_and_whose_move_it_is() {
    use AgentErrorClass as C;
    for class in [
        C::Refused,
        C::Dns,
        C::Tls,
        C::Timeout,
        C::Http4xx,
        C::Http5xx,
        C::RateLimited,
        C::Redirect,
        C::NotJson,
        C::TooLarge,
        C::Cut,
        C::InvalidAtif,
        C::ToolNotRun,
        C::AgentReported,
        C::EgressDenied,
        C::FixtureNotCarried,
    ] {
        let mut page = page();
        page.colour = Colour::Error;
        page.error = Some(RunError {
            class,
            message: "m".into(),
        });
        let words = error_in_words(class);
        assert!(words.happened.ends_with('.'), "{class:?}");
        assert_eq!(acts(&page), vec![(words.who, words.next.to_owned())]);
        assert_ne!(words.who, Who::Nobody);
    }
}

#[test]
fn unscored_is_never_the_agents_fault() {
    for reason in [
        Unscored::ParseFailure,
        Unscored::Refusal,
        Unscored::Timeout,
        Unscored::TruncatedReply,
        Unscored::ProviderError,
        Unscored::TooLarge,
        Unscored::MissingIds,
        Unscored::Contradiction,
        Unscored::OfflineUndecided,
    ] {
        let mut page = page();
        page.colour = Colour::Unscored;
        page.grades = vec![grade(
            "answer_rubrics",
            Outcome::Unscored {
                reason,
                entries: 2,
                of: 5,
            },
            json!({ "verdicts": [] }),
        )];
        let acts = acts(&page);
        assert!(
            matches!(acts[0].0, Who::ServerOwner | Who::Reviewer),
            "{reason:?}"
        );
        assert!(acts[0].1.contains("2 of 5"), "{}", acts[0].1);
        assert_eq!(what_fell(&page), Vec::new());
    }
}

#[test]
fn checks_steps_and_looks_are_named_too() {
    let mut page = page();
    let entry =
        |verdict| json!({"rubric": "x", "verdict": verdict, "evidence": [], "reason": null});
    page.grades = vec![
        grade(
            "trajectory_rubrics",
            Outcome::Scored { met: false },
            json!({"verdicts": [entry("satisfied"), entry("unsatisfied")]}),
        ),
        grade(
            "presentation_judge",
            Outcome::Scored { met: false },
            json!({"verdicts": [entry("unsatisfied")]}),
        ),
        grade(
            "required_tools_called",
            Outcome::Scored { met: false },
            json!({"called": [], "missing": ["search"]}),
        ),
        grade(
            "tool_trajectory_match",
            Outcome::Scored { met: false },
            json!({"matched": 1, "entries": [{"index": 0, "name": "a", "matched": true},
                                              {"index": 1, "name": "b", "matched": false, "reason": "name miss"}]}),
        ),
        grade(
            "max_response_time",
            Outcome::Scored { met: false },
            json!({}),
        ),
    ];
    assert_eq!(
        plain(&what_fell(&page)),
        "Its steps do not show T2. It does not look as P1 asks. It never called search. \
         1 of 2 expected calls was not made: C2. It took 65.2 s, 60 s are allowed."
    );
    assert_eq!(acts(&page)[0].0, Who::AgentTeam);
}

#[test]
fn a_green_case_waits_for_nobody_and_an_open_one_too() {
    let mut page = with_rubrics(&[rubric("a", Verdict::Satisfied)]);
    page.colour = Colour::Green;
    assert_eq!(acts(&page)[0].0, Who::Nobody);
    page.grades.clear();
    page.colour = Colour::Open;
    assert_eq!(acts(&page)[0].0, Who::Nobody);
}

#[test]
fn a_broken_evaluator_names_its_owner() {
    let mut page = page();
    page.colour = Colour::Error;
    page.grades = vec![grade(
        "trajectory_rubrics",
        Outcome::Error {
            message: "no trajectory was recorded".into(),
        },
        json!({}),
    )];
    assert_eq!(
        acts(&page),
        vec![(
            Who::AgentTeam,
            "record what the harness declares, or stop declaring it. \
             trajectory_rubrics could not run: no trajectory was recorded."
                .to_owned()
        )]
    );
}

proptest::proptest! {
    #[test]
    fn no_text_breaks_the_sentences(said in ".{0,300}", rubric_text in ".{0,400}") {
        let mut wrong = rubric(&rubric_text, Verdict::Incorrect);
        wrong.said = Some(said);
        let page = with_rubrics(&[wrong]);
        let fell = plain(&what_fell(&page));
        proptest::prop_assert!(fell.chars().count() < 420);
        proptest::prop_assert!(!next_acts(&page).is_empty());
    }
}
