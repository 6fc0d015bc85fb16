//! The commands that need no server, by running the binary (`formats.md`, `cli.md`, `cases.md`). Written from the
//! specification alone: nothing here looks into the crates.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

fn evalkit(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_evalkit"))
        .args(args)
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("EVALKIT_TOKEN")
        .env_remove("EVALKIT_SERVER")
        .output()
        .expect("evalkit starts")
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| {
        panic!(
            "no JSON ({e}): {}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// A folder with files in it.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let dir = TempDir::new().expect("a folder");
    for (name, text) in files {
        let path: PathBuf = dir.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("the folder");
        std::fs::write(path, text).expect("the file");
    }
    dir
}

fn lint(files: &[(&str, &str)]) -> (i32, Vec<Value>) {
    let dir = folder(files);
    let output = evalkit(dir.path(), &["lint", ".", "--format", "json"]);
    let report = json_of(&output);
    assert_eq!(report["schema"], "evalkit.lint/1");
    let diagnostics = report["diagnostics"]
        .as_array()
        .expect("diagnostics")
        .clone();
    let errors = diagnostics
        .iter()
        .filter(|d| d["severity"] == "error")
        .count();
    assert_eq!(report["errors"], json!(errors));
    (code(&output), diagnostics)
}

fn codes(diagnostics: &[Value]) -> Vec<String> {
    diagnostics
        .iter()
        .filter(|d| d["severity"] == "error")
        .map(|d| d["code"].as_str().expect("a code").to_owned())
        .collect()
}

const GOOD: &str = "cases:\n  - id: a\n    input:\n      question: \"What was the margin in fiscal 2024?\"\n    evaluators:\n      output:\n        answer_rubrics:\n          rubrics:\n            - rubric: \"States that the margin was 28.1%.\"\n              type: factual_retrieval\n";

#[test]
fn the_specification_s_example_lints_clean() {
    let spec = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/spec/cases.md");
    let Ok(text) = std::fs::read_to_string(spec) else {
        eprintln!("skipped: the specification is not beside the project");
        return;
    };
    // Without a registry in sight nothing is said of fixtures.
    let example = text
        .split("```yaml\n")
        .nth(1)
        .and_then(|t| t.split("```").next())
        .expect("the example");
    let sha = "a".repeat(64);
    let registry = format!(
        "fixtures:\n  roku-10k-fy2024.txt:\n    sha256: {sha}\n    context: \"Annual report.\"\n"
    );
    let (_, diagnostics) = lint(&[("cases.yaml", example), ("fixtures.yaml", &registry)]);
    let other: Vec<&Value> = diagnostics
        .iter()
        .filter(|d| d["code"] != "E-FIXTURE-MISSING")
        .collect();
    assert!(other.is_empty(), "{other:#?}");
}

#[test]
fn each_mistake_has_its_code_and_place() {
    // Text of the file, the codes expected in order, and line and column of the first.
    let rubric = |extra: &str, kind: &str| {
        GOOD.replace(
            "type: factual_retrieval\n",
            &format!("type: {kind}\n{extra}"),
        )
    };
    let case =
        |extra: &str| GOOD.replace("    evaluators:\n", &format!("{extra}    evaluators:\n"));
    let only = |body: &str| format!("cases:\n  - id: a\n    input: {{question: \"Why?\"}}\n{body}");
    /// What is wrong, the file, the codes in order, line and column of the first.
    type Row<'a> = (&'a str, String, Vec<&'a str>, Option<(u64, u64)>);
    let table: Vec<Row<'_>> = vec![
        ("clean", GOOD.to_owned(), vec![], None),
        ("unknown field", case("    expectd: x\n"), vec!["E-FIELD-UNKNOWN"], Some((5, 5))),
        ("missing id", GOOD.replace("  - id: a\n    input", "  - input"), vec!["E-FIELD-MISSING"], Some((2, 5))),
        ("id format", GOOD.replace("id: a", "id: Big"), vec!["E-ID-FORMAT"], Some((2, 9))),
        ("a number where text is due", case("    expected: 42\n"), vec!["E-FIELD-TYPE"], Some((5, 15))),
        ("no rubric type", GOOD.replace("              type: factual_retrieval\n", ""), vec!["E-RUBRIC-TYPE"], Some((9, 15))),
        ("unknown rubric type", rubric("", "fact"), vec!["E-RUBRIC-TYPE"], Some((10, 21))),
        ("source on a computed figure", rubric("              source: \"x\"\n", "derived_computation"), vec!["E-RUBRIC-SOURCE"], Some((11, 15))),
        ("points", rubric("              points: 3\n", "factual_retrieval"), vec!["E-RUBRIC-FIELD"], Some((11, 15))),
        ("tolerance", rubric("              tolerance: 3\n", "factual_retrieval"), vec!["E-RUBRIC-FIELD"], Some((11, 15))),
        ("no seconds", case("    max_response_time: 0\n"), vec!["E-VALUE"], Some((5, 24))),
        ("negative seconds", case("    max_response_time: -2\n"), vec!["E-VALUE"], Some((5, 24))),
        ("seconds as text", case("    max_response_time: \"60\"\n"), vec!["E-FIELD-TYPE"], Some((5, 24))),
        ("a key twice", case("    expected: \"a\"\n    expected: \"b\"\n"), vec!["E-YAML"], Some((6, 5))),
        ("nothing to grade", only(""), vec!["E-NOTHING-TO-GRADE"], None),
        ("no rubrics", only("    evaluators: {output: {answer_rubrics: {rubrics: []}}}\n"), vec!["E-VALUE"], None),
        ("no presentation entries", only("    evaluators: {output: {presentation_judge: {require: []}}}\n"), vec!["E-VALUE"], None),
        ("no tools", only("    evaluators: {trajectory: {required_tools_called: {tools: []}}}\n"), vec!["E-TOOL-CHECK"], None),
        ("unknown mode", only("    evaluators: {trajectory: {tool_trajectory_match: {expected: [{name: t, args_mode: fuzzy}]}}}\n"), vec!["E-TOOL-CHECK"], None),
        ("override with exact", only("    evaluators: {trajectory: {tool_trajectory_match: {expected: [{name: t, args: {a: 1}, args_mode: exact, match_overrides: {a: equals}}]}}}\n"), vec!["E-TOOL-CHECK"], None),
        ("override for no argument", only("    evaluators: {trajectory: {tool_trajectory_match: {expected: [{name: t, args: {a: 1}, match_overrides: {b: equals}}]}}}\n"), vec!["E-TOOL-CHECK"], None),
        ("neither case nor overlay", "hello: world\n".to_owned(), vec!["E-DOCUMENT"], None),
        ("registry under another name", "fixtures: {a.txt: {sha256: aa, context: x}}\n".to_owned(), vec!["E-DOCUMENT"], None),
        ("fixture not in the registry", case("    fixtures: [a.txt]\n"), vec!["E-FIXTURE-UNKNOWN"], Some((5, 16))),
        ("same id twice", format!("{GOOD}{}", GOOD.replace("cases:\n", "")), vec!["E-ID-DUPLICATE"], None),
        ("overlay without agents", "overlays:\n  - extends: a\n    evaluators: {trajectory: {required_tools_called: {tools: [t]}}}\n".to_owned(), vec!["E-OVERLAY-AGENTS"], None),
        ("overlay that changes the question", "overlays:\n  - extends: a\n    agents: [b]\n    tags: [x]\n    input: {question: x}\n".to_owned(), vec!["E-OVERLAY-FIELD"], Some((5, 5))),
        ("agent with a workspace", "overlays:\n  - extends: a\n    agents: [b@c]\n    tags: [x]\n".to_owned(), vec!["E-VALUE"], Some((3, 14))),
    ];
    for (what, text, expected, place) in table {
        let mut files = vec![("a.yaml", text.as_str())];
        if text.contains("fixtures: [") {
            files.push(("fixtures.yaml", "fixtures: {}\n"));
        }
        if text.starts_with("overlays") {
            files.push(("cases.yaml", GOOD));
        }
        let (exit, diagnostics) = lint(&files);
        assert_eq!(codes(&diagnostics), expected, "{what}: {diagnostics:#?}");
        assert_eq!(exit, i32::from(!expected.is_empty()), "{what}");
        if let Some((line, column)) = place {
            let first = &diagnostics[0];
            assert_eq!(
                (first["line"].as_u64(), first["column"].as_u64()),
                (Some(line), Some(column)),
                "{what}: {first:#}"
            );
            assert!(
                !first["message"].as_str().expect("a message").is_empty()
                    && !first["help"].as_str().expect("help").is_empty()
            );
        }
    }
}

#[test]
fn a_syntax_error_does_not_hide_the_next_item() {
    let text = "cases:\n  - id: a\n    input: {question: \"half\n  - id: b\n    input: {question: \"Why?\"}\n    expectd: x\n    max_response_time: 5\n";
    let (exit, diagnostics) = lint(&[("a.yaml", text)]);
    assert_eq!(exit, 1);
    let found = codes(&diagnostics);
    assert!(
        found.contains(&"E-YAML".to_owned()) && found.contains(&"E-FIELD-UNKNOWN".to_owned()),
        "{diagnostics:#?}"
    );
}

#[test]
fn yaml_1_2_keeps_words_words() {
    let text = "cases:\n  - id: a\n    tags: [no, on, 1:30, ~x]\n    input: {question: \"Why?\"}\n    expected: no\n    max_response_time: 1_0\n";
    let (_, diagnostics) = lint(&[("a.yaml", text)]);
    // `1_0` is a word in YAML 1.2, and seconds are a number.
    assert_eq!(codes(&diagnostics), ["E-FIELD-TYPE"], "{diagnostics:#?}");
    let bom = format!("\u{feff}{}", GOOD.replace('\n', "\r\n"));
    let (exit, diagnostics) = lint(&[("a.yaml", &bom), ("empty.yaml", "# nothing\n")]);
    assert_eq!((exit, codes(&diagnostics)), (0, vec![]));
    let (exit, diagnostics) = lint(&[("a.yaml", "cases:\n\t- id: a\n")]);
    assert_eq!((exit, codes(&diagnostics)[0].as_str()), (1, "E-YAML"));
}

#[test]
fn columns_count_characters_and_bytes_count_bytes() {
    let text = "cases:\n  - id: a\n    input: {question: \"😀 ü\", quesion: \"x\"}\n    max_response_time: 5\n";
    let (_, diagnostics) = lint(&[("a.yaml", text)]);
    let d = diagnostics
        .iter()
        .find(|d| d["code"] == "E-FIELD-UNKNOWN")
        .expect("the misspelt key");
    let start = text.find("quesion").expect("it is there");
    assert_eq!(d["byte_start"], json!(start));
    assert_eq!(d["byte_end"], json!(start + 7));
    let line_start = text[..start].rfind('\n').expect("a line") + 1;
    assert_eq!(
        d["column"],
        json!(text[line_start..start].chars().count() + 1)
    );
    assert_eq!(d["case_id"], "a");
    assert_eq!(d["path"], "/cases/0/input/quesion");
    assert!(
        d["message"].as_str().expect("text").contains("question")
            || d["help"].as_str().expect("text").contains("question")
    );
}

#[test]
fn unusable_input_exits_3() {
    let dir = folder(&[]);
    assert_eq!(code(&evalkit(dir.path(), &["lint", "missing.yaml"])), 3);
    assert_eq!(code(&evalkit(dir.path(), &["lint", "--no-such-flag"])), 3);
    assert_eq!(
        code(&evalkit(
            dir.path(),
            &["grade", "missing.yaml", "--runs", "missing.jsonl"]
        )),
        3
    );
}

const CASES: &str = r#"
defaults: {max_response_time: 90}
cases:
  - id: roku   # the showcase
    tags: [margins]
    input: {question: "What was the Platform gross margin in fiscal 2024?"}
    max_response_time: 2
    evaluators:
      output:
        answer_rubrics:
          rubrics:
            - {rubric: "States that revenue was $3,522.8 million in FY2024.", type: factual_retrieval, source: "annual report"}
            - {rubric: "Calculates the margin as 46.46% (±0.05pp).", type: derived_computation}
            - {rubric: "Concludes that the margin rose.", type: analysis_interpretation}
        presentation_judge: ["The margin with a percent sign"]
      trajectory:
        trajectory_rubrics: {rubrics: ["Retrieves FY2024 revenue as $3,522.8 million."]}
  - id: plain
    input: {question: "Say hello."}
"#;

const OVERLAY: &str = r"
defaults: {agents: [support-bot]}
overlays:
  - extends: roku
    tags: [desk]
    evaluators:
      trajectory:
        required_tools_called: {tools: [get_financials, search]}
        tool_trajectory_match:
          ordered: true
          expected:
            - {name: get_financials, args: {ticker: ROKU}}
            - {name: get_financials, args: {ticker: roku}, args_mode: substring}
";

fn run_line() -> String {
    let trajectory = json!({
        "schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "q"},
            {"step_id": 2, "source": "agent", "message": "", "tool_calls": [{"tool_call_id": "c", "function_name": "get_financials", "arguments": {"ticker": "ROKU", "period": "FY2024"}}],
             "observation": {"results": [{"source_call_id": "c", "content": "3522.8"}]}},
            {"step_id": 3, "source": "agent", "message": "done"}
        ]
    });
    json!({"case_id": "roku", "agent": "support-bot", "answer": "Revenue was $3,522.8 million in FY2024.\nThe margin was 47.9%.", "trajectory": trajectory, "latency_ms": 1500}).to_string()
        + "\n"
        + &json!({"case_id": "plain", "agent": "support-bot", "answer": "Hello.", "latency_ms": 95_000}).to_string()
        + "\n"
}

fn replies() -> String {
    [
        json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": [
            {"verdict": "satisfied", "source": "absent", "evidence": ["revenue was $3,522.8  million"]},
            {"verdict": "incorrect", "said": "47.9%", "evidence": ["The margin was 47.9%"]},
            {"verdict": "absent"}]}),
        json!({"case_id": "roku", "evaluator": "presentation_judge", "verdicts": [{"verdict": "satisfied"}]}),
        json!({"case_id": "roku", "evaluator": "trajectory_rubrics", "verdicts": [{"verdict": "satisfied", "citations": ["main:2"]}]}),
    ]
    .map(|v| v.to_string() + "\n")
    .concat()
}

fn project() -> TempDir {
    folder(&[
        ("cases/a.yaml", CASES),
        ("cases/desk.yaml", OVERLAY),
        ("runs.jsonl", &run_line()),
        ("replies.jsonl", &replies()),
    ])
}

#[test]
fn show_prints_the_canonical_case_and_the_effective_one() {
    let dir = project();
    let output = evalkit(
        dir.path(),
        &[
            "show",
            "cases",
            "--case-id",
            "roku",
            "--agent",
            "support-bot@mara",
            "--json",
        ],
    );
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let shown = json_of(&output);
    let shown = shown.as_array().map_or(&shown, |list| &list[0]);
    assert_eq!(shown["id"], "roku");
    assert_eq!(shown["canonical"]["max_response_time"], json!(2));
    assert_eq!(
        shown["canonical"]["evaluators"]["output"]["presentation_judge"],
        json!({"require": ["The margin with a percent sign"]})
    );
    assert!(
        shown["canonical"]["evaluators"]["trajectory"]
            .get("required_tools_called")
            .is_none()
    );
    assert_eq!(shown["effective"]["tags"], json!(["margins", "desk"]));
    assert_eq!(
        shown["effective"]["evaluators"]["trajectory"]["required_tools_called"],
        json!({"tools": ["get_financials", "search"]})
    );
    assert!(shown["origins"]["required_tools_called"].is_string());
    let hash = shown["content_hash"].as_str().expect("a hash").to_owned();
    assert_eq!(hash.len(), 64);
    let keys: Vec<&String> = shown["canonical"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(keys, sorted, "canonical keys are sorted");

    // Comments and key order are no content.
    let reworded = CASES
        .replace("# the showcase", "")
        .replace("{max_response_time: 90}", "{max_response_time: 90.0}");
    std::fs::write(dir.path().join("cases/a.yaml"), reworded).expect("written");
    let again = json_of(&evalkit(
        dir.path(),
        &["show", "cases", "--case-id", "roku", "--json"],
    ));
    let again = again.as_array().map_or(&again, |list| &list[0]);
    assert_eq!(again["content_hash"], json!(hash));
}

#[test]
fn grade_with_replay_gives_every_score() {
    let dir = project();
    let output = evalkit(
        dir.path(),
        &[
            "grade",
            "cases",
            "--runs",
            "runs.jsonl",
            "--judge",
            "replay:replies.jsonl",
            "--json",
        ],
    );
    let results = json_of(&output);
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert_eq!(results["schema"], "evalkit.results/1");
    assert_eq!(results["judge"]["provider"], "replay");
    assert_eq!(results["counts"]["planned"], 2);
    assert_eq!(results["counts"]["done"], 2);
    assert_eq!(results["counts"]["red"], 2);
    assert_eq!(results["counts"]["unscored"], 0);
    let case = |id: &str| {
        results["cases"]
            .as_array()
            .expect("cases")
            .iter()
            .find(|c| c["id"] == id)
            .expect("the case")
            .clone()
    };
    let roku = case("roku");
    let third = 1.0 / 3.0;
    let near =
        |value: &Value, wanted: f64| (value.as_f64().unwrap_or(f64::NAN) - wanted).abs() < 1e-12;
    assert!(near(&roku["scores"]["answer_rubric_score"], third));
    assert!(near(&roku["scores"]["answer_rubric_coverage"], 2.0 * third));
    assert!(near(&roku["scores"]["answer_rubric_accuracy"], 0.5));
    assert!(near(
        &roku["scores"]["answer_rubric_factual_retrieval"],
        1.0
    ));
    assert!(near(
        &roku["scores"]["answer_rubric_derived_computation"],
        0.0
    ));
    assert!(near(&roku["scores"]["answer_rubric_citation"], 0.0));
    assert!(near(&roku["scores"]["presentation_judge"], 1.0));
    assert!(near(&roku["scores"]["trajectory_rubrics"], 1.0));
    assert!(near(&roku["scores"]["required_tools_called"], 0.5));
    assert!(near(&roku["scores"]["tool_trajectory_match"], 0.5));
    assert!(near(&roku["scores"]["max_response_time"], 1.0));
    assert_eq!(roku["green"], json!(false));
    let verdicts = roku["evaluators"]["answer_rubrics"]["verdicts"]
        .as_array()
        .expect("verdicts");
    assert_eq!(
        verdicts
            .iter()
            .map(|v| v["verdict"].as_str().expect("one"))
            .collect::<Vec<_>>(),
        ["satisfied", "incorrect", "absent"]
    );
    assert_eq!(verdicts[0]["source"]["verdict"], "absent");
    assert_eq!(verdicts[1]["said"], "47.9%");
    assert_eq!(verdicts[1]["second_opinion"], "contradicts");
    assert_eq!(
        roku["evaluators"]["answer_rubrics"]["counts"],
        json!({"satisfied": 1, "incorrect": 1, "absent": 1, "total": 3})
    );
    let entries = &roku["evaluators"]["tool_trajectory_match"]["entries"];
    assert_eq!(entries[0]["call"], "main:2#0");
    assert_eq!(entries[1]["matched"], json!(false));
    assert_eq!(entries[1]["reason"], "no available matching call");
    assert_eq!(
        roku["evaluators"]["required_tools_called"],
        json!({"called": ["get_financials"], "missing": ["search"]})
    );
    let plain = case("plain");
    assert!(
        near(&plain["scores"]["max_response_time"], 0.0),
        "95 s against the file's 90 s"
    );
    assert!(plain["scores"].get("answer_rubric_score").is_none());
    let pooled = &results["scores"]["answer_rubric_score"];
    assert_eq!(
        (pooled["num"].as_f64(), pooled["den"].as_f64()),
        (Some(1.0), Some(3.0))
    );
    assert_eq!(
        (pooled["cases"].as_u64(), pooled["of_cases"].as_u64()),
        (Some(1), Some(1))
    );
    assert_eq!(
        results["scores"]["max_response_time"]["den"].as_f64(),
        Some(2.0)
    );

    let below = evalkit(
        dir.path(),
        &[
            "grade",
            "cases",
            "--runs",
            "runs.jsonl",
            "--judge",
            "replay:replies.jsonl",
            "--threshold",
            "0.5",
        ],
    );
    assert_eq!(code(&below), 1);
    let met = evalkit(
        dir.path(),
        &[
            "grade",
            "cases",
            "--runs",
            "runs.jsonl",
            "--judge",
            "replay:replies.jsonl",
            "--threshold",
            "0.3",
        ],
    );
    assert_eq!(code(&met), 0);
}

#[test]
fn the_offline_judge_leaves_open_what_it_may_not_decide_and_exits_2() {
    let dir = project();
    let output = evalkit(
        dir.path(),
        &[
            "grade",
            "cases",
            "--runs",
            "runs.jsonl",
            "--judge",
            "offline",
            "--json",
        ],
    );
    assert_eq!(
        code(&output),
        2,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let results = json_of(&output);
    assert_eq!(results["judge"]["quality_signal"], json!(false));
    assert_eq!(results["counts"]["unscored"], 1);
    let roku = results["cases"]
        .as_array()
        .expect("cases")
        .iter()
        .find(|c| c["id"] == "roku")
        .expect("roku")
        .clone();
    assert!(
        roku["scores"]["answer_rubric_score"].is_null(),
        "a case with an unscored rubric has no published score"
    );
    assert_eq!(roku["green"], Value::Null);
    let verdicts = roku["evaluators"]["answer_rubrics"]["verdicts"]
        .as_array()
        .expect("verdicts");
    assert!(
        verdicts
            .iter()
            .any(|v| v["unscored"] == "offline_undecided"),
        "{verdicts:#?}"
    );
    assert!(verdicts.iter().all(|v| v["verdict"] != "satisfied"
        || v["rubric"].as_str().is_some_and(|r| r.contains("3,522.8"))));
}

#[test]
fn a_reply_that_breaks_the_rules_is_never_a_score() {
    for (what, reply) in [
        (
            "a quote that is not there",
            json!([{"verdict": "satisfied", "evidence": ["a billion"]}, {"verdict": "absent"}, {"verdict": "absent"}]),
        ),
        ("too few verdicts", json!([{"verdict": "satisfied"}])),
        (
            "an unknown verdict",
            json!([{"verdict": "ok"}, {"verdict": "absent"}, {"verdict": "absent"}]),
        ),
        (
            "evidence for nothing",
            json!([{"verdict": "absent", "evidence": ["The margin was 47.9%"]}, {"verdict": "absent"}, {"verdict": "absent"}]),
        ),
        (
            "a source for nothing",
            json!([{"verdict": "absent", "source": "satisfied"}, {"verdict": "absent"}, {"verdict": "absent"}]),
        ),
    ] {
        let dir = project();
        let line = json!({"case_id": "roku", "evaluator": "answer_rubrics", "verdicts": reply})
            .to_string();
        let rest: String = replies()
            .lines()
            .skip(1)
            .map(|l| format!("{l}\n"))
            .collect();
        std::fs::write(dir.path().join("replies.jsonl"), format!("{line}\n{rest}"))
            .expect("written");
        let output = evalkit(
            dir.path(),
            &[
                "grade",
                "cases",
                "--runs",
                "runs.jsonl",
                "--judge",
                "replay:replies.jsonl",
                "--json",
            ],
        );
        assert!(matches!(code(&output), 2 | 3), "{what}: {}", code(&output));
        if code(&output) == 2 {
            let results = json_of(&output);
            assert!(
                results["scores"].get("answer_rubric_score").is_none(),
                "{what}: {results:#}"
            );
        }
    }
}

#[test]
fn figures_answers_alone_and_in_batch() {
    let dir = folder(&[(
        "pairs.jsonl",
        "{\"rubric\": \"Revenue was 3,172.6 million.\", \"answer\": \"Revenue was 3.17 billion.\"}\n{\"rubric\": \"Revenue was 3,172.6 million.\", \"answer\": \"Revenue was 3,180 million.\"}\n",
    )]);
    let one = json_of(&evalkit(
        dir.path(),
        &[
            "figures",
            "--rubric",
            "The margin was 28.1%.",
            "--answer",
            "The margin was 28%.",
            "--json",
        ],
    ));
    assert_eq!(one["result"], "undecided");
    assert!(!one["why"].as_str().expect("why").is_empty());
    let batch = evalkit(dir.path(), &["figures", "--batch", "pairs.jsonl", "--json"]);
    assert_eq!(code(&batch), 0);
    let text = String::from_utf8_lossy(&batch.stdout);
    let results: Vec<String> = text
        .lines()
        .map(|l| {
            serde_json::from_str::<Value>(l).expect("an object")["result"]
                .as_str()
                .expect("a result")
                .to_owned()
        })
        .collect();
    assert_eq!(results, ["matches", "contradicts"]);
}

#[test]
fn atif_check_reports_what_is_wrong_and_where() {
    let good = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "q"}, {"step_id": 2, "source": "agent", "message": "a"}]});
    let bad = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "x", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": "q"}, {"step_id": 2, "source": "tool", "message": "q"}, {"step_id": 4, "source": "agent", "message": "q"}]});
    let dir = folder(&[
        ("good.json", &good.to_string()),
        ("bad.json", &bad.to_string()),
        ("not.json", "<html>"),
    ]);
    let ok = evalkit(dir.path(), &["atif", "check", "good.json", "--json"]);
    assert_eq!(code(&ok), 0);
    assert_eq!(
        json_of(&ok),
        json!({"valid": true, "errors": [], "warnings": [], "steps": 2, "tool_calls": 0})
    );
    let broken = evalkit(dir.path(), &["atif", "check", "bad.json", "--json"]);
    assert_eq!(code(&broken), 1);
    let report = json_of(&broken);
    assert_eq!(report["valid"], json!(false));
    assert!(
        report["errors"]
            .as_array()
            .expect("errors")
            .iter()
            .any(|e| e["path"] == "steps[1].source"),
        "{report:#}"
    );
    let html = evalkit(dir.path(), &["atif", "check", "not.json", "--json"]);
    assert!(matches!(code(&html), 1 | 3));
}
