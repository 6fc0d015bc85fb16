//! Case (`web.md`): the contract, with the latest verdicts per agent beside each sentence.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::dataset::AgentCell;
use crate::case::Case as CaseModel;
use crate::grade::Colour;
use crate::overlay::NamedOverlay;
use crate::results::ResultsJudge;
use crate::verdict::{CheckVerdict, FigureResult, Unscored, Verdict};

/// The page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its workspace.
    pub workspace: String,
    /// Its dataset.
    pub dataset: String,
    /// The version shown.
    pub version: u32,
    /// The newest version.
    pub newest: u32,
    /// No longer in the files.
    pub archived: bool,
    /// The contract.
    pub case: CaseModel,
    /// The original YAML of this version.
    pub yaml: String,
    /// Hex.
    pub content_hash: String,
    /// The registry's facts on each fixture, in the case's order.
    pub files: Vec<FixtureFile>,
    /// Overlays that extend this case.
    pub overlays: Vec<NamedOverlay>,
    /// The latest result of each agent on this case, pinned order.
    pub agents: Vec<AgentVerdicts>,
    /// Newest first.
    pub versions: Vec<VersionRow>,
    /// Verdict strip: every trial's run, oldest first, per agent.
    pub history: Vec<HistoryRow>,
    /// May this viewer run it.
    pub may_run: bool,
    /// Agents this viewer can pick for a run.
    pub runnable_agents: Vec<String>,
}

/// A fixture of the case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureFile {
    /// The key.
    pub key: String,
    /// What it is.
    pub context: String,
    /// Hex.
    pub sha256: String,
    /// Absent when the bytes are not here.
    pub bytes: Option<u64>,
}

/// One agent's latest result on this case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentVerdicts {
    /// The agent.
    pub agent: String,
    /// Which run, colour and count.
    pub cell: AgentCell,
    /// The trial shown (the first that is not green).
    pub trial: u32,
    /// The case version it was measured on; the page says so when it is not the one shown.
    pub version: u32,
    /// Who judged.
    pub judge: ResultsJudge,
    /// Per answer rubric in case order; empty when the agent erred or the version differs in its rubrics.
    pub rubrics: Vec<RubricCell>,
    /// Per trajectory rubric.
    pub trajectory: Vec<EntryCell>,
    /// Per presentation entry, `require` then `forbid`.
    pub presentation: Vec<EntryCell>,
    /// Other evaluators (`max_response_time`, tool checks, `expect`, metrics, custom): name to result.
    pub checks: BTreeMap<String, CheckCell>,
    /// Why the agent gave no answer.
    pub error: Option<String>,
}

/// One rubric's verdict beside its sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricCell {
    /// Absent when unscored.
    pub verdict: Option<Verdict>,
    /// Why.
    pub unscored: Option<Unscored>,
    /// Absent when no source is asked for or none was judged.
    pub source: Option<Verdict>,
    /// Arithmetic's view.
    pub second_opinion: Option<FigureResult>,
    /// Judge and arithmetic disagree.
    pub needs_a_look: bool,
    /// A person overrode it.
    pub overridden: bool,
}

/// One entry's verdict.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryCell {
    /// Absent when unscored or skipped.
    pub verdict: Option<CheckVerdict>,
    /// Why unscored.
    pub unscored: Option<Unscored>,
    /// Why skipped.
    pub skipped: Option<String>,
}

/// One check's result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CheckCell {
    /// Absent = skipped, error or unscored; `why` then says so.
    pub met: Option<bool>,
    /// In words: "31.4 s", "2 of 2", "1 of 3".
    pub text: String,
    /// A skip's or error's reason.
    pub why: Option<String>,
    /// Where it comes from: absent = the case itself, else the overlay's dataset.
    pub origin: Option<String>,
}

/// One version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionRow {
    /// From 1.
    pub version: u32,
    /// `sync`, `browser` or `suggestion`.
    pub origin: String,
    /// Who.
    pub by: String,
    /// Microseconds.
    pub at: i64,
}

/// One agent's row of the strip.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryRow {
    /// The agent.
    pub agent: String,
    /// Oldest first.
    pub cells: Vec<HistoryCell>,
}

/// One run of the case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryCell {
    /// The run's number.
    pub run: i64,
    /// Of the case in that run.
    pub colour: Colour,
    /// The case version.
    pub version: u32,
    /// Microseconds.
    pub at: i64,
}
