//! Step addresses (`atif.md` §6.2, §6.3): `main:<step_id>` and `<alias>:<step_id>`, and the walk over all steps.

use super::model::{Document, Source, Step, SubagentRef};

/// Where a step is. Printed as `main:4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepAddress<'d> {
    /// Index of the trajectory in [`Document::trajectories`].
    pub trajectory: usize,
    /// The trajectory's alias.
    pub alias: &'d str,
    /// From 1: the position in the trajectory, whatever id the step claims.
    pub step: usize,
}

impl std::fmt::Display for StepAddress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.alias, self.step)
    }
}

/// One stop of the walk in canonical order.
#[derive(Debug, Clone, Copy)]
pub(super) enum Stop {
    /// A step begins: trajectory and position from 0.
    Step(usize, usize),
    /// A call of a step that is not copied context: trajectory, step and index in `tool_calls`, all from 0.
    Call(usize, usize, usize),
}

/// A step with its address.
#[derive(Debug, Clone, Copy)]
pub struct Visit<'d> {
    /// Where it is.
    pub address: StepAddress<'d>,
    /// The step.
    pub step: &'d Step,
}

impl Document {
    /// The address of a step by position, both from 0.
    pub(super) fn address(&self, trajectory: usize, step: usize) -> StepAddress<'_> {
        StepAddress {
            trajectory,
            alias: &self.trajectories[trajectory].alias,
            step: step + 1,
        }
    }

    /// Every step, depth first: a subagent's steps come right after the step whose result first refers to it, subagents
    /// that nothing refers to after the steps of the trajectory that embeds them.
    pub fn steps(&self) -> impl Iterator<Item = Visit<'_>> {
        self.walk(false).into_iter().filter_map(|stop| match stop {
            Stop::Step(trajectory, step) => Some(Visit {
                address: self.address(trajectory, step),
                step: &self.trajectories[trajectory].steps[step],
            }),
            Stop::Call(..) => None,
        })
    }

    /// The one order of steps and calls (`grading.md`, Tool checks). With `calls`, a subagent follows the call whose
    /// result refers to it, and copied steps neither call nor refer; without, it follows the step.
    pub(super) fn walk(&self, calls: bool) -> Vec<Stop> {
        let mut walk = Walk {
            document: self,
            calls,
            seen: vec![false; self.trajectories.len()],
            stops: Vec::new(),
        };
        walk.trajectory(0);
        walk.stops
    }

    /// The step that a citation names: the text is split at its last colon; left the alias or the root's own
    /// `trajectory_id`, right the step's number in plain digits. `None` when there is no such step.
    pub fn resolve_citation(&self, citation: &str) -> Option<StepAddress<'_>> {
        let (alias, number) = citation.trim().rsplit_once(':')?;
        if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let step: usize = number.parse().ok()?;
        let trajectory = self
            .trajectories
            .iter()
            .position(|t| t.alias == alias)
            .or_else(|| (self.main().trajectory_id.as_deref() == Some(alias)).then_some(0))?;
        let exists = (1..=self.trajectories[trajectory].steps.len()).contains(&step);
        exists.then(|| self.address(trajectory, step - 1))
    }

    /// The text of the agent's last own message in the main trajectory, for runs whose harness gave no answer
    /// (`atif.md` §5.2). Copied steps, side chains and blank messages are passed over.
    pub fn last_agent_message(&self) -> Option<(StepAddress<'_>, &str)> {
        let steps = &self.main().steps;
        let (at, step) = steps.iter().enumerate().rev().find(|(_, step)| {
            step.source == Source::Agent
                && !step.copied
                && step.side_chain.is_none()
                && !step.message.text.trim().is_empty()
        })?;
        Some((self.address(0, at), step.message.text.as_str()))
    }
}

struct Walk<'d> {
    document: &'d Document,
    calls: bool,
    seen: Vec<bool>,
    stops: Vec<Stop>,
}

impl Walk<'_> {
    /// As deep as `MAX_DEPTH`: a reference leads only to a trajectory that this one embeds.
    fn trajectory(&mut self, at: usize) {
        if std::mem::replace(&mut self.seen[at], true) {
            return;
        }
        let document = self.document;
        let trajectory = &document.trajectories[at];
        for (index, step) in trajectory.steps.iter().enumerate() {
            self.stops.push(Stop::Step(at, index));
            if self.calls && step.copied {
                continue;
            }
            let mut linked = vec![false; step.results.len()];
            if self.calls {
                for (call_index, call) in step.calls.iter().enumerate() {
                    self.stops.push(Stop::Call(at, index, call_index));
                    for result in &call.results {
                        linked[*result] = true;
                        self.follow(&step.results[*result].subagents);
                    }
                }
            }
            for (result, linked) in step.results.iter().zip(linked) {
                if !linked {
                    self.follow(&result.subagents);
                }
            }
        }
        for child in &trajectory.children {
            self.trajectory(*child);
        }
    }

    fn follow(&mut self, references: &[SubagentRef]) {
        for reference in references {
            if let SubagentRef::Embedded(child) = reference {
                self.trajectory(*child);
            }
        }
    }
}
