//! Every rule's own examples, and mistakes of the kinds people make.

use evalkit_lint::rules::{CATALOGUE, Example};
use evalkit_lint::{LintFacts, LintReport, Severity, SourceFile, lint};

use crate::{codes, lint_text, page};

fn run(example: &Example) -> LintReport {
    let files: Vec<SourceFile> = example
        .files
        .iter()
        .map(|(path, text)| SourceFile::new(*path, *text))
        .collect();
    let facts: LintFacts = if example.facts.is_empty() {
        LintFacts::default()
    } else {
        serde_json::from_str(example.facts).expect("facts of an example")
    };
    lint(&files, &facts)
}

#[test]
fn the_bad_example_of_each_rule_raises_it_alone_and_the_good_one_nothing() {
    for rule in CATALOGUE {
        let bad = run(&rule.bad);
        assert_eq!(codes(&bad), [rule.code], "bad example of {}", rule.code);
        let good = run(&rule.good);
        assert_eq!(codes(&good), [""; 0], "good example of {}", rule.code);
        insta::assert_snapshot!(format!("example-{}", rule.code), page(&bad, rule.bad.files));
    }
}

#[test]
fn safe_fixes_of_the_examples_mend_them() {
    let mut mended = 0;
    for rule in CATALOGUE {
        let bad = run(&rule.bad);
        let [diagnostic] = &bad.diagnostics[..] else {
            panic!("{}", rule.code)
        };
        let Some(fix) = diagnostic.fix.as_ref().filter(|fix| fix.safe) else {
            continue;
        };
        let files: Vec<SourceFile> = rule
            .bad
            .files
            .iter()
            .map(|(path, text)| {
                let mut text = (*text).to_owned();
                if *path == diagnostic.file {
                    for edit in fix.edits.iter().rev() {
                        text.replace_range(
                            edit.byte_start as usize..edit.byte_end as usize,
                            &edit.text,
                        );
                    }
                }
                SourceFile::new(*path, text)
            })
            .collect();
        let facts = serde_json::from_str(rule.bad.facts).unwrap_or_default();
        assert_eq!(codes(&lint(&files, &facts)), [""; 0], "{}", rule.code);
        mended += 1;
    }
    assert!(mended >= 2, "{mended} safe fixes were tried");
}

#[test]
fn codes_are_in_the_catalogue_once() {
    for (i, rule) in CATALOGUE.iter().enumerate() {
        assert!(!CATALOGUE[..i].iter().any(|other| other.code == rule.code));
        assert!(rule.what.ends_with(['.', '…']), "{}", rule.code);
        let by_name = match rule.code.as_bytes()[0] {
            b'E' => Severity::Error,
            b'W' => Severity::Warning,
            _ => Severity::Hint,
        };
        assert_eq!(rule.severity, by_name, "{}", rule.code);
    }
}

/// One file with many mistakes: each is found, at its place, and none hides another.
#[test]
fn a_page_of_mistakes() {
    let text = include_str!("fixtures/mistakes.yaml");
    let report = lint_text(text);
    insta::assert_snapshot!(page(&report, &[("cases.yaml", text)]));
}

#[test]
fn overlay_mistakes() {
    let text = include_str!("fixtures/overlay-mistakes.yaml");
    let report = lint_text(text);
    insta::assert_snapshot!(page(&report, &[("cases.yaml", text)]));
}

#[test]
fn documents_of_no_kind() {
    for (name, text, code) in [
        ("a.yaml", "- id: a\n", "E-DOCUMENT"),
        ("a.yaml", "just text\n", "E-DOCUMENT"),
        ("a.yaml", "{}\n", "E-DOCUMENT"),
        ("a.yaml", "fixtures: {}\n", "E-DOCUMENT"),
        ("a.yaml", "defaults: {}\n", "E-DOCUMENT"),
        ("a.yaml", "cases: []\noverlays: []\n", "E-DOCUMENT"),
        ("a.yaml", "extends: a\nagents: [b]\n", "E-DOCUMENT"),
        (
            "a.json",
            "{\"cases\": [{\"id\": \"a\", \"messages\": []}]}",
            "E-DOCUMENT",
        ),
        ("a.json", "[]", "E-DOCUMENT"),
        ("a.yaml", "cases: {a: 1}\n", "E-FIELD-TYPE"),
        ("a.yaml", "cases:\n", "E-FIELD-TYPE"),
        ("fixtures.yaml", "fixtures: [a]\n", "E-FIELD-TYPE"),
    ] {
        let report = crate::lint_files(&[(name, text)]);
        assert_eq!(codes(&report), [code], "{text}");
    }
    for (name, text) in [
        ("a.yaml", ""),
        ("a.yaml", "# nothing\n---\n---\n...\n# more\n"),
        ("a.yaml", "cases: []\n"),
        ("a/fixtures.yaml", "fixtures: {}\n"),
        ("a.json", " \n"),
    ] {
        let report = crate::lint_files(&[(name, text)]);
        assert_eq!(codes(&report), [""; 0], "{text}");
    }
}

#[test]
fn unknown_facts_keep_rules_silent_and_known_ones_do_not() {
    let overlay = "overlays:\n  - {extends: nobody, agents: [a], evaluators: {custom: {x: {}}, trajectory: {required_tools_called: {tools: [t]}}}}\n";
    let with = |facts: &str| {
        let facts: LintFacts = serde_json::from_str(facts).unwrap();
        let report = lint(&[SourceFile::new("o.yaml", overlay)], &facts);
        codes(&report)
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(with("{}"), [""; 0]);
    assert_eq!(with(r#"{"other_cases": {}}"#), [""; 0]);
    assert_eq!(
        with(r#"{"other_cases": {}, "base_cases": {}}"#),
        ["E-OVERLAY-TARGET"]
    );
    assert_eq!(
        with(r#"{"other_cases": {}, "base_cases": {"nobody": "finance@dev"}}"#),
        [""; 0]
    );
    assert_eq!(with(r#"{"evaluators": []}"#), ["E-EVALUATOR-UNKNOWN"]);
    assert_eq!(with(r#"{"tools": []}"#), ["W-TOOL-UNKNOWN"]);
    assert_eq!(
        with(
            r#"{"overlays": [{"dataset": "desk", "extends": "nobody", "agents": ["b", "a"], "evaluators": {"custom": {"x": {}}}}]}"#
        ),
        ["E-OVERLAY-CLASH"]
    );
    assert_eq!(
        with(
            r#"{"overlays": [{"dataset": "desk", "extends": "nobody", "agents": ["b"], "evaluators": {"custom": {"x": {}}}}]}"#
        ),
        [""; 0]
    );
}

#[test]
fn an_overlay_clashes_with_the_case_itself() {
    let report = lint_text(
        "cases:\n  - id: a\n    input: {question: q}\n    evaluators: {trajectory: {required_tools_called: {tools: [t]}}}\n---\noverlays:\n  - extends: a\n    agents: [bot]\n    evaluators: {trajectory: {required_tools_called: {tools: [u]}}}\n",
    );
    assert_eq!(codes(&report), ["E-OVERLAY-CLASH"]);
    assert_eq!(report.diagnostics[0].related.len(), 1);
}

#[test]
fn warnings_can_be_silenced_and_errors_cannot() {
    let case = |tags: &str, above: &str| {
        format!(
            "cases:\n  - id: a\n{above}    tags: [needs-ground-truth]{tags}\n    input: {{question: q}}\n    max_response_time: 5\n"
        )
    };
    let found = |text: String| codes(&lint_text(&text)).len();
    assert_eq!(found(case("", "")), 1);
    assert_eq!(found(case("  # evalkit: allow W-GROUND-TRUTH", "")), 0);
    assert_eq!(found(case("", "    # evalkit: allow W-GROUND-TRUTH\n")), 0);
    assert_eq!(
        found(case(
            "",
            "    # evalkit: allow W-GROUND-TRUTH (waits for Q3)\n    # more\n"
        )),
        0
    );
    assert_eq!(found(case("", "    # evalkit: allow W-TOOL-UNKNOWN\n")), 1);
    let error =
        "cases:\n  # evalkit: allow E-NOTHING-TO-GRADE\n  - id: a\n    input: {question: q}\n";
    assert_eq!(codes(&lint_text(error)), ["E-NOTHING-TO-GRADE"]);
}

#[test]
fn the_json_output_has_the_documented_shape() {
    let text = "cases:\n  - id: a\n    input: {question: \"😀 q\"}\n    expected: 42\n    max_response_time: 5\n";
    let report = lint_text(text);
    insta::assert_json_snapshot!(report.document(1, false));
}
