//! Experiments and trials: states and accounting (`runs.md`, The engine).

use serde::{Deserialize, Serialize};

/// The state of one trial. `Done`, `Error`, `Cancelled` and `Budget` are final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialState {
    /// Waits for a worker.
    Queued,
    /// The agent is being called.
    Running,
    /// The answer is stored; grading has not begun.
    Recorded,
    /// Evaluators are at work.
    Grading,
    /// Every evaluator has ended.
    Done,
    /// Ended in an error; the stage is kept beside it.
    Error,
    /// Ended by a person.
    Cancelled,
    /// Ended by a cap on cost.
    Budget,
}

impl TrialState {
    /// All states, in the order pages count them.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::Grading,
        Self::Recorded,
        Self::Running,
        Self::Queued,
        Self::Error,
        Self::Cancelled,
        Self::Budget,
    ];

    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Recorded => "recorded",
            Self::Grading => "grading",
            Self::Done => "done",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Budget => "budget",
        }
    }

    /// Reads the stored form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Whether nothing more will happen to the trial.
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Done | Self::Error | Self::Cancelled | Self::Budget
        )
    }
}

/// What happens to a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrialEvent {
    /// A worker took it.
    Claimed,
    /// The agent's answer is stored.
    Recorded,
    /// Evaluators started.
    GradingStarted,
    /// Every evaluator ended.
    Graded,
    /// The attempt failed in a way that is worth another one.
    Retry,
    /// It failed for good.
    Failed,
    /// A person cancelled the experiment.
    Cancel,
    /// The experiment's cap on cost is reached.
    OverBudget,
    /// A person asked for the failed trials to be run again.
    Rerun,
    /// As [`TrialEvent::Rerun`], of a trial whose answer is stored: it is graded, not asked for again.
    RerunRecorded,
}

/// A move that the machine does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a trial that is {} cannot take {event:?}", state.as_str())]
pub struct NoSuchMove {
    /// Where it stands.
    pub state: TrialState,
    /// What was tried.
    pub event: TrialEvent,
}

/// The trial machine (`runs.md`, The engine): `queued → running → recorded → grading → done`, or a final state.
///
/// # Errors
/// [`NoSuchMove`] for every pair that the machine does not have; the caller drops the event and counts it.
pub fn next(state: TrialState, event: TrialEvent) -> Result<TrialState, NoSuchMove> {
    use TrialEvent as E;
    use TrialState as S;
    Ok(match (state, event) {
        (S::Queued, E::Claimed) | (S::Running, E::Claimed) => S::Running,
        (S::Running, E::Retry) => S::Queued,
        (S::Running, E::Recorded) => S::Recorded,
        (S::Recorded | S::Grading, E::GradingStarted) => S::Grading,
        (S::Grading, E::Graded) => S::Done,
        (S::Running | S::Recorded | S::Grading, E::Failed) => S::Error,
        (S::Queued | S::Running | S::Recorded | S::Grading, E::Cancel) => S::Cancelled,
        (S::Queued, E::OverBudget) => S::Budget,
        (S::Error | S::Cancelled | S::Budget, E::Rerun) => S::Queued,
        (S::Error | S::Cancelled | S::Budget, E::RerunRecorded) => S::Recorded,
        _ => return Err(NoSuchMove { state, event }),
    })
}

/// The state of an experiment as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentState {
    /// Trials are open.
    Running,
    /// Open trials rest until it is resumed.
    Paused,
    /// Every trial is final.
    Finished,
    /// A person ended it; what was done stays.
    Cancelled,
}

/// Trials by state. `planned` is always the sum of the others (`runs.md`, Accounted), counted from rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct TrialCounts {
    /// Waiting.
    pub queued: u64,
    /// Calling the agent.
    pub running: u64,
    /// Answer stored.
    pub recorded: u64,
    /// Evaluators at work.
    pub grading: u64,
    /// Ended well.
    pub done: u64,
    /// Ended in an error.
    pub error: u64,
    /// Ended by a person.
    pub cancelled: u64,
    /// Ended by the cap.
    pub budget: u64,
}

impl TrialCounts {
    /// Planned trials.
    pub const fn planned(&self) -> u64 {
        self.open() + self.done + self.error + self.cancelled + self.budget
    }

    /// Trials that are not final.
    pub const fn open(&self) -> u64 {
        self.queued + self.running + self.recorded + self.grading
    }

    /// Adds `n` trials of `state`.
    pub fn add(&mut self, state: TrialState, n: u64) {
        *match state {
            TrialState::Queued => &mut self.queued,
            TrialState::Running => &mut self.running,
            TrialState::Recorded => &mut self.recorded,
            TrialState::Grading => &mut self.grading,
            TrialState::Done => &mut self.done,
            TrialState::Error => &mut self.error,
            TrialState::Cancelled => &mut self.cancelled,
            TrialState::Budget => &mut self.budget,
        } += n;
    }

    /// The count of one state.
    pub const fn of(&self, state: TrialState) -> u64 {
        match state {
            TrialState::Queued => self.queued,
            TrialState::Running => self.running,
            TrialState::Recorded => self.recorded,
            TrialState::Grading => self.grading,
            TrialState::Done => self.done,
            TrialState::Error => self.error,
            TrialState::Cancelled => self.cancelled,
            TrialState::Budget => self.budget,
        }
    }
}
