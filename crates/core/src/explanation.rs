//! Typed reading of what evaluators explain (`formats.md`, Results): pages and sentences work on these, never on loose JSON.
//!
//! A block that cannot be read gives an empty value; the raw JSON stays one click away.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::grade::{Grade, Outcome, Share};
use crate::verdict::{EntryVerdict, RubricVerdict, Unscored};

/// The block of `tool_trajectory_match`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolMatch {
    /// Entries that found their call.
    #[serde(default)]
    pub matched: u64,
    /// One an expected call, in case order.
    #[serde(default)]
    pub entries: Vec<ToolMatchEntry>,
}

/// One expected call and what became of it (`grading.md`, Tool checks).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolMatchEntry {
    /// From 0, in case order.
    #[serde(default)]
    pub index: u64,
    /// The expected tool.
    #[serde(default)]
    pub name: String,
    /// Whether a call was assigned to it.
    #[serde(default)]
    pub matched: bool,
    /// The assigned call, `main:4#0`.
    #[serde(default)]
    pub call: Option<String>,
    /// `name miss`, `args mismatch`, `out of order` or `no available matching call`.
    #[serde(default)]
    pub reason: Option<String>,
    /// The closest call and the differing keys, in words.
    #[serde(default)]
    pub detail: Option<String>,
    /// The closest call's address, when there is one.
    #[serde(default)]
    pub closest: Option<String>,
    /// The keys whose values differ from the closest call.
    #[serde(default)]
    pub differing: Vec<String>,
}

/// The block of `required_tools_called`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsCalled {
    /// Listed tools that were called.
    #[serde(default)]
    pub called: Vec<String>,
    /// Listed tools that were not.
    #[serde(default)]
    pub missing: Vec<String>,
}

/// The grade of `evaluator`, when the trial has one.
pub fn find<'a>(grades: &'a [Grade], evaluator: &str) -> Option<&'a Grade> {
    grades.iter().find(|grade| grade.evaluator == evaluator)
}

/// Verdicts of `answer_rubrics`, in case order; empty when it skipped, failed or left none.
pub fn rubric_verdicts(grades: &[Grade]) -> Vec<RubricVerdict> {
    list(grades, "answer_rubrics")
}

/// Verdicts of `trajectory_rubrics` or `presentation_judge`, in case order.
pub fn entry_verdicts(grades: &[Grade], evaluator: &str) -> Vec<EntryVerdict> {
    list(grades, evaluator)
}

/// Entries without a verdict, counted by evaluator and reason.
pub fn unscored(grades: &[Grade]) -> BTreeMap<(String, Unscored), u64> {
    let mut counts = BTreeMap::new();
    let mut count = |evaluator: &str, reason: Option<Unscored>| {
        if let Some(reason) = reason {
            *counts.entry((evaluator.to_owned(), reason)).or_insert(0) += 1;
        }
    };
    for verdict in rubric_verdicts(grades) {
        count("answer_rubrics", verdict.unscored);
    }
    for evaluator in ["presentation_judge", "trajectory_rubrics"] {
        for verdict in entry_verdicts(grades, evaluator) {
            count(evaluator, verdict.unscored);
        }
    }
    counts
}

/// The block of `tool_trajectory_match`.
pub fn tool_match(grades: &[Grade]) -> Option<ToolMatch> {
    block(grades, "tool_trajectory_match")
}

/// The block of `required_tools_called`.
pub fn tools_called(grades: &[Grade]) -> Option<ToolsCalled> {
    block(grades, "required_tools_called")
}

/// A published share, e.g. `answer_rubric_score`; absent when it skipped or is a plain number.
pub fn share(grades: &[Grade], score: &str) -> Option<Share> {
    grades
        .iter()
        .find_map(|grade| match grade.scores.get(score) {
            Some(crate::grade::ScoreValue::Share(share)) => Some(*share),
            _ => None,
        })
}

fn list<T: DeserializeOwned>(grades: &[Grade], evaluator: &str) -> Vec<T> {
    find(grades, evaluator)
        .and_then(|grade| grade.explanation.get("verdicts"))
        .and_then(|verdicts| Vec::<T>::deserialize(verdicts).ok())
        .unwrap_or_default()
}

fn block<T: DeserializeOwned>(grades: &[Grade], evaluator: &str) -> Option<T> {
    let grade = find(grades, evaluator)?;
    matches!(grade.outcome, Outcome::Scored { .. })
        .then(|| T::deserialize(&grade.explanation).ok())
        .flatten()
}
