//! The one case model (`cases.md`, A case). Both notations parse into it; nothing after the parser asks which.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::canonical;

/// A case: one eval question with its expected behaviour and evaluator config.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// `[a-z0-9][a-z0-9._-]{0,127}`, unique in its workspace.
    pub id: String,
    /// Each tag is a split.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What the agent is asked.
    pub input: Input,
    /// Files attached by key, in the author's order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixtures: Vec<FixtureRef>,
    /// Free text for people, and the reference that metrics compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// Grounding text for the `groundedness` metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Seconds, above zero; file defaults already folded in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_response_time: Option<f64>,
    /// Approval instructions, as in `gate.md`, kept as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Value>,
    /// Deterministic checks, as in `gate.md`, kept as written.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub expect: Map<String, Value>,
    /// Judge or custom metrics by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    /// Free-form, carried into results.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Rubrics, presentation, trajectory and custom checks.
    #[serde(default, skip_serializing_if = "Evaluators::is_empty")]
    pub evaluators: Evaluators,
}

/// The input: one question, or several turns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The question as a user would type it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// User turns, sent in order on one thread; system and assistant entries are context for judges, never sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<Message>,
}

impl Input {
    /// The text a person reads as "the question": the question, else the first user turn, else the empty string.
    pub fn headline(&self) -> &str {
        self.question.as_deref().unwrap_or_else(|| {
            self.messages
                .iter()
                .find(|m| m.role == Role::User)
                .map_or("", |m| m.content.as_str())
        })
    }
}

/// One entry of `input.messages`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

/// The speaker of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Sent to the agent.
    User,
    /// Context for judges only.
    System,
    /// Context for judges only.
    Assistant,
}

/// A fixture as a case names it; `sha256` and `context` come from the registry when it is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureRef {
    /// The flat file name.
    pub key: String,
    /// 64 lower-case hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// One or two sentences that come before the question in the agent's prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
}

/// A metric's configuration in a case.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// On the metric's own scale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
}

/// `evaluators`, by bucket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Evaluators {
    /// What the answer says and how it looks.
    #[serde(default, skip_serializing_if = "OutputEvaluators::is_empty")]
    pub output: OutputEvaluators,
    /// How it was derived.
    #[serde(default, skip_serializing_if = "TrajectoryEvaluators::is_empty")]
    pub trajectory: TrajectoryEvaluators,
    /// Config of custom evaluators by registered name, any mapping.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, Value>,
}

impl Evaluators {
    /// Whether nothing is set in any bucket.
    pub fn is_empty(&self) -> bool {
        self.output.is_empty() && self.trajectory.is_empty() && self.custom.is_empty()
    }
}

/// `evaluators.output`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OutputEvaluators {
    /// What a correct answer contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_rubrics: Option<AnswerRubrics>,
    /// How the answer displays it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub presentation_judge: Option<Presentation>,
}

impl OutputEvaluators {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.answer_rubrics.is_none() && self.presentation_judge.is_none()
    }
}

/// `evaluators.output.answer_rubrics`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnswerRubrics {
    /// At least one, in case order.
    pub rubrics: Vec<Rubric>,
}

/// One typed sentence asserting something a correct answer contains.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rubric {
    /// The sentence.
    pub rubric: String,
    /// Which of the three kinds of assertion it is.
    #[serde(rename = "type")]
    pub kind: RubricType,
    /// The attribution asked for; only with `factual_retrieval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// The three rubric types (`grading.md`, Answer rubrics).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RubricType {
    /// Stated in a source. "Facts to find".
    FactualRetrieval,
    /// A figure the answer works out, or the method behind it. "Worked out from them".
    DerivedComputation,
    /// What the figures show. "Reading of the evidence".
    AnalysisInterpretation,
}

impl RubricType {
    /// All three, in the order pages show them.
    pub const ALL: [Self; 3] = [
        Self::FactualRetrieval,
        Self::DerivedComputation,
        Self::AnalysisInterpretation,
    ];

    /// The field value, e.g. `factual_retrieval`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FactualRetrieval => "factual_retrieval",
            Self::DerivedComputation => "derived_computation",
            Self::AnalysisInterpretation => "analysis_interpretation",
        }
    }

    /// Reads the field value.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The name for stakeholders, e.g. "Facts to find" (`ui.md`, Semantics).
    pub const fn title(self) -> &'static str {
        match self {
            Self::FactualRetrieval => "Facts to find",
            Self::DerivedComputation => "Worked out from them",
            Self::AnalysisInterpretation => "Reading of the evidence",
        }
    }
}

/// `evaluators.output.presentation_judge`: at least one entry in all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Presentation {
    /// Properties the answer must have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub require: Vec<String>,
    /// Properties the answer must not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbid: Vec<String>,
}

/// `evaluators.trajectory`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TrajectoryEvaluators {
    /// Checkpoint sentences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trajectory_rubrics: Option<TrajectoryRubrics>,
    /// Tools that must each be called at least once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_tools_called: Option<RequiredTools>,
    /// Expected calls matched by name and arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_trajectory_match: Option<ToolTrajectoryMatch>,
}

impl TrajectoryEvaluators {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.trajectory_rubrics.is_none()
            && self.required_tools_called.is_none()
            && self.tool_trajectory_match.is_none()
    }
}

/// `evaluators.trajectory.trajectory_rubrics`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrajectoryRubrics {
    /// At least one, in case order.
    pub rubrics: Vec<String>,
}

/// `evaluators.trajectory.required_tools_called`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequiredTools {
    /// At least one name, spelled as the harness records it.
    pub tools: Vec<String>,
}

/// `evaluators.trajectory.tool_trajectory_match`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolTrajectoryMatch {
    /// Entries must also appear in this order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ordered: bool,
    /// At least one expected call.
    pub expected: Vec<ExpectedCall>,
}

/// One expected call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedCall {
    /// The tool's name as recorded.
    pub name: String,
    /// Expected arguments; absent is not the same as empty for display, and the same for matching.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Map<String, Value>>,
    /// How `args` are compared.
    #[serde(default, skip_serializing_if = "ArgsMode::is_default")]
    pub args_mode: ArgsMode,
    /// Per-key modes, for keys of `args`; never with `exact` or `ignore`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub match_overrides: BTreeMap<String, MatchOverride>,
}

/// How the arguments of an expected call are compared (`grading.md`, Tool checks).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ArgsMode {
    /// Every expected key present and equal; extra keys are fine.
    #[default]
    Subset,
    /// Equal; without `args`, no arguments.
    Exact,
    /// The name alone.
    Ignore,
    /// Like subset, each expected value need only appear inside the actual one, case-insensitively.
    Substring,
}

impl ArgsMode {
    /// All modes.
    pub const ALL: [Self; 4] = [Self::Subset, Self::Exact, Self::Ignore, Self::Substring];

    fn is_default(&self) -> bool {
        *self == Self::Subset
    }

    /// The field value.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Subset => "subset",
            Self::Exact => "exact",
            Self::Ignore => "ignore",
            Self::Substring => "substring",
        }
    }

    /// Reads the field value.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str() == text)
    }
}

/// A value of `match_overrides`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MatchOverride {
    /// The key's value must be equal (recursively, as in subset).
    Equals,
    /// The expected value need only appear inside the actual one.
    Substring,
}

impl Case {
    /// A case with nothing but an id and evaluators, to ask what those evaluators bring.
    pub fn bare(id: String, evaluators: Evaluators) -> Self {
        Self {
            id,
            tags: Vec::new(),
            input: Input::default(),
            fixtures: Vec::new(),
            expected: None,
            context: None,
            max_response_time: None,
            approvals: Vec::new(),
            expect: Map::new(),
            metrics: BTreeMap::new(),
            metadata: Map::new(),
            evaluators,
        }
    }

    /// The canonical JSON form: sorted keys, defaults folded in, fixture keys resolved (`cases.md`, Canonical content).
    pub fn canonical(&self) -> Value {
        canonical::sorted(&serde_json::to_value(self).unwrap_or(Value::Null))
    }

    /// SHA-256 of the canonical form, 64 lower-case hex digits.
    pub fn content_hash(&self) -> String {
        canonical::hash(&self.canonical())
    }

    /// The answer rubrics, empty when there are none.
    pub fn rubrics(&self) -> &[Rubric] {
        self.evaluators
            .output
            .answer_rubrics
            .as_ref()
            .map_or(&[], |a| &a.rubrics)
    }

    /// The trajectory rubrics, empty when there are none.
    pub fn trajectory_rubrics(&self) -> &[String] {
        self.evaluators
            .trajectory
            .trajectory_rubrics
            .as_ref()
            .map_or(&[], |t| &t.rubrics)
    }

    /// Whether at least one thing can be graded (`cases.md`, A case; otherwise `E-NOTHING-TO-GRADE`).
    pub fn is_gradable(&self) -> bool {
        !self.evaluators.is_empty()
            || self.max_response_time.is_some()
            || !self.expect.is_empty()
            || !self.metrics.is_empty()
    }

    /// What the agent reads: the fixtures' contexts in the case's order, a blank line, the question (`runs.md`, Agent Run API).
    pub fn prompt(&self) -> String {
        let contexts: Vec<&str> = self
            .fixtures
            .iter()
            .filter_map(|f| f.context.as_deref())
            .collect();
        let question = self.input.headline();
        if contexts.is_empty() {
            question.to_owned()
        } else {
            format!("{}\n\n{question}", contexts.join("\n"))
        }
    }
}
