//! What judging cost and how it went: calls to judge models, as the Result and the Experiment page show them.

use serde::{Deserialize, Serialize};

/// One request to a judge model, whatever came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JudgeCall {
    /// Which evaluator asked.
    pub evaluator: String,
    /// `first` or `second`.
    pub seat: String,
    /// `openai`, `anthropic`, ….
    pub provider: String,
    /// The model asked.
    pub model: String,
    /// Version of the prompt template.
    pub template: String,
    /// SHA-256 of everything the judge read.
    pub prompt_hash: String,
    /// Which part of a long list, from 1.
    pub part: u32,
    /// Which vote, from 1.
    pub vote: u32,
    /// The request's number for these entries, from 1: three, and one for missing ids.
    pub attempt: u32,
    /// The try on the wire, from 1: five at most.
    pub wire_try: u32,
    /// Entries asked about.
    pub asked: u32,
    /// How it ended.
    pub outcome: CallOutcome,
    /// What was wrong, in words; empty when nothing was.
    pub trouble: String,
    /// The HTTP status, when one came.
    pub status: Option<u16>,
    /// Tokens read, when the provider says.
    pub input_tokens: Option<u64>,
    /// Tokens written, when the provider says.
    pub output_tokens: Option<u64>,
    /// Dollars, when tokens and prices are known.
    pub cost_usd: Option<f64>,
    /// From the first byte sent to the last byte read, milliseconds.
    pub latency_ms: u64,
    /// Bytes of the reply's body.
    pub reply_bytes: u64,
    /// The reply as received, a long one cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<String>,
    /// Microseconds since 1970-01-01 UTC.
    #[serde(default)]
    pub at: i64,
}

/// How a call to a judge model ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallOutcome {
    /// A verdict on everything asked.
    Verdicts,
    /// A verdict on some of it.
    Part,
    /// A reply that holds no usable verdict.
    Unusable,
    /// The judge refused.
    Refusal,
    /// The reply was cut.
    Truncated,
    /// No reply in time.
    Timeout,
    /// The provider asked to come later (429).
    RateLimited,
    /// The request is too large for the model.
    TooLarge,
    /// The endpoint failed, or refused the request.
    Failed,
}

impl CallOutcome {
    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Verdicts => "verdicts",
            Self::Part => "part",
            Self::Unusable => "unusable",
            Self::Refusal => "refusal",
            Self::Truncated => "truncated",
            Self::Timeout => "timeout",
            Self::RateLimited => "rate_limited",
            Self::TooLarge => "too_large",
            Self::Failed => "failed",
        }
    }

    /// In a few words, for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Verdicts => "verdicts",
            Self::Part => "some verdicts",
            Self::Unusable => "no usable verdict",
            Self::Refusal => "refused",
            Self::Truncated => "reply cut",
            Self::Timeout => "no reply in time",
            Self::RateLimited => "asked to wait",
            Self::TooLarge => "too large",
            Self::Failed => "failed",
        }
    }
}

/// What the judge of an experiment cost so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JudgeSpend {
    /// Requests to a judge model, retries among them.
    pub calls: u64,
    /// Those that gave no verdict.
    pub without_verdict: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Dollars of the calls whose price is known; absent when none is.
    pub cost_usd: Option<f64>,
    /// Calls with tokens and without a price: the cost is higher than shown.
    pub unpriced: u64,
}

/// Entries of ended trials without a verdict, by reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UnscoredCount {
    /// The evaluator.
    pub evaluator: String,
    /// `refusal`, `timeout`, … (`grading.md`, Evaluators).
    pub reason: String,
    /// Entries.
    pub entries: u64,
}

/// A judge's endpoint that fails at the moment: it is left alone until a probe.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct JudgePause {
    /// The provider.
    pub provider: String,
    /// The model.
    pub model: String,
    /// What the last failure said.
    pub why: String,
    /// Microseconds since 1970-01-01 UTC.
    pub opened_at: i64,
    /// The next probe, microseconds.
    pub until: i64,
}

/// "2 of answer_rubrics: refusal; 1 of answer_rubrics: timeout", for sentences on what is unscored.
pub fn unscored_in_words(counts: &[UnscoredCount]) -> String {
    let parts: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {}", count.entries, count.reason))
        .collect();
    parts.join(", ")
}
