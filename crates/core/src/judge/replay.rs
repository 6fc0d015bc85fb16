//! The `replay` judge: verdicts read from a file, recorded or set by hand (`formats.md`, Judge replies for replay).

use std::collections::BTreeMap;

use serde::Deserialize;

use super::validate::{self, Checked, Given, ReplyEntry};
use super::{JudgeTask, Judged, JudgedEntry};
use crate::grade::JudgeStamp;
use crate::verdict::Unscored;

/// All replies of a file.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// By case, evaluator or metric name, and trial; trial 0 stands for every trial.
    replies: BTreeMap<(String, String, u32), Reply>,
}

/// One line of the file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    case_id: String,
    #[serde(default)]
    trial: Option<u32>,
    evaluator: String,
    #[serde(default)]
    verdicts: Option<Vec<ReplyEntry>>,
    #[serde(default)]
    score: Option<f64>,
    #[serde(default)]
    reasoning: Option<String>,
}

/// What a line gives.
#[derive(Debug, Clone)]
enum Reply {
    Verdicts(Vec<ReplyEntry>),
    Metric(f64, Option<String>),
}

/// A line that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ReplayProblem {
    /// From 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Replay {
    /// Reads a file of JSON lines; blank lines are passed over.
    ///
    /// # Errors
    /// Every line that is not a reply, and every second reply for the same case, evaluator and trial.
    pub fn parse(text: &str) -> Result<Self, Vec<ReplayProblem>> {
        let mut replay = Self::default();
        let mut problems = Vec::new();
        for (at, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            if let Err(message) = replay.add(line) {
                problems.push(ReplayProblem {
                    line: at + 1,
                    message,
                });
            }
        }
        if problems.is_empty() {
            Ok(replay)
        } else {
            Err(problems)
        }
    }

    fn add(&mut self, line: &str) -> Result<(), String> {
        let line: Line = serde_json::from_str(line).map_err(|fault| fault.to_string())?;
        if line.trial == Some(0) {
            return Err("trials count from 1".to_owned());
        }
        let reply = match (line.verdicts, line.score) {
            (Some(verdicts), None) => {
                if Judged::parse(&line.evaluator).is_none() {
                    return Err(format!("{} takes a score, not verdicts", line.evaluator));
                }
                Reply::Verdicts(verdicts)
            }
            (None, Some(score)) => {
                if Judged::parse(&line.evaluator).is_some() {
                    return Err(format!("{} takes verdicts, not a score", line.evaluator));
                }
                Reply::Metric(score, line.reasoning)
            }
            _ => return Err("a reply has either verdicts or a score".to_owned()),
        };
        let key = (line.case_id, line.evaluator, line.trial.unwrap_or(0));
        if self.replies.contains_key(&key) {
            return Err(format!("a second reply for {} of {}", key.1, key.0));
        }
        self.replies.insert(key, reply);
        Ok(())
    }

    fn reply(&self, case_id: &str, name: &str, trial: u32) -> Option<&Reply> {
        let key = |trial| (case_id.to_owned(), name.to_owned(), trial);
        self.replies
            .get(&key(trial))
            .or_else(|| self.replies.get(&key(0)))
    }

    /// The recorded score of a metric, on its own scale, with its reasoning.
    pub fn metric(&self, case_id: &str, name: &str, trial: u32) -> Option<(f64, Option<&str>)> {
        match self.reply(case_id, name, trial)? {
            Reply::Metric(score, reasoning) => Some((*score, reasoning.as_deref())),
            Reply::Verdicts(_) => None,
        }
    }

    /// The verdicts on a task. What the file gives is checked as for any judge; an entry that fails the check, and every
    /// entry of a task that the file does not hold, is unscored and says why.
    pub fn judge(&self, task: &JudgeTask) -> Vec<JudgedEntry> {
        let evaluator = task.evaluator.as_str();
        let Some(Reply::Verdicts(replies)) = self.reply(&task.case_id, evaluator, task.trial)
        else {
            let reason = format!(
                "The replies for replay hold no {evaluator} of {}, trial {}.",
                task.case_id, task.trial
            );
            return task.all_unscored(Unscored::MissingIds, &reason);
        };
        if replies.len() != task.entries.len() {
            let reason = format!(
                "The reply for replay has {} verdicts, and {} were asked.",
                replies.len(),
                task.entries.len()
            );
            return task.all_unscored(Unscored::ParseFailure, &reason);
        }
        let checked = Checked::new(task);
        replies
            .iter()
            .enumerate()
            .map(|(index, reply)| {
                validate::entry(&checked, index, reply, Given::WhatThereIs).unwrap_or_else(
                    |refused| {
                        let reason =
                            format!("The reply for replay is not valid: {}.", refused.message);
                        JudgedEntry::unscored(refused.unscored, reason)
                    },
                )
            })
            .collect()
    }

    /// How grades name this judge.
    pub fn stamp() -> JudgeStamp {
        JudgeStamp {
            provider: "replay".to_owned(),
            model: None,
            template: "1".to_owned(),
            quality_signal: true,
        }
    }
}
