//! Verdicts beside sentences: what a trial's grades say, in the shape that the Case page shows.

use std::collections::BTreeMap;

use evalkit_core::case::Case;
use evalkit_core::explanation::{entry_verdicts, find, rubric_verdicts, tool_match, tools_called};
use evalkit_core::grade::{Grade, Outcome, ScoreValue};
use evalkit_core::overlay::{NamedOverlay, bare_agent};
use evalkit_core::view::case::{CheckCell, EntryCell, RubricCell};

/// One cell a rubric of `case`; empty when the grades speak of other rubrics.
pub(crate) fn rubrics(case: &Case, grades: &[Grade]) -> Vec<RubricCell> {
    let verdicts = rubric_verdicts(grades);
    let same = verdicts.len() == case.rubrics().len()
        && verdicts
            .iter()
            .zip(case.rubrics())
            .all(|(verdict, rubric)| verdict.rubric == rubric.rubric);
    if !same {
        return Vec::new();
    }
    verdicts
        .into_iter()
        .map(|v| RubricCell {
            verdict: v.overridden.as_ref().map_or(v.verdict, |o| Some(o.verdict)),
            unscored: v.unscored,
            source: v.source.and_then(|source| source.verdict),
            second_opinion: v.second_opinion,
            needs_a_look: v.needs_a_look,
            overridden: v.overridden.is_some(),
        })
        .collect()
}

/// One cell a sentence of `texts`; empty when the grades speak of other sentences or there are none.
pub(crate) fn entries(texts: &[&str], grades: &[Grade], evaluator: &str) -> Vec<EntryCell> {
    let Some(grade) = find(grades, evaluator) else {
        return Vec::new();
    };
    if let Outcome::Skipped { reason } = &grade.outcome {
        return texts
            .iter()
            .map(|_| EntryCell {
                verdict: None,
                unscored: None,
                skipped: Some(reason.clone()),
            })
            .collect();
    }
    let verdicts = entry_verdicts(grades, evaluator);
    let same = verdicts.len() == texts.len()
        && verdicts
            .iter()
            .zip(texts)
            .all(|(verdict, text)| verdict.rubric == **text);
    if !same {
        return Vec::new();
    }
    verdicts
        .into_iter()
        .map(|v| EntryCell {
            verdict: v.verdict,
            unscored: v.unscored,
            skipped: None,
        })
        .collect()
}

/// Every other evaluator, by name.
pub(crate) fn checks(
    grades: &[Grade],
    overlays: &[NamedOverlay],
    agent: &str,
    latency_ms: Option<u64>,
) -> BTreeMap<String, CheckCell> {
    const SENTENCES: [&str; 3] = ["answer_rubrics", "trajectory_rubrics", "presentation_judge"];
    grades
        .iter()
        .filter(|grade| !SENTENCES.contains(&grade.evaluator.as_str()))
        .map(|grade| {
            let (met, why) = match &grade.outcome {
                Outcome::Scored { met } => (Some(*met), None),
                Outcome::Skipped { reason } => (None, Some(reason.clone())),
                Outcome::Error { message } => (None, Some(message.clone())),
                Outcome::Unscored { reason, .. } => (None, Some(reason.as_str().to_owned())),
            };
            let cell = CheckCell {
                met,
                text: text(grade, grades, latency_ms),
                why,
                origin: origin(overlays, agent, &grade.evaluator),
            };
            (grade.evaluator.clone(), cell)
        })
        .collect()
}

fn text(grade: &Grade, grades: &[Grade], latency_ms: Option<u64>) -> String {
    let word = match &grade.outcome {
        Outcome::Skipped { .. } => "skipped",
        Outcome::Error { .. } => "error",
        Outcome::Unscored { .. } => "unscored",
        Outcome::Scored { .. } => "",
    };
    if !word.is_empty() {
        return word.to_owned();
    }
    match grade.evaluator.as_str() {
        "max_response_time" => latency_ms
            .map(|ms| format!("{}.{} s", ms / 1000, ms % 1000 / 100))
            .unwrap_or_default(),
        "required_tools_called" => tools_called(grades)
            .map(|t| format!("{} of {}", t.called.len(), t.called.len() + t.missing.len()))
            .unwrap_or_default(),
        "tool_trajectory_match" => tool_match(grades)
            .map(|m| format!("{} of {}", m.matched, m.entries.len()))
            .unwrap_or_default(),
        name => match grade
            .scores
            .get(name)
            .or_else(|| grade.scores.values().next())
        {
            Some(ScoreValue::Share(share)) => format!("{} of {}", share.num, share.den),
            Some(ScoreValue::Number(number)) => format!("{number}"),
            None => String::new(),
        },
    }
}

/// The overlay's dataset that brings an evaluator to this agent; `None` for one of the case itself.
fn origin(overlays: &[NamedOverlay], agent: &str, evaluator: &str) -> Option<String> {
    let agent = bare_agent(agent);
    overlays
        .iter()
        .find(|named| {
            let sets = &named.overlay.evaluators;
            named.overlay.agents.iter().any(|name| name == agent)
                && match evaluator {
                    "required_tools_called" => sets.trajectory.required_tools_called.is_some(),
                    "tool_trajectory_match" => sets.trajectory.tool_trajectory_match.is_some(),
                    _ => evaluator
                        .strip_prefix("custom:")
                        .is_some_and(|name| sets.custom.contains_key(name)),
                }
        })
        .map(|named| named.dataset.clone())
}
