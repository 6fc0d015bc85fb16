//! The check that every judge's reply passes before it counts: known verdicts, quotes that stand in what was judged,
//! citations that exist, and no reply that contradicts itself (`grading.md`, Quotes and The judge).

use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

use super::{JudgeTask, Judged, JudgedEntry, JudgedVerdict, TaskEntry};
use crate::quote;
use crate::verdict::{CheckVerdict, PresentationRule, Unscored, Verdict};

/// One entry of a reply, as a judge wrote it. Blank texts count as not given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplyEntry {
    /// `satisfied`, `incorrect`, `absent` or `unsatisfied`.
    pub verdict: String,
    /// Quotes.
    #[serde(default, deserialize_with = "null_as_default")]
    pub evidence: Vec<String>,
    /// Why.
    #[serde(default, alias = "reasoning")]
    pub reason: Option<String>,
    /// What the answer said instead.
    #[serde(default)]
    pub said: Option<String>,
    /// The verdict on the source.
    #[serde(default)]
    pub source: Option<String>,
    /// What the answer credits the fact to.
    #[serde(default)]
    pub cited: Option<String>,
    /// Steps, `main:4`.
    #[serde(default, deserialize_with = "null_as_default")]
    pub citations: Vec<String>,
}

fn null_as_default<'de, D, T>(reader: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(reader)?.unwrap_or_default())
}

/// Whether required parts may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A model's reply: everything required must be there.
    Everything,
    /// Replies for replay: what is left out is allowed, what is given is checked.
    WhatThereIs,
}

/// Why a reply's entry does not count. The message is written for the judge, who may be asked again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refused {
    /// What the entry is when nothing better comes.
    pub unscored: Unscored,
    /// What is wrong with it.
    pub message: String,
}

fn refuse<T>(unscored: Unscored, message: impl Into<String>) -> Result<T, Refused> {
    Err(Refused {
        unscored,
        message: message.into(),
    })
}

/// Checks a reply's entry against the task's entry at `index`.
///
/// # Errors
/// [`Refused`], with the first thing that is wrong.
pub fn entry(
    task: &Checked<'_>,
    index: usize,
    reply: &ReplyEntry,
    given: Given,
) -> Result<JudgedEntry, Refused> {
    let Some(asked) = task.task.entries.get(index) else {
        return refuse(Unscored::ParseFailure, "there is no such entry");
    };
    let reply = Reply::of(reply);
    let verdict = task.verdict(&reply)?;
    for quote in &reply.evidence {
        if !task.holds(quote) {
            return refuse(
                Unscored::ParseFailure,
                format!(
                    "the quote “{}” does not stand in what was judged",
                    clip(quote)
                ),
            );
        }
    }
    task.citations(&reply)?;
    let wants_quote = match (verdict, asked.rule) {
        (JudgedVerdict::Answer(verdict), _) => Some(verdict != Verdict::Absent),
        (JudgedVerdict::Check(verdict), Some(rule)) => {
            Some((verdict == CheckVerdict::Satisfied) == (rule == PresentationRule::Require))
        }
        (JudgedVerdict::Check(_), None) => None,
    };
    match wants_quote {
        Some(true) if reply.evidence.is_empty() && given == Given::Everything => {
            return refuse(
                Unscored::ParseFailure,
                format!(
                    "the verdict “{}” needs a quote from the answer",
                    reply.verdict
                ),
            );
        }
        Some(false) if !reply.evidence.is_empty() => {
            return refuse(
                Unscored::Contradiction,
                format!(
                    "the verdict “{}” says there is nothing to quote, and quotes",
                    reply.verdict
                ),
            );
        }
        None if verdict == JudgedVerdict::Check(CheckVerdict::Satisfied)
            && reply.evidence.is_empty()
            && reply.citations.is_empty()
            && given == Given::Everything =>
        {
            return refuse(
                Unscored::ParseFailure,
                "the verdict “satisfied” needs a step that shows it, such as main:4",
            );
        }
        _ => {}
    }
    let source = source(asked, verdict, &reply)?;
    let incorrect = verdict == JudgedVerdict::Answer(Verdict::Incorrect);
    let credited = matches!(source, Some(Verdict::Satisfied | Verdict::Incorrect));
    Ok(JudgedEntry {
        evidence: reply.evidence.iter().map(|q| (*q).to_owned()).collect(),
        reason: reply.reason.map(str::to_owned),
        said: reply.said.filter(|_| incorrect).map(str::to_owned),
        source,
        cited: reply.cited.filter(|_| credited).map(str::to_owned),
        citations: reply.citations.iter().map(|c| (*c).to_owned()).collect(),
        ..JudgedEntry::bare(verdict)
    })
}

/// The verdict on a source: asked for exactly when the fact was stated and the rubric names a source.
fn source(
    asked: &TaskEntry,
    verdict: JudgedVerdict,
    reply: &Reply<'_>,
) -> Result<Option<Verdict>, Refused> {
    let given = reply
        .source
        .map(|text| match read_verdict(text) {
            Some(verdict) => Ok(verdict),
            None => refuse(
                Unscored::ParseFailure,
                format!("“{}” is no verdict on a source", clip(text)),
            ),
        })
        .transpose()?;
    let JudgedVerdict::Answer(verdict) = verdict else {
        return match given {
            Some(_) => refuse(Unscored::ParseFailure, "no source is asked for here"),
            None => Ok(None),
        };
    };
    match (asked.source.is_some(), verdict, given) {
        (false, _, Some(_)) => refuse(Unscored::ParseFailure, "this rubric asks for no source"),
        (true, Verdict::Absent, Some(_)) => refuse(
            Unscored::Contradiction,
            "a fact that the answer does not state has no source to judge",
        ),
        (true, Verdict::Satisfied | Verdict::Incorrect, None) => refuse(
            Unscored::ParseFailure,
            "this rubric asks for a source, and the verdict on it is missing",
        ),
        (_, _, given) => Ok(given),
    }
}

/// A reply without blank texts.
struct Reply<'r> {
    verdict: &'r str,
    evidence: Vec<&'r str>,
    reason: Option<&'r str>,
    said: Option<&'r str>,
    source: Option<&'r str>,
    cited: Option<&'r str>,
    citations: Vec<&'r str>,
}

impl<'r> Reply<'r> {
    fn of(reply: &'r ReplyEntry) -> Self {
        let text =
            |text: &'r Option<String>| text.as_deref().map(str::trim).filter(|t| !t.is_empty());
        let list = |list: &'r [String]| {
            let trimmed = list.iter().map(|t| t.trim());
            trimmed.filter(|t| !t.is_empty()).collect()
        };
        Self {
            verdict: reply.verdict.trim(),
            evidence: list(&reply.evidence),
            reason: text(&reply.reason),
            said: text(&reply.said),
            source: text(&reply.source),
            cited: text(&reply.cited),
            citations: list(&reply.citations),
        }
    }
}

fn read_verdict(text: &str) -> Option<Verdict> {
    match text {
        "satisfied" => Some(Verdict::Satisfied),
        "incorrect" => Some(Verdict::Incorrect),
        "absent" => Some(Verdict::Absent),
        _ => None,
    }
}

/// A task with its texts folded once for all quotes of a reply.
pub struct Checked<'t> {
    task: &'t JudgeTask,
    texts: Vec<String>,
    /// Every text of the trajectory, folded when the first quote is not from the answer.
    steps: OnceCell<Vec<String>>,
}

impl<'t> Checked<'t> {
    /// Folds the judged texts.
    pub fn new(task: &'t JudgeTask) -> Self {
        Self {
            task,
            texts: task.texts.iter().map(|text| quote::fold(text)).collect(),
            steps: OnceCell::new(),
        }
    }

    fn verdict(&self, reply: &Reply<'_>) -> Result<JudgedVerdict, Refused> {
        let verdict = match self.task.evaluator {
            Judged::AnswerRubrics => read_verdict(reply.verdict).map(JudgedVerdict::Answer),
            Judged::PresentationJudge | Judged::TrajectoryRubrics => match reply.verdict {
                "satisfied" => Some(JudgedVerdict::Check(CheckVerdict::Satisfied)),
                "unsatisfied" => Some(JudgedVerdict::Check(CheckVerdict::Unsatisfied)),
                _ => None,
            },
        };
        match (verdict, self.task.evaluator) {
            (Some(verdict), _) => Ok(verdict),
            (None, Judged::AnswerRubrics) => refuse(
                Unscored::ParseFailure,
                format!(
                    "“{}” is none of satisfied, incorrect, absent",
                    clip(reply.verdict)
                ),
            ),
            (None, _) => refuse(
                Unscored::ParseFailure,
                format!(
                    "“{}” is none of satisfied, unsatisfied",
                    clip(reply.verdict)
                ),
            ),
        }
    }

    fn holds(&self, quote: &str) -> bool {
        if self.texts.iter().any(|text| quote::contains(text, quote)) {
            return true;
        }
        let Some(trajectory) = &self.task.trajectory else {
            return false;
        };
        let steps = self.steps.get_or_init(|| {
            let mut texts = Vec::new();
            for visit in trajectory.steps() {
                texts.push(quote::fold(&visit.step.message.text));
                texts.extend(visit.step.reasoning.iter().map(|text| quote::fold(text)));
                for call in &visit.step.calls {
                    texts.push(quote::fold(&call.arguments.to_string()));
                }
                for result in &visit.step.results {
                    texts.push(quote::fold(&result.content.text));
                }
            }
            texts
        });
        steps.iter().any(|text| quote::contains(text, quote))
    }

    fn citations(&self, reply: &Reply<'_>) -> Result<(), Refused> {
        if reply.citations.is_empty() {
            return Ok(());
        }
        let Some(trajectory) = &self.task.trajectory else {
            return refuse(Unscored::ParseFailure, "no step can be cited here");
        };
        for citation in &reply.citations {
            if trajectory.resolve_citation(citation).is_none() {
                return refuse(
                    Unscored::ParseFailure,
                    format!("“{}” is no step of this trajectory", clip(citation)),
                );
            }
        }
        Ok(())
    }
}

/// A foreign text for a message: at most 80 characters, no control characters.
pub(super) fn clip(text: &str) -> String {
    let mut out: String = text
        .chars()
        .take(80)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if text.chars().nth(80).is_some() {
        out.push('…');
    }
    out
}
