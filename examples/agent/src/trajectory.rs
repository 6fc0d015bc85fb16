//! Records what the agent does as an ATIF v1.7 document.

use serde::Serialize;
use serde_json::{Map, Value};

/// One ATIF document: the whole run, or the part of it that a second reader did.
#[derive(Debug, Clone, Serialize)]
pub struct Trajectory {
    schema_version: &'static str,
    trajectory_id: String,
    agent: Agent,
    steps: Vec<Step>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagent_trajectories: Vec<Trajectory>,
}

#[derive(Debug, Clone, Serialize)]
struct Agent {
    name: &'static str,
    version: &'static str,
}

#[derive(Debug, Clone, Serialize)]
struct Step {
    step_id: usize,
    source: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    observation: Option<Observation>,
}

#[derive(Debug, Clone, Serialize)]
struct ToolCall {
    tool_call_id: String,
    function_name: &'static str,
    arguments: Value,
}

#[derive(Debug, Clone, Serialize)]
struct Observation {
    results: Vec<ObservationResult>,
}

#[derive(Debug, Clone, Serialize)]
struct ObservationResult {
    source_call_id: String,
    content: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subagent_trajectory_ref: Vec<SubagentRef>,
}

#[derive(Debug, Clone, Serialize)]
struct SubagentRef {
    trajectory_id: String,
}

impl Trajectory {
    /// Starts a document with the text the agent was given.
    pub fn begin(trajectory_id: &str, prompt: &str) -> Self {
        let mut started = Self {
            schema_version: "ATIF-v1.7",
            trajectory_id: trajectory_id.to_owned(),
            agent: Agent {
                name: "facts-bot",
                version: env!("CARGO_PKG_VERSION"),
            },
            steps: Vec::new(),
            subagent_trajectories: Vec::new(),
        };
        started.push("user", prompt.to_owned(), None);
        started
    }

    /// Records one call with its result. `arguments` are pairs of name and value.
    pub fn call<const N: usize>(
        &mut self,
        function_name: &'static str,
        arguments: [(&str, Value); N],
        result: impl Into<String>,
    ) {
        self.record_call(function_name, arguments, result.into(), None);
    }

    /// Records that a task went to a second reader whose own document is `child`.
    pub fn delegate(&mut self, task: &str, child: Trajectory, result: impl Into<String>) {
        let reference = SubagentRef {
            trajectory_id: child.trajectory_id.clone(),
        };
        self.record_call(
            "delegate_reading",
            [("task", Value::from(task))],
            result.into(),
            Some(reference),
        );
        self.subagent_trajectories.push(child);
    }

    /// Records a thought that belongs to no call.
    pub fn think(&mut self, thought: &str) {
        self.push("agent", String::new(), Some(thought.to_owned()));
    }

    /// Ends the document with the final answer.
    pub fn finish(&mut self, answer: &str) {
        self.push("agent", answer.to_owned(), None);
    }

    /// Characters in all steps, for a rough count of tokens.
    pub fn characters(&self) -> usize {
        let own: usize = self
            .steps
            .iter()
            .map(|step| {
                let results = step.observation.iter().flat_map(|seen| &seen.results);
                step.message.len() + results.map(|result| result.content.len()).sum::<usize>()
            })
            .sum();
        own + self
            .subagent_trajectories
            .iter()
            .map(Trajectory::characters)
            .sum::<usize>()
    }

    fn record_call<const N: usize>(
        &mut self,
        function_name: &'static str,
        arguments: [(&str, Value); N],
        content: String,
        reference: Option<SubagentRef>,
    ) {
        let step = self.push("agent", String::new(), None);
        let tool_call_id = format!("call_{}", step.step_id);
        let arguments: Map<String, Value> = arguments
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        step.tool_calls.push(ToolCall {
            tool_call_id: tool_call_id.clone(),
            function_name,
            arguments: Value::Object(arguments),
        });
        step.observation = Some(Observation {
            results: vec![ObservationResult {
                source_call_id: tool_call_id,
                content,
                subagent_trajectory_ref: reference.into_iter().collect(),
            }],
        });
    }

    /// Appends a step and hands it back; step ids count from 1 without gaps, as ATIF demands.
    fn push(
        &mut self,
        source: &'static str,
        message: String,
        reasoning_content: Option<String>,
    ) -> &mut Step {
        let at = self.steps.len();
        self.steps.push(Step {
            step_id: at + 1,
            source,
            message,
            reasoning_content,
            tool_calls: Vec::new(),
            observation: None,
        });
        &mut self.steps[at]
    }
}
