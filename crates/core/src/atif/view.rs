//! A trajectory ready to read (`web.md`, Result): bounded texts, pretty arguments, calls with their results.

use std::collections::BTreeMap;

use serde_json::Value;

use super::model::{Content, Document, Step, SubagentRef, ToolCall};
use crate::view::result::{CallView, StepView, TrajectoryView};

/// Characters of a message, a result or a reasoning text that a page shows; the download has all of it.
const TEXT: usize = 20_000;

/// Characters of a call's arguments that a page shows.
const ARGUMENTS: usize = 10_000;

/// Characters of a title.
const TITLE: usize = 100;

/// Steps that a page shows.
const STEPS: usize = 2_000;

/// Problems that a page lists.
const PROBLEMS: usize = 50;

/// The trajectory as the result page shows it.
pub fn view(document: &Document) -> TrajectoryView {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for call in document.calls() {
        *counts.entry(call.name()).or_default() += 1;
    }
    let mut tools: Vec<(String, u64)> = counts.iter().map(|(n, c)| (clip(n, TITLE), *c)).collect();
    tools.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let visits: Vec<_> = document.steps().collect();
    let start = visits.iter().find_map(|v| v.step.at);
    let mut problems: Vec<String> = document
        .errors()
        .iter()
        .take(PROBLEMS)
        .map(ToString::to_string)
        .collect();
    if document.errors().len() > PROBLEMS {
        problems.push(format!(
            "{} more, which `evalkit atif check` lists",
            document.errors().len() - PROBLEMS
        ));
    }
    if visits.len() > STEPS {
        problems.push(format!(
            "the first {STEPS} of {} steps are shown; the download has all of them",
            visits.len()
        ));
    }
    TrajectoryView {
        steps: visits
            .iter()
            .take(STEPS)
            .map(|v| {
                let depth = document.trajectories()[v.address.trajectory].depth;
                step(document, v.step, &v.address.to_string(), depth, start)
            })
            .collect(),
        documents: document.trajectories()[1..]
            .iter()
            .map(|t| {
                let title = format!("{} {}", t.agent.name, t.agent.version);
                (t.alias.clone(), clip(title.trim(), TITLE))
            })
            .collect(),
        tool_calls: counts.values().sum(),
        problems,
        tools,
    }
}

fn step(
    document: &Document,
    step: &Step,
    address: &str,
    depth: u32,
    start: Option<i64>,
) -> StepView {
    let mut linked = vec![false; step.results.len()];
    for index in step.calls.iter().flat_map(|call| &call.results) {
        linked[*index] = true;
    }
    let loose = (0..step.results.len()).filter(|index| !linked[*index]);
    let media: Vec<(String, String)> = std::iter::once(&step.message)
        .chain(step.results.iter().map(|r| &r.content))
        .flat_map(media)
        .collect();
    StepView {
        address: address.to_owned(),
        depth,
        source: clip(step.source.as_str(), TITLE),
        title: title(step),
        message: clip(&step.message.text, TEXT),
        reasoning: step.reasoning.as_deref().map(|r| clip(r, TEXT)),
        calls: step
            .calls
            .iter()
            .enumerate()
            .map(|(index, call)| call_view(document, step, call, format!("{address}#{index}")))
            .collect(),
        loose_results: loose
            .map(|index| {
                let result = &step.results[index];
                let names = names(document, &result.subagents);
                if names.is_empty() {
                    clip(&result.content.text, TEXT)
                } else if result.content.text.is_empty() {
                    format!("subagents: {}", names.join(", "))
                } else {
                    format!(
                        "{}\n\nsubagents: {}",
                        clip(&result.content.text, TEXT),
                        names.join(", ")
                    )
                }
            })
            .collect(),
        copied: step.copied,
        side_chain: step.side_chain.as_deref().map(|s| clip(s, TITLE)),
        at_ms: match (step.at, start) {
            (Some(at), Some(start)) => Some(at.saturating_sub(start) / 1_000),
            _ => None,
        },
        tokens: step.tokens,
        media,
    }
}

fn call_view(document: &Document, step: &Step, call: &ToolCall, address: String) -> CallView {
    let results: Vec<&str> = call
        .results
        .iter()
        .map(|index| step.results[*index].content.text.as_str())
        .collect();
    CallView {
        address,
        name: clip(&call.name, TITLE),
        arguments: match &call.arguments {
            Value::String(text) => clip(text, ARGUMENTS),
            Value::Null => String::new(),
            other => clip(
                &serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
                ARGUMENTS,
            ),
        },
        result: (!results.is_empty()).then(|| clip(&results.join("\n\n"), TEXT)),
        subagents: call
            .results
            .iter()
            .flat_map(|index| names(document, &step.results[*index].subagents))
            .collect(),
    }
}

fn names(document: &Document, subagents: &[SubagentRef]) -> Vec<String> {
    subagents
        .iter()
        .map(|reference| match reference {
            SubagentRef::Embedded(at) => document.trajectories()[*at].alias.clone(),
            SubagentRef::NotSupplied(name) => format!("{} (not supplied)", clip(name, TITLE)),
        })
        .collect()
}

fn media(content: &Content) -> impl Iterator<Item = (String, String)> {
    content.media.iter().map(|(kind, path)| {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        (clip(kind, TITLE), clip(name, TITLE))
    })
}

fn title(step: &Step) -> String {
    let text = step.message.text.split_whitespace();
    let mut line = String::new();
    for word in text {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        if line.len() > 4 * TITLE {
            break;
        }
    }
    match step.calls.as_slice() {
        [] if line.is_empty() && !step.results.is_empty() => "result".to_owned(),
        [] => clip(&line, TITLE),
        [one] => clip(&one.name, TITLE),
        [first, others @ ..] => format!("{} and {} more", clip(&first.name, TITLE), others.len()),
    }
}

/// The text, cut at a character limit with a note of how much is missing.
fn clip(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let (kept, cut) = text.split_at(end);
    if limit <= TITLE {
        format!("{kept}…")
    } else {
        format!("{kept}… ({} more characters)", cut.chars().count())
    }
}
