//! Experiments: a frozen list of case versions, an agent and a judge (`runs.md`, Experiments).

pub(crate) mod control;
pub(crate) mod create;
pub(crate) mod event;

use std::collections::BTreeMap;

use evalkit_core::agent::{AgentConfig, AgentHome};
use evalkit_core::results::ResultsJudge;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::SecretRef;

/// What an experiment was measured on. Written once, at its making.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frozen {
    /// The agent's configuration at that moment.
    pub agent: AgentConfig,
    /// Where it was defined.
    pub agent_home: AgentHome,
    /// Its stored secret; voided when the agent's address changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<SecretRef>,
    /// The judge as results name it, with template versions.
    pub judge: ResultsJudge,
    /// The judge's settings without secrets, for the engine.
    #[serde(default)]
    pub judge_settings: Value,
    /// Case ids chosen by hand; empty = the whole dataset or split.
    #[serde(default)]
    pub case_ids: Vec<String>,
    /// Cases left out because they need ground truth.
    #[serde(default)]
    pub left_out: Vec<String>,
    /// Overlay datasets that took part.
    #[serde(default)]
    pub overlays: Vec<String>,
    /// Verdicts are asked anew even when a stored one would fit.
    #[serde(default)]
    pub no_cache: bool,
    /// Bars other than 1.0, by score name.
    #[serde(default)]
    pub bars: BTreeMap<String, f64>,
}
