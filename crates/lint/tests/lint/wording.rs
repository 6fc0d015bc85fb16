//! The rules of wording on any text: no panic, places inside the file, and time that grows with the size alone.

use std::time::{Duration, Instant};

use evalkit_lint::{LintFacts, SourceFile, lint};
use proptest::prelude::*;
use serde_json::json;

use crate::data::read;

/// Words and signs that rules react to, and some that they do not expect.
const PIECES: &[&str] = &[
    "States",
    "Calculates",
    "that",
    "and",
    "the",
    "tool",
    "API",
    "agent",
    "should",
    "latest",
    "current",
    "5.6%",
    "$1,955.0",
    "million",
    "FY2024",
    "2024-03-31",
    " - ",
    " / ",
    ".",
    ",",
    "(",
    ")",
    "'s",
    "’s",
    "snake_case",
    "fooBar(",
    "/slash-it",
    "a/b.md",
    "C:\\x\\y",
    "RAG",
    "SQL",
    "prompt",
    "trajectory",
    "Bloomberg",
    "from",
    "via",
    "😀",
    "é",
    "\u{301}",
    "İ",
    "ß",
    "\u{200d}",
    "\n",
    "\t",
    "--",
    "_",
    "__",
    "…",
    "“",
    "”",
    "“as”",
    "search",
    "kb-x-9",
    "in a table",
    "table",
    "Claude",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(PIECES).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ];
    (prop::collection::vec(piece, 0..14), prop::bool::ANY)
        .prop_map(|(pieces, spaced)| pieces.join(if spaced { " " } else { "" }))
}

fn facts() -> LintFacts {
    let names = ["search", "kb-x-9", "fooBar", "a.b", "get price", "İx_y"];
    LintFacts {
        tools: Some(names.map(str::to_owned).into()),
        jargon: Some(vec!["Foghorn".to_owned(), String::new()]),
        subject_terms: Some(vec!["SQL".to_owned(), " ".to_owned()]),
        ..LintFacts::default()
    }
}

proptest! {
    #[test]
    fn no_text_breaks_a_rule(texts in prop::collection::vec(text(), 8), block in prop::bool::ANY) {
        let case = json!({
            "id": "a",
            "input": {"question": texts[0]},
            "expected": texts[1],
            "evaluators": {
                "output": {
                    "answer_rubrics": {"rubrics": [
                        {"rubric": texts[2], "type": "factual_retrieval", "source": texts[3]},
                        {"rubric": texts[4], "type": "derived_computation"},
                    ]},
                    "presentation_judge": [texts[5]],
                },
                "trajectory": {"trajectory_rubrics": {"rubrics": [texts[6], texts[7]]}},
            },
        });
        let json = case.to_string();
        let mut files = [("a.json", json)];
        if block {
            let lines: Vec<String> = texts[0].lines().map(|line| format!("    {line}\r\n")).collect();
            files[0] = ("a.yaml", format!("\u{feff}id: a\r\nmax_response_time: 5\r\ninput:\r\n  question: >-\r\n{}", lines.concat()));
        }
        let (name, text) = &files[0];
        let report = lint(&[SourceFile::new(*name, text.as_str())], &facts());
        for d in &report.diagnostics {
            let range = d.place.byte_start as usize..d.place.byte_end as usize;
            prop_assert!(text.get(range.clone()).is_some(), "{range:?} {d:?}");
        }
        prop_assert_eq!(&report, &lint(&[SourceFile::new(*name, text.as_str())], &facts()));
    }
}

/// A dataset of so many cases, made of the common mistakes.
fn dataset(cases: usize) -> Vec<SourceFile> {
    let data = read("mistakes.yaml");
    let list = data["mistakes"].as_array().expect("a list");
    let texts: Vec<&str> = list
        .iter()
        .filter(|mistake| {
            mistake["code"]
                .as_str()
                .is_some_and(|code| code.starts_with("W-"))
        })
        .filter_map(|mistake| {
            mistake["files"]["cases.yaml"]
                .as_str()?
                .strip_prefix("cases:\n")
        })
        .collect();
    let mut files = Vec::new();
    for (n, chunk) in (0..cases).collect::<Vec<_>>().chunks(500).enumerate() {
        let mut text = "cases:\n".to_owned();
        for i in chunk {
            let case = texts[i % texts.len()];
            text += &case.replacen("- id: ", &format!("- id: n{i}-"), 1);
        }
        files.push(SourceFile::new(format!("{n:03}.yaml"), text));
    }
    files
}

fn time(files: &[SourceFile]) -> Duration {
    let start = Instant::now();
    let report = lint(files, &facts());
    assert!(!report.diagnostics.is_empty());
    start.elapsed()
}

/// The target is 10,000 cases in a second of a release build on one core; here with five-fold slack, and twenty-fold
/// in a debug build.
#[test]
fn ten_thousand_cases_lint_in_time() {
    let files = dataset(10_000);
    let took = time(&files);
    eprintln!("10,000 cases: {took:?}");
    let most = if cfg!(debug_assertions) { 100 } else { 5 };
    assert!(took < Duration::from_secs(most), "{took:?}");
}

/// One case with very much in it takes no more than its share.
#[test]
fn long_lists_and_long_texts_stay_linear() {
    let case = |rubrics: usize, words: usize| {
        let sentence = |i: usize| {
            format!(
                "States that {} was {i}.5 million and more.",
                "the figure of the year ".repeat(words)
            )
        };
        let rubrics: Vec<_> = (0..rubrics)
            .map(|i| json!({"rubric": sentence(i), "type": "derived_computation"}))
            .collect();
        let steps: Vec<_> = (0..rubrics.len())
            .map(|i| json!(format!("Retrieves {}", sentence(i))))
            .collect();
        let expected: String = (0..rubrics.len().min(900))
            .map(|i| format!("{i}.25 "))
            .collect();
        let case = json!({
            "id": "a", "input": {"question": "What was it in 2024?"}, "expected": expected,
            "evaluators": {
                "output": {"answer_rubrics": {"rubrics": rubrics}},
                "trajectory": {"trajectory_rubrics": {"rubrics": steps}},
            },
        });
        vec![SourceFile::new("a.json", case.to_string())]
    };
    let (small, large) = (time(&case(400, 1)), time(&case(4_000, 1)));
    eprintln!("400 rubrics: {small:?}; 4,000: {large:?}");
    // Ten times the size; a square would be a hundred times the time.
    assert!(
        large < small * 40 + Duration::from_secs(1),
        "{small:?} {large:?}"
    );
    let (short, long) = (time(&case(20, 20)), time(&case(20, 200)));
    eprintln!("short texts: {short:?}; long: {long:?}");
    assert!(
        long < short * 40 + Duration::from_secs(1),
        "{short:?} {long:?}"
    );
}
