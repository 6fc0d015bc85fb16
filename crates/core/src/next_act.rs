//! What fell in a result, and who must act next: the two sentences that a reader takes away from a red case.
//!
//! Pure and total: every state of a trial has an answer. The page shows them under the verdict (`web.md`, Result:
//! "why"; `ui.md`, "Say the conclusion first").

mod sentence;

use sentence::{Sentence, cut, ended, plain_number, seconds};

use crate::case::RubricType;
use crate::explanation::{entry_verdicts, find, rubric_verdicts, tool_match, tools_called};
use crate::grade::{Colour, Grade, Outcome};
use crate::run::{AgentErrorClass, RunError};
use crate::verdict::{CheckVerdict, RubricVerdict, Unscored, Verdict};
use crate::view::result::ResultPage;

/// A piece of a sentence: plain words, or a label that a page makes a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// `R2` (answer rubric), `T1` (checkpoint), `P3` (presentation entry) or `C1` (expected call), counted from 1.
    Label(String),
}

/// Who a result waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// Everything is as the case wants it, or the trial is still open.
    Nobody,
    /// Those who build the agent.
    AgentTeam,
    /// Who wrote the case.
    CaseAuthor,
    /// A person with the reviewer role.
    Reviewer,
    /// Who runs this server: judge, egress.
    ServerOwner,
    /// Who started the run.
    Starter,
}

impl Who {
    /// The actor as a sentence names it, before a colon.
    pub fn title(self, agent: &str) -> String {
        match self {
            Self::Nobody => "Nobody".to_owned(),
            Self::AgentTeam => format!("The team of {agent}"),
            Self::CaseAuthor => "The case’s author".to_owned(),
            Self::Reviewer => "A reviewer".to_owned(),
            Self::ServerOwner => "Whoever runs this server".to_owned(),
            Self::Starter => "Whoever started the run".to_owned(),
        }
    }
}

/// One thing to do, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NextAct {
    /// Whose.
    pub who: Who,
    /// What, after the colon.
    pub what: Vec<Part>,
}

impl NextAct {
    fn new(who: Who, what: Sentence) -> Self {
        Self { who, what: what.0 }
    }
}

/// The sentence as plain text, for titles and tests.
pub fn plain(parts: &[Part]) -> String {
    parts
        .iter()
        .map(|part| match part {
            Part::Text(text) | Part::Label(text) => text.as_str(),
        })
        .collect()
}

/// Which sentence broke which rubric, in words, most telling first. Empty when nothing fell or nothing was graded.
pub fn what_fell(page: &ResultPage) -> Vec<Part> {
    let mut out = Sentence::default();
    let rubrics = rubric_verdicts(&page.grades);
    let axis = Axes::of(&rubrics);
    let mut answer: Vec<Sentence> = Vec::new();
    if !axis.incorrect.is_empty() {
        answer.push(Sentence::text("says something else on ").list(&axis.incorrect));
    }
    if !axis.absent.is_empty() {
        answer.push(Sentence::text("never engages ").list(&axis.absent));
    }
    if !axis.misattributed.is_empty() {
        answer.push(
            Sentence::text("credits ")
                .list(&axis.misattributed)
                .and(" to another source"),
        );
    }
    if !axis.uncited.is_empty() {
        answer.push(Sentence::text("names no source for ").list(&axis.uncited));
    }
    if !answer.is_empty() {
        out = out.and("The answer ").clauses(answer).and(".");
    }
    if let Some(said) = most_telling(&rubrics) {
        out = out.and(" ").join(said);
    }
    for sentence in beside_the_answer(page) {
        let gap = if out.0.is_empty() { "" } else { " " };
        out = out.and(gap).join(sentence);
    }
    out.0
}

/// Who must act next, most pressing first; never empty.
pub fn next_acts(page: &ResultPage) -> Vec<NextAct> {
    if let Some(act) = before_grading(page) {
        return vec![act];
    }
    let mut acts = Vec::new();
    acts.extend(broken_evaluators(page));
    acts.extend(unscored(page));
    let rubrics = rubric_verdicts(&page.grades);
    let looks: Vec<String> = labels(&rubrics, |v| v.needs_a_look && v.overridden.is_none());
    if !looks.is_empty() {
        acts.push(NextAct::new(
            Who::Reviewer,
            Sentence::text("look at ").list(&looks).and(
                ", where judge and arithmetic disagree. The judge’s verdict counts until then.",
            ),
        ));
    }
    acts.extend(agent_team(page, &rubrics));
    if acts.is_empty() {
        let what = if page.colour == Colour::Green {
            "everything the case asks for was met."
        } else {
            "every evaluator skipped, so there is nothing to act on."
        };
        acts.push(NextAct::new(Who::Nobody, Sentence::text(what)));
    }
    acts
}

/// What happened to an agent call that gave no answer, what Evalkit did about it, and what helps (`runs.md`, Agents).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorInWords {
    /// What happened, a clause about the agent.
    pub happened: &'static str,
    /// Who can put it right.
    pub who: Who,
    /// What helps, an order to them.
    pub next: &'static str,
    /// Whether Evalkit tries this class again by itself.
    pub retried: bool,
}

/// The closed list of agent error classes, in words.
pub const fn error_in_words(class: AgentErrorClass) -> ErrorInWords {
    use AgentErrorClass as C;
    let (happened, who, next, retried) = match class {
        C::Refused => (
            "The agent’s address refused the connection.",
            Who::AgentTeam,
            "start the agent, or put its address right, then re-run this trial.",
            true,
        ),
        C::Dns => (
            "The name in the agent’s address is not known.",
            Who::AgentTeam,
            "put the agent’s address right, then re-run this trial.",
            true,
        ),
        C::Tls => (
            "No secure connection to the agent could be made.",
            Who::AgentTeam,
            "put the agent’s certificate or address right, then re-run this trial.",
            false,
        ),
        C::Timeout => (
            "The agent gave no answer before its deadline.",
            Who::AgentTeam,
            "make it answer in time or raise its time-out, then re-run this trial.",
            true,
        ),
        C::Http4xx => (
            "The agent turned the request down.",
            Who::AgentTeam,
            "check its secret and that it speaks the Agent Run API, then re-run this trial.",
            false,
        ),
        C::Http5xx => (
            "The agent failed on its side.",
            Who::AgentTeam,
            "find the failure in the agent’s log, then re-run this trial.",
            true,
        ),
        C::RateLimited => (
            "The agent said it gets too many requests.",
            Who::AgentTeam,
            "raise its limit or lower the calls at once, then re-run this trial.",
            true,
        ),
        C::Redirect => (
            "The agent answered with a redirect, which Evalkit does not follow.",
            Who::AgentTeam,
            "register the final address, then re-run this trial.",
            false,
        ),
        C::NotJson => (
            "What came back is not the JSON of the Agent Run API.",
            Who::AgentTeam,
            "make the agent reply in JSON at this address, then re-run this trial.",
            false,
        ),
        C::TooLarge => (
            "The reply is larger than this server reads.",
            Who::AgentTeam,
            "send a smaller reply, then re-run this trial.",
            false,
        ),
        C::Cut => (
            "The reply stopped in the middle.",
            Who::AgentTeam,
            "find why the connection closed early, then re-run this trial.",
            true,
        ),
        C::InvalidAtif => (
            "The trajectory in the reply cannot be read.",
            Who::AgentTeam,
            "check it with “evalkit atif check”, then re-run this trial.",
            false,
        ),
        C::ToolNotRun => (
            "The model asked for a tool and nobody ran it.",
            Who::AgentTeam,
            "register an endpoint that runs its own tools.",
            false,
        ),
        C::AgentReported => (
            "The agent itself reported that it failed.",
            Who::AgentTeam,
            "read its message below, put the cause right, then re-run this trial.",
            false,
        ),
        C::EgressDenied => (
            "This server may not call the agent’s address.",
            Who::ServerOwner,
            "allow the address under “egress” in config.yaml, then re-run this trial.",
            false,
        ),
        C::FixtureNotCarried => (
            "The agent’s adapter cannot carry a file of this case.",
            Who::CaseAuthor,
            "use an agent on “evalkit-http”, or take the file out of the case.",
            false,
        ),
    };
    ErrorInWords {
        happened,
        who,
        next,
        retried,
    }
}

fn before_grading(page: &ResultPage) -> Option<NextAct> {
    if let Some(RunError { class, .. }) = &page.error {
        let words = error_in_words(*class);
        return Some(NextAct::new(words.who, Sentence::text(words.next)));
    }
    match page.colour {
        Colour::Open => Some(NextAct::new(
            Who::Nobody,
            Sentence::text("the trial is still open. Its verdicts appear here when it ends."),
        )),
        Colour::Cancelled => Some(NextAct::new(
            Who::Starter,
            Sentence::text("re-run this case if its result is still wanted."),
        )),
        _ => None,
    }
}

fn broken_evaluators(page: &ResultPage) -> Option<NextAct> {
    let broken: Vec<&Grade> = page
        .grades
        .iter()
        .filter(|g| matches!(g.outcome, Outcome::Error { .. }))
        .collect();
    let Some(first) = broken.first() else {
        return (page.colour == Colour::Error).then(|| {
            NextAct::new(
                Who::Starter,
                Sentence::text("re-run the failed trials; nothing was recorded for this one."),
            )
        });
    };
    let Outcome::Error { message } = &first.outcome else {
        return None;
    };
    let (who, next) = match first.evaluator.as_str() {
        "trajectory_rubrics" | "required_tools_called" | "tool_trajectory_match" => (
            Who::AgentTeam,
            "record what the harness declares, or stop declaring it",
        ),
        name if name.starts_with("custom:") => (
            Who::ServerOwner,
            "put the custom evaluator right, then run the case again",
        ),
        "expect" => (Who::CaseAuthor, "put the check right"),
        _ => (
            Who::ServerOwner,
            "put the judge right, then run the case again",
        ),
    };
    Some(NextAct::new(
        who,
        Sentence::text(format!(
            "{next}. {} could not run: {}",
            first.evaluator,
            ended(message)
        )),
    ))
}

fn unscored(page: &ResultPage) -> Vec<NextAct> {
    let mut acts: Vec<NextAct> = Vec::new();
    for grade in &page.grades {
        let Outcome::Unscored {
            reason,
            entries,
            of,
        } = grade.outcome
        else {
            continue;
        };
        let count = format!("{entries} of {of} in {} have no verdict", grade.evaluator);
        let (who, next) = match reason {
            Unscored::OfflineUndecided => (
                Who::ServerOwner,
                "configure a judge that reads language and run the case again, or decide by hand with `evalkit collect` and `evalkit grade --judge replay:FILE`. The offline judge decides figures and plain containment only:",
            ),
            Unscored::TooLarge => (
                Who::ServerOwner,
                "configure a judge with a larger context, then run the case again. The text does not fit:",
            ),
            Unscored::Timeout | Unscored::ProviderError | Unscored::TruncatedReply => (
                Who::ServerOwner,
                "see that the judge’s endpoint answers whole, then run the case again:",
            ),
            Unscored::ParseFailure
            | Unscored::Refusal
            | Unscored::MissingIds
            | Unscored::Contradiction => (
                Who::Reviewer,
                "read the answer and decide by hand; the judge gave no valid verdict:",
            ),
        };
        acts.push(NextAct::new(
            who,
            Sentence::text(format!("{next} {count}.")),
        ));
    }
    acts
}

fn agent_team(page: &ResultPage, rubrics: &[RubricVerdict]) -> Option<NextAct> {
    let axis = Axes::of(rubrics);
    let mut clauses: Vec<Sentence> = Vec::new();
    if !axis.incorrect.is_empty() {
        clauses.push(Sentence::text("put right ").list(&axis.incorrect));
    }
    if !axis.absent.is_empty() {
        clauses.push(Sentence::text("answer ").list(&axis.absent));
    }
    let sources: Vec<String> = labels(rubrics, |v| {
        v.source
            .as_ref()
            .is_some_and(|s| matches!(s.verdict, Some(Verdict::Incorrect | Verdict::Absent)))
    });
    if !sources.is_empty() {
        clauses.push(
            Sentence::text("credit ")
                .list(&sources)
                .and(if sources.len() == 1 {
                    " to its source"
                } else {
                    " to their sources"
                }),
        );
    }
    let steps = unsatisfied(page, "trajectory_rubrics", 'T');
    if !steps.is_empty() {
        clauses.push(Sentence::text("show ").list(&steps).and(" in the steps"));
    }
    let looks = unsatisfied(page, "presentation_judge", 'P');
    if !looks.is_empty() {
        clauses.push(
            Sentence::text("display the answer as ")
                .list(&looks)
                .and(if looks.len() == 1 { " asks" } else { " ask" }),
        );
    }
    if let Some(tools) = tools_called(&page.grades).filter(|t| !t.missing.is_empty()) {
        clauses.push(Sentence::text(format!("call {}", tools.missing.join(", "))));
    }
    let calls = missed_calls(page);
    if !calls.is_empty() {
        clauses.push(
            Sentence::text("make the expected ")
                .and(if calls.len() == 1 { "call " } else { "calls " })
                .list(&calls),
        );
    }
    for grade in &page.grades {
        if !matches!(grade.outcome, Outcome::Scored { met: false }) {
            continue;
        }
        match grade.evaluator.as_str() {
            "max_response_time" => clauses.push(Sentence::text("answer in time")),
            "expect" => clauses.push(Sentence::text("meet the fixed checks")),
            name if name.starts_with("metric:") || name.starts_with("custom:") => {
                clauses.push(Sentence::text(format!("meet the bar of {name}")));
            }
            _ => {}
        }
    }
    if clauses.is_empty() {
        return None;
    }
    let mut what = Sentence::default().clauses(clauses).and(".");
    if page.colour == Colour::Green {
        what = what.and(" The case is green all the same.");
    } else {
        what = what.and(" If a rubric asks for the wrong thing, the case’s author changes it.");
    }
    Some(NextAct::new(Who::AgentTeam, what))
}

/// What fell beside the answer's own rubrics, one sentence each.
fn beside_the_answer(page: &ResultPage) -> Vec<Sentence> {
    let mut out = Vec::new();
    let steps = unsatisfied(page, "trajectory_rubrics", 'T');
    if !steps.is_empty() {
        out.push(
            Sentence::text("Its steps do not show ")
                .list(&steps)
                .and("."),
        );
    }
    let looks = unsatisfied(page, "presentation_judge", 'P');
    if !looks.is_empty() {
        out.push(
            Sentence::text("It does not look as ")
                .list(&looks)
                .and(if looks.len() == 1 { " asks." } else { " ask." }),
        );
    }
    if let Some(tools) = tools_called(&page.grades).filter(|t| !t.missing.is_empty()) {
        out.push(Sentence::text(format!(
            "It never called {}.",
            tools.missing.join(", ")
        )));
    }
    let calls = missed_calls(page);
    if !calls.is_empty() {
        let of = tool_match(&page.grades).map_or(0, |m| m.entries.len());
        out.push(
            Sentence::text(format!(
                "{} of {of} expected calls {} not made: ",
                calls.len(),
                if calls.len() == 1 { "was" } else { "were" }
            ))
            .list(&calls)
            .and("."),
        );
    }
    for grade in &page.grades {
        if !matches!(grade.outcome, Outcome::Scored { met: false }) {
            continue;
        }
        let sentence = match grade.evaluator.as_str() {
            "max_response_time" => match (page.latency_ms, page.case.max_response_time) {
                (Some(took), Some(allowed)) => {
                    format!(
                        "It took {}, {} are allowed.",
                        seconds(took),
                        plain_number(allowed) + " s"
                    )
                }
                _ => "It answered too late.".to_owned(),
            },
            "expect" => "A fixed check is not met.".to_owned(),
            name if name.starts_with("metric:") || name.starts_with("custom:") => {
                format!("{name} is below its bar.")
            }
            _ => continue,
        };
        out.push(Sentence::text(sentence));
    }
    out
}

/// The first incorrect rubric with what was said instead: the sentence that broke it.
fn most_telling(rubrics: &[RubricVerdict]) -> Option<Sentence> {
    let (index, verdict) = rubrics
        .iter()
        .enumerate()
        .find(|(_, v)| v.verdict == Some(Verdict::Incorrect) && v.said.is_some())?;
    let said = verdict.said.as_deref()?;
    Some(
        Sentence::text("On ")
            .label(format!("R{}", index + 1))
            .and(&format!(
                " it says “{}”; right is: “{}”.",
                cut(said.trim_matches(['“', '”', '"', ' ']), 120),
                cut(verdict.rubric.trim_end_matches('.'), 180)
            )),
    )
}

struct Axes {
    incorrect: Vec<String>,
    absent: Vec<String>,
    misattributed: Vec<String>,
    uncited: Vec<String>,
}

impl Axes {
    fn of(rubrics: &[RubricVerdict]) -> Self {
        let source = |wanted: Verdict| {
            labels(rubrics, |v| {
                v.kind == RubricType::FactualRetrieval
                    && v.source.as_ref().is_some_and(|s| s.verdict == Some(wanted))
            })
        };
        let standing =
            |v: &RubricVerdict| v.overridden.as_ref().map_or(v.verdict, |o| Some(o.verdict));
        Self {
            incorrect: labels(rubrics, |v| standing(v) == Some(Verdict::Incorrect)),
            absent: labels(rubrics, |v| standing(v) == Some(Verdict::Absent)),
            misattributed: source(Verdict::Incorrect),
            uncited: source(Verdict::Absent),
        }
    }
}

fn labels(rubrics: &[RubricVerdict], keep: impl Fn(&RubricVerdict) -> bool) -> Vec<String> {
    rubrics
        .iter()
        .enumerate()
        .filter(|(_, v)| keep(v))
        .map(|(index, _)| format!("R{}", index + 1))
        .collect()
}

fn unsatisfied(page: &ResultPage, evaluator: &str, letter: char) -> Vec<String> {
    entry_verdicts(&page.grades, evaluator)
        .iter()
        .enumerate()
        .filter(|(_, v)| v.verdict == Some(CheckVerdict::Unsatisfied))
        .map(|(index, _)| format!("{letter}{}", index + 1))
        .collect()
}

fn missed_calls(page: &ResultPage) -> Vec<String> {
    find(&page.grades, "tool_trajectory_match")
        .and_then(|_| tool_match(&page.grades))
        .map(|m| {
            m.entries
                .iter()
                .enumerate()
                .filter(|(_, e)| !e.matched)
                .map(|(index, _)| format!("C{}", index + 1))
                .collect()
        })
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
