//! Whole datasets: the specification's example, the repository's own, and what comes out of them.

use std::path::Path;

use evalkit_lint::{LintFacts, SourceFile, lint};

use crate::{codes, lint_files, lint_text, page};

const CASE: &str = include_str!("fixtures/spec-case.yaml");
const OVERLAY: &str = include_str!("fixtures/spec-overlay.yaml");

#[test]
fn the_example_of_the_specification_lints_clean() {
    let files = [("a/cases.yaml", CASE), ("a/overlays.yaml", OVERLAY)];
    let report = lint_files(&files);
    assert_eq!(page(&report, &files), "");
    let [parsed] = &report.dataset.cases[..] else {
        panic!("one case")
    };
    assert_eq!(parsed.case.id, "roku-platform-margin-fy2024");
    assert_eq!(parsed.case.max_response_time, Some(60.0));
    assert_eq!(parsed.case.rubrics().len(), 3);
    assert_eq!(parsed.case.trajectory_rubrics().len(), 3);
    insta::assert_json_snapshot!("spec-case-canonical", parsed.case.canonical());
    let [overlay] = &report.dataset.overlays[..] else {
        panic!("one overlay")
    };
    assert_eq!(overlay.overlay.agents, ["support-bot"]);
}

/// The copy in this crate is the one in the specification, where that is at hand.
#[test]
fn the_example_is_the_one_of_the_specification() {
    let spec = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/spec/cases.md"
    ));
    let Ok(text) = std::fs::read_to_string(spec) else {
        eprintln!("SKIPPED: the example of cases.md: ../shared/spec is not here");
        return;
    };
    let blocks: Vec<&str> = text
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(blocks, [CASE, OVERLAY]);
}

fn world_facts() -> Vec<SourceFile> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/world-facts");
    let mut files: Vec<SourceFile> = std::fs::read_dir(folder)
        .expect("the example dataset")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .filter(|path| path.file_name().is_some_and(|name| name != "evalkit.yaml"))
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            SourceFile::new(name, std::fs::read(&path).expect("a file"))
        })
        .collect();
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}

#[test]
fn the_example_dataset_lints_clean() {
    let files = world_facts();
    let report = lint(&files, &LintFacts::default());
    let texts: Vec<(&str, &str)> = files
        .iter()
        .map(|f| (f.path.as_str(), std::str::from_utf8(&f.bytes).unwrap()))
        .collect();
    assert_eq!(page(&report, &texts), "");
    assert!(report.dataset.cases.len() >= 24);
    assert!(report.dataset.overlays.len() >= 8);
    assert_eq!(report.dataset.registry.len(), 2);
    for parsed in &report.dataset.cases {
        for fixture in &parsed.case.fixtures {
            assert!(fixture.sha256.is_some() && fixture.context.is_some());
        }
    }
}

/// The text kept for a case reads back as the same content.
#[test]
fn excerpts_of_the_example_dataset_keep_the_content() {
    let report = lint(&world_facts(), &LintFacts::default());
    let facts = LintFacts {
        fixtures: Some(report.dataset.registry.clone()),
        ..LintFacts::default()
    };
    for parsed in &report.dataset.cases {
        let file = SourceFile::new("case.yaml", parsed.yaml.as_str());
        let again = lint(&[file], &facts);
        assert_eq!(codes(&again), [""; 0], "{}", parsed.yaml);
        let case = &again.dataset.cases[0].case;
        assert_eq!(case.content_hash(), parsed.case.content_hash());
    }
}

#[test]
fn excerpts_keep_comments_and_carry_defaults() {
    let text = include_str!("fixtures/excerpts.yaml");
    let report = lint_text(text);
    assert_eq!(page(&report, &[("cases.yaml", text)]), "");
    let excerpts: Vec<String> = report
        .dataset
        .cases
        .iter()
        .map(|parsed| parsed.yaml.clone())
        .chain(report.dataset.overlays.iter().map(|o| o.yaml.clone()))
        .collect();
    insta::assert_snapshot!(excerpts.join("=====\n"));
    for parsed in &report.dataset.cases {
        let again = lint_text(&parsed.yaml);
        assert_eq!(codes(&again), [""; 0], "{}", parsed.yaml);
        assert_eq!(
            again.dataset.cases[0].case.content_hash(),
            parsed.case.content_hash(),
            "{}",
            parsed.yaml
        );
    }
}

#[test]
fn json_and_yaml_are_one_content() {
    let report = lint_text(CASE);
    let value = report.dataset.cases[0].case.canonical();
    let mut written = value.clone();
    let keys: Vec<String> = report.dataset.cases[0]
        .case
        .fixtures
        .iter()
        .map(|f| f.key.clone())
        .collect();
    written["fixtures"] = serde_json::json!(keys);
    let json = serde_json::to_string_pretty(&serde_json::json!({ "cases": [written] })).unwrap();
    let again = lint_files(&[("cases.json", &json)]);
    assert_eq!(page(&again, &[("cases.json", &json)]), "");
    assert_eq!(again.dataset.cases[0].case.canonical(), value);
    let alone = lint_files(&[("case.json", &again.dataset.cases[0].yaml)]);
    assert_eq!(alone.dataset.cases[0].case.canonical(), value);
}

#[test]
fn short_forms_and_long_forms_are_one_content() {
    let short = "id: a\ninput: {question: q}\nmetrics: {relevance: 4, tone: null}\nevaluators: {output: {presentation_judge: [x]}}\n";
    let long = "id: a\ninput: {question: q}\nmetrics: {relevance: {threshold: 4.0}, tone: {}}\nevaluators: {output: {presentation_judge: {require: [x]}}}\n";
    let hash = |text: &str| {
        let report = lint_text(text);
        assert_eq!(codes(&report), [""; 0]);
        report.dataset.cases[0].case.content_hash()
    };
    assert_eq!(hash(short), hash(long));
}

#[test]
fn a_fixtures_bytes_are_part_of_the_content() {
    let hash = |digit: &str| {
        let registry = format!(
            "fixtures: {{a.txt: {{sha256: {}, context: c}}}}\n",
            digit.repeat(64)
        );
        let report = lint_files(&[
            ("fixtures.yaml", &registry),
            (
                "a.yaml",
                "id: a\ninput: {question: q}\nfixtures: [a.txt]\nmax_response_time: 1\n",
            ),
        ]);
        assert_eq!(codes(&report), [""; 0]);
        report.dataset.cases[0].case.content_hash()
    };
    assert_ne!(hash("a"), hash("b"));
}

#[test]
fn registries_merge_and_a_key_twice_is_an_error() {
    let entry = |key: &str| {
        format!(
            "fixtures:\n  {key}: {{sha256: {}, context: c}}\n",
            "a".repeat(64)
        )
    };
    let (a, b) = (entry("a.txt"), entry("b.txt"));
    let report = lint_files(&[("fixtures.yaml", &a), ("x/fixtures.yaml", &b)]);
    assert_eq!(codes(&report), [""; 0]);
    assert_eq!(report.dataset.registry.len(), 2);
    let report = lint_files(&[("fixtures.yaml", &a), ("x/fixtures.yaml", &a)]);
    assert_eq!(codes(&report), ["E-FIXTURE-KEY"]);
}
