//! Grading one trial (`grading.md`): which evaluators a case plans, what each makes of a recorded run, and what a judge
//! is asked. A function of the effective case and the recorded run alone; the agent is never called again.
//!
//! The engine calls [`Trial::begin`] for each planned evaluator. What needs no judge is done at once; what does comes back
//! as a [`JudgeTask`], and [`settle`] turns the judge's checked entries into the grade.

mod begin;
mod settle;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::atif::Document;
use crate::grade::Grade;
use crate::judge::{JudgeTask, Judged};
use crate::overlay::EffectiveCase;
use crate::run::{Capability, RecordedRun};
use crate::score::{self, Bars};

pub use settle::settle;

/// Which part of a case an evaluator looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bucket {
    /// What the answer says, how it looks, how long it took.
    Output,
    /// How it was derived.
    Trajectory,
    /// A registered endpoint decides.
    Custom,
}

/// One evaluator of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// As [`Grade::evaluator`] spells it.
    pub evaluator: String,
    /// Its bucket.
    pub bucket: Bucket,
    /// Whether a judge is asked.
    pub judged: bool,
}

/// The evaluators of a case, in the order of `grading.md`. Each leaves exactly one grade on every trial.
pub fn plan(case: &EffectiveCase) -> Vec<Planned> {
    score::evaluators(&case.case)
        .into_iter()
        .map(|evaluator| Planned {
            bucket: match evaluator.as_str() {
                "trajectory_rubrics" | "required_tools_called" | "tool_trajectory_match" => {
                    Bucket::Trajectory
                }
                name if name.starts_with("custom:") => Bucket::Custom,
                _ => Bucket::Output,
            },
            judged: Judged::parse(&evaluator).is_some(),
            evaluator,
        })
        .collect()
}

/// What an evaluator makes of a run before any judge.
#[derive(Debug, Clone)]
pub enum Step {
    /// It is done.
    Done(Grade),
    /// A judge must be asked.
    Judge(JudgeTask),
}

/// Where an answer came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFrom {
    /// The harness returned it.
    Harness,
    /// The harness returned none; the agent's last message stands in.
    LastAgentMessage,
}

/// A recorded run made ready: its trajectory parsed once for all evaluators.
#[derive(Debug, Clone)]
pub struct Trial<'a> {
    case: &'a EffectiveCase,
    run: &'a RecordedRun,
    bars: &'a Bars,
    trajectory: Recorded,
}

/// The recorded trajectory.
#[derive(Debug, Clone)]
enum Recorded {
    None,
    Read(Arc<Document>),
    Unreadable(String),
}

impl<'a> Trial<'a> {
    /// Parses the recorded trajectory; everything else is left as it is.
    pub fn new(case: &'a EffectiveCase, run: &'a RecordedRun, bars: &'a Bars) -> Self {
        let trajectory = match &run.trajectory {
            None | Some(serde_json::Value::Null) => Recorded::None,
            Some(value) => match Document::parse(value) {
                Ok(document) => Recorded::Read(Arc::new(document)),
                Err(problems) => Recorded::Unreadable(
                    problems
                        .first()
                        .map_or_else(|| "it has no steps".to_owned(), ToString::to_string),
                ),
            },
        };
        Self {
            case,
            run,
            bars,
            trajectory,
        }
    }

    /// The trajectory, when there is one that can be read.
    pub fn document(&self) -> Option<&Document> {
        match &self.trajectory {
            Recorded::Read(document) => Some(document),
            Recorded::None | Recorded::Unreadable(_) => None,
        }
    }

    /// The final answer and where it came from: the harness's, else the agent's last message in the trajectory. A blank
    /// answer of the harness stands when nothing else does.
    pub fn answer(&self) -> Option<(&str, AnswerFrom)> {
        let given = self.run.answer.as_deref();
        if let Some(answer) = given.filter(|text| !text.trim().is_empty()) {
            return Some((answer, AnswerFrom::Harness));
        }
        if self.output().is_none()
            && let Some((_, text)) = self.document().and_then(Document::last_agent_message)
        {
            return Some((text, AnswerFrom::LastAgentMessage));
        }
        given.map(|answer| (answer, AnswerFrom::Harness))
    }

    fn output(&self) -> Option<&serde_json::Value> {
        self.run.output.as_ref().filter(|value| !value.is_null())
    }

    fn declares(&self, capability: Capability) -> bool {
        match (capability, &self.run.capabilities, &self.run.trajectory) {
            // A null trajectory is none.
            (Capability::Trajectory, None, Some(serde_json::Value::Null)) => false,
            _ => self.run.declares(capability),
        }
    }
}
