//! What goes over the wire: the Agent Run API `evalkit.agent/1`.

use serde::{Deserialize, Serialize};

use crate::trajectory::Trajectory;

/// The only version of the API that this agent speaks.
pub const API: &str = "evalkit.agent/1";

/// One request: answer this question.
#[derive(Debug, Clone, Deserialize)]
pub struct RunRequest {
    /// Must be [`API`].
    pub api: String,
    /// Names the run; the agent only logs it.
    pub run_id: String,
    /// Names the case; the agent only logs it and never picks an answer by it.
    pub case_id: String,
    /// The question.
    pub input: RunInput,
    /// Files that belong to the question.
    #[serde(default)]
    pub fixtures: Vec<FixtureLink>,
}

/// The question in its two forms: as the author wrote it, and with the files' contexts before it.
#[derive(Debug, Clone, Deserialize)]
pub struct RunInput {
    /// The author's text; absent when the case has several turns.
    #[serde(default)]
    pub question: Option<String>,
    /// What the agent should read.
    #[serde(default)]
    pub prompt: Option<String>,
    /// The turns of a case with several.
    #[serde(default)]
    pub messages: Vec<InputMessage>,
}

/// One turn.
#[derive(Debug, Clone, Deserialize)]
pub struct InputMessage {
    /// `user`, `assistant` or `system`.
    pub role: String,
    /// Its text.
    pub content: String,
}

impl RunInput {
    /// The text to answer: the question, else the last user turn, else the prompt.
    pub fn question(&self) -> Option<&str> {
        self.question
            .as_deref()
            .or_else(|| {
                self.messages
                    .iter()
                    .rev()
                    .find(|message| message.role == "user")
                    .map(|message| message.content.as_str())
            })
            .or(self.prompt.as_deref())
            .filter(|text| !text.trim().is_empty())
    }
}

/// A file of the question and the signed address to read it from.
#[derive(Debug, Clone, Deserialize)]
pub struct FixtureLink {
    /// The file's name.
    pub key: String,
    /// Where to get it, by plain HTTP.
    pub url: String,
}

/// What comes back.
#[derive(Debug, Clone, Serialize)]
pub struct RunReply {
    /// The final answer; absent when `error` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Every step, in ATIF.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trajectory: Option<Trajectory>,
    /// Tokens, counted roughly as four characters each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Tokens in and out.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Usage {
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
}
