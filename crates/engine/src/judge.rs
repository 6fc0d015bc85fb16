//! Judges as a deployment configures them (`grading.md`, The judge). Those that need no network are the core's; this
//! module reads their configuration, opens their files and asks them.

mod config;
mod demo;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use evalkit_core::agent::{AgentConfig, AgentHome};
use evalkit_core::grade::JudgeStamp;
use evalkit_core::judge::replay::Replay;
use evalkit_core::judge::{JudgeTask, Judged, JudgedEntry, fake, offline};
use evalkit_core::results::ResultsJudge;
use evalkit_core::verdict::Unscored;
use evalkit_core::view::session::JudgeInUse;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::adapter::DemoAgent;
use crate::settings::EngineSettings;

pub use config::{JudgeConfig, JudgeConfigError, JudgeProvider};
pub use demo::DemoJudge;

/// The largest file of replies, bytes.
const REPLIES_CAP: u64 = 256 << 20;

/// A judge, ready to be asked. Cheap to clone.
#[derive(Debug, Clone)]
pub enum Judge {
    /// Deterministic, no model.
    Offline,
    /// Everything satisfied; plumbing only.
    Fake,
    /// Verdicts from a file.
    Replay(Arc<Replay>),
    /// Verdicts recorded for the built-in agents, and the offline judge for everything else.
    Demo(DemoJudge),
    /// The judge that an experiment was frozen on can no longer be opened; it leaves everything unscored and says why.
    Gone(Arc<str>),
}

/// A judge as an experiment keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Frozen {
    Demo { agent: String },
    Config(JudgeConfig),
}

/// What a judge said of one task.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgement {
    /// One an entry of the task, in its order.
    pub entries: Vec<JudgedEntry>,
    /// Who said it.
    pub stamp: JudgeStamp,
}

impl Judge {
    /// The judge that `config` describes. A relative `file` is read from below `folder`.
    ///
    /// # Errors
    /// [`JudgeConfigError`] with the key and what to write instead.
    pub fn open(config: &JudgeConfig, folder: &Path) -> Result<Self, JudgeConfigError> {
        config.check()?;
        match config.provider {
            JudgeProvider::Offline => Ok(Self::Offline),
            JudgeProvider::Fake => Ok(Self::Fake),
            JudgeProvider::Replay => {
                let file = config.file.as_deref().unwrap_or(Path::new(""));
                Ok(Self::Replay(Arc::new(read_replies(&folder.join(file))?)))
            }
            provider => Err(JudgeConfigError::NotBuiltIn(provider)),
        }
    }

    /// The judge for a new experiment against `agent`, and how the experiment keeps it. The built-in agents have recorded
    /// verdicts, which stand in for the offline judge; a judge that was configured is used for them too.
    ///
    /// # Errors
    /// [`JudgeConfigError`], as [`Judge::open`].
    pub(crate) fn for_agent(
        agent: &AgentConfig,
        home: &AgentHome,
        settings: &EngineSettings,
    ) -> Result<(Self, Value), JudgeConfigError> {
        let (judge, frozen) = match DemoAgent::named(&agent.name) {
            Some(demo)
                if *home == AgentHome::BuiltIn
                    && settings.judge.provider == JudgeProvider::Offline =>
            {
                let agent = demo.name().to_owned();
                (Self::Demo(DemoJudge::new(demo)), Frozen::Demo { agent })
            }
            _ => (
                Self::open(&settings.judge, &settings.config_folder)?,
                Frozen::Config(settings.judge.clone()),
            ),
        };
        // Plain data with text keys always has a JSON form.
        Ok((judge, serde_json::to_value(frozen).unwrap_or_default()))
    }

    /// The judge that an experiment was frozen on.
    pub(crate) fn frozen(kept: &Value, settings: &EngineSettings) -> Self {
        let gone = |why: String| Self::Gone(why.into());
        match Frozen::deserialize(kept) {
            Ok(Frozen::Demo { agent }) => match DemoAgent::named(&agent) {
                Some(agent) => Self::Demo(DemoJudge::new(agent)),
                None => gone(format!("There are no recorded verdicts for {agent}.")),
            },
            Ok(Frozen::Config(config)) => Self::open(&config, &settings.config_folder)
                .unwrap_or_else(|error| gone(format!("The run's judge cannot be used: {error}."))),
            Err(_) => gone("The run does not say which judge it was frozen on.".to_owned()),
        }
    }

    /// Asks the judge. Never fails: what could not be judged is unscored in the entries.
    pub fn judge(&self, task: &JudgeTask) -> Judgement {
        match self {
            Self::Offline => Judgement {
                entries: offline::judge(task),
                stamp: offline::stamp(),
            },
            Self::Fake => Judgement {
                entries: fake::judge(task),
                stamp: fake::stamp(),
            },
            Self::Replay(replay) => Judgement {
                entries: replay.judge(task),
                stamp: Replay::stamp(),
            },
            Self::Demo(demo) => demo.judge(task),
            Self::Gone(why) => Judgement {
                entries: task.all_unscored(Unscored::ProviderError, why),
                stamp: self.stamp(),
            },
        }
    }

    fn stamp(&self) -> JudgeStamp {
        match self {
            Self::Offline | Self::Gone(_) => offline::stamp(),
            Self::Fake => fake::stamp(),
            Self::Replay(_) | Self::Demo(_) => Replay::stamp(),
        }
    }

    /// As results name it.
    pub fn describe(&self) -> ResultsJudge {
        let stamp = self.stamp();
        ResultsJudge {
            templates: Judged::ALL
                .iter()
                .map(|judged| (judged.as_str().to_owned(), stamp.template.clone()))
                .collect::<BTreeMap<_, _>>(),
            provider: stamp.provider,
            model: stamp.model,
            quality_signal: stamp.quality_signal,
        }
    }

    /// As the frame of every page names it.
    pub fn in_use(&self) -> JudgeInUse {
        let stamp = self.stamp();
        JudgeInUse {
            provider: stamp.provider,
            model: stamp.model,
            quality_signal: stamp.quality_signal,
        }
    }
}

fn read_replies(path: &Path) -> Result<Replay, JudgeConfigError> {
    let unreadable = |why: String| JudgeConfigError::File {
        path: path.display().to_string(),
        why,
    };
    let bytes = std::fs::metadata(path)
        .map_err(|error| unreadable(error.to_string()))?
        .len();
    if bytes > REPLIES_CAP {
        return Err(unreadable(format!(
            "it is larger than {} MiB",
            REPLIES_CAP >> 20
        )));
    }
    let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
    Replay::parse(&text).map_err(|problems| {
        let shown: Vec<String> = problems.iter().take(5).map(ToString::to_string).collect();
        let more = match problems.len().saturating_sub(shown.len()) {
            0 => String::new(),
            n => format!("; {n} more"),
        };
        unreadable(format!("{}{more}", shown.join("; ")))
    })
}
