//! `judge` of `config.yaml`, and `--judge` of the command (`grading.md`, The judge).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

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
        }
    }
}

/// A configuration that names no usable judge.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JudgeConfigError {
    /// A provider of a later version.
    #[error(
        "`judge.provider: {}` is not part of this version; it judges with `offline`, `replay` or `fake`",
        .0.as_str()
    )]
    NotBuiltIn(JudgeProvider),
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
    use crate::judge::Judge;
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
            (r#"{"provider": "anthropic"}"#, "anthropic"),
            (
                r#"{"provider": "replay", "file": "missing.jsonl"}"#,
                "missing.jsonl",
            ),
        ] {
            let error = Judge::open(&config(text).unwrap(), Path::new("")).unwrap_err();
            assert!(error.to_string().contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn a_broken_file_of_replies_names_its_lines() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("r.jsonl"), "{}\nnope\n").unwrap();
        let config = JudgeConfig::from_flag("replay:r.jsonl").unwrap();
        let error = Judge::open(&config, folder.path()).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
