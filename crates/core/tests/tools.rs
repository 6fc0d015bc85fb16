//! Tool checks as a case author sees them.

use evalkit_core::atif::Document;
use evalkit_core::case::{RequiredTools, ToolTrajectoryMatch};
use evalkit_core::explanation::{ToolMatchEntry, ToolsCalled};
use evalkit_core::run::RecordedCall;
use evalkit_core::tools::{self, ActualCall};
use serde_json::{Value, json};

fn calls(list: &[(&str, Value)]) -> Vec<ActualCall> {
    let steps: Vec<Value> = list
        .iter()
        .enumerate()
        .map(|(at, (name, args))| {
            json!({"step_id": at + 1, "source": "agent", "message": "",
                "tool_calls": [{"tool_call_id": "c", "function_name": name, "arguments": args}]})
        })
        .collect();
    let value = json!({"agent": {"name": "a", "version": "1"}, "steps": steps});
    tools::calls_of(&Document::parse(&value).unwrap())
}

fn check(expected: Value, list: &[(&str, Value)]) -> Vec<ToolMatchEntry> {
    let check: ToolTrajectoryMatch = serde_json::from_value(expected).unwrap();
    let result = tools::tool_trajectory_match(&check, &calls(list));
    assert_eq!(
        result.matched as usize,
        result.entries.iter().filter(|e| e.matched).count()
    );
    result.entries
}

#[test]
fn listed_tools_count_once_each() {
    let check = RequiredTools {
        tools: ["search", "read", "write"].map(str::to_owned).to_vec(),
    };
    let found = tools::required_tools_called(
        &check,
        &calls(&[
            ("read", json!({})),
            ("search", json!({})),
            ("search", json!({})),
        ]),
    );
    assert_eq!(
        found,
        ToolsCalled {
            called: vec!["search".to_owned(), "read".to_owned()],
            missing: vec!["write".to_owned()],
        }
    );
}

#[test]
fn every_reason_names_the_closest_call() {
    let entries = check(
        json!({"expected": [
            {"name": "quote", "args": {"symbol": "AAPL", "limit": 5}},
            {"name": "quote", "args": {"symbol": "AAPL"}},
            {"name": "quotes", "args": {"symbol": "AAPL"}},
            {"name": "quote", "args": {"symbol": "MSFT", "limit": 7, "page": 2}},
        ]}),
        &[
            ("quote", json!({"symbol": "AAPL", "limit": 5.0})),
            ("quote", json!({"symbol": "MSFT", "limit": 6})),
        ],
    );
    assert_eq!(entries[0].call.as_deref(), Some("main:1#0"));
    assert_eq!(entries[0].reason, None);

    assert_eq!(
        entries[1].reason.as_deref(),
        Some("no available matching call")
    );
    assert_eq!(entries[1].closest.as_deref(), Some("main:1#0"));
    assert_eq!(
        entries[1].detail.as_deref(),
        Some("main:1#0 fits, but already stands for entry 1")
    );

    assert_eq!(entries[2].reason.as_deref(), Some("name miss"));

    assert_eq!(entries[3].reason.as_deref(), Some("args mismatch"));
    assert_eq!(entries[3].closest.as_deref(), Some("main:2#0"));
    assert_eq!(entries[3].differing, ["limit", "page"]);
    assert_eq!(
        entries[3].detail.as_deref(),
        Some("closest call main:2#0: limit is 6, expected 7; page is not there, expected 2")
    );
}

#[test]
fn order_counts_only_when_asked_for() {
    let list = [("a", json!({})), ("b", json!({})), ("c", json!({}))];
    let expected = json!([{"name": "c"}, {"name": "a"}, {"name": "b"}]);
    let free = check(json!({"expected": expected}), &list);
    assert!(free.iter().all(|e| e.matched));
    let ordered = check(json!({"ordered": true, "expected": expected}), &list);
    assert_eq!(
        ordered.iter().map(|e| e.matched).collect::<Vec<_>>(),
        [false, true, true]
    );
    assert_eq!(ordered[0].reason.as_deref(), Some("out of order"));
    assert_eq!(ordered[0].closest.as_deref(), Some("main:3#0"));

    let twice = check(
        json!({"ordered": true, "expected": [{"name": "a"}, {"name": "a"}]}),
        &list,
    );
    assert_eq!(
        twice[1].reason.as_deref(),
        Some("no available matching call")
    );
}

#[test]
fn harnesses_without_a_trajectory_are_matched_too() {
    let recorded = [RecordedCall {
        name: "t".to_owned(),
        ..RecordedCall::default()
    }];
    let check: ToolTrajectoryMatch =
        serde_json::from_value(json!({"expected": [{"name": "t", "args_mode": "exact"}]})).unwrap();
    let result = tools::tool_trajectory_match(&check, &tools::calls_recorded(&recorded));
    assert_eq!(result.entries[0].call.as_deref(), Some("call#0"));
}

/// 2,000 calls of one tool against 200 entries that fit in tangled ways: exact, and quick enough for a page.
#[test]
fn a_large_check_is_quick() {
    let list: Vec<(&str, Value)> = (0..2_000)
        .map(|n| {
            (
                "t",
                json!({"q": format!("query {} of {}", n % 97, n % 13), "n": n % 7}),
            )
        })
        .collect();
    let calls = calls(&list);
    for ordered in [false, true] {
        let expected: Vec<Value> = (0..200)
            .map(|n| match n % 4 {
                0 => json!({"name": "t", "args": {"n": n % 9}}),
                1 => json!({"name": "t", "args": {"q": format!("query {n}")}, "args_mode": "substring"}),
                2 => json!({"name": "t"}),
                _ => json!({"name": "t", "args": {"q": format!("query {} of 5", n % 97), "n": n % 7}, "args_mode": "exact"}),
            })
            .collect();
        let check: ToolTrajectoryMatch =
            serde_json::from_value(json!({"ordered": ordered, "expected": expected})).unwrap();
        let started = std::time::Instant::now();
        let result = tools::tool_trajectory_match(&check, &calls);
        let took = started.elapsed();
        assert!(result.matched > 90, "{}", result.matched);
        assert!(
            took.as_millis() < 2_000,
            "unoptimised code included: {took:?}"
        );
    }
}
