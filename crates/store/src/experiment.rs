//! Experiments: a frozen list of case versions, an agent and a judge (`runs.md`, Experiments).

use std::collections::BTreeMap;

use evalkit_core::agent::{AgentConfig, AgentHome};
use evalkit_core::grade::Colour;
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

/// The colour of a case over its trials (`grading.md`: green when all are, red when none is, else flaky; neither while
/// none of them is green or red).
pub(crate) fn case_colour(trials: &[Colour]) -> Colour {
    if let [one] = trials {
        return *one;
    }
    let count = |wanted: Colour| trials.iter().filter(|c| **c == wanted).count();
    let (green, red) = (count(Colour::Green), count(Colour::Red));
    if green == trials.len() && green > 0 {
        return Colour::Green;
    }
    if green > 0 && red > 0 {
        return Colour::Flaky;
    }
    let worst = [
        Colour::Open,
        Colour::Error,
        Colour::Unscored,
        Colour::Cancelled,
        Colour::Skipped,
    ]
    .into_iter()
    .find(|colour| count(*colour) > 0);
    match worst {
        Some(Colour::Open) => Colour::Open,
        _ if red > 0 => Colour::Red,
        Some(colour) => colour,
        None => Colour::Open,
    }
}
