//! The body of the Agent Run API (`runs.md`). This type is the whole of what leaves for an agent.

use serde::Serialize;

use super::AgentTask;

/// The API's name and version.
const API: &str = "evalkit.agent/1";

/// One request.
#[derive(Debug, Serialize)]
pub(super) struct RunRequest<'a> {
    api: &'static str,
    run_id: &'a str,
    case_id: &'a str,
    input: RunInput<'a>,
    fixtures: Vec<RunFixture<'a>>,
    deadline_ms: u64,
}

#[derive(Debug, Serialize)]
struct RunInput<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    messages: Vec<RunMessage<'a>>,
    prompt: &'a str,
}

#[derive(Debug, Serialize)]
struct RunMessage<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Debug, Serialize)]
struct RunFixture<'a> {
    key: &'a str,
    sha256: &'a str,
    context: &'a str,
    url: &'a str,
}

impl<'a> RunRequest<'a> {
    pub(super) fn of(task: &'a AgentTask) -> Self {
        Self {
            api: API,
            run_id: &task.run_id,
            case_id: &task.case_id,
            input: RunInput {
                question: task.question.as_deref(),
                messages: task
                    .messages
                    .iter()
                    .map(|content| RunMessage {
                        role: "user",
                        content,
                    })
                    .collect(),
                prompt: &task.prompt,
            },
            fixtures: task
                .fixtures
                .iter()
                .map(|fixture| RunFixture {
                    key: &fixture.key,
                    sha256: &fixture.sha256,
                    context: &fixture.context,
                    url: &fixture.url,
                })
                .collect(),
            deadline_ms: u64::try_from(task.allowed.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalkit_core::case::Case;
    use serde_json::{Value, json};
    use std::time::Duration;

    fn task(case: Value) -> Value {
        let case: Case = serde_json::from_value(case).unwrap();
        let task = AgentTask::of(
            &case,
            "run-1",
            2,
            "key",
            Duration::from_secs(30),
            |key, hash| format!("https://host/{key}/{hash}"),
        );
        serde_json::to_value(RunRequest::of(&task)).unwrap()
    }

    #[test]
    fn the_body_is_what_the_specification_says_and_no_more() {
        let body = task(json!({
            "id": "x", "tags": ["CANARY-tag"], "expected": "CANARY-expected", "context": "CANARY-context",
            "input": {"question": "What?"},
            "fixtures": [{"key": "a.txt", "sha256": "ab", "context": "The file."}, {"key": "unknown.txt"}],
            "metadata": {"k": "CANARY-meta"}, "expect": {"contains": ["CANARY-expect"]},
            "metrics": {"CANARY-metric": {}}, "approvals": [{"CANARY": 1}],
            "evaluators": {"output": {"answer_rubrics": {"rubrics": [{"rubric": "CANARY-rubric", "type": "factual_retrieval", "source": "CANARY-source"}]},
                                      "presentation_judge": {"require": ["CANARY-presentation"]}},
                           "trajectory": {"trajectory_rubrics": {"rubrics": ["CANARY-t"]}, "required_tools_called": {"tools": ["CANARY-tool"]},
                                          "tool_trajectory_match": {"expected": [{"name": "CANARY-call"}]}},
                           "custom": {"CANARY-custom": {}}}
        }));
        assert_eq!(
            body,
            json!({
                "api": "evalkit.agent/1", "run_id": "run-1", "case_id": "x",
                "input": {"question": "What?", "prompt": "The file.\n\nWhat?"},
                "fixtures": [{"key": "a.txt", "sha256": "ab", "context": "The file.", "url": "https://host/a.txt/ab"}],
                "deadline_ms": 30_000
            })
        );
    }

    #[test]
    fn only_user_turns_are_sent() {
        let body = task(json!({"id": "x", "input": {"messages": [
            {"role": "system", "content": "CANARY"}, {"role": "user", "content": "one"},
            {"role": "assistant", "content": "CANARY"}, {"role": "user", "content": "two"}]}}));
        assert_eq!(
            body["input"],
            json!({"messages": [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}], "prompt": "one"})
        );
    }
}
