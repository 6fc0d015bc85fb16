//! Recorded runs from a file (`formats.md`, Recorded runs): one a line, or a traces file of the gate (`gate.md` 6).

use std::collections::HashSet;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use evalkit_core::run::{AgentErrorClass, RecordedCall, RecordedRun, RunError, RunStatus, Usage};
use evalkit_engine::adapter::read_runs;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::exit::Failure;

/// The largest file of runs, bytes: 1 GiB.
const LARGEST: u64 = 1 << 30;

/// Reads the runs of a file, in file order. A case's trial is there once.
pub(crate) fn read(folder: &Path, path: &Path) -> Result<Vec<RecordedRun>, Failure> {
    let name = path.display();
    let file = folder.join(path);
    let mut text = String::new();
    File::open(&file)
        .and_then(|opened| opened.take(LARGEST + 1).read_to_string(&mut text))
        .map_err(|error| {
            Failure::misuse(
                format!("{name} cannot be read: {error}."),
                "Check the path.",
            )
        })?;
    if text.len() as u64 > LARGEST {
        return Err(Failure::misuse(
            format!("{name} is larger than 1 GiB."),
            "Split it, and grade the parts.",
        ));
    }
    let runs = match traces(&text) {
        Some(runs) => runs.map_err(|why| {
            Failure::misuse(
                format!("{name} looks like a traces file, and cannot be used: {why}."),
                "Each entry of `traces` is an object with a `case_id`.",
            )
        })?,
        None => read_runs(&text, file.parent()).map_err(|error| {
            Failure::misuse(
                format!("{name}: {error}"),
                "The file holds one recorded run a line, as `evalkit collect --format runs` writes them.",
            )
        })?,
    };
    let mut seen = HashSet::with_capacity(runs.len());
    for run in &runs {
        if run.trial == 0 {
            return Err(Failure::misuse(
                format!("{name} holds trial 0 of `{}`.", run.case_id),
                "Number the trials of a case from 1.",
            ));
        }
        if !seen.insert((&run.case_id, run.trial, &run.agent)) {
            return Err(Failure::misuse(
                format!(
                    "{name} holds trial {} of `{}` twice.",
                    run.trial, run.case_id
                ),
                "Number the trials of a case from 1.",
            ));
        }
    }
    Ok(runs)
}

/// A traces file of the gate.
#[derive(Debug, Deserialize)]
struct Wrapper {
    traces: Vec<Trace>,
}

#[derive(Debug, Deserialize)]
struct Trace {
    case_id: String,
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    response: Option<String>,
    #[serde(default)]
    structured_response: Option<Value>,
    #[serde(default)]
    tool_calls: Option<Vec<TraceCall>>,
    #[serde(default)]
    turns: Option<Vec<Value>>,
    #[serde(default)]
    approvals: Option<Vec<Value>>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    latency_ms: Option<f64>,
    #[serde(default)]
    error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct TraceCall {
    name: String,
    #[serde(default)]
    args: Value,
    #[serde(default)]
    result: Option<Value>,
    #[serde(default)]
    is_error: Option<bool>,
}

/// The runs of a traces file; `None` when the text is none.
fn traces(text: &str) -> Option<Result<Vec<RecordedRun>, String>> {
    let head = text.trim_start();
    if !head.starts_with('{') || !head.contains("\"traces\"") {
        return None;
    }
    let value: Map<String, Value> = serde_json::from_str(text).ok()?;
    value.get("traces")?;
    let wrapper = serde_json::from_value::<Wrapper>(Value::Object(value));
    Some(match wrapper {
        Ok(wrapper) => Ok(wrapper.traces.into_iter().map(run).collect()),
        Err(error) => Err(error.to_string()),
    })
}

fn run(trace: Trace) -> RecordedRun {
    let failed = matches!(trace.status.as_deref(), Some("error" | "missing"));
    let call = |call: TraceCall| RecordedCall {
        name: call.name,
        args: match call.args {
            Value::Object(args) => args,
            _ => Map::new(),
        },
        result: call.result,
        is_error: call.is_error.unwrap_or(false),
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a cast from a float saturates, and the value is not negative"
    )]
    let milliseconds = |ms: f64| ms.max(0.0).round() as u64;
    RecordedRun {
        case_id: trace.case_id,
        trial: 1,
        answer: trace.response,
        output: trace.structured_response.filter(|value| !value.is_null()),
        tool_calls: Some(
            trace
                .tool_calls
                .unwrap_or_default()
                .into_iter()
                .map(call)
                .collect(),
        ),
        turns: trace.turns.unwrap_or_default(),
        approvals: trace.approvals.unwrap_or_default(),
        usage: trace.usage,
        latency_ms: trace.latency_ms.map(milliseconds),
        status: if failed {
            RunStatus::Error
        } else {
            RunStatus::Ok
        },
        error: failed.then(|| RunError {
            class: AgentErrorClass::AgentReported,
            message: trace
                .error
                .unwrap_or_else(|| "The trace holds no answer.".to_owned()),
        }),
        ..RecordedRun::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_there_once_and_numbered_from_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let of = |text: &str| {
            std::fs::write(folder.path().join("runs.jsonl"), text).expect("a file");
            read(folder.path(), Path::new("runs.jsonl")).map_err(|failure| failure.message)
        };
        let run =
            |trial: u32| format!("{{\"case_id\": \"a\", \"trial\": {trial}, \"answer\": \"x\"}}\n");
        assert!(of(&format!("{}{}", run(1), run(2))).is_ok());
        let twice = of(&format!("{}{}{}", run(1), run(2), run(1))).unwrap_err();
        assert!(twice.contains("holds trial 1 of `a` twice"), "{twice}");
        let nought = of(&run(0)).unwrap_err();
        assert!(nought.contains("trial 0"), "{nought}");
    }

    #[test]
    fn a_traces_file_of_the_gate_is_read_too() {
        let text = r#"{"dataset_hash": "x", "traces": [
            {"case_id": "a", "status": "ok", "response": "Hello", "latency_ms": 12.4,
             "tool_calls": [{"id": "1", "name": "look_up", "args": {"q": 1}, "result": null, "is_error": false}]},
            {"case_id": "b", "status": "error", "response": null, "error": "HTTP 500"}]}"#;
        let runs = traces(text).unwrap().unwrap();
        assert_eq!(runs[0].answer.as_deref(), Some("Hello"));
        assert_eq!(runs[0].latency_ms, Some(12));
        assert_eq!(runs[0].tool_calls.as_ref().unwrap()[0].name, "look_up");
        assert_eq!(runs[1].status, RunStatus::Error);
        assert_eq!(runs[1].error.as_ref().unwrap().message, "HTTP 500");
        assert!(traces(r#"{"case_id": "a", "answer": "traces"}"#).is_none());
        assert!(traces(r#"{"traces": [1]}"#).unwrap().is_err());
    }
}
