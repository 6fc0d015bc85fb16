//! Verdicts and what stands beside them (`grading.md`, Answer rubrics, Trajectory rubrics, Presentation).

use serde::{Deserialize, Serialize};

use crate::case::RubricType;

/// The verdict on an answer rubric or on its source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The answer asserts it; for a source: credits the fact to it.
    Satisfied,
    /// The answer asserts something else on that point; for a source: credits the fact elsewhere.
    Incorrect,
    /// The answer does not engage the point; for a source: credits the fact to nothing.
    Absent,
}

/// The verdict on a trajectory rubric or a presentation entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// Shown, on positive evidence; for a `forbid` entry: the property is not there.
    Satisfied,
    /// Not shown; for a `forbid` entry: the property is there.
    Unsatisfied,
}

/// Why an evaluator reached no verdict (`grading.md`, Evaluators). Never mapped to a verdict, zero or a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unscored {
    /// The judge's reply never became a valid set of verdicts.
    ParseFailure,
    /// The judge refused.
    Refusal,
    /// The judge did not answer in time.
    Timeout,
    /// The judge's reply was cut.
    TruncatedReply,
    /// The judge's endpoint failed.
    ProviderError,
    /// What is to be judged does not fit the judge's context.
    TooLarge,
    /// The judge left ids out after being asked for them.
    MissingIds,
    /// The judge contradicted itself.
    Contradiction,
    /// The offline judge may not decide this one.
    OfflineUndecided,
}

impl Unscored {
    /// The reason as formats spell it, e.g. `offline_undecided`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ParseFailure => "parse_failure",
            Self::Refusal => "refusal",
            Self::Timeout => "timeout",
            Self::TruncatedReply => "truncated_reply",
            Self::ProviderError => "provider_error",
            Self::TooLarge => "too_large",
            Self::MissingIds => "missing_ids",
            Self::Contradiction => "contradiction",
            Self::OfflineUndecided => "offline_undecided",
        }
    }
}

/// What arithmetic says of a rubric's figures against an answer (`grading.md`, Numbers).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FigureResult {
    /// Every figure of the rubric is in the answer, under the criterion that applies.
    #[serde(rename = "matches")]
    Matches,
    /// The answer gives another figure on that point.
    #[serde(rename = "contradicts")]
    Contradicts,
    /// The answer gives no figure on that point.
    #[serde(rename = "not found")]
    NotFound,
    /// Arithmetic may not decide.
    #[serde(rename = "undecided")]
    Undecided,
}

impl FigureResult {
    /// As formats spell it: `matches`, `contradicts`, `not found`, `undecided`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Matches => "matches",
            Self::Contradicts => "contradicts",
            Self::NotFound => "not found",
            Self::Undecided => "undecided",
        }
    }
}

/// One entry of `answer_rubrics`' `verdicts`, in case order (`formats.md`, Results).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricVerdict {
    /// The rubric's sentence.
    pub rubric: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: RubricType,
    /// Absent when unscored.
    pub verdict: Option<Verdict>,
    /// Set exactly when `verdict` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<Unscored>,
    /// Verbatim quotes from what was judged.
    pub evidence: Vec<String>,
    /// What the answer said instead, when incorrect.
    pub said: Option<String>,
    /// The judge's reason.
    pub reason: Option<String>,
    /// Present when the rubric asks for a source.
    pub source: Option<SourceVerdict>,
    /// Arithmetic's view of a rubric with figures.
    pub second_opinion: Option<FigureResult>,
    /// Arithmetic and judge disagree; a person should look.
    pub needs_a_look: bool,
    /// A person's verdict, which stands beside the judge's.
    #[serde(rename = "override")]
    pub overridden: Option<Override>,
    /// How the judge came to it.
    #[serde(flatten)]
    pub how: HowJudged,
}

/// What is worth knowing of how a verdict was reached. Nothing of it is written where there is nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HowJudged {
    /// The second judge's name, when it decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged_by: Option<String>,
    /// Every vote in words, when there was more than one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub votes: Vec<String>,
    /// Given earlier on the same text, and not asked for again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
}

impl HowJudged {
    /// Whether the votes disagree.
    pub fn is_split(&self) -> bool {
        self.votes.windows(2).any(|pair| pair[0] != pair[1])
    }
}

/// The citation axis of one rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceVerdict {
    /// The attribution the rubric asks for.
    pub expected: String,
    /// Absent when the fact was not stated or the rubric is unscored.
    pub verdict: Option<Verdict>,
    /// What the answer credits it to.
    pub cited: Option<String>,
}

/// A reviewer's verdict with its reason (`grading.md`, Overrides and calibration).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Override {
    /// The person's verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// Who.
    pub by: String,
    /// When, microseconds since 1970-01-01 UTC.
    pub at: i64,
}

/// One entry of `trajectory_rubrics`' or `presentation_judge`'s `verdicts`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryVerdict {
    /// The sentence.
    pub rubric: String,
    /// `require` or `forbid` for presentation entries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PresentationRule>,
    /// Absent when unscored.
    pub verdict: Option<CheckVerdict>,
    /// Set exactly when `verdict` is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unscored: Option<Unscored>,
    /// Verbatim quotes.
    pub evidence: Vec<String>,
    /// The judge's reason.
    pub reason: Option<String>,
    /// `main:<step_id>` or `<alias>:<step_id>`, trajectory rubrics only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub citations: Vec<String>,
}

/// Which list a presentation entry stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PresentationRule {
    /// The property must be there.
    Require,
    /// The property must not be there.
    Forbid,
}
