//! The trajectory reader against real files and the upstream validator's verdicts, against cases of our own, and
//! against arbitrary JSON.
#![expect(clippy::print_stdout, reason = "a test that skips says so")]

use std::path::Path;

use evalkit_core::atif::{self, Document};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Files on which our check is stricter than the upstream validator, each with the reason.
const STRICTER: [(&str, &str); 2] = [
    (
        "probes/raw_huge_int_tokens.json",
        "a token count beyond 64 bits is an error here, so that no count is ever rounded",
    ),
    (
        "probes/raw_nan_metric.json",
        "NaN is not JSON; strict readers everywhere else in the product would refuse the file",
    ),
];

#[test]
fn every_real_file_gets_the_upstream_verdict_or_a_listed_stricter_one() {
    let data = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/atif"
    ));
    let Ok(expected) = std::fs::read_to_string(data.join("expected.json")) else {
        println!(
            "SKIPPED: the reference trajectories are not at {}",
            data.display()
        );
        return;
    };
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let expected = expected.as_object().unwrap();
    assert!(expected.len() >= 86);
    let mut wrong = Vec::new();
    let mut stricter = Vec::new();
    for (file, verdict) in expected {
        let upstream = verdict["valid_harbor_0_26_0"].as_bool().unwrap();
        let report = atif::check_bytes(&std::fs::read(data.join(file)).unwrap());
        match (upstream, report.valid) {
            (true, false) => stricter.push((file.as_str(), report.errors)),
            (false, true) => wrong.push(format!("{file}: upstream refuses it, we do not")),
            _ => {}
        }
    }
    for (file, errors) in &stricter {
        if !STRICTER.iter().any(|(listed, _)| listed == file) {
            wrong.push(format!(
                "{file}: we refuse it and no reason is listed: {errors:?}"
            ));
        }
    }
    for (file, _) in STRICTER {
        if !stricter.iter().any(|(f, _)| *f == file) {
            wrong.push(format!("{file}: listed as stricter, and it is not"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn real_files_are_walked_without_counting_a_call_twice() {
    let data = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/atif"
    ));
    let summary = data.join("harbor_golden/terminus_2__hello-world-context-summarization.trajectory.summarization-1-summary.json");
    let Ok(bytes) = std::fs::read(&summary) else {
        println!(
            "SKIPPED: the reference trajectories are not at {}",
            data.display()
        );
        return;
    };
    let document = Document::parse(&serde_json::from_slice(&bytes).unwrap()).unwrap();
    assert_eq!(document.calls().count(), 0, "its calls are copied context");
    assert!(
        document
            .steps()
            .any(|v| v.step.copied && !v.step.calls.is_empty())
    );

    let bytes = std::fs::read(data.join("phoenix/v17_embedded_subagents.json")).unwrap();
    let document = Document::parse(&serde_json::from_slice(&bytes).unwrap()).unwrap();
    assert_eq!(document.trajectories()[1].alias, "child-doc");
    assert!(document.resolve_citation("child-doc:1").is_some());
    assert!(document.resolve_citation("parent-doc:1").is_some());
    let addresses: Vec<String> = document.steps().map(|v| v.address.to_string()).collect();
    let mut unique = addresses.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), addresses.len());
}

fn doc(steps: Value) -> Value {
    json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": steps})
}

fn errors(value: &Value) -> Vec<String> {
    let report = atif::check_bytes(value.to_string().as_bytes());
    report.errors.iter().map(ToString::to_string).collect()
}

#[test]
fn own_cases_name_the_place_of_each_departure() {
    let plain = doc(json!([{"step_id": 1, "source": "user", "message": "hi"}]));
    assert_eq!(errors(&plain), Vec::<String>::new());

    let several = doc(json!([
        {"step_id": 1, "source": "assistant", "message": null},
        {"step_id": 3, "source": "user", "message": "", "tool_calls": []},
        {"step_id": 3, "source": "agent", "message": "", "foo": 1, "timestamp": "now",
         "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": "{}"}],
         "observation": {"results": [{"source_call_id": "d", "is_error": true, "content": {"a": 1}}]}},
    ]));
    let found = errors(&several);
    for start in [
        "steps[0].source: `assistant` is none of",
        "steps[0].message: expected a text or a list of parts, got null",
        "steps[1].step_id: step ids count 1, 2, 3, …: expected 2, got 3",
        "steps[1].tool_calls: only a step of the agent",
        "steps[2].foo: this is no field of ATIF",
        "steps[2].timestamp: `now` is not",
        "steps[2].tool_calls[0].arguments: expected an object, got a text",
        "steps[2].observation.results[0].source_call_id: `d` is no tool_call_id",
        "steps[2].observation.results[0].is_error: this is no field of ATIF; an error is text",
        "steps[2].observation.results[0].content: expected",
    ] {
        assert!(
            found.iter().any(|e| e.starts_with(start)),
            "{start}\n{found:#?}"
        );
    }
    assert_eq!(found.len(), 10, "{found:#?}");

    let nested = json!({"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "agent", "message": "", "llm_call_count": 0, "reasoning_content": ""}],
        "subagent_trajectories": [{"agent": {"name": "b", "version": "1"}, "steps": []}]});
    let found = errors(&nested);
    assert_eq!(found.len(), 3, "{found:#?}");
    assert!(
        found
            .iter()
            .any(|e| e.starts_with("steps[0].reasoning_content: a step without a model call"))
    );
    assert!(found.iter().any(|e| e.starts_with("subagent_trajectories[0].trajectory_id: this field is missing")));
    assert!(found.iter().any(|e| {
        e.starts_with("subagent_trajectories[0].steps: a trajectory has at least one step")
    }));

    let version = |text: &str| {
        errors(
            &json!({"schema_version": text, "agent": {"name": "a", "version": "1"},
            "steps": [{"step_id": 1, "source": "user", "message": "hi"}]}),
        )
    };
    for known in ["ATIF-v1.0", "ATIF-v1.8"] {
        assert!(version(known).is_empty(), "{known}");
    }
    for unknown in ["1.4", "ATIF-v1.9", "ATIF-v2.0", "ATIF-v1.07", ""] {
        assert_eq!(version(unknown).len(), 1, "{unknown}");
    }
}

#[test]
fn bytes_that_strict_json_refuses_are_named() {
    let first = |bytes: &[u8]| atif::check_bytes(bytes).errors[0].to_string();
    assert_eq!(first(b" \n"), "the file is empty");
    assert!(first(b"\xff{}").contains("not UTF-8"));
    assert!(first(b"\xef\xbb\xbf{}").contains("byte order mark"));
    assert!(first(b"[1]").contains("one JSON object, and this is a list"));
    assert!(first(b"{\"steps\": []}\n{\"steps\": []}\n").contains("JSONL"));
    let nan = first(br#"{"steps": [{"a": "]\""}, {"metrics": {"cost_usd": NaN}}]}"#);
    assert!(
        nan.starts_with("steps[1].metrics.cost_usd: ") && nan.contains("NaN is not JSON"),
        "{nan}"
    );
    let infinity = first(br#"{"steps": [{"metrics": {"cost_usd": -Infinity}}]}"#);
    assert!(infinity.contains("Infinity is not JSON"), "{infinity}");
    let surrogate = first(br#"{"notes": "\ud800 x"}"#);
    assert!(surrogate.contains("lone surrogate"), "{surrogate}");
    let twice = first(
        br#"{"agent": {"name": "a", "name": "b", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": ""}]}"#,
    );
    assert!(
        twice.starts_with("agent.name: this key stands twice"),
        "{twice}"
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(first(deep.as_bytes()).contains("nested too deeply"));
}

/// A main trajectory that delegates twice to `x`, once to a file, and leaves `y` unreferenced; `x` embeds `z`.
fn delegating() -> Value {
    let call =
        |id: &str, name: &str| json!({"tool_call_id": id, "function_name": name, "arguments": {}});
    let refers = |id: &str, to: &str| json!({"source_call_id": id, "content": "ok", "subagent_trajectory_ref": [{"trajectory_id": to}]});
    let sub = |id: &str, steps: Value, inner: Value| json!({"trajectory_id": id, "agent": {"name": id, "version": "1"}, "steps": steps, "subagent_trajectories": inner});
    let tool_step = |n: u32, name: &str| json!({"step_id": n, "source": "agent", "message": "", "tool_calls": [call("c1", name)]});
    json!({"schema_version": "ATIF-v1.7", "trajectory_id": "root:1", "agent": {"name": "a", "version": "1"}, "steps": [
        {"step_id": 1, "source": "agent", "message": "", "is_copied_context": true, "tool_calls": [call("c1", "copied")],
         "observation": {"results": [refers("c1", "x")]}},
        {"step_id": 2, "source": "agent", "message": "", "tool_calls": [call("c1", "first"), call("c2", "delegate"), call("c3", "last")],
         "observation": {"results": [refers("c2", "x"), {"source_call_id": "c1", "content": "one"}, refers("c3", "x"),
            {"content": "file", "subagent_trajectory_ref": [{"trajectory_path": "../../etc/passwd"}]}]}},
        {"step_id": 3, "source": "agent", "message": "The answer.", "llm_call_count": 0, "tool_calls": [call("c9", "finish")]},
        {"step_id": 4, "source": "agent", "message": "  "},
    ], "subagent_trajectories": [
        sub("y", json!([tool_step(1, "y1")]), json!([])),
        sub("x", json!([
            {"step_id": 1, "source": "agent", "message": "", "tool_calls": [call("c1", "x1")], "observation": {"results": [refers("c1", "z")]}},
            tool_step(2, "x2"),
        ]), json!([sub("z", json!([tool_step(1, "z1")]), json!([])), sub("x", json!([tool_step(1, "inner-x")]), json!([]))])),
    ]})
}

#[test]
fn calls_come_in_canonical_order() {
    let document = Document::parse(&delegating()).unwrap();
    let calls: Vec<String> = document
        .calls()
        .map(|c| format!("{} {}", c.address, c.name()))
        .collect();
    assert_eq!(
        calls,
        [
            "main:2#0 first",
            "main:2#1 delegate",
            "x:1#0 x1",
            "z:1#0 z1",
            "x:2#0 x2",
            "x#2:1#0 inner-x",
            "main:2#2 last",
            "main:3#0 finish",
            "y:1#0 y1",
        ]
    );
    let first = document.calls().next().unwrap();
    assert_eq!(
        first
            .results()
            .map(|r| r.content.text.as_str())
            .collect::<Vec<_>>(),
        ["one"]
    );
}

#[test]
fn citations_are_split_at_the_last_colon() {
    let document = Document::parse(&delegating()).unwrap();
    for (citation, address) in [
        ("main:1", Some("main:1")),
        ("main:4", Some("main:4")),
        ("root:1:2", Some("main:2")),
        (" x:2 ", Some("x:2")),
        ("x#2:1", Some("x#2:1")),
        ("main:0", None),
        ("main:5", None),
        ("main:+1", None),
        ("main:１", None),
        ("main:99999999999999999999999", None),
        ("main", None),
        ("nobody:1", None),
        ("", None),
        (":", None),
    ] {
        let found = document.resolve_citation(citation).map(|a| a.to_string());
        assert_eq!(found.as_deref(), address, "{citation}");
    }
}

#[test]
fn aliases_are_unique_and_never_taken_from_another_subagent() {
    let sub = |id: Value| json!({"trajectory_id": id, "agent": {"name": "s", "version": "1"}, "steps": [{"step_id": 1, "source": "user", "message": ""}]});
    let value = json!({"trajectory_id": "root", "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "user", "message": ""}],
        "subagent_trajectories": [sub(json!("s")), sub(json!("s")), sub(json!("s#2")), sub(json!("main")), sub(json!("root")),
            sub(json!("")), sub(json!(null)), sub(json!("a b")), sub(json!("a_b"))]});
    let document = Document::parse(&value).unwrap();
    let aliases: Vec<&str> = document
        .trajectories()
        .iter()
        .map(|t| t.alias.as_str())
        .collect();
    assert_eq!(
        aliases,
        [
            "main",
            "s",
            "s#3",
            "s#2",
            "main#2",
            "root#2",
            "subagent",
            "subagent#2",
            "a_b#2",
            "a_b"
        ]
    );
}

#[test]
fn the_last_message_of_the_agent_itself_is_the_fallback_answer() {
    let document = Document::parse(&delegating()).unwrap();
    let (address, text) = document.last_agent_message().unwrap();
    assert_eq!(
        (address.to_string().as_str(), text),
        ("main:3", "The answer.")
    );
    let silent = doc(json!([{"step_id": 1, "source": "user", "message": "hi"}]));
    assert!(
        Document::parse(&silent)
            .unwrap()
            .last_agent_message()
            .is_none()
    );
}

#[test]
fn loose_files_are_read_and_their_unknown_keys_kept() {
    let value = doc(json!([
        {"step_id": "7", "source": "tool", "message": {"role": "x"}, "is_copied_context": "true", "novel": [1]},
        "not a step",
        {"step_id": 1, "source": "agent", "message": [{"type": "text", "text": "a"}, {"type": "image", "source": {"path": "images/b.png"}}],
         "tool_calls": [{"tool_call_id": "c", "function_name": "f", "arguments": "{\"x\": 1}"}, 5],
         "observation": {"results": [{"subagent_trajectory_ref": {"trajectory_path": "s.json"}}]},
         "metrics": {"prompt_tokens": "12", "completion_tokens": -4}},
    ]));
    let document = Document::parse(&value).unwrap();
    let steps = &document.main().steps;
    assert_eq!(steps.len(), 3);
    assert!(steps[0].copied);
    assert_eq!(steps[0].rest["novel"], json!([1]));
    assert_eq!(steps[0].message.text, r#"{"role":"x"}"#);
    assert_eq!(steps[2].message.text, "a\n[image: b.png]");
    assert_eq!(steps[2].calls[0].arguments, json!({"x": 1}));
    assert_eq!(steps[2].tokens, Some((12, 0)));
    assert!(!document.errors().is_empty());

    for refused in [
        json!(null),
        json!([]),
        json!({"steps": []}),
        json!({"steps": [1]}),
        json!({"schema_version": "ATIF-v2.0", "steps": [{}]}),
    ] {
        assert!(Document::parse(&refused).is_err(), "{refused}");
    }
    assert!(Document::parse(&json!({"schema_version": "ATIF-v1.42", "steps": [{}]})).is_ok());
}

#[test]
fn the_view_is_bounded_and_shows_what_is_missing() {
    let mut value = delegating();
    value["steps"][1]["tool_calls"][0]["arguments"] = json!({"q": "ä".repeat(50_000)});
    value["steps"][0]["timestamp"] = json!("2025-01-01T00:00:00Z");
    value["steps"][2]["timestamp"] = json!("2025-01-01T00:00:01.250Z");
    let view = atif::view(&Document::parse(&value).unwrap());
    assert_eq!(view.tool_calls, 9);
    assert_eq!(view.documents.len(), 4);
    let step = view.steps.iter().find(|s| s.address == "main:2").unwrap();
    assert!(step.calls[0].arguments.ends_with("more characters)"));
    assert_eq!(step.calls[1].subagents, ["x"]);
    assert!(step.loose_results[0].contains("passwd (not supplied)"));
    let last = view.steps.iter().find(|s| s.address == "main:3").unwrap();
    assert_eq!(last.at_ms, Some(1_250));
    assert!(view.steps.iter().any(|s| s.address == "main:1" && s.copied));
}

/// Any JSON, with the keys of the format far more often than chance would have it.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-3i64..4).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "agent",
            "user",
            "system",
            "c",
            "x",
            "main",
            "ATIF-v1.7",
            "text",
            "image",
            "true",
            "{}",
            "2025-10-16T14:30:00Z",
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 120, 6, |inner| {
        let key = prop_oneof![
            9 => prop::sample::select(vec![
                "schema_version", "trajectory_id", "agent", "steps", "subagent_trajectories", "step_id", "source", "message",
                "tool_calls", "tool_call_id", "function_name", "arguments", "observation", "results", "source_call_id",
                "content", "subagent_trajectory_ref", "trajectory_path", "metrics", "prompt_tokens", "extra", "is_sidechain",
                "is_copied_context", "llm_call_count", "timestamp", "type", "path", "final_metrics", "total_steps", "name",
            ]).prop_map(str::to_owned),
            1 => "\\PC{0,6}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..8).prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_json_makes_the_reader_panic(value in any_json(), steps in prop::collection::vec(any_json(), 0..6), subagents in prop::collection::vec(any_json(), 0..4), citation in "\\PC{0,12}") {
        let around = json!({"agent": value.clone(), "steps": steps, "subagent_trajectories": subagents, "extra": value.clone()});
        for value in [value, around] {
            let report = atif::check_bytes(value.to_string().as_bytes());
            prop_assert_eq!(report.valid, report.errors.is_empty());
            if let Ok(document) = Document::parse(&value) {
                let mut addresses: Vec<String> = document.steps().map(|v| v.address.to_string()).collect();
                let count = addresses.len();
                prop_assert_eq!(count, document.trajectories().iter().map(|t| t.steps.len()).sum::<usize>());
                for address in &addresses {
                    let found = document.resolve_citation(address).map(|a| a.to_string());
                    prop_assert_eq!(found.as_ref(), Some(address));
                }
                addresses.sort();
                addresses.dedup();
                prop_assert_eq!(addresses.len(), count);
                let calls: usize = document.trajectories().iter().flat_map(|t| &t.steps).filter(|s| !s.copied).map(|s| s.calls.len()).sum();
                prop_assert_eq!(document.calls().count(), calls);
                let _ = (atif::view(&document), document.last_agent_message(), document.resolve_citation(&citation));
            }
        }
    }

    #[test]
    fn no_bytes_make_the_checker_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), near in "[\\[\\]{}\":,0-9a-zNI\\\\ \n-]{0,60}") {
        let _ = (atif::check_bytes(&bytes), atif::check_bytes(near.as_bytes()));
    }
}
