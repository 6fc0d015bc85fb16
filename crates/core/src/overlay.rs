//! Overlays and the effective case (`cases.md`, Overlays): `(case, overlays, agent) -> effective case`, pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::case::{Case, RequiredTools, ToolTrajectoryMatch};

/// A client extension of a case, by id, for named agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overlay {
    /// The case id it extends.
    pub extends: String,
    /// Bare agent names, at least one; file defaults already folded in.
    pub agents: Vec<String>,
    /// Tags that only add.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Tool checks and custom config; nothing else is allowed.
    #[serde(default, skip_serializing_if = "OverlayEvaluators::is_empty")]
    pub evaluators: OverlayEvaluators,
}

/// What an overlay may set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OverlayEvaluators {
    /// The two tool checks.
    #[serde(default, skip_serializing_if = "OverlayTrajectory::is_empty")]
    pub trajectory: OverlayTrajectory,
    /// Config of custom evaluators by registered name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub custom: BTreeMap<String, Value>,
}

impl OverlayEvaluators {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.trajectory.is_empty() && self.custom.is_empty()
    }
}

/// The part of `evaluators.trajectory` an overlay may set.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct OverlayTrajectory {
    /// Tools that must each be called at least once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required_tools_called: Option<RequiredTools>,
    /// Expected calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_trajectory_match: Option<ToolTrajectoryMatch>,
}

impl OverlayTrajectory {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.required_tools_called.is_none() && self.tool_trajectory_match.is_none()
    }
}

/// An overlay together with the dataset (or file stem) it comes from, for origins and clash messages.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NamedOverlay {
    /// The overlay's dataset slug, or the file's stem offline.
    pub dataset: String,
    /// The overlay.
    #[serde(flatten)]
    pub overlay: Overlay,
}

/// A case as one agent is graded on it, with the origin of every evaluator and added tag.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EffectiveCase {
    /// The case with the overlays folded in.
    pub case: Case,
    /// Evaluator name (`required_tools_called`, `tool_trajectory_match`, `custom:<name>`, `tag:<tag>`) to the overlay's dataset.
    /// What the case itself carries is not listed.
    pub origins: BTreeMap<String, String>,
}

/// Two overlays, or an overlay and the case, set one evaluator for one agent (`E-OVERLAY-CLASH`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{first} and {second} both set {evaluator} for {agent} on {case}")]
pub struct OverlayClash {
    /// The case id.
    pub case: String,
    /// The agent's bare name.
    pub agent: String,
    /// The evaluator both set.
    pub evaluator: String,
    /// Where it was set first: a dataset, or `the case itself`.
    pub first: String,
    /// Where it was set again.
    pub second: String,
}

/// The bare name of an agent: `support-bot` for `support-bot@mara`.
pub fn bare_agent(agent: &str) -> &str {
    agent.split_once('@').map_or(agent, |(name, _)| name)
}

/// Folds into `case` every overlay that extends it and names `agent` (matched by bare name).
///
/// # Errors
/// The first [`OverlayClash`], in overlay order.
pub fn merge(
    case: &Case,
    overlays: &[NamedOverlay],
    agent: &str,
) -> Result<EffectiveCase, OverlayClash> {
    let agent = bare_agent(agent);
    let mut effective = EffectiveCase {
        case: case.clone(),
        origins: BTreeMap::new(),
    };
    for named in overlays {
        let overlay = &named.overlay;
        if overlay.extends != case.id || !overlay.agents.iter().any(|a| a == agent) {
            continue;
        }
        let clash = |evaluator: &str, first: Option<&String>| OverlayClash {
            case: case.id.clone(),
            agent: agent.to_owned(),
            evaluator: evaluator.to_owned(),
            first: first
                .cloned()
                .unwrap_or_else(|| "the case itself".to_owned()),
            second: named.dataset.clone(),
        };
        let checks = &overlay.evaluators.trajectory;
        let target = &mut effective.case.evaluators;
        if let Some(tools) = &checks.required_tools_called {
            const NAME: &str = "required_tools_called";
            if target.trajectory.required_tools_called.is_some() {
                return Err(clash(NAME, effective.origins.get(NAME)));
            }
            target.trajectory.required_tools_called = Some(tools.clone());
            effective
                .origins
                .insert(NAME.to_owned(), named.dataset.clone());
        }
        if let Some(calls) = &checks.tool_trajectory_match {
            const NAME: &str = "tool_trajectory_match";
            if target.trajectory.tool_trajectory_match.is_some() {
                return Err(clash(NAME, effective.origins.get(NAME)));
            }
            target.trajectory.tool_trajectory_match = Some(calls.clone());
            effective
                .origins
                .insert(NAME.to_owned(), named.dataset.clone());
        }
        for (name, config) in &overlay.evaluators.custom {
            let key = format!("custom:{name}");
            if target.custom.contains_key(name) {
                return Err(clash(&key, effective.origins.get(&key)));
            }
            target.custom.insert(name.clone(), config.clone());
            effective.origins.insert(key, named.dataset.clone());
        }
        for tag in &overlay.tags {
            if !effective.case.tags.contains(tag) {
                effective.case.tags.push(tag.clone());
                effective
                    .origins
                    .insert(format!("tag:{tag}"), named.dataset.clone());
            }
        }
    }
    Ok(effective)
}
