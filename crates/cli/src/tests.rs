//! Commands from outside: arguments in, exit code and text out.

mod against_a_server;

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::console::Console;
use crate::environment::Environment;
use crate::{args, run};

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Buffer {
    fn text(&self) -> String {
        let buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8(buffer.clone()).expect("UTF-8")
    }
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    /// Its exit code.
    pub code: u8,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Done {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).expect("JSON on standard output")
    }
}

/// Runs a command in a folder, with an environment of its own.
pub(crate) async fn evalkit_with(environment: Environment, arguments: &[&str]) -> Done {
    let all = std::iter::once("evalkit").chain(arguments.iter().copied());
    let Ok(invocation) = args::read(all.map(OsString::from)) else {
        return Done {
            code: 3,
            out: String::new(),
            err: "usage".to_owned(),
        };
    };
    let (out, err) = (Buffer::default(), Buffer::default());
    let console = Console::into(out.clone(), err.clone());
    let exit = run(invocation, environment, console).await;
    Done {
        code: exit.code(),
        out: out.text(),
        err: err.text(),
    }
}

async fn evalkit(folder: &Path, arguments: &[&str]) -> Done {
    let environment = Environment {
        folder: folder.to_owned(),
        ..Environment::default()
    };
    evalkit_with(environment, arguments).await
}

fn write(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    std::fs::write(path, text).expect("a file");
}

const DESK: &str = r#"defaults:
  max_response_time: 10
cases:
  - id: three-mugs
    tags: [prices]
    input:
      question: "I would like three mugs. What do I pay in total, with shipping?"
    evaluators:
      output:
        answer_rubrics:
          rubrics:
            - rubric: "States that one mug costs €19.90."
              type: factual_retrieval
            - rubric: "Calculates the total as €64.65."
              type: derived_computation
  - id: express-shipping
    input:
      question: "What does express shipping cost?"
    evaluators:
      output:
        answer_rubrics:
          rubrics:
            - rubric: "States that express shipping costs €9.90."
              type: factual_retrieval
"#;

const RUNS: &str = r#"{"case_id": "three-mugs", "agent": "desk", "answer": "One mug is €19.90 and shipping is €4.95. The total is €64.65.", "latency_ms": 20, "status": "ok"}
{"case_id": "express-shipping", "agent": "desk", "answer": "Express shipping costs €12.90.", "latency_ms": 30, "status": "ok"}
"#;

const REPLIES: &str = r#"{"case_id": "three-mugs", "evaluator": "answer_rubrics", "verdicts": [{"verdict": "satisfied"}, {"verdict": "satisfied"}]}
{"case_id": "express-shipping", "evaluator": "answer_rubrics", "verdicts": [{"verdict": "incorrect", "said": "€12.90", "evidence": ["Express shipping costs €12.90."]}]}
"#;

fn desk() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), "cases/desk.yaml", DESK);
    write(folder.path(), "runs.jsonl", RUNS);
    write(folder.path(), "replies.jsonl", REPLIES);
    folder
}

#[tokio::test]
async fn lint_says_clean_and_shows_what_is_not() {
    let folder = desk();
    let done = evalkit(folder.path(), &["lint", "cases"]).await;
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "1 file: clean\n"),
        "{}",
        done.err
    );

    write(
        folder.path(),
        "cases/more.yaml",
        "cases:\n  - id: a\n    input: {question: q}\n    expected: 42\n    tags: [needs-ground-truth]\n    max_response_time: 5\n  - id: b\n    expected: \"\u{1b}[31mhalf\n",
    );
    let done = evalkit(folder.path(), &["lint", "cases"]).await;
    assert_eq!(done.code, 1);
    assert!(!done.out.contains('\u{1b}'), "{}", done.out);
    insta::assert_snapshot!("lint-text", done.out);

    let done = evalkit(folder.path(), &["lint", "cases", "--format", "github"]).await;
    insta::assert_snapshot!("lint-github", done.out);

    let done = evalkit(folder.path(), &["lint", "cases", "--format", "json"]).await;
    assert_eq!(done.code, 1);
    let json = done.json();
    assert_eq!(json["schema"], "evalkit.lint/1");
    assert_eq!(
        (&json["files"], &json["errors"], &json["warnings"]),
        (&2.into(), &2.into(), &1.into())
    );
    assert_eq!(json["diagnostics"][0]["file"], "cases/more.yaml");
    assert_eq!(json["diagnostics"][0]["line"], 4);
}

#[tokio::test]
async fn warnings_fail_only_when_denied() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "a.yaml",
        "id: a\ninput: {question: q}\ntags: [needs-ground-truth]\nmax_response_time: 5\n",
    );
    assert_eq!(evalkit(folder.path(), &["lint", "a.yaml"]).await.code, 0);
    assert_eq!(
        evalkit(folder.path(), &["lint", "a.yaml", "--deny-warnings"])
            .await
            .code,
        1
    );
}

#[tokio::test]
async fn unusable_input_and_usage_end_with_three() {
    let folder = desk();
    write(folder.path(), "bad.json", "{");
    write(
        folder.path(),
        "other.json",
        "{\"schema\": \"evalkit.facts/2\"}",
    );
    for arguments in [
        &["lint", "nowhere"][..],
        &["lint"],
        &["lint", "cases", "--format", "xml"],
        &["lint", "cases", "--facts", "bad.json"],
        &["lint", "cases", "--facts", "other.json"],
        &["lint", "runs.jsonl"],
        &["show", "cases", "--case-id", "three-mug"],
        &["figures", "--rubric", "x"],
        &["figures", "--batch", "bad.json"],
        &["grade", "cases", "--runs", "nowhere"],
        &["grade", "cases", "--runs", "bad.json"],
        &["grade", "cases", "--runs", "runs.jsonl", "--judge", "gpt"],
        &[
            "grade",
            "cases",
            "--runs",
            "runs.jsonl",
            "--judge",
            "replay:runs.jsonl",
        ],
        &["grade", "cases", "--runs", "runs.jsonl", "--threshold", "2"],
        &["grade", "cases", "--runs", "runs.jsonl", "--agent", "other"],
        &["atif", "check", "nowhere"],
        &["nonsense"],
        &[],
    ] {
        let done = evalkit(folder.path(), arguments).await;
        assert_eq!(done.code, 3, "{arguments:?}: {}", done.err);
        assert!(!done.err.is_empty(), "{arguments:?}");
    }
}

#[tokio::test]
async fn facts_and_the_project_file_are_used() {
    let folder = desk();
    write(
        folder.path(),
        "facts.json",
        "{\"other_cases\": {\"three-mugs\": \"shop\"}}",
    );
    let done = evalkit(
        folder.path(),
        &["lint", "cases", "--facts", "facts.json", "--format", "json"],
    )
    .await;
    assert_eq!(done.json()["diagnostics"][0]["code"], "E-ID-TAKEN");

    write(folder.path(), "evalkit.yaml", "fixture: ./files\n");
    let done = evalkit(folder.path(), &["lint", "cases"]).await;
    assert_eq!(done.code, 3);
    assert!(
        done.err.contains("Did you mean `fixtures`?"),
        "{}",
        done.err
    );
}

#[tokio::test]
async fn fixture_bytes_that_differ_are_found_offline_and_absent_ones_are_not_blamed() {
    let folder = tempfile::tempdir().unwrap();
    let entry = |key: &str| format!("  {key}: {{sha256: {}, context: c}}\n", "a".repeat(64));
    write(folder.path(), "evalkit.yaml", "fixtures: files\n");
    write(
        folder.path(),
        "cases/fixtures.yaml",
        &format!("fixtures:\n{}{}", entry("here.txt"), entry("there.txt")),
    );
    write(folder.path(), "files/here.txt", "hello");
    let done = evalkit(folder.path(), &["lint", "cases", "--format", "json"]).await;
    let json = done.json();
    assert_eq!(json["errors"], 1, "{}", done.out);
    assert_eq!(json["diagnostics"][0]["code"], "E-FIXTURE-HASH");
    assert_eq!(json["diagnostics"][0]["path"], "/fixtures/here.txt/sha256");
}

#[tokio::test]
async fn show_prints_one_object_a_case() {
    let folder = desk();
    write(
        folder.path(),
        "cases/tools.yaml",
        "defaults: {agents: [desk]}\noverlays:\n  - extends: three-mugs\n    tags: [priced]\n    evaluators: {trajectory: {required_tools_called: {tools: [price_list]}}}\n",
    );
    let done = evalkit(folder.path(), &["show", "cases", "--json"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.out.lines().count(), 2);
    let done = evalkit(
        folder.path(),
        &[
            "show",
            "cases",
            "--case-id",
            "three-mugs",
            "--agent",
            "desk@mara",
            "--json",
        ],
    )
    .await;
    let json = done.json();
    assert_eq!(json["id"], "three-mugs");
    assert_eq!(json["canonical"]["max_response_time"], 10);
    assert_eq!(json["canonical"]["tags"], serde_json::json!(["prices"]));
    assert_eq!(json["content_hash"].as_str().map(str::len), Some(64));
    assert_eq!(
        json["effective"]["tags"],
        serde_json::json!(["prices", "priced"])
    );
    assert_eq!(
        json["effective"]["evaluators"]["trajectory"]["required_tools_called"]["tools"][0],
        "price_list"
    );
    assert_eq!(
        json["origins"],
        serde_json::json!({"required_tools_called": "tools", "tag:priced": "tools"})
    );
    let text = evalkit(folder.path(), &["show", "cases", "--agent", "desk"]).await;
    assert!(
        text.out.contains("required_tools_called comes from tools"),
        "{}",
        text.out
    );
}

#[tokio::test]
async fn show_and_grade_refuse_cases_with_errors() {
    let folder = desk();
    write(folder.path(), "cases/bad.yaml", "id: bad\n");
    for arguments in [
        &["show", "cases"][..],
        &["grade", "cases", "--runs", "runs.jsonl"],
    ] {
        let done = evalkit(folder.path(), arguments).await;
        assert_eq!(done.code, 1, "{arguments:?}");
        assert!(done.err.contains("E-FIELD-MISSING"), "{}", done.err);
    }
}

#[tokio::test]
async fn figures_says_whether_a_number_matches() {
    let folder = desk();
    let arguments = [
        "figures",
        "--rubric",
        "Calculates the total as €64.65.",
        "--answer",
        "It is €64.65.",
    ];
    let done = evalkit(folder.path(), &arguments).await;
    assert!(done.out.starts_with("matches\n"), "{}", done.out);
    let mut arguments = arguments.to_vec();
    arguments.push("--json");
    let json = evalkit(folder.path(), &arguments).await.json();
    assert_eq!(json["result"], "matches");
    assert!(json["why"].is_string());

    write(
        folder.path(),
        "pairs.jsonl",
        "{\"rubric\": \"States 5 km.\", \"answer\": \"5 km\"}\n\n{\"rubric\": \"States €5.00.\", \"answer\": \"€7.00\"}\n",
    );
    let done = evalkit(
        folder.path(),
        &["figures", "--batch", "pairs.jsonl", "--json"],
    )
    .await;
    let results: Vec<String> = done
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["result"].to_string())
        .collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0], "\"matches\"");
}

#[tokio::test]
async fn grade_counts_scores_and_says_what_fell() {
    let folder = desk();
    let base = [
        "grade",
        "cases",
        "--runs",
        "runs.jsonl",
        "--judge",
        "replay:replies.jsonl",
    ];
    let done = evalkit(folder.path(), &base).await;
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    insta::assert_snapshot!("grade-text", done.out);

    let with = |more: &[&'static str]| {
        base.iter()
            .copied()
            .chain(more.iter().copied())
            .collect::<Vec<_>>()
    };
    let done = evalkit(folder.path(), &with(&["--json"])).await;
    let json = done.json();
    assert_eq!(json["schema"], "evalkit.results/1");
    assert_eq!(json["agent"], "desk");
    assert_eq!(json["dataset"], "cases");
    assert_eq!(json["judge"]["provider"], "replay");
    assert_eq!(json["counts"]["green"], 1);
    assert_eq!(json["counts"]["red"], 1);
    assert_eq!(json["scores"]["answer_rubric_score"]["num"], 2.0);
    assert_eq!(json["scores"]["answer_rubric_score"]["den"], 3.0);

    assert_eq!(
        evalkit(folder.path(), &with(&["--threshold", "0.6"]))
            .await
            .code,
        0
    );
    assert_eq!(
        evalkit(folder.path(), &with(&["--threshold", "0.7"]))
            .await
            .code,
        1
    );
}

#[tokio::test]
async fn grade_is_incomplete_when_anything_is_missing_failed_or_unscored() {
    let folder = desk();
    let grade = |runs: &'static str, judge: &'static str| {
        let path = folder.path().to_owned();
        async move {
            write(&path, "some.jsonl", runs);
            evalkit(
                &path,
                &[
                    "grade",
                    "cases",
                    "--runs",
                    "some.jsonl",
                    "--judge",
                    judge,
                    "--threshold",
                    "0",
                ],
            )
            .await
        }
    };
    let (first, second) = RUNS.split_once('\n').unwrap();
    let done = grade(first, "fake").await;
    assert_eq!(done.code, 2, "a case without a run");
    assert!(done.err.contains("1 trial not done"), "{}", done.err);
    assert!(done.out.contains("not a quality signal"), "{}", done.out);
    let done = grade(RUNS, "fake").await;
    assert_eq!(done.code, 0, "{}", done.err);
    let failed: &'static str = Box::leak(
        format!("{first}\n{{\"case_id\": \"express-shipping\", \"status\": \"error\", \"error\": \"gave up\"}}\n").into_boxed_str(),
    );
    let done = grade(failed, "fake").await;
    assert_eq!(done.code, 2);
    assert!(done.out.contains("gave up"), "{}", done.out);
    let words: &'static str = Box::leak(
        format!(
            "{first}\n{}\n",
            second.trim().replace("costs €12.90", "is not cheap")
        )
        .into_boxed_str(),
    );
    let done = grade(words, "replay:replies.jsonl").await;
    assert_eq!(
        done.code, 2,
        "a quote that is not in the answer: {}",
        done.out
    );
    assert!(done.out.contains("unscored"), "{}", done.out);
}

#[tokio::test]
async fn grade_folds_in_overlays_of_the_agent_and_reads_tool_calls() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "set/a.yaml",
        "cases:\n  - id: a\n    input: {question: q}\n    max_response_time: 5\n---\noverlays:\n  - extends: a\n    agents: [bot]\n    evaluators: {trajectory: {required_tools_called: {tools: [t, u]}}}\n",
    );
    write(
        folder.path(),
        "runs.jsonl",
        "{\"case_id\": \"a\", \"agent\": \"bot\", \"answer\": \"x\", \"latency_ms\": 10, \"tool_calls\": [{\"name\": \"t\", \"args\": {}}], \"capabilities\": [\"trajectory\", \"tool_calls\"], \"trajectory\": {\"schema_version\": \"ATIF-v1.7\", \"agent\": {\"name\": \"b\", \"version\": \"1\"}, \"steps\": [{\"step_id\": 1, \"source\": \"agent\", \"message\": \"x\", \"tool_calls\": [{\"tool_call_id\": \"1\", \"function_name\": \"t\", \"arguments\": {}}]}]}}\n",
    );
    let done = evalkit(
        folder.path(),
        &["grade", "set", "--runs", "runs.jsonl", "--json"],
    )
    .await;
    let json = done.json();
    assert_eq!(
        json["scores"]["required_tools_called"]["value"], 0.5,
        "{}",
        done.out
    );
    assert_eq!(
        json["cases"][0]["evaluators"]["required_tools_called"]["missing"][0],
        "u"
    );
    assert_eq!(json["counts"]["red"], 1);
}

#[tokio::test]
async fn atif_check_reports_errors_by_path() {
    let folder = tempfile::tempdir().unwrap();
    write(
        folder.path(),
        "good.json",
        r#"{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "hi"}]}"#,
    );
    write(
        folder.path(),
        "bad.json",
        r#"{"steps": [{"step_id": 1, "source": "robot"}]}"#,
    );
    let done = evalkit(folder.path(), &["atif", "check", "good.json", "--json"]).await;
    assert_eq!(
        (done.code, done.json()["valid"].clone()),
        (0, true.into()),
        "{}",
        done.out
    );
    let done = evalkit(folder.path(), &["atif", "check", "bad.json", "--json"]).await;
    assert_eq!(done.code, 1);
    assert!(done.json()["errors"][0]["path"].is_string());
    let done = evalkit(folder.path(), &["atif", "check", "bad.json"]).await;
    assert!(done.out.contains("not valid"), "{}", done.out);
}

#[tokio::test]
async fn the_example_dataset_lints_clean_from_anywhere() {
    let examples = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples"));
    for path in ["world-facts", "world-facts/sport.yaml"] {
        let done = evalkit(examples, &["lint", path, "--deny-warnings"]).await;
        assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    }
}
