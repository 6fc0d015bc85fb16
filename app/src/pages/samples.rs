//! Pages filled with a small invented case, for tests: every state that a reader must be able to tell apart occurs once.

use evalkit_core::view::case::Case;
use evalkit_core::view::experiment::Experiment;
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;
use leptos_router::components::Router;
use leptos_router::location::RequestUrl;
use serde_json::{Value, json};

/// Renders a view as the server would, at `address`, inside a router.
pub fn html<V: IntoView + 'static>(
    address: &str,
    view: impl FnOnce() -> V + Send + 'static,
) -> String {
    let owner = Owner::new();
    owner.with(|| {
        provide_context(RequestUrl::new(address));
        leptos_meta::provide_meta_context();
        view! { <Router>{view()}</Router> }.to_html()
    })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    match serde_json::from_value(value) {
        Ok(page) => page,
        Err(error) => panic!("the sample is valid: {error}"),
    }
}

fn contract() -> Value {
    json!({
        "id": "halden-net-debt-ebitda-fy2024",
        "tags": ["leverage", "q4-review"],
        "input": {"question": "As of 31 March 2025, how did Halden Foods’ net debt to EBITDA move from FY2023 to FY2024, and what drove the change?"},
        "fixtures": [{"key": "halden-ar-2024.pdf", "context": "Annual report for the year ended 28 December 2024."}],
        "expected": "Down 0.60x, from 3.00x to 2.40x, mostly from paying down debt.",
        "max_response_time": 60.0,
        "evaluators": {
            "output": {
                "answer_rubrics": {"rubrics": [
                    {"rubric": "States that FY2024 net debt was £412.6 million.", "type": "factual_retrieval", "source": "Halden annual report"},
                    {"rubric": "States that FY2024 adjusted EBITDA was £171.9 million.", "type": "factual_retrieval", "source": "Halden annual report"},
                    {"rubric": "States that FY2023 net debt was £468.0 million.", "type": "factual_retrieval", "source": "Halden annual report"},
                    {"rubric": "States that FY2023 adjusted EBITDA was £156.0 million.", "type": "factual_retrieval", "source": "Halden annual report"},
                    {"rubric": "Calculates FY2024 net debt to EBITDA as 2.40x (±0.01).", "type": "derived_computation"},
                    {"rubric": "Attributes most of the reduction to debt repaid.", "type": "analysis_interpretation"}
                ]},
                "presentation_judge": {"require": ["Both multiples to two decimals."], "forbid": ["A table of quarterly figures."]}
            },
            "trajectory": {
                "trajectory_rubrics": {"rubrics": ["Retrieves FY2024 net debt as £412.6 million.", "Retrieves FY2024 adjusted EBITDA as £171.9 million."]},
                "required_tools_called": {"tools": ["get_filing", "get_financials"]},
                "tool_trajectory_match": {"expected": [
                    {"name": "get_financials", "args": {"ticker": "HLDN", "period": "FY2024"}},
                    {"name": "get_financials", "args": {"ticker": "HLDN", "period": "FY2023"}},
                    {"name": "search_filings", "args": {"query": "covenant"}, "args_mode": "substring"}
                ]}
            }
        }
    })
}

fn answer_verdicts() -> Value {
    let source = |verdict: Option<&str>, cited: Option<&str>| json!({"expected": "Halden annual report", "verdict": verdict, "cited": cited});
    let entry = |rubric: &str, kind: &str, verdict: &str, evidence: &[&str], rest: Value| {
        let mut entry = json!({"rubric": rubric, "type": kind, "verdict": verdict, "evidence": evidence, "said": null, "reason": null,
            "source": null, "second_opinion": null, "needs_a_look": false, "override": null});
        if let (Some(entry), Value::Object(rest)) = (entry.as_object_mut(), rest) {
            entry.extend(rest);
        }
        entry
    };
    json!([
        entry(
            "States that FY2024 net debt was £412.6 million.",
            "factual_retrieval",
            "satisfied",
            &["to £412.6m"],
            json!({"source": source(Some("satisfied"), Some("annual report 2024, note 21")), "second_opinion": "matches"})
        ),
        entry(
            "States that FY2024 adjusted EBITDA was £171.9 million.",
            "factual_retrieval",
            "incorrect",
            &["to £172.9m"],
            json!({"said": "to £172.9m", "reason": "The figure differs in the third digit.", "source": source(Some("absent"), None), "second_opinion": "contradicts"})
        ),
        entry(
            "States that FY2023 net debt was £468.0 million.",
            "factual_retrieval",
            "satisfied",
            &["from £468.0m"],
            json!({"source": source(Some("incorrect"), Some("Northgate Wire, 6 March 2025")), "second_opinion": "matches"})
        ),
        entry(
            "States that FY2023 adjusted EBITDA was £156.0 million.",
            "factual_retrieval",
            "absent",
            &[],
            json!({"reason": "No FY2023 EBITDA appears in the answer.", "source": source(None, None), "second_opinion": "not found"})
        ),
        entry(
            "Calculates FY2024 net debt to EBITDA as 2.40x (±0.01).",
            "derived_computation",
            "incorrect",
            &["to 2.39x"],
            json!({"said": "to 2.39x", "reason": "2.39x is not 2.40x.", "second_opinion": "matches", "needs_a_look": true})
        ),
        entry(
            "Attributes most of the reduction to debt repaid.",
            "analysis_interpretation",
            "incorrect",
            &["The improvement was driven mainly by stronger earnings"],
            json!({"said": "The improvement was driven mainly by stronger earnings", "reason": "Names both causes the other way round."})
        )
    ])
}

fn grades() -> Value {
    json!([
        {"evaluator": "answer_rubrics", "status": "scored", "met": false,
         "scores": {"answer_rubric_score": {"share": {"num": 2, "den": 6}}, "answer_rubric_coverage": {"share": {"num": 5, "den": 6}},
                    "answer_rubric_accuracy": {"share": {"num": 2, "den": 5}}, "answer_rubric_citation": {"share": {"num": 1, "den": 3}}},
         "explanation": {"verdicts": answer_verdicts()}},
        {"evaluator": "presentation_judge", "status": "scored", "met": true, "scores": {"presentation_judge": {"share": {"num": 2, "den": 2}}},
         "explanation": {"verdicts": [
            {"rubric": "Both multiples to two decimals.", "rule": "require", "verdict": "satisfied", "evidence": ["from 3.00x"], "reason": null},
            {"rubric": "A table of quarterly figures.", "rule": "forbid", "verdict": "satisfied", "evidence": [], "reason": "There is no table."}]}},
        {"evaluator": "max_response_time", "status": "scored", "met": true, "scores": {"max_response_time": {"share": {"num": 1, "den": 1}}}, "explanation": {}},
        {"evaluator": "trajectory_rubrics", "status": "scored", "met": false, "scores": {"trajectory_rubrics": {"share": {"num": 1, "den": 2}}},
         "explanation": {"verdicts": [
            {"rubric": "Retrieves FY2024 net debt as £412.6 million.", "verdict": "satisfied", "evidence": [], "reason": "Read in note 21.", "citations": ["filing:2"]},
            {"rubric": "Retrieves FY2024 adjusted EBITDA as £171.9 million.", "verdict": "unsatisfied", "evidence": [], "reason": "The pro forma line was carried over.", "citations": ["main:3"]}]}},
        {"evaluator": "required_tools_called", "status": "scored", "met": true, "scores": {}, "explanation": {"called": ["get_filing", "get_financials"], "missing": []}},
        {"evaluator": "tool_trajectory_match", "status": "scored", "met": false, "scores": {}, "explanation": {"matched": 1, "entries": [
            {"index": 0, "name": "get_financials", "matched": true, "call": "main:3#0", "reason": null},
            {"index": 1, "name": "get_financials", "matched": false, "call": null, "reason": "args mismatch", "detail": "closest call main:4#0: period expected FY2023, got FY2023R", "closest": "main:4#0", "differing": ["period"]},
            {"index": 2, "name": "search_filings", "matched": false, "call": null, "reason": "name miss", "detail": "no call of 3 calls has this name"}]}},
        {"evaluator": "custom:cost_cap", "status": "skipped", "reason": "set for atlas-research only", "scores": {}, "explanation": {}}
    ])
}

fn trajectory() -> Value {
    let step = |address: &str, depth: u32, source: &str, title: &str, at_ms: i64, rest: Value| {
        let mut step = json!({"address": address, "depth": depth, "source": source, "title": title, "message": "", "reasoning": null, "calls": [],
            "loose_results": [], "copied": false, "side_chain": null, "at_ms": at_ms, "tokens": null, "media": []});
        if let (Some(step), Value::Object(rest)) = (step.as_object_mut(), rest) {
            step.extend(rest);
        }
        step
    };
    let call = |address: &str, name: &str, arguments: Value, result: Value| json!({"address": address, "name": name, "arguments": arguments.to_string(), "result": result.to_string(), "subagents": []});
    json!({
        "steps": [
            step("main:1", 0, "user", "the question, 1 file", 0, json!({"message": "As of 31 March 2025, how did leverage move?"})),
            step("main:2", 0, "agent", "hands the search to filing-finder", 1_200, json!({"message": "Hands over."})),
            step("filing:1", 1, "agent", "copied question", 3_000, json!({"copied": true, "message": "As of 31 March 2025"})),
            step("filing:2", 1, "agent", "get_filing", 4_800, json!({"side_chain": "filing-finder", "calls": [call("filing:2#0", "get_filing", json!({"year": 2024}), json!({"net_debt": 412.6}))]})),
            step("main:3", 0, "agent", "get_financials", 14_800, json!({"reasoning": "Two EBITDA lines exist.", "tokens": [812, 96],
                "calls": [call("main:3#0", "get_financials", json!({"ticker": "HLDN", "period": "FY2024", "basis": "pre_ifrs16"}), json!({"adj_ebitda": 171.9, "adj_ebitda_proforma": 172.9}))]})),
            step("main:4", 0, "agent", "get_financials", 19_200, json!({"calls": [call("main:4#0", "get_financials", json!({"ticker": "HLDN", "period": "FY2023R"}), json!({"adj_ebitda": 156.0}))]})),
            step("main:5", 0, "agent", "final answer", 23_900, json!({"message": "Leverage fell.", "media": [["image", "chart.png"]]}))
        ],
        "documents": [["filing", "filing-finder"]],
        "tool_calls": 3,
        "problems": ["steps[2].source is missing"],
        "tools": [["get_financials", 2], ["get_filing", 1]]
    })
}

/// The answer of [`result`], in Markdown, with hostile parts.
pub const ANSWER: &str = "Leverage fell from 3.00x to 2.39x.\n\n- Net debt came down from £468.0m (Northgate Wire, 6 March 2025) to £412.6m.\n- Adjusted EBITDA rose to £172.9m.\n\nThe improvement was driven mainly by stronger earnings. <img src=x onerror=alert(1)>";

/// A red result with everything a page can show.
pub fn result() -> ResultPage {
    read(json!({
        "workspace": "research", "dataset": "credit", "run": 466, "agent": "ledger-bot", "version": 4,
        "case": contract(), "origins": {"required_tools_called": "desk-tools", "tool_trajectory_match": "desk-tools"},
        "trial": 1, "trials": [[1, "red"], [2, "green"]], "state": "done", "colour": "red", "conclusion": "",
        "answer": ANSWER, "answer_from": "harness", "output": null, "error": null, "attempts": 1, "latency_ms": 31_400,
        "usage": {"input_tokens": 17_000, "output_tokens": 1_204, "cost_usd": 0.19}, "grades": grades(),
        "judge": {"provider": "replay", "model": null, "templates": {"answer_rubrics": "7"}, "quality_signal": true},
        "trajectory": trajectory(), "addresses_grader": false,
        "previous": {"cell": {"colour": "red", "satisfied": 3, "of": 6, "run": 463, "at": 1_741_600_000_000_000_i64},
                     "changes": [["R2", "satisfied", "incorrect"], ["R6", "absent", "incorrect"]], "version": 4, "ruler_moved": false},
        "before": "case-a", "after": "case-z", "next_red": "case-z", "at": 1_741_708_927_000_000_i64
    }))
}

/// A result whose agent call failed.
pub fn failed() -> ResultPage {
    let mut page = result();
    page.colour = evalkit_core::grade::Colour::Error;
    page.state = "error".to_owned();
    page.answer = None;
    page.grades = Vec::new();
    page.trajectory = None;
    page.previous = None;
    page.attempts = 3;
    page.error = Some(read(
        json!({"class": "timeout", "message": "no answer within 120 s"}),
    ));
    page
}

/// The case of [`result`], with two agents, one of them measured on an older version.
pub fn case() -> Case {
    let rubric = |verdict: &str, source: Option<&str>, look: bool| json!({"verdict": verdict, "unscored": null, "source": source, "second_opinion": null, "needs_a_look": look, "overridden": false});
    let entry = |verdict: &str| json!({"verdict": verdict, "unscored": null, "skipped": null});
    let judge =
        json!({"provider": "replay", "model": null, "templates": {}, "quality_signal": true});
    read(json!({
        "workspace": "research", "dataset": "credit", "version": 4, "newest": 4, "archived": false, "case": contract(),
        "yaml": "cases:\n  - id: halden-net-debt-ebitda-fy2024\n    tags: [leverage]\n",
        "content_hash": "9f31c0aa9f31c0aa", "files": [{"key": "halden-ar-2024.pdf", "context": "Annual report for the year ended 28 December 2024.", "sha256": "ab12", "bytes": 4_130_000}],
        "overlays": [{"dataset": "desk-tools", "extends": "halden-net-debt-ebitda-fy2024", "agents": ["ledger-bot"], "tags": ["desk"],
            "evaluators": {"trajectory": {"required_tools_called": {"tools": ["get_filing", "get_financials"]}}}}],
        "agents": [
            {"agent": "ledger-bot", "cell": {"colour": "red", "satisfied": 2, "of": 6, "run": 466, "at": 1_741_708_927_000_000_i64}, "trial": 1, "version": 4, "judge": judge,
             "rubrics": [rubric("satisfied", Some("satisfied"), false), rubric("incorrect", Some("absent"), false), rubric("satisfied", Some("incorrect"), false),
                         rubric("absent", None, false), rubric("incorrect", None, true), rubric("incorrect", None, false)],
             "trajectory": [entry("satisfied"), entry("unsatisfied")], "presentation": [entry("satisfied"), entry("satisfied")],
             "checks": {"max_response_time": {"met": true, "text": "31.4 s", "why": null, "origin": null},
                        "required_tools_called": {"met": true, "text": "2 of 2", "why": null, "origin": "desk-tools"}}, "error": null},
            {"agent": "atlas-research", "cell": {"colour": "green", "satisfied": 5, "of": 5, "run": 461, "at": 1_741_600_000_000_000_i64}, "trial": 1, "version": 3, "judge": judge,
             "rubrics": [], "trajectory": [], "presentation": [], "checks": {}, "error": null}
        ],
        "versions": [{"version": 4, "origin": "sync", "by": "mara", "at": 1_741_700_000_000_000_i64}, {"version": 3, "origin": "browser", "by": "leo", "at": 1_741_500_000_000_000_i64}],
        "history": [
            {"agent": "ledger-bot", "cells": [{"run": 460, "colour": "green", "version": 3, "at": 1}, {"run": 466, "colour": "red", "version": 4, "at": 9}]},
            {"agent": "atlas-research", "cells": [{"run": 461, "colour": "green", "version": 3, "at": 2}]}
        ],
        "may_run": true, "runnable_agents": ["ledger-bot", "atlas-research"]
    }))
}

/// A run in the middle.
pub fn experiment() -> Experiment {
    let score = |num: u64, den: u64, low: f64, high: f64| {
        #[expect(clippy::cast_precision_loss, reason = "small counts")]
        let value = num as f64 / den as f64;
        json!({"value": value, "num": num, "den": den, "low": low, "high": high, "cases": 6, "of_cases": 10})
    };
    let cell = |n: u32, state: &str, colour: &str| json!({"case_id": format!("case-{n:03}"), "trial": 1, "state": state, "colour": colour, "satisfied": 5, "of": 9, "needs_a_look": n == 2});
    let mut cells: Vec<Value> = (1..=5)
        .map(|n| cell(n, "done", if n == 2 { "red" } else { "green" }))
        .collect();
    cells.push(cell(6, "error", "error"));
    cells.push(cell(7, "running", "open"));
    cells.extend((8..=10).map(|n| cell(n, "queued", "open")));
    read(json!({
        "workspace": "clinical", "id": "0190c2f0-7d3e-7b8a-9d5e-3f6f1f0f2a11",
        "row": {"run": 482, "dataset": "discharge-summaries", "split": null, "agent": "ward-scribe", "state": "running",
            "counts": {"queued": 3, "running": 1, "recorded": 0, "grading": 0, "done": 5, "error": 1, "cancelled": 0, "budget": 0},
            "colours": [4, 1, 0, 1], "unscored": 1, "score": score(1_206, 1_689, 0.682, 0.745),
            "judge": {"provider": "offline", "model": null, "templates": {"answer_rubrics": "1"}, "quality_signal": false},
            "by": "priya", "started_at": 1_741_708_000_000_000_i64, "finished_at": null},
        "trials": 1,
        "scores": {"answer_rubric_score": score(1_206, 1_689, 0.682, 0.745), "answer_rubric_factual_retrieval": score(699, 886, 0.754, 0.821),
            "answer_rubric_citation": score(389, 718, 0.496, 0.589), "max_response_time": score(5, 5, 1.0, 1.0)},
        "cells": cells,
        "failures": [
            {"evaluator": "answer_rubrics", "rubric_type": "derived_computation", "verdict": "incorrect", "what": "Total daily dose computed from the ward chart", "cases": [["case-002", 1]]},
            {"evaluator": "agent", "rubric_type": null, "verdict": "timeout", "what": "No answer within 120 s", "cases": [["case-006", 1]]}],
        "errors": [{"case_id": "case-006", "trial": 1, "stage": "agent call", "class": "timeout", "message": "no answer within 120 s", "attempts": 3, "at": 1_741_708_500_000_000_i64}],
        "latencies_ms": [900, 1_200, 4_000, 19_000, 23_000, 31_000], "costs_usd": [0.02, 0.06, 0.09],
        "frozen": {"cases": 10, "left_out": ["case-011"], "overlays": ["ward-tools"], "agent": "evalkit-http at http://127.0.0.1:9000/run", "concurrency": 8, "templates": {"answer_rubrics": "1"}},
        "last_event": 77, "may_control": true,
        "exit": {"code": 2, "why": "4 trials are open and 1 ended in an error."}
    }))
}
