//! Trajectories in ATIF 1.0 to 1.8 (`atif.md`, `runs.md` Trajectories): a tolerant parse, a conformance check, one
//! iterator over all steps with their addresses and one over all tool calls in canonical order.
//!
//! A trajectory is written by the agent under evaluation. Nothing here panics on any JSON, follows a path or loads a
//! file; depth and number of subagents are bounded.

mod address;
mod bytes;
mod calls;
mod check;
mod model;
mod parse;
mod time;
mod value;
mod view;

pub use address::{StepAddress, Visit};
pub use bytes::{CheckReport, check_bytes};
pub use calls::{Call, CallAddress};
pub use model::{
    Agent, Content, Document, Problem, Source, Step, SubagentRef, ToolCall, ToolResult, Trajectory,
};
pub use view::view;

/// Subagents may be embedded this deep below the root.
const MAX_DEPTH: u32 = 32;

/// At most this many trajectories of one document are read.
const MAX_TRAJECTORIES: usize = 5_000;
