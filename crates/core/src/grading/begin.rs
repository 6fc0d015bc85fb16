//! The part of every evaluator that needs no judge (`grading.md`, Evaluators: needs, skips and errors).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Recorded, Step, Trial};
use crate::canonical;
use crate::explanation::{ToolMatch, ToolsCalled};
use crate::grade::{Grade, Outcome, ScoreValue, Share};
use crate::judge::{JudgeTask, Judged, TaskEntry};
use crate::run::{Capability, RunStatus};
use crate::score;
use crate::tools::{self, ActualCall};
use crate::verdict::PresentationRule;

impl Trial<'_> {
    /// What the evaluator makes of the run: its grade, or the question for a judge. An evaluator that the case does not
    /// plan skips.
    pub fn begin(&self, evaluator: &str) -> Step {
        if self.run.status == RunStatus::Error {
            let why = self
                .run
                .error
                .as_ref()
                .map_or("no answer was recorded", |e| &e.message);
            return error(evaluator, format!("the agent call failed: {why}"));
        }
        if !score::evaluators(&self.case.case)
            .iter()
            .any(|name| name == evaluator)
        {
            return skip(evaluator, "the case has nothing for it");
        }
        match evaluator {
            "answer_rubrics" => self.answer_rubrics(),
            "presentation_judge" => self.presentation(),
            "max_response_time" => self.max_response_time(),
            "trajectory_rubrics" => self.trajectory_rubrics(),
            "required_tools_called" => self.required_tools_called(),
            "tool_trajectory_match" => self.tool_trajectory_match(),
            name if name.starts_with("custom:") => skip(
                name,
                "this version of Evalkit does not call custom evaluators yet",
            ),
            name if name.starts_with("metric:") => {
                skip(name, "this version of Evalkit does not run metrics yet")
            }
            name => skip(
                name,
                "this version of Evalkit does not run expect checks yet",
            ),
        }
    }

    fn answer_rubrics(&self) -> Step {
        let texts = self.judged_texts();
        if texts.is_empty() {
            return error(
                "answer_rubrics",
                "the recorded run has neither an answer nor a structured output",
            );
        }
        let entries = self.case.case.rubrics().iter().map(|rubric| TaskEntry {
            text: rubric.rubric.clone(),
            kind: Some(rubric.kind),
            source: rubric.source.clone(),
            rule: None,
        });
        self.ask(Judged::AnswerRubrics, entries.collect(), texts)
    }

    fn presentation(&self) -> Step {
        const NAME: &str = "presentation_judge";
        if self.answer().is_none() {
            return match self.output() {
                Some(_) => skip(NAME, "the run has only a structured output"),
                None => error(NAME, "the recorded run has no answer"),
            };
        }
        let presentation = self.case.case.evaluators.output.presentation_judge.as_ref();
        let list = |rule: PresentationRule, texts: &[String]| -> Vec<TaskEntry> {
            let entry = |text: &String| TaskEntry {
                text: text.clone(),
                kind: None,
                source: None,
                rule: Some(rule),
            };
            texts.iter().map(entry).collect()
        };
        let mut entries = Vec::new();
        if let Some(presentation) = presentation {
            entries.extend(list(PresentationRule::Require, &presentation.require));
            entries.extend(list(PresentationRule::Forbid, &presentation.forbid));
        }
        self.ask(Judged::PresentationJudge, entries, self.judged_texts())
    }

    fn trajectory_rubrics(&self) -> Step {
        const NAME: &str = "trajectory_rubrics";
        if !self.declares(Capability::Trajectory) {
            return skip(NAME, "the harness does not record a trajectory");
        }
        match &self.trajectory {
            Recorded::None => error(
                NAME,
                "the harness declares a trajectory, and none was recorded",
            ),
            Recorded::Unreadable(why) => error(
                NAME,
                format!("the recorded trajectory cannot be read: {why}"),
            ),
            Recorded::Read(_) => {
                let entries = self
                    .case
                    .case
                    .trajectory_rubrics()
                    .iter()
                    .map(|text| TaskEntry {
                        text: text.clone(),
                        kind: None,
                        source: None,
                        rule: None,
                    });
                self.ask(
                    Judged::TrajectoryRubrics,
                    entries.collect(),
                    self.judged_texts(),
                )
            }
        }
    }

    /// The answer, then the structured output as compact JSON with sorted keys.
    fn judged_texts(&self) -> Vec<String> {
        let answer = self.answer().map(|(text, _)| text.to_owned());
        let output = self.output().map(canonical::text);
        answer.into_iter().chain(output).collect()
    }

    fn ask(&self, evaluator: Judged, entries: Vec<TaskEntry>, texts: Vec<String>) -> Step {
        if entries.is_empty() {
            return skip(evaluator.as_str(), "the case has no entries for it");
        }
        Step::Judge(JudgeTask {
            case_id: self.case.case.id.clone(),
            trial: self.run.trial,
            evaluator,
            input: self.case.case.input.clone(),
            entries,
            texts,
            trajectory: match &self.trajectory {
                Recorded::Read(document) if evaluator == Judged::TrajectoryRubrics => {
                    Some(std::sync::Arc::clone(document))
                }
                _ => None,
            },
            bars: self.bars.clone(),
        })
    }

    fn max_response_time(&self) -> Step {
        const NAME: &str = "max_response_time";
        let Some(limit) = self.case.case.max_response_time else {
            return skip(NAME, "the case sets no limit");
        };
        let Some(latency) = self.run.latency_ms else {
            return skip(NAME, "the record does not say how long the agent took");
        };
        #[expect(
            clippy::cast_precision_loss,
            reason = "milliseconds stay far below 2^52"
        )]
        let held = latency as f64 <= limit * 1_000.0;
        let share = Share {
            num: u64::from(held),
            den: 1,
        };
        self.scored(
            NAME,
            share,
            json!({"limit_s": limit, "latency_ms": latency}),
        )
    }

    fn required_tools_called(&self) -> Step {
        const NAME: &str = "required_tools_called";
        let Some(check) = &self.case.case.evaluators.trajectory.required_tools_called else {
            return skip(NAME, "the case lists no tools");
        };
        let calls = match self.calls(NAME) {
            Ok(calls) => calls,
            Err(step) => return *step,
        };
        let found: ToolsCalled = tools::required_tools_called(check, &calls);
        let share = Share {
            num: found.called.len() as u64,
            den: check.tools.len() as u64,
        };
        self.scored(NAME, share, json!(found))
    }

    fn tool_trajectory_match(&self) -> Step {
        const NAME: &str = "tool_trajectory_match";
        let Some(check) = &self.case.case.evaluators.trajectory.tool_trajectory_match else {
            return skip(NAME, "the case expects no calls");
        };
        let calls = match self.calls(NAME) {
            Ok(calls) => calls,
            Err(step) => return *step,
        };
        let found: ToolMatch = tools::tool_trajectory_match(check, &calls);
        let share = Share {
            num: found.matched,
            den: found.entries.len() as u64,
        };
        self.scored(NAME, share, json!(found))
    }

    /// The recorded calls. Both tool checks need a harness that declares `trajectory` and `tool_calls` (`grading.md`,
    /// Evaluators): a bare list of calls has no order across subagents and no addresses to point at.
    fn calls(&self, evaluator: &str) -> Result<Vec<ActualCall>, Box<Step>> {
        let missing = if !self.declares(Capability::ToolCalls) {
            Some("the harness does not record tool calls")
        } else if !self.declares(Capability::Trajectory) {
            Some("the harness does not record a trajectory")
        } else {
            None
        };
        if let Some(reason) = missing {
            return Err(Box::new(skip(evaluator, reason)));
        }
        match &self.trajectory {
            Recorded::Read(document) => Ok(tools::calls_of(document)),
            Recorded::Unreadable(why) => Err(Box::new(error(
                evaluator,
                format!("the recorded trajectory cannot be read: {why}"),
            ))),
            Recorded::None => Err(Box::new(error(
                evaluator,
                "the harness declares a trajectory, and none was recorded",
            ))),
        }
    }

    fn scored(&self, evaluator: &str, share: Share, explanation: Value) -> Step {
        if share.den == 0 {
            return skip(evaluator, "the case lists nothing to check");
        }
        let scores = BTreeMap::from([(evaluator.to_owned(), ScoreValue::Share(share))]);
        Step::Done(Grade {
            evaluator: evaluator.to_owned(),
            outcome: Outcome::Scored {
                met: score::met(&scores, evaluator, self.bars),
            },
            scores,
            skipped: BTreeMap::new(),
            explanation,
            judge: None,
        })
    }
}

/// The evaluator has nothing to go by; never a zero, never a pass.
pub(super) fn skip(evaluator: &str, reason: &str) -> Step {
    Step::Done(Grade {
        evaluator: evaluator.to_owned(),
        outcome: Outcome::Skipped {
            reason: reason.to_owned(),
        },
        scores: BTreeMap::new(),
        skipped: BTreeMap::from([(main_score(evaluator).to_owned(), reason.to_owned())]),
        explanation: json!({"skipped": reason}),
        judge: None,
    })
}

fn error(evaluator: &str, message: impl Into<String>) -> Step {
    Step::Done(Grade::failed(evaluator, message))
}

/// The score that an evaluator is known by.
fn main_score(evaluator: &str) -> &str {
    match evaluator {
        "answer_rubrics" => "answer_rubric_score",
        other => other,
    }
}

impl Grade {
    /// An evaluator that failed: a broken record, a judge that cannot be asked.
    pub fn failed(evaluator: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            evaluator: evaluator.to_owned(),
            explanation: json!({"error": message}),
            outcome: Outcome::Error { message },
            scores: BTreeMap::new(),
            skipped: BTreeMap::new(),
            judge: None,
        }
    }
}
