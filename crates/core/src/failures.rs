//! Failures of a trial as alike things, so that a run's failures can be grouped (`runs.md`, Analyze): by evaluator,
//! rubric type, verdict and masked reason.

use serde::{Deserialize, Serialize};

use crate::case::RubricType;
use crate::explanation::{entry_verdicts, rubric_verdicts, tool_match, tools_called};
use crate::grade::{Grade, Outcome};
use crate::run::RunError;
use crate::verdict::{CheckVerdict, PresentationRule, Verdict};

/// One thing that went wrong. Two trials failed alike when theirs are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Failure {
    /// `answer_rubrics`, `tool_trajectory_match`, `agent`, ….
    pub evaluator: String,
    /// Of an answer rubric.
    pub rubric_type: Option<RubricType>,
    /// `incorrect`, `absent`, `misattributed`, `uncited`, `unsatisfied`, `args mismatch`, `too slow`, `unscored`, an agent
    /// error class, ….
    pub verdict: String,
    /// One sentence, with what differs from trial to trial masked.
    pub what: String,
}

/// What fell in a trial that was graded, each alike thing once, in a fixed order.
pub fn of_grades(grades: &[Grade]) -> Vec<Failure> {
    let mut failures = Vec::new();
    for verdict in rubric_verdicts(grades) {
        let kind = verdict.kind;
        let standing = verdict
            .overridden
            .as_ref()
            .map_or(verdict.verdict, |o| Some(o.verdict));
        match standing {
            Some(Verdict::Incorrect) => failures.push(rubric(kind, "incorrect")),
            Some(Verdict::Absent) => failures.push(rubric(kind, "absent")),
            Some(Verdict::Satisfied) | None => {}
        }
        match verdict.source.and_then(|source| source.verdict) {
            Some(Verdict::Incorrect) => failures.push(rubric(kind, "misattributed")),
            Some(Verdict::Absent) => failures.push(rubric(kind, "uncited")),
            Some(Verdict::Satisfied) | None => {}
        }
    }
    for evaluator in ["trajectory_rubrics", "presentation_judge"] {
        for entry in entry_verdicts(grades, evaluator) {
            if entry.verdict == Some(CheckVerdict::Unsatisfied) {
                let what = match entry.rule {
                    None => "The steps do not show a checkpoint.",
                    Some(PresentationRule::Require) => {
                        "The answer lacks a property that it must have."
                    }
                    Some(PresentationRule::Forbid) => {
                        "The answer has a property that it must not have."
                    }
                };
                failures.push(plain(evaluator, "unsatisfied", what));
            }
        }
    }
    for tool in tools_called(grades).map(|t| t.missing).unwrap_or_default() {
        failures.push(plain(
            "required_tools_called",
            "not called",
            &format!("The tool {tool} was never called."),
        ));
    }
    for entry in tool_match(grades).map(|m| m.entries).unwrap_or_default() {
        if !entry.matched {
            let reason = entry
                .reason
                .unwrap_or_else(|| "no available matching call".to_owned());
            let what = format!("An expected call of {} was not made: {reason}.", entry.name);
            failures.push(plain("tool_trajectory_match", &reason, &what));
        }
    }
    failures.extend(grades.iter().filter_map(by_outcome));
    let mut seen = std::collections::HashSet::new();
    failures.retain(|failure| seen.insert(failure.clone()));
    failures
}

/// What fell in a trial that ended in an error.
pub fn of_error(stage: &str, error: &RunError) -> Failure {
    let evaluator = if stage == "agent call" {
        "agent"
    } else {
        stage
    };
    plain(evaluator, error.class.as_str(), &masked(&error.message))
}

fn by_outcome(grade: &Grade) -> Option<Failure> {
    let name = grade.evaluator.as_str();
    match &grade.outcome {
        Outcome::Scored { met: false } if name == "max_response_time" => Some(plain(
            name,
            "too slow",
            "The answer came later than the case allows.",
        )),
        Outcome::Scored { met: false } if name == "expect" || name.contains(':') => {
            Some(plain(name, "not met", &format!("{name} missed its bar.")))
        }
        Outcome::Unscored { reason, .. } => Some(plain(
            name,
            "unscored",
            &format!("No verdict was reached: {}.", reason.as_str()),
        )),
        Outcome::Error { message } => Some(plain(name, "error", &masked(message))),
        Outcome::Scored { .. } | Outcome::Skipped { .. } => None,
    }
}

fn rubric(kind: RubricType, verdict: &str) -> Failure {
    let thing = match kind {
        RubricType::FactualRetrieval => "a fact to find",
        RubricType::DerivedComputation => "something to work out",
        RubricType::AnalysisInterpretation => "a reading of the evidence",
    };
    let what = match verdict {
        "incorrect" => format!("The answer says something else on {thing}."),
        "absent" => format!("The answer never engages {thing}."),
        "misattributed" => format!("The answer credits {thing} to another source."),
        _ => format!("The answer names no source for {thing}."),
    };
    Failure {
        evaluator: "answer_rubrics".to_owned(),
        rubric_type: Some(kind),
        verdict: verdict.to_owned(),
        what,
    }
}

fn plain(evaluator: &str, verdict: &str, what: &str) -> Failure {
    Failure {
        evaluator: evaluator.to_owned(),
        rubric_type: None,
        verdict: verdict.to_owned(),
        what: what.to_owned(),
    }
}

/// The message with every run of digits as `#`, quoted text and addresses as `…`, at most 200 characters, so that alike
/// messages are equal.
fn masked(message: &str) -> String {
    let message: Vec<&str> = message
        .split(' ')
        .map(|word| if word.contains("://") { "…" } else { word })
        .collect();
    let message = message.join(" ");
    let mut out = String::new();
    let mut quoted: Option<char> = None;
    let mut digits = false;
    for c in message.chars() {
        if let Some(end) = quoted {
            if c == end {
                quoted = None;
            }
            continue;
        }
        match c {
            '"' | '`' => {
                quoted = Some(c);
                out.push('…');
            }
            '“' => {
                quoted = Some('”');
                out.push('…');
            }
            _ if c.is_ascii_digit() => {
                if !digits {
                    out.push('#');
                }
            }
            _ if c.is_control() => out.push(' '),
            _ => out.push(c),
        }
        digits = c.is_ascii_digit();
    }
    if out.chars().count() > 200 {
        out = out.chars().take(199).collect();
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::AgentErrorClass;

    #[test]
    fn alike_errors_are_equal_once_masked() {
        let failure = |message: &str| {
            of_error(
                "agent call",
                &RunError {
                    class: AgentErrorClass::Timeout,
                    message: message.to_owned(),
                },
            )
        };
        assert_eq!(
            failure("no answer within 300 s for \"case-a\""),
            failure("no answer within 12 s for \"case-b\"")
        );
        assert_eq!(failure("x").evaluator, "agent");
        assert_ne!(failure("no answer"), failure("no reply"));
    }

    #[test]
    fn masking_is_bounded_and_total() {
        assert_eq!(masked("a 12.5 b `c` d"), "a #.# b … d");
        assert_eq!(masked("unclosed “quote"), "unclosed …");
        assert_eq!(masked(&"x".repeat(500)).chars().count(), 200);
    }
}
