//! Tool calls of a document in canonical order, each with its results (`grading.md`, Tool checks).

use serde_json::Value;

use super::address::{StepAddress, Stop};
use super::model::{Document, ToolCall, ToolResult};

/// The identity of a call. Printed as `main:4#0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallAddress<'d> {
    /// The step that calls.
    pub step: StepAddress<'d>,
    /// From 0, within the step.
    pub index: usize,
}

impl std::fmt::Display for CallAddress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}#{}", self.step, self.index)
    }
}

/// One tool call with what came back.
#[derive(Debug, Clone, Copy)]
pub struct Call<'d> {
    /// Which call.
    pub address: CallAddress<'d>,
    /// The call as recorded.
    pub call: &'d ToolCall,
    results: &'d [ToolResult],
}

impl<'d> Call<'d> {
    /// The tool's name.
    pub fn name(&self) -> &'d str {
        &self.call.name
    }

    /// An object in a conformant file.
    pub fn arguments(&self) -> &'d Value {
        &self.call.arguments
    }

    /// Its results in array order; several are rare, none is common for a final call.
    pub fn results(&self) -> impl Iterator<Item = &'d ToolResult> {
        let results = self.results;
        self.call.results.iter().map(move |index| &results[*index])
    }
}

impl Document {
    /// Every call of the main trajectory and its subagents, in the one canonical order: depth first, a subagent's calls
    /// right after the call whose result first refers to it (after the step's calls, when the result is linked to
    /// none), subagents that nothing refers to after the steps of the trajectory that embeds them, array order inside a
    /// step. Copied context is skipped: it repeats earlier calls.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.walk(true).into_iter().filter_map(|stop| match stop {
            Stop::Call(trajectory, step, index) => {
                let found = &self.trajectories[trajectory].steps[step];
                Some(Call {
                    address: CallAddress {
                        step: self.address(trajectory, step),
                        index,
                    },
                    call: &found.calls[index],
                    results: &found.results,
                })
            }
            Stop::Step(..) => None,
        })
    }
}
