//! A trajectory as graders see it: typed, with everything unknown kept beside what is known.

use serde::Serialize;
use serde_json::{Map, Value};

/// A finding of the conformance check: where, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// From the root of the file, e.g. `steps[2].source`; empty for the file itself.
    pub path: String,
    /// One sentence.
    pub message: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            write!(f, "{}: {}", self.path, self.message)
        }
    }
}

/// One file: the main trajectory and every subagent embedded in it, with one alias each.
#[derive(Debug, Clone)]
pub struct Document {
    /// The main trajectory first, then the embedded ones, parents before children, in array order.
    pub(super) trajectories: Vec<Trajectory>,
    /// Where it departs from the format (`atif.md` §4). It is graded all the same.
    pub(super) errors: Vec<Problem>,
    /// What the format allows and a reader should know: values read loosely, references that lead nowhere.
    pub(super) warnings: Vec<Problem>,
}

impl Document {
    /// The main trajectory first, then the embedded ones, parents before children, in array order.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }

    /// The main trajectory.
    pub fn main(&self) -> &Trajectory {
        // `parse` never builds a document without its root.
        &self.trajectories[0]
    }

    /// Where it departs from the format; it is graded all the same.
    pub fn errors(&self) -> &[Problem] {
        &self.errors
    }

    /// What the format allows and a reader should know.
    pub fn warnings(&self) -> &[Problem] {
        &self.warnings
    }
}

/// One trajectory: the main one, or a subagent's.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// Unique in the document; `main` for the root (`atif.md` §6.2).
    pub alias: String,
    /// As written.
    pub trajectory_id: Option<String>,
    /// As written, e.g. `ATIF-v1.7`.
    pub schema_version: Option<String>,
    /// Who ran.
    pub agent: Agent,
    /// In array order; a step's number is its position + 1, whatever it claims.
    pub steps: Vec<Step>,
    /// Index of the trajectory that embeds it.
    pub parent: Option<usize>,
    /// Indexes of the trajectories it embeds, in array order.
    pub children: Vec<usize>,
    /// 0 for the root.
    pub depth: u32,
    /// Keys the format does not know, and `extra`.
    pub rest: Map<String, Value>,
}

/// Who ran a trajectory.
#[derive(Debug, Clone, Default)]
pub struct Agent {
    /// Its name; empty when the file has none.
    pub name: String,
    /// Its version; empty when the file has none.
    pub version: String,
    /// The default model of its steps.
    pub model_name: Option<String>,
    /// Names of the tools it was offered, where the file lists them.
    pub tools: Vec<String>,
}

/// Who speaks in a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The harness.
    System,
    /// The person, or the agent that delegated.
    User,
    /// The agent.
    Agent,
    /// Anything else, as written; not conformant.
    Other(String),
}

impl Source {
    /// As written.
    pub fn as_str(&self) -> &str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Agent => "agent",
            Self::Other(text) => text,
        }
    }
}

/// One step.
#[derive(Debug, Clone)]
pub struct Step {
    /// Who speaks.
    pub source: Source,
    /// The message.
    pub message: Content,
    /// Hidden reasoning, where recorded.
    pub reasoning: Option<String>,
    /// Several calls are parallel calls of one turn.
    pub calls: Vec<ToolCall>,
    /// Results of the step, in array order.
    pub results: Vec<ToolResult>,
    /// Repeated from an earlier document: context, not action.
    pub copied: bool,
    /// The side chain's agent id (empty when unnamed) of a step that a subagent took inside the main array.
    pub side_chain: Option<String>,
    /// As written.
    pub timestamp: Option<String>,
    /// Microseconds since 1970-01-01 UTC, where the time stamp can be read.
    pub at: Option<i64>,
    /// The model of this step.
    pub model_name: Option<String>,
    /// Input tokens (cached ones included) and output tokens.
    pub tokens: Option<(u64, u64)>,
    /// US dollars.
    pub cost_usd: Option<f64>,
    /// Keys the format does not know, and `extra`.
    pub rest: Map<String, Value>,
}

/// Text and media of a message or a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    /// The text; parts are joined by line breaks, media stand as `[image: name]`.
    pub text: String,
    /// Kind and path of each image or sound, never loaded.
    pub media: Vec<(String, String)>,
}

/// One tool call.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Unique by habit only; never an identity.
    pub id: String,
    /// The tool.
    pub name: String,
    /// An object in a conformant file. JSON text of an object is read as that object.
    pub arguments: Value,
    /// Indexes into the step's results, in array order.
    pub results: Vec<usize>,
    /// Keys the format does not know, and `extra`.
    pub rest: Map<String, Value>,
}

/// One result of an observation.
#[derive(Debug, Clone)]
pub struct ToolResult {
    /// The call it answers, of the same step.
    pub source_call_id: Option<String>,
    /// What came back.
    pub content: Content,
    /// Subagents it refers to.
    pub subagents: Vec<SubagentRef>,
    /// Keys the format does not know, and `extra`.
    pub rest: Map<String, Value>,
}

/// A reference to a subagent's trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubagentRef {
    /// Index of an embedded trajectory.
    Embedded(usize),
    /// A file or an id that this document does not hold.
    NotSupplied(String),
}
