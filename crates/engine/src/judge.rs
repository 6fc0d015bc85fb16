//! Judges as a deployment configures them (`grading.md`, The judge). Those that need no network are the core's; those that
//! ask a model live here: providers, the transport with its breaker, the ledger of calls. What a model is asked, how its
//! reply is read and what follows is the core's too.

mod breaker;
mod config;
mod demo;
mod endpoint;
mod ledger;
mod model;
mod pace;
pub(crate) mod provider;

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

pub use config::{JudgeConfig, JudgeConfigError, JudgePrices, JudgeProvider};
pub use demo::DemoJudge;
pub use endpoint::Endpoints;
pub use ledger::Ledger;
pub use model::ModelJudge;
pub use pace::JudgePace;

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
    /// Asks a model.
    Model(Arc<ModelJudge>),
    /// The judge that an experiment was frozen on can no longer be opened; it leaves everything unscored and says why.
    Gone(Arc<str>),
}

/// A judge as an experiment keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Frozen {
    Demo {
        agent: String,
    },
    Config(JudgeConfig),
    Pair {
        judge: JudgeConfig,
        second: JudgeConfig,
    },
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
    /// The judge that `config` describes, with the `second` to ask where it reaches nothing. A relative `file` is read from
    /// below `folder`.
    ///
    /// # Errors
    /// [`JudgeConfigError`] with the key and what to write instead.
    pub fn open(
        config: &JudgeConfig,
        second: Option<&JudgeConfig>,
        folder: &Path,
        endpoints: &Endpoints,
    ) -> Result<Self, JudgeConfigError> {
        config.check()?;
        if second.is_some() && !config.calls_a_model() {
            return Err(JudgeConfigError::NoFirst(config.provider));
        }
        match config.provider {
            JudgeProvider::Offline => Ok(Self::Offline),
            JudgeProvider::Fake => Ok(Self::Fake),
            JudgeProvider::Replay => {
                let file = config.file.as_deref().unwrap_or(Path::new(""));
                Ok(Self::Replay(Arc::new(read_replies(&folder.join(file))?)))
            }
            JudgeProvider::OpenAi
            | JudgeProvider::OpenAiCompatible
            | JudgeProvider::Anthropic
            | JudgeProvider::Google => {
                let judge = ModelJudge::open(config, second, endpoints)?;
                Ok(Self::Model(Arc::new(judge)))
            }
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
        endpoints: &Endpoints,
    ) -> Result<(Self, Value), JudgeConfigError> {
        let (judge, frozen) = match DemoAgent::named(&agent.name) {
            Some(demo)
                if *home == AgentHome::BuiltIn
                    && settings.judge.provider == JudgeProvider::Offline =>
            {
                let agent = demo.name().to_owned();
                (Self::Demo(DemoJudge::new(demo)), Frozen::Demo { agent })
            }
            _ => {
                let (judge, second) = (&settings.judge, settings.second_judge.as_ref());
                let frozen = match second {
                    None => Frozen::Config(judge.clone()),
                    Some(second) => Frozen::Pair {
                        judge: judge.clone(),
                        second: second.clone(),
                    },
                };
                (
                    Self::open(judge, second, &settings.config_folder, endpoints)?,
                    frozen,
                )
            }
        };
        // Plain data with text keys always has a JSON form.
        Ok((judge, serde_json::to_value(frozen).unwrap_or_default()))
    }

    /// The judge that an experiment was frozen on.
    pub(crate) fn frozen(kept: &Value, settings: &EngineSettings, endpoints: &Endpoints) -> Self {
        let gone = |why: String| Self::Gone(why.into());
        let open = |config: &JudgeConfig, second: Option<&JudgeConfig>| {
            Self::open(config, second, &settings.config_folder, endpoints)
                .unwrap_or_else(|error| gone(format!("The run's judge cannot be used: {error}.")))
        };
        match Frozen::deserialize(kept) {
            Ok(Frozen::Demo { agent }) => match DemoAgent::named(&agent) {
                Some(agent) => Self::Demo(DemoJudge::new(agent)),
                None => gone(format!("There are no recorded verdicts for {agent}.")),
            },
            Ok(Frozen::Config(config)) => open(&config, None),
            Ok(Frozen::Pair { judge, second }) => open(&judge, Some(&second)),
            Err(_) => gone("The run does not say which judge it was frozen on.".to_owned()),
        }
    }

    /// Asks the judge. Never fails: what could not be judged is unscored in the entries. A judge that asks a model keeps its
    /// calls in the ledger; dropping the future ends its calls.
    pub async fn judge(&self, task: &Arc<JudgeTask>, ledger: &Ledger) -> Judgement {
        match self {
            Self::Model(model) => model.judge(Arc::clone(task), ledger).await,
            here => here.judge_here(task),
        }
    }

    /// Whether asking this judge takes calls.
    pub const fn calls_a_model(&self) -> bool {
        matches!(self, Self::Model(_))
    }

    /// What a judge says that needs nobody else.
    pub(crate) fn judge_here(&self, task: &JudgeTask) -> Judgement {
        match self {
            Self::Model(_) => Judgement {
                entries: task.all_unscored(
                    Unscored::ProviderError,
                    "A judge model was not asked. This is a fault of Evalkit; please report it.",
                ),
                stamp: self.stamp(),
            },
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
            Self::Model(model) => model.stamp(),
        }
    }

    /// As results name it.
    pub fn describe(&self) -> ResultsJudge {
        let stamp = self.stamp();
        let asked = |judged: &&Judged| {
            !self.calls_a_model() || evalkit_core::judge::prompt::version(**judged).is_some()
        };
        ResultsJudge {
            templates: Judged::ALL
                .iter()
                .filter(asked)
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
