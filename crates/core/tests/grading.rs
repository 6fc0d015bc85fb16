//! One trial from case and record to grades, judged by replay: what is scored, what skips, what is refused.

use std::collections::BTreeMap;

use evalkit_core::case::Case;
use evalkit_core::grade::{Grade, Outcome, ScoreValue, Share};
use evalkit_core::grading::{self, AnswerFrom, Step, Trial};
use evalkit_core::judge::replay::Replay;
use evalkit_core::judge::validate::{self, Checked, Given, ReplyEntry};
use evalkit_core::judge::{JudgeTask, Judged, JudgedEntry, JudgedVerdict, fake};
use evalkit_core::overlay::EffectiveCase;
use evalkit_core::run::RecordedRun;
use evalkit_core::score::Bars;
use evalkit_core::verdict::Unscored;
use proptest::prelude::*;
use serde_json::{Value, json};

fn case() -> EffectiveCase {
    let case: Case = serde_json::from_value(json!({
        "id": "roku", "input": {"question": "How did it go?"}, "max_response_time": 2.5,
        "evaluators": {
            "output": {
                "answer_rubrics": {"rubrics": [
                    {"rubric": "States that revenue was $3,172.6 million.", "type": "factual_retrieval", "source": "the 10-K"},
                    {"rubric": "Calculates a margin of 28.1 %.", "type": "derived_computation"},
                    {"rubric": "Says that the trend is up.", "type": "analysis_interpretation"},
                    {"rubric": "States the head count.", "type": "factual_retrieval", "source": "the 10-K"},
                ]},
                "presentation_judge": {"require": ["A table."], "forbid": ["Emoji."]},
            },
            "trajectory": {
                "trajectory_rubrics": {"rubrics": ["Reads the 10-K."]},
                "required_tools_called": {"tools": ["read", "search"]},
                "tool_trajectory_match": {"expected": [{"name": "read", "args": {"key": "10-K"}}]},
            },
            "custom": {"cost": {}},
        },
        "expect": {"contains": ["x"]}, "metrics": {"groundedness": {}},
    }))
    .unwrap();
    EffectiveCase {
        case,
        origins: BTreeMap::new(),
    }
}

fn run(more: Value) -> RecordedRun {
    let mut record = json!({"case_id": "roku", "answer": "Revenue was $3,172.6 million (10-K).\nThe margin was 27.9 %.", "latency_ms": 850,
        "trajectory": {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [
            {"step_id": 1, "source": "user", "message": "How did it go?"},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c", "function_name": "read", "arguments": {"key": "10-K", "page": 1}}],
             "observation": {"results": [{"source_call_id": "c", "content": "Net revenue: 3,172.6"}]}},
            {"step_id": 3, "source": "agent", "message": "Revenue was fine."}]}});
    for (key, value) in more.as_object().unwrap() {
        record[key] = value.clone();
    }
    serde_json::from_value(record).unwrap()
}

fn task(run: &RecordedRun, evaluator: &str) -> JudgeTask {
    let (case, bars) = (case(), Bars::new());
    match Trial::new(&case, run, &bars).begin(evaluator) {
        Step::Judge(task) => task,
        Step::Done(grade) => panic!("{grade:?}"),
    }
}

fn done(run: &RecordedRun, evaluator: &str) -> Grade {
    let (case, bars) = (case(), Bars::new());
    match Trial::new(&case, run, &bars).begin(evaluator) {
        Step::Done(grade) => grade,
        Step::Judge(_) => panic!("{evaluator} asks a judge"),
    }
}

fn replayed(line: Value) -> Grade {
    let evaluator = line["evaluator"].as_str().unwrap().to_owned();
    let replay = Replay::parse(&line.to_string()).unwrap();
    let task = task(&run(json!({})), &evaluator);
    grading::settle(&task, replay.judge(&task), Replay::stamp())
}

fn share(num: u64, den: u64) -> ScoreValue {
    ScoreValue::Share(Share { num, den })
}

#[test]
fn every_evaluator_of_a_case_is_planned_once() {
    let planned: Vec<(String, bool)> = grading::plan(&case())
        .into_iter()
        .map(|p| (p.evaluator, p.judged))
        .collect();
    let expected = [
        ("answer_rubrics", true),
        ("presentation_judge", true),
        ("max_response_time", false),
        ("expect", false),
        ("metric:groundedness", false),
        ("trajectory_rubrics", true),
        ("required_tools_called", false),
        ("tool_trajectory_match", false),
        ("custom:cost", false),
    ];
    assert_eq!(
        planned,
        expected.map(|(name, judged)| (name.to_owned(), judged))
    );
}

#[test]
fn answer_rubrics_get_every_score_and_a_second_opinion() {
    let grade = replayed(
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [
            {"verdict": "satisfied", "source": "satisfied", "cited": "10-K", "evidence": ["revenue  was $3,172.6 MILLION"]},
            {"verdict": "satisfied"},
            {"verdict": "absent"},
            {"verdict": "absent", "reason": "Nothing on heads."},
        ]}),
    );
    assert_eq!(grade.outcome, Outcome::Scored { met: false });
    let expected = [
        ("answer_rubric_accuracy", share(2, 2)),
        ("answer_rubric_analysis_interpretation", share(0, 1)),
        ("answer_rubric_citation", share(1, 1)),
        ("answer_rubric_coverage", share(2, 4)),
        ("answer_rubric_derived_computation", share(1, 1)),
        ("answer_rubric_factual_retrieval", share(1, 2)),
        ("answer_rubric_score", share(2, 4)),
    ];
    assert_eq!(
        grade.scores.into_iter().collect::<Vec<_>>(),
        expected.map(|(name, score)| (name.to_owned(), score))
    );
    let block = grade.explanation;
    assert_eq!(
        block["counts"],
        json!({"satisfied": 2, "incorrect": 0, "absent": 2, "total": 4})
    );
    assert_eq!(block["by_type"]["factual_retrieval"]["satisfied"], 1);
    assert_eq!(
        block["citation"],
        json!({"satisfied": 1, "incorrect": 0, "absent": 0, "total": 1})
    );
    let verdicts = &block["verdicts"];
    assert_eq!(
        verdicts[0]["source"],
        json!({"expected": "the 10-K", "verdict": "satisfied", "cited": "10-K"})
    );
    assert_eq!(
        verdicts[0]["evidence"],
        json!(["revenue  was $3,172.6 MILLION"])
    );
    // The judge said satisfied, and the answer says 27.9 %.
    assert_eq!(verdicts[1]["second_opinion"], "contradicts");
    assert_eq!(verdicts[1]["needs_a_look"], true);
    assert_eq!(verdicts[2]["second_opinion"], Value::Null);
    assert_eq!(verdicts[2]["needs_a_look"], false);
    assert_eq!(verdicts[3]["source"]["verdict"], Value::Null);
}

#[test]
fn what_a_reply_gives_is_checked_and_one_unscored_rubric_takes_the_score() {
    let grade = replayed(
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [
            {"verdict": "satisfied", "source": "satisfied", "evidence": ["not in the answer"]},
            {"verdict": "maybe"},
            {"verdict": "absent", "evidence": ["27.9 %"]},
            {"verdict": "absent", "source": "absent"},
        ]}),
    );
    assert_eq!(
        grade.outcome,
        Outcome::Unscored {
            reason: Unscored::ParseFailure,
            entries: 4,
            of: 4
        }
    );
    assert!(grade.scores.is_empty());
    let verdicts = &grade.explanation["verdicts"];
    assert!(
        verdicts[0]["reason"]
            .as_str()
            .unwrap()
            .contains("“not in the answer” does not stand")
    );
    assert_eq!(verdicts[1]["verdict"], Value::Null);
    assert_eq!(verdicts[1]["unscored"], "parse_failure");
    assert_eq!(verdicts[2]["unscored"], "contradiction");
    assert_eq!(verdicts[3]["unscored"], "contradiction");
    assert_eq!(grade.explanation["counts"]["unscored"], 4);
}

#[test]
fn a_missing_or_short_reply_says_so() {
    let other =
        replayed(json!({"case_id": "other", "evaluator": "answer_rubrics", "verdicts": []}));
    assert!(matches!(
        other.outcome,
        Outcome::Unscored {
            reason: Unscored::MissingIds,
            entries: 4,
            of: 4
        }
    ));
    let short = replayed(
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [{"verdict": "absent"}]}),
    );
    assert!(matches!(
        short.outcome,
        Outcome::Unscored {
            reason: Unscored::ParseFailure,
            ..
        }
    ));
    assert!(
        short.explanation["verdicts"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("1 verdicts, and 4 were asked")
    );
}

#[test]
fn a_missing_source_verdict_is_no_verdict() {
    let grade = replayed(
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [
        {"verdict": "satisfied"}, {"verdict": "absent"}, {"verdict": "absent"}, {"verdict": "absent"}]}),
    );
    assert!(matches!(
        grade.outcome,
        Outcome::Unscored { entries: 1, .. }
    ));
    let spare = replayed(
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [
        {"verdict": "absent"}, {"verdict": "incorrect", "said": "27.9 %", "source": "absent"}, {"verdict": "absent"}, {"verdict": "absent"}]}),
    );
    assert!(
        spare.explanation["verdicts"][1]["reason"]
            .as_str()
            .unwrap()
            .contains("asks for no source")
    );
}

#[test]
fn presentation_and_trajectory_are_replayed_alike() {
    let grade = replayed(
        json!({"case_id": "roku", "trial": 1, "evaluator": "presentation_judge", "verdicts": [
        {"verdict": "unsatisfied", "reason": "No table."}, {"verdict": "satisfied"}]}),
    );
    assert_eq!(grade.scores["presentation_judge"], share(1, 2));
    assert_eq!(grade.explanation["verdicts"][0]["rule"], "require");
    assert_eq!(
        grade.explanation["counts"],
        json!({"satisfied": 1, "unsatisfied": 1, "total": 2})
    );

    let quoting = replayed(
        json!({"case_id": "roku", "evaluator": "presentation_judge", "verdicts": [
        {"verdict": "satisfied", "evidence": ["the margin"]}, {"verdict": "satisfied", "evidence": ["the margin"]}]}),
    );
    assert!(matches!(
        quoting.outcome,
        Outcome::Unscored {
            reason: Unscored::Contradiction,
            entries: 1,
            of: 2
        }
    ));

    let grade = replayed(
        json!({"case_id": "roku", "evaluator": "trajectory_rubrics", "verdicts": [
        {"verdict": "satisfied", "citations": ["main:2"], "evidence": ["net revenue: 3,172.6"]}]}),
    );
    assert_eq!(grade.outcome, Outcome::Scored { met: true });
    assert_eq!(
        grade.explanation["verdicts"][0]["citations"],
        json!(["main:2"])
    );
    let nowhere = replayed(
        json!({"case_id": "roku", "evaluator": "trajectory_rubrics", "verdicts": [
        {"verdict": "satisfied", "citations": ["main:4"]}]}),
    );
    assert!(
        nowhere.explanation["verdicts"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("“main:4” is no step")
    );
}

#[test]
fn a_model_must_give_all_that_replay_may_leave_out() {
    let recorded = run(json!({}));
    let check = |evaluator: &str, index: usize, entry: Value| {
        let task = task(&recorded, evaluator);
        let entry: ReplyEntry = serde_json::from_value(entry).unwrap();
        let model = validate::entry(&Checked::new(&task), index, &entry, Given::Everything);
        let replay = validate::entry(&Checked::new(&task), index, &entry, Given::WhatThereIs);
        (model.is_ok(), replay.is_ok())
    };
    assert_eq!(
        check("answer_rubrics", 1, json!({"verdict": "incorrect"})),
        (false, true)
    );
    assert_eq!(
        check(
            "answer_rubrics",
            1,
            json!({"verdict": "incorrect", "evidence": [" ", "27.9 %"]})
        ),
        (true, true)
    );
    assert_eq!(
        check(
            "answer_rubrics",
            1,
            json!({"verdict": "absent", "evidence": null})
        ),
        (true, true)
    );
    assert_eq!(
        check("presentation_judge", 0, json!({"verdict": "satisfied"})),
        (false, true)
    );
    assert_eq!(
        check("presentation_judge", 0, json!({"verdict": "unsatisfied"})),
        (true, true)
    );
    assert_eq!(
        check("presentation_judge", 1, json!({"verdict": "unsatisfied"})),
        (false, true)
    );
    assert_eq!(
        check("presentation_judge", 1, json!({"verdict": "satisfied"})),
        (true, true)
    );
    assert_eq!(
        check("trajectory_rubrics", 0, json!({"verdict": "satisfied"})),
        (false, true)
    );
    assert_eq!(
        check("trajectory_rubrics", 0, json!({"verdict": "unsatisfied"})),
        (true, true)
    );
    assert_eq!(
        check("trajectory_rubrics", 0, json!({"verdict": "absent"})),
        (false, false)
    );
    assert_eq!(
        check("trajectory_rubrics", 7, json!({"verdict": "satisfied"})),
        (false, false)
    );
}

#[test]
fn replay_files_are_read_whole_or_refused_by_line() {
    let text = concat!(
        "{\"case_id\": \"a\", \"evaluator\": \"answer_rubrics\", \"verdicts\": []}\n\n",
        "{\"case_id\": \"a\", \"trial\": 2, \"evaluator\": \"answer_rubrics\", \"verdicts\": []}\n",
        "{\"case_id\": \"a\", \"evaluator\": \"correctness\", \"score\": 4, \"reasoning\": \"fine\"}\n",
    );
    let replay = Replay::parse(text).unwrap();
    assert_eq!(
        replay.metric("a", "correctness", 3),
        Some((4.0, Some("fine")))
    );
    assert_eq!(replay.metric("b", "correctness", 3), None);
    let bad = concat!(
        "{\"case_id\": \"a\", \"evaluator\": \"answer_rubrics\", \"verdicts\": []}\n",
        "{\"case_id\": \"a\", \"evaluator\": \"answer_rubrics\", \"verdicts\": []}\n",
        "{\"case_id\": \"a\", \"evaluator\": \"answer_rubrics\", \"score\": 1}\n",
        "{\"case_id\": \"a\", \"evaluator\": \"answer_rubrics\", \"verdits\": []}\n",
        "nonsense\n",
        "{\"case_id\": \"a\", \"trial\": 0, \"evaluator\": \"x\", \"score\": 1}\n",
    );
    let lines: Vec<usize> = Replay::parse(bad)
        .unwrap_err()
        .iter()
        .map(|p| p.line)
        .collect();
    assert_eq!(lines, [2, 3, 4, 5, 6]);
}

#[test]
fn tool_checks_and_latency_are_scored_without_a_judge() {
    let recorded = run(json!({}));
    let tools = done(&recorded, "required_tools_called");
    assert_eq!(tools.scores["required_tools_called"], share(1, 2));
    assert_eq!(tools.outcome, Outcome::Scored { met: false });
    assert_eq!(
        tools.explanation,
        json!({"called": ["read"], "missing": ["search"]})
    );
    let calls = done(&recorded, "tool_trajectory_match");
    assert_eq!(calls.outcome, Outcome::Scored { met: true });
    assert_eq!(calls.explanation["matched"], 1);
    assert_eq!(calls.explanation["entries"][0]["call"], "main:2#0");
    assert_eq!(calls.explanation["entries"][0]["reason"], Value::Null);

    assert_eq!(
        done(&recorded, "max_response_time").outcome,
        Outcome::Scored { met: true }
    );
    let slow = done(&run(json!({"latency_ms": 2_501})), "max_response_time");
    assert_eq!(slow.scores["max_response_time"], share(0, 1));
    let unknown = done(&run(json!({"latency_ms": null})), "max_response_time");
    assert!(matches!(unknown.outcome, Outcome::Skipped { .. }));
}

#[test]
fn needs_that_are_not_declared_skip_and_declared_ones_without_a_record_are_errors() {
    let skips = |record: Value, evaluator: &str| {
        matches!(
            done(&run(record), evaluator).outcome,
            Outcome::Skipped { .. }
        )
    };
    let errors = |record: Value, evaluator: &str| {
        matches!(done(&run(record), evaluator).outcome, Outcome::Error { .. })
    };
    assert!(skips(json!({"trajectory": null}), "trajectory_rubrics"));
    assert!(skips(json!({"trajectory": null}), "tool_trajectory_match"));
    assert!(skips(
        json!({"capabilities": ["trajectory"]}),
        "required_tools_called"
    ));
    assert!(errors(
        json!({"trajectory": null, "capabilities": ["trajectory", "tool_calls"]}),
        "trajectory_rubrics"
    ));
    assert!(errors(
        json!({"trajectory": null, "capabilities": ["trajectory", "tool_calls"]}),
        "tool_trajectory_match"
    ));
    assert!(errors(
        json!({"trajectory": {"steps": []}}),
        "trajectory_rubrics"
    ));
    assert!(errors(
        json!({"trajectory": "t.json"}),
        "required_tools_called"
    ));
    assert!(skips(
        json!({"answer": null, "output": {"a": 1}}),
        "presentation_judge"
    ));
    assert!(errors(
        json!({"answer": null, "trajectory": null}),
        "answer_rubrics"
    ));
    assert!(errors(
        json!({"status": "error", "error": "boom"}),
        "answer_rubrics"
    ));
    for later in ["expect", "metric:groundedness", "custom:cost"] {
        assert!(skips(json!({}), later));
    }
    assert!(skips(json!({}), "metric:unplanned"));

    // A list of calls without a trajectory is not what the tool checks need.
    assert!(skips(
        json!({"trajectory": null, "tool_calls": [{"name": "read", "args": {"key": "10-K"}}]}),
        "tool_trajectory_match"
    ));
}

#[test]
fn the_answer_falls_back_to_the_last_message_and_says_so() {
    let (case, bars) = (case(), Bars::new());
    let from = |record: Value| {
        let run = run(record);
        let trial = Trial::new(&case, &run, &bars);
        trial.answer().map(|(text, from)| (text.to_owned(), from))
    };
    assert_eq!(from(json!({})).unwrap().1, AnswerFrom::Harness);
    let fallback = Some(("Revenue was fine.".to_owned(), AnswerFrom::LastAgentMessage));
    assert_eq!(from(json!({"answer": null})), fallback);
    assert_eq!(from(json!({"answer": "  "})), fallback);
    assert_eq!(from(json!({"answer": null, "output": {"a": 1}})), None);
    assert_eq!(
        from(json!({"answer": "", "trajectory": null})),
        Some((String::new(), AnswerFrom::Harness))
    );
    let both = run(json!({"output": {"b": 1.0, "a": "x"}}));
    assert_eq!(task(&both, "answer_rubrics").texts[1], r#"{"a":"x","b":1}"#);
}

#[test]
fn the_fake_judge_is_no_quality_signal() {
    for evaluator in ["answer_rubrics", "presentation_judge", "trajectory_rubrics"] {
        let task = task(&run(json!({})), evaluator);
        let grade = grading::settle(&task, fake::judge(&task), fake::stamp());
        assert_eq!(grade.outcome, Outcome::Scored { met: true });
        assert!(!grade.judge.unwrap().quality_signal);
    }
}

#[test]
fn bars_of_the_settings_replace_the_bar_of_one() {
    let case = case();
    let recorded = run(json!({}));
    let met = |bars: &[(&str, f64)], evaluator: &str| {
        let bars: Bars = bars
            .iter()
            .map(|(name, bar)| ((*name).to_owned(), *bar))
            .collect();
        match Trial::new(&case, &recorded, &bars).begin(evaluator) {
            Step::Done(grade) => grade.outcome == Outcome::Scored { met: true },
            Step::Judge(task) => {
                let verdicts = json!([{"verdict": "satisfied", "source": "absent"}, {"verdict": "satisfied"}, {"verdict": "satisfied"}, {"verdict": "absent"}]);
                let line = json!({"case_id": "roku", "evaluator": evaluator, "verdicts": verdicts});
                let replay = Replay::parse(&line.to_string()).unwrap();
                grading::settle(&task, replay.judge(&task), Replay::stamp()).outcome
                    == Outcome::Scored { met: true }
            }
        }
    };
    assert!(!met(&[], "required_tools_called"));
    assert!(met(
        &[("required_tools_called", 0.5)],
        "required_tools_called"
    ));
    assert!(!met(&[], "answer_rubrics"));
    assert!(met(&[("answer_rubric_score", 0.75)], "answer_rubrics"));
    assert!(!met(&[("answer_rubric_score", 0.76)], "answer_rubrics"));
    assert!(!met(
        &[
            ("answer_rubric_score", 0.75),
            ("answer_rubric_citation", 1.0)
        ],
        "answer_rubrics"
    ));
}

#[test]
fn too_few_entries_are_missing_and_entries_of_the_wrong_kind_are_no_verdict() {
    let task = task(&run(json!({})), "answer_rubrics");
    let wrong = JudgedEntry::bare(JudgedVerdict::Check(
        evalkit_core::verdict::CheckVerdict::Satisfied,
    ));
    let grade = grading::settle(&task, vec![wrong], Replay::stamp());
    assert_eq!(
        grade.explanation["verdicts"][0]["unscored"],
        "parse_failure"
    );
    assert_eq!(grade.explanation["verdicts"][3]["unscored"], "missing_ids");
}

proptest! {
    #[test]
    fn no_reply_makes_the_check_panic(verdict in "satisfied|incorrect|absent|unsatisfied|\\PC{0,8}", texts in prop::collection::vec("\\PC{0,12}", 6), index in 0usize..6, model in any::<bool>()) {
        let recorded = run(json!({}));
        for judged in Judged::ALL {
            let task = task(&recorded, judged.as_str());
            let entry = ReplyEntry {
                verdict: verdict.clone(),
                evidence: texts[..2].to_vec(),
                reason: Some(texts[2].clone()),
                said: Some(texts[3].clone()),
                source: Some(texts[4].clone()).filter(|t| !t.is_empty()),
                cited: None,
                citations: texts[5..].to_vec(),
            };
            let given = if model { Given::Everything } else { Given::WhatThereIs };
            if let Ok(entry) = validate::entry(&Checked::new(&task), index, &entry, given) {
                prop_assert!(entry.verdict.is_ok());
            }
        }
    }
}
