//! What the deployment decides and the engine needs to know. Read by the composition root, never from the environment.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::adapter::REPLY_CAP;
use crate::egress::EgressSettings;
use crate::judge::{JudgeConfig, JudgePace};

/// Deployment facts for the engine.
#[derive(Clone)]
pub struct EngineSettings {
    /// Which addresses may be called.
    pub egress: EgressSettings,
    /// The judge of new experiments.
    pub judge: JudgeConfig,
    /// The judge that is asked where that one reaches nothing.
    pub second_judge: Option<JudgeConfig>,
    /// Keys of judges by the environment variable that holds them.
    pub judge_keys: HashMap<String, String>,
    /// How patient judges are.
    pub judge_pace: JudgePace,
    /// Where a relative `judge.file` is read from: the folder of `config.yaml`.
    pub config_folder: PathBuf,
    /// Secrets of `config.yaml` agents by name, read from where the file says.
    pub config_agent_secrets: HashMap<String, String>,
    /// How long a worker may hold a trial without saying that it lives.
    pub lease: Duration,
    /// The largest agent reply, bytes.
    pub reply_cap: u64,
    /// How long a stop waits for calls in flight.
    pub drain: Duration,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            egress: EgressSettings::default(),
            judge: JudgeConfig::default(),
            second_judge: None,
            judge_keys: HashMap::new(),
            judge_pace: JudgePace::default(),
            config_folder: PathBuf::new(),
            config_agent_secrets: HashMap::new(),
            lease: Duration::from_secs(30),
            reply_cap: REPLY_CAP,
            drain: Duration::from_secs(12),
        }
    }
}
