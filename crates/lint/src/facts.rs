//! What lint is told about the world (`formats.md`, Lint facts). A fact that is left out is unknown, and rules that
//! need it stay silent; one that is present is complete, even when empty.

use std::collections::{BTreeMap, BTreeSet};

use evalkit_core::overlay::NamedOverlay;
use serde::{Deserialize, Serialize};

use crate::lower::FixtureEntry;

/// The schema of a facts file.
pub const FACTS_SCHEMA: &str = "evalkit.facts/1";

/// Facts about the workspace and the deployment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LintFacts {
    /// [`FACTS_SCHEMA`], when written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// Case ids of the other datasets of the workspace, with their dataset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other_cases: Option<BTreeMap<String, String>>,
    /// Case ids of the `bases`, with their dataset: overlay targets only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_cases: Option<BTreeMap<String, String>>,
    /// Overlays of the other datasets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlays: Option<Vec<NamedOverlay>>,
    /// Custom evaluators registered on the deployment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evaluators: Option<BTreeSet<String>>,
    /// Tool names seen in trajectories and tool checks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<BTreeSet<String>>,
    /// Words of the harness (`config.md`, `jargon`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jargon: Option<Vec<String>>,
    /// A dataset's own subject (`config.md`, `subject_terms`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject_terms: Option<Vec<String>>,
    /// Bytes at hand, by key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture_files: Option<BTreeMap<String, FixtureFile>>,
    /// The fixture registry, when it is not among the documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixtures: Option<BTreeMap<String, FixtureEntry>>,
}

/// The bytes of a fixture, as found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FixtureFile {
    /// 64 lower-case hex digits.
    pub sha256: String,
    /// How many.
    #[serde(default)]
    pub bytes: u64,
}
