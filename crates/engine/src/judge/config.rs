//! `judge` of `config.yaml`, and `--judge` of the command (`grading.md`, The judge).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::provider::{self, Provider};

/// The providers of `grading.md`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are the specification's own")]
pub enum JudgeProvider {
    #[default]
    Offline,
    Fake,
    Replay,
    #[serde(rename = "openai")]
    OpenAi,
    #[serde(rename = "openai-compatible")]
    OpenAiCompatible,
    Anthropic,
    #[serde(alias = "gemini")]
    Google,
}

impl JudgeProvider {
    /// As configurations spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Fake => "fake",
            Self::Replay => "replay",
            Self::OpenAi => "openai",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Anthropic => "anthropic",
            Self::Google => "google",
        }
    }
}

/// A judge's configuration. It names secrets and holds none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgeConfig {
    /// Who judges.
    #[serde(default)]
    pub provider: JudgeProvider,
    /// The API's base address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The environment variable that holds the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// 0 where the model takes it.
    #[serde(default)]
    pub temperature: f64,
    /// What the model reads at once, tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_context_tokens: Option<u64>,
    /// Calls at once.
    #[serde(default = "eight")]
    pub concurrency: u32,
    /// Replies, for `replay` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Odd; more than one is a majority per verdict.
    #[serde(default = "one")]
    pub votes: u32,
    /// What the model costs, to know what judging cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<JudgePrices>,
}

/// Dollars a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JudgePrices {
    /// Read by the model.
    pub input: f64,
    /// Written by it.
    pub output: f64,
}

impl JudgePrices {
    /// Dollars for a call; absent when the prices are no numbers.
    pub fn cost(self, input_tokens: u64, output_tokens: u64) -> Option<f64> {
        #[expect(
            clippy::cast_precision_loss,
            reason = "tokens of a call stay far below 2^52"
        )]
        let cost = (self.input * input_tokens as f64 + self.output * output_tokens as f64) / 1e6;
        cost.is_finite().then_some(cost)
    }
}

const fn eight() -> u32 {
    8
}

const fn one() -> u32 {
    1
}

impl Default for JudgeConfig {
    fn default() -> Self {
        Self {
            provider: JudgeProvider::Offline,
            base_url: None,
            model: None,
            api_key_env: None,
            temperature: 0.0,
            max_context_tokens: None,
            concurrency: eight(),
            file: None,
            votes: one(),
            prices: None,
        }
    }
}

/// A configuration that names no usable judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeConfigError {
    /// `second_judge` with a provider that calls no model.
    #[error("`provider: {}` calls no model; a second judge is one that does", .0.as_str())]
    NoModel(JudgeProvider),
    /// The variable with the provider's key is not set.
    #[error(
        "the judge's key is read from {0}, which is not set; set it in the environment, or name another with `judge.api_key_env`"
    )]
    NoKey(String),
    /// `base_url` cannot be called.
    #[error("`judge.base_url` cannot be called: {0}")]
    Address(String),
    /// A second judge beside one that cannot need it.
    #[error("`second_judge` stands beside a judge that calls a model, and `judge.provider` is {}", .0.as_str())]
    NoFirst(JudgeProvider),
    /// What is wrong is wrong with `second_judge`.
    #[error("`second_judge`: {0}")]
    Second(Box<JudgeConfigError>),
    /// A key with a value that cannot be.
    #[error("`judge.{key}` {why}")]
    Key {
        /// Below `judge`.
        key: &'static str,
        /// What is wrong, and what to write.
        why: &'static str,
    },
    /// The file of replies.
    #[error("the judge's replies in {path} cannot be used: {why}")]
    File {
        /// As written.
        path: String,
        /// Why.
        why: String,
    },
    /// `--judge` with something else.
    #[error("`{0}` is no judge; write `offline`, `fake`, `replay:FILE` or `config`")]
    Flag(String),
}

impl JudgeConfig {
    /// Reads `offline`, `fake` or `replay:FILE` as commands take them (`formats.md`, Commands that need no server).
    ///
    /// # Errors
    /// [`JudgeConfigError::Flag`] for anything else.
    pub fn from_flag(text: &str) -> Result<Self, JudgeConfigError> {
        let provider = |provider| Self {
            provider,
            ..Self::default()
        };
        match text.split_once(':') {
            None if text == "offline" => Ok(provider(JudgeProvider::Offline)),
            None if text == "fake" => Ok(provider(JudgeProvider::Fake)),
            Some(("replay", file)) if !file.is_empty() => Ok(Self {
                file: Some(PathBuf::from(file)),
                ..provider(JudgeProvider::Replay)
            }),
            _ => Err(JudgeConfigError::Flag(text.to_owned())),
        }
    }

    /// The keys of `judge` in `config.yaml`.
    pub const KEYS: &'static [&'static str] = &[
        "provider",
        "base_url",
        "model",
        "api_key_env",
        "temperature",
        "max_context_tokens",
        "concurrency",
        "file",
        "votes",
        "prices",
    ];

    /// The configuration of a judge from what a file says under `judge`, with environment variables over it:
    /// `EVALKIT_JUDGE_MODEL` over `judge.model`. `prefix` is `EVALKIT_JUDGE_` or `EVALKIT_SECOND_JUDGE_`. `None` when
    /// neither says anything.
    pub fn layered(
        file: Option<&Value>,
        prefix: &str,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Option<Value> {
        let mut judge = file.and_then(Value::as_object).cloned();
        for key in Self::KEYS {
            let Some(text) = variable(&format!("{prefix}{}", key.to_uppercase())) else {
                continue;
            };
            let value = match *key {
                "temperature" | "max_context_tokens" | "concurrency" | "votes" | "prices" => {
                    serde_json::from_str(&text).unwrap_or_else(|_| text.into())
                }
                _ => text.into(),
            };
            judge
                .get_or_insert_with(serde_json::Map::new)
                .insert((*key).to_owned(), value);
        }
        judge.map(Value::Object)
    }

    /// Whether this judge asks a model.
    pub fn calls_a_model(&self) -> bool {
        provider::of(self.provider).is_some()
    }

    /// The environment variable that holds the key of this judge, if it has one.
    pub fn key_in(&self) -> Option<&str> {
        self.key_variable(provider::of(self.provider)?)
    }

    pub(super) fn key_variable(&self, provider: &'static dyn Provider) -> Option<&str> {
        self.api_key_env
            .as_deref()
            .or_else(|| provider.key_variable())
    }

    pub(super) fn base_url(&self, provider: &'static dyn Provider) -> Option<&str> {
        self.base_url.as_deref().or_else(|| provider.base_url())
    }

    /// Checks what can be checked without opening anything.
    ///
    /// # Errors
    /// The first key that is wrong.
    pub fn check(&self) -> Result<(), JudgeConfigError> {
        let key = |key, why| Err(JudgeConfigError::Key { key, why });
        if self.votes.is_multiple_of(2) {
            return key(
                "votes",
                "is odd, so that a majority exists: write 1, 3 or 5",
            );
        }
        if self.concurrency == 0 {
            return key("concurrency", "is at least 1");
        }
        if !(0.0..=2.0).contains(&self.temperature) {
            return key("temperature", "lies between 0 and 2");
        }
        if let Some(prices) = self.prices
            && ![prices.input, prices.output]
                .iter()
                .all(|price| (0.0..1e6).contains(price))
        {
            return key(
                "prices",
                "are dollars a million tokens: write {input: 2.5, output: 10}",
            );
        }
        match (self.provider, &self.file) {
            (JudgeProvider::Replay, None) => key("file", "names the replies that `replay` reads"),
            (JudgeProvider::Replay, Some(_)) | (_, None) => Ok(()),
            (_, Some(_)) => key("file", "belongs to the provider `replay` only"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Endpoints, Judge};
    use std::path::Path;

    #[test]
    fn flags() {
        assert_eq!(
            JudgeConfig::from_flag("replay:a:b.jsonl").map(|c| c.file),
            Ok(Some(PathBuf::from("a:b.jsonl")))
        );
        assert_eq!(
            JudgeConfig::from_flag("fake").map(|c| c.provider),
            Ok(JudgeProvider::Fake)
        );
        for bad in ["", "replay", "replay:", "openai", "Offline", "offline:x"] {
            assert!(JudgeConfig::from_flag(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn wrong_configurations_say_what_to_write() {
        let config = |text: &str| serde_json::from_str::<JudgeConfig>(text);
        assert!(config(r#"{"provider": "ofline"}"#).is_err());
        assert!(config(r#"{"modell": "x"}"#).is_err());
        assert_eq!(
            config(r#"{"provider": "gemini"}"#).map(|c| c.provider).ok(),
            Some(JudgeProvider::Google)
        );
        for (text, part) in [
            (r#"{"votes": 2}"#, "votes"),
            (r#"{"concurrency": 0}"#, "concurrency"),
            (r#"{"temperature": 3}"#, "temperature"),
            (r#"{"provider": "replay"}"#, "judge.file"),
            (r#"{"file": "x"}"#, "replay"),
            (r#"{"provider": "anthropic"}"#, "judge.model"),
            (r#"{"provider": "openai", "model": "m"}"#, "OPENAI_API_KEY"),
            (
                r#"{"provider": "openai-compatible", "model": "m"}"#,
                "judge.base_url",
            ),
            (
                r#"{"provider": "openai-compatible", "model": "m", "base_url": "ftp://x"}"#,
                "judge.base_url",
            ),
            (
                r#"{"provider": "openai-compatible", "model": "m", "base_url": "http://169.254.169.254/v1"}"#,
                "judge.base_url",
            ),
            (r#"{"prices": {"input": -1, "output": 2}}"#, "judge.prices"),
            (
                r#"{"provider": "replay", "file": "missing.jsonl"}"#,
                "missing.jsonl",
            ),
        ] {
            let error = Judge::open(
                &config(text).unwrap(),
                None,
                Path::new(""),
                &Endpoints::none(),
            )
            .unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn the_environment_stands_over_the_file() {
        let file = serde_json::json!({"provider": "offline", "concurrency": 4});
        let layered = |file: Option<&Value>, set: &[(&str, &str)]| {
            JudgeConfig::layered(file, "EVALKIT_JUDGE_", |name| {
                set.iter()
                    .find(|(key, _)| *key == name)
                    .map(|(_, value)| (*value).to_owned())
            })
        };
        let judge = layered(
            Some(&file),
            &[
                ("EVALKIT_JUDGE_PROVIDER", "openai"),
                ("EVALKIT_JUDGE_PRICES", r#"{"input": 1, "output": 2}"#),
            ],
        )
        .unwrap();
        assert_eq!(judge["provider"], "openai");
        assert_eq!(judge["concurrency"], 4);
        assert_eq!(judge["prices"]["output"], 2);
        assert_eq!(layered(None, &[]), None);
    }

    #[test]
    fn a_call_costs_what_the_prices_say() {
        let prices = JudgePrices {
            input: 2.5,
            output: 10.0,
        };
        assert_eq!(prices.cost(1_000_000, 100_000), Some(3.5));
        assert_eq!(prices.cost(0, 0), Some(0.0));
    }

    #[test]
    fn a_broken_file_of_replies_names_its_lines() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r.jsonl"), "{}\nnope\n").unwrap();
        let config = JudgeConfig::from_flag("replay:r.jsonl").unwrap();
        let error = Judge::open(&config, None, folder.path(), &Endpoints::none()).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
