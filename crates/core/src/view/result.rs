//! Result (`web.md`): why. The answer, the verdicts with their evidence, tool checks, the steps.

use serde::{Deserialize, Serialize};

use super::dataset::AgentCell;
use super::judging::JudgeCall;
use crate::case::Case as CaseModel;
use crate::grade::{Colour, Grade};
use crate::results::ResultsJudge;
use crate::run::{RunError, Usage};

/// The page. The answer is raw here; the app renders it as untrusted Markdown.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ResultPage {
    /// The workspace.
    pub workspace: String,
    /// Its dataset.
    pub dataset: String,
    /// The run's number.
    pub run: i64,
    /// The agent.
    pub agent: String,
    /// The case version measured.
    pub version: u32,
    /// The effective case (overlays folded in).
    pub case: CaseModel,
    /// Evaluator to overlay dataset; what is not here comes from the case.
    pub origins: std::collections::BTreeMap<String, String>,
    /// The trial shown, from 1.
    pub trial: u32,
    /// Every trial of the case in this run with its colour.
    pub trials: Vec<(u32, Colour)>,
    /// As of now.
    pub state: String,
    /// As of now.
    pub colour: Colour,
    /// The conclusion in one or two sentences.
    pub conclusion: String,
    /// The final answer.
    pub answer: Option<String>,
    /// Where the answer came from: the harness, or the last agent message as a fallback.
    pub answer_from: Option<String>,
    /// A structured answer, pretty JSON.
    pub output: Option<String>,
    /// Why there is none.
    pub error: Option<RunError>,
    /// Attempts made.
    pub attempts: u32,
    /// Milliseconds.
    pub latency_ms: Option<u64>,
    /// Tokens and cost.
    pub usage: Option<Usage>,
    /// In evaluator order; explanations as in `formats.md`.
    pub grades: Vec<Grade>,
    /// Who judged.
    pub judge: ResultsJudge,
    /// Requests to judge models, oldest first, at most a hundred, their replies shortened.
    #[serde(default)]
    pub judge_calls: Vec<JudgeCall>,
    /// The steps; absent without a trajectory.
    pub trajectory: Option<TrajectoryView>,
    /// The graded text addresses its grader (a flag; it changes no verdict).
    pub addresses_grader: bool,
    /// The same case in the previous run against this agent.
    pub previous: Option<PreviousResult>,
    /// Case ids for J and K: previous and next in this run, and the next red one.
    pub before: Option<String>,
    /// Next in this run.
    pub after: Option<String>,
    /// The next that is red.
    pub next_red: Option<String>,
    /// Microseconds.
    pub at: i64,
}

/// The same case in an earlier run, and what changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PreviousResult {
    /// Run, colour, count, when.
    pub cell: AgentCell,
    /// `R2`, `T1`, `P3` and the verdicts before and now, as spelled.
    pub changes: Vec<(String, String, String)>,
    /// The case version then.
    pub version: u32,
    /// Judge or template differs: verdicts are not comparable.
    pub ruler_moved: bool,
}

/// A trajectory ready to read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryView {
    /// In canonical order.
    pub steps: Vec<StepView>,
    /// Documents other than `main`: alias and title.
    pub documents: Vec<(String, String)>,
    /// Tool calls, copied context apart.
    pub tool_calls: u64,
    /// Conformance errors, in the checker's words; the run is graded all the same.
    pub problems: Vec<String>,
    /// Name to number of calls, most first.
    pub tools: Vec<(String, u64)>,
}

/// One step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StepView {
    /// `main:4`.
    pub address: String,
    /// 0 for the main document.
    pub depth: u32,
    /// `user`, `agent`, `system`.
    pub source: String,
    /// One line: the call's name, or the start of the message.
    pub title: String,
    /// The message's text.
    pub message: String,
    /// Hidden reasoning, where recorded.
    pub reasoning: Option<String>,
    /// Calls with their results.
    pub calls: Vec<CallView>,
    /// Results without a call.
    pub loose_results: Vec<String>,
    /// Repeated from an earlier document.
    pub copied: bool,
    /// Side chain of this agent id.
    pub side_chain: Option<String>,
    /// Milliseconds since the first step with a time.
    pub at_ms: Option<i64>,
    /// Input and output tokens.
    pub tokens: Option<(u64, u64)>,
    /// Media: kind and file name, never loaded.
    pub media: Vec<(String, String)>,
}

/// One tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallView {
    /// `main:4#0`.
    pub address: String,
    /// The tool.
    pub name: String,
    /// Pretty JSON.
    pub arguments: String,
    /// Text of the results; absent when the call has none.
    pub result: Option<String>,
    /// Aliases of subagents the result refers to.
    pub subagents: Vec<String>,
}
