//! The traps of YAML, each handled as `cases.md` says (YAML rules, Bounds).

use serde_json::{Value, json};

use crate::{codes, lint_files, lint_text};

/// The metadata of a case, as read.
fn metadata(yaml: &str) -> Value {
    let report = lint_text(&format!(
        "id: a\ninput: {{question: q}}\nmax_response_time: 1\nmetadata:\n{yaml}"
    ));
    assert_eq!(codes(&report), [""; 0], "{yaml}");
    Value::Object(report.dataset.cases[0].case.metadata.clone())
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    assert_eq!(
        metadata(
            "  a: no\n  b: on\n  c: 1:30\n  d: 1_000\n  e: 2024-01-01\n  f: 0x1F\n  g: 0o17\n  h: 010\n  i: 1e3\n  j: ~\n  k:\n  l: True\n  m: =\n  n: 12e03\n  o: .5\n  p: 1.\n  q: -0\n  r: NO\n  s: y\n  t: 0b11\n"
        ),
        json!({
            "a": "no", "b": "on", "c": "1:30", "d": "1_000", "e": "2024-01-01", "f": 31, "g": 15, "h": 10,
            "i": 1000.0, "j": null, "k": null, "l": true, "m": "=", "n": 12000.0, "o": 0.5, "p": 1.0, "q": 0,
            "r": "NO", "s": "y", "t": "0b11"
        })
    );
}

#[test]
fn text_is_read_as_written() {
    assert_eq!(
        metadata(
            "  a: |\n    one\n      two\n\n    three\n  b: >-\n    folded\n    text\n\n    next\n  c: \"tab\\there \\u00e9 \\U0001F600\"\n  d: 'it''s'\n  e: plain\n    goes on\n  f: \"a\n\n    b\"\n  g: |+\n    kept\n\n"
        ),
        json!({
            "a": "one\n  two\n\nthree\n", "b": "folded text\nnext", "c": "tab\there é 😀", "d": "it's",
            "e": "plain goes on", "f": "a\nb", "g": "kept\n\n"
        })
    );
}

#[test]
fn anchors_aliases_and_merge_keys() {
    assert_eq!(
        metadata(
            "  base: &b {x: 1, y: 2}\n  other: &o {y: 3, z: 4}\n  own: {<<: *b, y: 9}\n  both: {<<: [*o, *b], w: 5}\n  list: &l [1, *b]\n  again: *l\n  name: &n word\n  twice: [*n, *n]\n  \"<<\": quoted\n"
        ),
        json!({
            "base": {"x": 1, "y": 2}, "other": {"y": 3, "z": 4}, "own": {"y": 9, "x": 1},
            "both": {"w": 5, "y": 3, "z": 4, "x": 1}, "list": [1, {"x": 1, "y": 2}],
            "again": [1, {"x": 1, "y": 2}], "name": "word", "twice": ["word", "word"], "<<": "quoted"
        })
    );
}

#[test]
fn tags_of_the_core_schema_and_no_others() {
    assert_eq!(
        metadata(
            "  a: !!str 42\n  b: !!int \"7\"\n  c: !!float 3\n  d: ! 5\n  e: !!null ~\n  f: !!map {a: 1}\n  g: !!seq [1]\n  h: !!bool true\n"
        ),
        json!({"a": "42", "b": 7, "c": 3.0, "d": "5", "e": null, "f": {"a": 1}, "g": [1], "h": true})
    );
    for tag in [
        "!mine x",
        "!!binary aGk=",
        "!!timestamp 2024-01-01",
        "!!int x",
        "!!set {a: }",
        "!<x:y> z",
    ] {
        let report = lint_text(&format!("cases:\n  - id: a\n    expected: {tag}\n"));
        assert_eq!(codes(&report), ["E-YAML"], "{tag}");
    }
}

#[test]
fn a_byte_order_mark_and_other_line_ends_are_accepted() {
    let text = "\u{feff}# é\r\nid: a\r\ninput:\r\n  question: \"q\"\r\nmax_response_time: 0\r\n";
    let report = lint_text(text);
    assert_eq!(codes(&report), ["E-VALUE"]);
    assert_eq!(report.diagnostics[0].place.line, 5);
    assert_eq!(report.diagnostics[0].place.column, 20);
    let report = lint_text(&text.replace("time: 0", "time: 1"));
    assert_eq!(codes(&report), [""; 0]);
    let broken = "\u{feff}cases:\r\n  - id: a\r\n    expected: \"x\r\n  - id: b\r\n    input: {question: q}\r\n    max_response_time: 1\r\n";
    let report = lint_text(broken);
    assert_eq!(codes(&report), ["E-YAML"]);
    assert_eq!(report.dataset.cases.len(), 1);
    let same = "id: a\rinput: {question: q}\rmax_response_time: 0\r";
    assert_eq!(lint_text(same).diagnostics[0].place.line, 3);
}

#[test]
fn columns_count_characters_and_bytes_count_bytes() {
    let text = "id: a\ninput: {question: q}\nmetadata: {\"😀é\": x}\nevaluators: {output: {presentation_judge: [\"😀\", 5]}}\n";
    let report = lint_text(text);
    assert_eq!(codes(&report), ["E-FIELD-TYPE"]);
    let place = &report.diagnostics[0].place;
    assert_eq!((place.line, place.column, place.end_column), (4, 49, 50));
    assert_eq!(
        &text[place.byte_start as usize..place.byte_end as usize],
        "5"
    );
}

#[test]
fn duplicate_keys_are_errors_everywhere() {
    for (name, text) in [
        ("a.yaml", "id: a\nid: b\ninput: {question: q}\n"),
        ("a.yaml", "id: a\ninput: {question: q, question: r}\n"),
        (
            "a.yaml",
            "id: a\ninput: {question: q}\nmetadata: {1: a, \"1\": b}\n",
        ),
        ("a.yaml", "cases: []\ncases: []\n"),
        ("a.json", "{\"id\": \"a\", \"id\": \"b\"}"),
    ] {
        let report = lint_files(&[(name, text)]);
        assert_eq!(codes(&report), ["E-YAML"], "{text}");
        assert!(report.diagnostics[0].message.contains("twice"), "{text}");
        assert_eq!(report.diagnostics[0].related.len(), 1, "{text}");
    }
}

/// Each bound is refused at once, and the message names it.
#[test]
fn bounds_are_named() {
    let many = |n: usize, part: &str| part.repeat(n);
    let laughs = {
        let mut text = String::from("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n");
        for i in 1..9 {
            let alias = format!("*a{},", i - 1).repeat(10);
            text += &format!("a{i}: &a{i} [{alias}]\n");
        }
        text
    };
    let fat = format!(
        "a: &a \"{}\"\nb: [{}]\n",
        many(1 << 20, "x"),
        many(9, "*a,")
    );
    let merges = {
        let mut text = String::from("m0: &m0 {k0: 1}\n");
        for i in 1..4000 {
            text += &format!("m{i}: &m{i} {{<<: *m{}, k{i}: 1}}\n", i - 1);
        }
        text
    };
    let tall = {
        let mut text = String::from("a0: &a0 [[[[[[[[x]]]]]]]]\n");
        for i in 1..20 {
            text += &format!("a{i}: &a{i} [[[[[[[[*a{}]]]]]]]]\n", i - 1);
        }
        text
    };
    for (bound, text) in [
        ("2 million nodes", laughs),
        ("8 MiB of text", fat),
        ("2 million nodes", merges),
        (
            "2 million nodes",
            format!("a: [{}]\n", many(2_000_000, "a,")),
        ),
        ("depth 64", tall),
        ("depth 64", many(100_000, "[")),
        ("depth 64", many(100_000, "- ")),
        ("depth 64", format!("a: {}", many(100_000, "{a: "))),
        (
            "10,000 aliases",
            format!("a: &a x\nb: [{}]\n", many(10_001, "*a,")),
        ),
        ("1,000 documents", many(1_001, "--- a\n")),
        (
            "2,000 syntax errors",
            format!("cases:\n{}", many(5_000, "  - id: \"x\n")),
        ),
        (
            "2,000 syntax errors",
            format!("a: {{{}}}", many(5_000, "k: 1, ")),
        ),
        ("8 MiB a file", many(1 << 20, "# 3456789\n")),
    ] {
        let report = lint_text(&text);
        let found = report
            .diagnostics
            .iter()
            .filter(|d| d.code == "E-YAML" && d.message.contains(bound))
            .count();
        assert!(found >= 1, "{bound}: {:?}", report.diagnostics.first());
    }
    assert_eq!(
        codes(&lint_text(&format!(
            "a: {}x{}",
            many(63, "["),
            many(63, "]")
        ))),
        ["E-DOCUMENT"]
    );
    assert_eq!(codes(&lint_text(&many(1_000, "---\n# nothing\n"))), [""; 0]);
}

#[test]
fn twenty_thousand_cases_and_no_more() {
    let mut text = String::from("defaults: {max_response_time: 1}\ncases:\n");
    for i in 0..20_001 {
        text += &format!("  - {{id: c{i}, input: {{question: q}}}}\n");
    }
    let report = lint_text(&text);
    assert_eq!(codes(&report), ["E-YAML"]);
    assert!(report.diagnostics[0].message.contains("20,000 cases"));
}

#[test]
fn bytes_that_are_no_text_are_refused_with_their_place() {
    let mut bytes = b"id: a\nexpected: ".to_vec();
    bytes.extend([0xC3, 0x28]);
    let report = evalkit_lint::lint(
        &[evalkit_lint::SourceFile::new("a.yaml", bytes)],
        &evalkit_lint::LintFacts::default(),
    );
    assert_eq!(codes(&report), ["E-YAML"]);
    assert_eq!(
        (
            report.diagnostics[0].place.line,
            report.diagnostics[0].place.column
        ),
        (2, 11)
    );
    let utf16: Vec<u8> = vec![0xFF, 0xFE, b'i', 0, b'd', 0];
    let report = evalkit_lint::lint(
        &[evalkit_lint::SourceFile::new("a.yaml", utf16)],
        &evalkit_lint::LintFacts::default(),
    );
    assert!(report.diagnostics[0].message.contains("UTF-16"));
}

#[test]
fn many_comment_lines_are_no_trouble() {
    let text = format!(
        "id: a\n{}input: {{question: q}}\nmax_response_time: 1\n",
        "# a comment\n".repeat(5_000)
    );
    assert_eq!(codes(&lint_text(&text)), [""; 0]);
}
