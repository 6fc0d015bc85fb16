//! Tool checks over recorded calls: `required_tools_called` and `tool_trajectory_match` (`grading.md`, Tool checks).

mod args;
mod assign;

use serde_json::Value;

use crate::atif::Document;
use crate::case::{ExpectedCall, RequiredTools, ToolTrajectoryMatch};
use crate::explanation::{ToolMatch, ToolMatchEntry, ToolsCalled};
use crate::run::RecordedCall;
use args::{Difference, Pattern};
use assign::Grid;

/// A recorded call as the checks see it.
#[derive(Debug, Clone, PartialEq)]
pub struct ActualCall {
    /// Which call: `main:4#0`, or `call#0` where the harness records calls without a trajectory.
    pub address: String,
    /// The tool.
    pub name: String,
    /// An object in a conformant record.
    pub arguments: Value,
}

/// The calls of a trajectory in canonical order, copied context left out.
pub fn calls_of(document: &Document) -> Vec<ActualCall> {
    document
        .calls()
        .map(|call| ActualCall {
            address: call.address.to_string(),
            name: call.name().to_owned(),
            arguments: call.arguments().clone(),
        })
        .collect()
}

/// The calls of a harness that has no trajectory, in the order given.
pub fn calls_recorded(calls: &[RecordedCall]) -> Vec<ActualCall> {
    calls
        .iter()
        .enumerate()
        .map(|(index, call)| ActualCall {
            address: format!("call#{index}"),
            name: call.name.clone(),
            arguments: Value::Object(call.args.clone()),
        })
        .collect()
}

/// Which of the listed tools were called at least once; both lists in the case's order.
pub fn required_tools_called(check: &RequiredTools, calls: &[ActualCall]) -> ToolsCalled {
    let (called, missing) = check
        .tools
        .iter()
        .cloned()
        .partition(|tool| calls.iter().any(|call| call.name == *tool));
    ToolsCalled { called, missing }
}

/// Assigns calls to expected calls, each call to at most one, and says of every other entry why it has none.
///
/// Unordered: as many entries as possible. Ordered: the longest assignment in which entries and calls go up together.
/// Of equally large assignments, the one that uses the earliest calls; among these, earlier entries are served first and
/// take the earlier calls, so that of equal entries the later one stays unmatched.
pub fn tool_trajectory_match(check: &ToolTrajectoryMatch, calls: &[ActualCall]) -> ToolMatch {
    let patterns: Vec<Pattern> = check.expected.iter().map(Pattern::new).collect();
    let texts = args::Texts::new(&patterns, calls);
    let grid = Grid::new(check.expected.len(), calls.len(), |entry, call| {
        check.expected[entry].name == calls[call].name
            && patterns[entry].fits(&calls[call].arguments, texts.of(call))
    });
    let assigned = if check.ordered {
        assign::ordered(&grid)
    } else {
        assign::unordered(&grid)
    };
    let mut taken: Vec<Option<usize>> = vec![None; calls.len()];
    for (entry, call) in assigned.iter().enumerate() {
        if let Some(call) = call {
            taken[*call] = Some(entry);
        }
    }
    let entries: Vec<ToolMatchEntry> = check
        .expected
        .iter()
        .enumerate()
        .map(|(index, expected)| {
            let mut entry = ToolMatchEntry {
                index: index as u64,
                name: expected.name.clone(),
                ..ToolMatchEntry::default()
            };
            match assigned[index] {
                Some(call) => {
                    entry.matched = true;
                    entry.call = Some(calls[call].address.clone());
                }
                None => explain(&mut entry, expected, &patterns[index], calls, &grid, &taken),
            }
            entry
        })
        .collect();
    ToolMatch {
        matched: entries.iter().filter(|entry| entry.matched).count() as u64,
        entries,
    }
}

/// Why an entry has no call, with the call that came closest.
fn explain(
    entry: &mut ToolMatchEntry,
    expected: &ExpectedCall,
    pattern: &Pattern,
    calls: &[ActualCall],
    grid: &Grid,
    taken: &[Option<usize>],
) {
    let index = usize::try_from(entry.index).unwrap_or(usize::MAX);
    let fitting: Vec<usize> = (0..calls.len()).filter(|c| grid.fits(index, *c)).collect();
    if let Some(free) = fitting.iter().find(|call| taken[**call].is_none()) {
        let address = &calls[*free].address;
        entry.reason = Some("out of order".to_owned());
        entry.detail = Some(format!(
            "{address} fits, but does not come in the expected order"
        ));
        entry.closest = Some(address.clone());
        return;
    }
    if let Some(used) = fitting.first() {
        let address = &calls[*used].address;
        entry.reason = Some("no available matching call".to_owned());
        entry.detail = Some(match taken[*used] {
            Some(other) => format!("{address} fits, but already stands for entry {}", other + 1),
            None => format!("{address} fits"),
        });
        entry.closest = Some(address.clone());
        return;
    }
    let closest = calls
        .iter()
        .filter(|call| call.name == expected.name)
        .map(|call| (call, pattern.differences(&call.arguments)))
        // The first of equally close ones.
        .min_by_key(|(_, differences)| differences.len());
    match closest {
        None => {
            entry.reason = Some("name miss".to_owned());
            entry.detail = Some(if calls.is_empty() {
                "no tool was called".to_owned()
            } else {
                format!("no call of {} calls has this name", calls.len())
            });
        }
        Some((call, differences)) => {
            entry.reason = Some("args mismatch".to_owned());
            entry.detail = Some(format!(
                "closest call {}: {}",
                call.address,
                Difference::list(&differences)
            ));
            entry.closest = Some(call.address.clone());
            entry.differing = differences.into_iter().map(|d| d.key).collect();
        }
    }
}
