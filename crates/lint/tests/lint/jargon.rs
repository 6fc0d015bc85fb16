//! `E-JARGON` on sentences that were written apart from the rule (`tests/data/jargon.yaml`).

use evalkit_lint::{LintFacts, SourceFile, lint};
use serde_json::{Value, json};

use crate::data::{read, texts};

/// A case with the sentence in its place, all else clean.
fn case(sentence: &str, part: &str) -> Value {
    let mut case = json!({
        "id": "one",
        "input": {"question": "What was it on 1 May 2025?"},
        "max_response_time": 60,
    });
    match part {
        "question" => case["input"]["question"] = sentence.into(),
        "expected" => case["expected"] = sentence.into(),
        "rubric" => {
            case["evaluators"]["output"]["answer_rubrics"]["rubrics"] =
                json!([{"rubric": sentence, "type": "factual_retrieval"}]);
        }
        "source" => {
            case["evaluators"]["output"]["answer_rubrics"]["rubrics"] =
                json!([{"rubric": "It is blue.", "type": "factual_retrieval", "source": sentence}]);
        }
        "presentation" => {
            case["evaluators"]["output"]["presentation_judge"] = json!([sentence]);
        }
        "trajectory" => {
            case["evaluators"]["trajectory"]["trajectory_rubrics"]["rubrics"] = json!([sentence]);
        }
        other => panic!("{other}"),
    }
    case
}

fn raises(sentence: &Value) -> bool {
    let text = sentence["text"].as_str().expect("a text");
    let case = case(text, sentence["where"].as_str().expect("a part"));
    let list = |key: &str| texts(&sentence[key]);
    let facts = LintFacts {
        tools: Some(list("tools").into_iter().collect()),
        jargon: Some(list("jargon")),
        subject_terms: Some(list("subject_terms")),
        ..LintFacts::default()
    };
    let file = SourceFile::new("cases.json", case.to_string());
    let report = lint(&[file], &facts);
    report.diagnostics.iter().any(|d| d.code == "E-JARGON")
}

#[test]
fn leaks_are_found_and_innocent_sentences_pass() {
    let data = read("jargon.yaml");
    let leaking = data["leaking"].as_array().expect("leaking sentences");
    let innocent = data["innocent"].as_array().expect("innocent sentences");
    assert!(leaking.len() >= 80 && innocent.len() >= 120);
    let missed: Vec<&Value> = leaking.iter().filter(|s| !raises(s)).collect();
    let flagged: Vec<&Value> = innocent.iter().filter(|s| raises(s)).collect();
    let found = leaking.len() - missed.len();
    eprintln!(
        "found {found} of {} leaks, flagged {} of {} innocent sentences",
        leaking.len(),
        flagged.len(),
        innocent.len()
    );
    for s in &missed {
        eprintln!("missed  tier {}: {} ({})", s["tier"], s["text"], s["where"]);
    }
    for s in &flagged {
        eprintln!("flagged: {} ({})", s["text"], s["where"]);
    }
    assert_eq!(flagged, [&Value::Null; 0]);
    assert!(missed.iter().all(|s| s["tier"] != 1), "a name slipped");
    assert!(found * 80 >= leaking.len() * 78);
}
