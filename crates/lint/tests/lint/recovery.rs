//! Reading on after a syntax error.

use crate::{codes, lint_files, lint_text, page};

const GOOD: &str = "  - id: good\n    input: {question: q}\n    max_response_time: 5\n";

/// Each broken case stands between two good ones, which are read; one error is reported, inside the broken one.
#[test]
fn a_broken_case_does_not_blind_the_rest() {
    let mut pages = String::new();
    for broken in [
        "  - id: bad\n    input:\n      question: \"half typed\n    expected: \"x\"\n    colour: red\n",
        "  - id: bad\n    input: {question: \"q\"\n    expected: x\n",
        "  - id: bad\n    input:\n      question: As of today: what is it?\n",
        "  - id: bad\n    input:\n\t  question: q\n",
        "  - id: bad\n    input:\n      question: q\n   tags: [a]\n",
        "  - id: bad\n    input:\n    question: q\n      more: r\n",
        "  - id: bad\n    id: bad\n    input: {question: q}\n",
        "  - id: bad\n    expected: !secret x\n    colour: red\n",
        "  - id: bad\n    expected: *nowhere\n    colour: red\n",
        "  - id: bad\n    expected: @at\n",
        "  - id: bad\n    expected: 'it's'\n",
        "  - id: bad\n    expected: \"a \\d b\"\n",
        "  - id: bad\n    tags: [a, b\n",
        "  - id: bad\n    tags: a]\n    expected: }\n",
        "  - id: bad\n    tags: - a\n",
        "  - id: bad\n    expected: \"\\ud800\"\n",
        "  - id: bad\n    expected: \"a\\0b\"\n",
        "  - id: bad\n    expected: a\u{1}b\n",
        "  - id: bad\n    just a line\n",
        "  - id: bad\n    ? [a]\n    : b\n",
    ] {
        let text = format!(
            "cases:\n{}{broken}{}",
            GOOD.replace("good", "one"),
            GOOD.replace("good", "two")
        );
        let report = lint_text(&text);
        let ids: Vec<&str> = report
            .dataset
            .cases
            .iter()
            .map(|c| c.case.id.as_str())
            .collect();
        assert_eq!(ids, ["one", "two"], "{text}\n{report:?}");
        let codes = codes(&report);
        assert!(
            !codes.is_empty() && codes.iter().all(|code| *code == "E-YAML"),
            "{text}\n{codes:?}"
        );
        for diagnostic in &report.diagnostics {
            let line = diagnostic.place.line as usize;
            let last = 4 + broken.lines().count();
            assert!((5..=last).contains(&line), "line {line} of\n{text}");
            assert_eq!(diagnostic.case_id.as_deref(), Some("bad"), "{text}");
        }
        pages += &format!("{broken}{}\n", page(&report, &[("cases.yaml", &text)]));
    }
    insta::assert_snapshot!(pages);
}

/// The innermost list counts: a broken rubric hides neither its neighbours nor other findings of its case.
#[test]
fn a_broken_rubric_hides_only_itself() {
    let text = "id: a\ninput: {question: q}\ncolour: red\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"One.\"\n          type: nonsense\n        - rubric: \"Two, half typed\n          type: factual_retrieval\n          source: x\n        - rubric: \"Three.\"\n          type: factual_retrieval\n          points: 3\n";
    let report = lint_text(text);
    assert_eq!(
        codes(&report),
        [
            "E-FIELD-UNKNOWN",
            "E-RUBRIC-TYPE",
            "E-YAML",
            "E-RUBRIC-FIELD"
        ]
    );
    assert_eq!(report.dataset.cases.len(), 0);
    insta::assert_snapshot!(page(&report, &[("cases.yaml", text)]));
}

#[test]
fn a_broken_document_does_not_reach_the_next() {
    let text = "cases: [\n---\nid: a\ninput: {question: q}\nmax_response_time: 1\n...\n%YAML 1.2\n---\nid: b\ninput: {question: q}\nmax_response_time: 0\n";
    let report = lint_text(text);
    assert_eq!(codes(&report), ["E-YAML", "E-VALUE"]);
    assert_eq!(report.dataset.cases.len(), 1);
    assert_eq!(report.diagnostics[1].document, 2);
    assert_eq!(report.diagnostics[1].place.line, 11);
}

#[test]
fn anchors_of_sound_parts_are_known_in_the_rest() {
    let text = "cases:\n  - id: a\n    input: &in {question: q}\n    max_response_time: 1\n  - id: bad\n    expected: \"\n  - id: b\n    input: *in\n    max_response_time: 1\n";
    let report = lint_text(text);
    assert_eq!(codes(&report), ["E-YAML"]);
    assert_eq!(report.dataset.cases.len(), 2);
}

#[test]
fn overlays_of_a_broken_case_are_not_blamed() {
    let cases = "cases:\n  - id: bad\n    expected: \"\n  - id: ok\n    input: {question: q}\n    max_response_time: 1\n";
    let overlays = "overlays:\n  - {extends: bad, agents: [a], tags: [t]}\n";
    let facts = serde_json::from_str(r#"{"other_cases": {}, "base_cases": {}}"#).unwrap();
    let files = [
        evalkit_lint::SourceFile::new("a.yaml", cases),
        evalkit_lint::SourceFile::new("b.yaml", overlays),
    ];
    assert_eq!(codes(&evalkit_lint::lint(&files, &facts)), ["E-YAML"]);
}

#[test]
fn json_resumes_too() {
    let text = "{\"cases\": [\n {\"id\": \"bad\", \"input\": {\"question\": \"half},\n  \"tags\": []},\n {\"id\": \"ok\", \"input\": {\"question\": \"q\"}, \"max_response_time\": 1}\n]}";
    let report = lint_files(&[("a.json", text)]);
    assert_eq!(codes(&report), ["E-YAML"], "{report:?}");
    assert_eq!(report.diagnostics[0].place.line, 2);
    assert_eq!(report.diagnostics[0].case_id.as_deref(), Some("bad"));
}
