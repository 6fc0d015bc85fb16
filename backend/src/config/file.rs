//! `config.yaml`: every key is known, or refused with the nearest one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use evalkit_core::agent::{Adapter, AgentConfig};
use evalkit_engine::egress::AllowRule;
use evalkit_engine::judge::JudgeConfig;
use evalkit_store::{Limits, SecretText};
use serde_json::{Map, Value};

use super::Environment;

/// A configuration that cannot be used: what is wrong and where, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}\n{next}")]
pub struct ConfigError {
    /// What is wrong, one sentence.
    pub what: String,
    /// What to do, one sentence.
    pub next: String,
}

impl ConfigError {
    pub(super) fn new(what: impl Into<String>, next: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            next: next.into(),
        }
    }
}

/// Keys that are in force.
const KEYS: [&str; 10] = [
    "bind",
    "public_url",
    "database_url",
    "data",
    "secret_key_file",
    "judge",
    "second_judge",
    "agents",
    "egress",
    "limits",
];
/// Keys of the full list that this version does not serve yet.
const LATER: [&str; 6] = [
    "blobs",
    "custom_evaluators",
    "oidc",
    "notify",
    "nats_url",
    "telemetry",
];
/// Their variables.
const LATER_VARIABLES: [&str; 3] = [
    "EVALKIT_BLOBS_URL",
    "EVALKIT_NATS_URL",
    "EVALKIT_OIDC_ISSUER",
];
const AGENT_KEYS: [&str; 10] = [
    "name",
    "adapter",
    "url",
    "secret_env",
    "secret_header",
    "model",
    "concurrency",
    "rate_per_s",
    "timeout_s",
    "max_attempts",
];
const LIMIT_KEYS: [&str; 6] = [
    "fixture_bytes",
    "workspace_fixture_bytes",
    "workspace_fixtures",
    "dataset_cases",
    "trials",
    "open_experiments",
];

/// A larger file is none of ours, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The file as written.
#[derive(Debug, Clone, Default)]
pub struct ConfigFile {
    /// `bind`.
    pub bind: Option<String>,
    /// `public_url`.
    pub public_url: Option<String>,
    /// `database_url`; it may hold a password.
    pub database_url: Option<SecretText>,
    /// `data`.
    pub data: Option<PathBuf>,
    /// `secret_key_file`.
    pub secret_key_file: Option<PathBuf>,
    /// `judge`, its keys checked.
    pub judge: Option<Value>,
    /// `second_judge`, its keys checked.
    pub second_judge: Option<Value>,
    /// `agents`.
    pub agents: Vec<AgentConfig>,
    /// Agent to the variable of its secret.
    pub agent_secret_variables: BTreeMap<String, String>,
    /// `egress.allow`.
    pub egress_allow: Vec<AllowRule>,
    /// `limits`.
    pub limits: Limits,
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`] when it cannot be read, is no YAML or holds what is not known.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let unreadable = |why: String| {
            ConfigError::new(
                format!("{} cannot be read: {why}.", path.display()),
                "Check the path given with --config or EVALKIT_CONFIG.",
            )
        };
        let size = std::fs::metadata(path)
            .map_err(|error| unreadable(error.to_string()))?
            .len();
        if size > LONGEST {
            return Err(unreadable(format!(
                "it holds {size} bytes, more than the {LONGEST} of a configuration"
            )));
        }
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(error.to_string()))?;
        Self::parse(&text, &path.display().to_string())
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// As [`ConfigFile::read`].
    pub fn parse(text: &str, name: &str) -> Result<Self, ConfigError> {
        if text
            .lines()
            .all(|line| line.trim().is_empty() || line.trim_start().starts_with('#'))
        {
            return Ok(Self::default());
        }
        let value: Value = serde_saphyr::from_str(text).map_err(|error| {
            ConfigError::new(
                format!("{name} is not valid YAML: {error}"),
                "Correct the line named above.",
            )
        })?;
        let top = object(&value, name, "the file")?;
        closed(top, "", &KEYS, name)?;
        let mut file = Self {
            bind: text_of(top, "bind", name)?,
            public_url: text_of(top, "public_url", name)?,
            database_url: text_of(top, "database_url", name)?.map(SecretText::new),
            data: text_of(top, "data", name)?.map(PathBuf::from),
            secret_key_file: text_of(top, "secret_key_file", name)?.map(PathBuf::from),
            ..Self::default()
        };
        file.judge = judge_of(top, "judge", name)?;
        file.second_judge = judge_of(top, "second_judge", name)?;
        if let Some(egress) = top.get("egress") {
            let egress = object(egress, name, "`egress`")?;
            closed(egress, "egress.", &["allow"], name)?;
            for rule in list_of(egress, "allow", "egress.allow", name)? {
                let text = rule
                    .as_str()
                    .ok_or_else(|| wrong("egress.allow", "a list of hosts or networks", name))?;
                file.egress_allow
                    .push(AllowRule::parse(text).map_err(|error| {
                        ConfigError::new(
                            format!("`egress.allow` in {name}: {error}"),
                            "Write a host or a network, with its port.",
                        )
                    })?);
            }
        }
        if let Some(limits) = top.get("limits") {
            file.limits = limits_of(object(limits, name, "`limits`")?, name)?;
        }
        for agent in list_of(top, "agents", "agents", name)? {
            let (agent, secret) = agent_of(object(agent, name, "an entry of `agents`")?, name)?;
            if let Some(variable) = secret {
                file.agent_secret_variables
                    .insert(agent.name.clone(), variable);
            }
            file.agents.push(agent);
        }
        Ok(file)
    }
}

/// Refuses variables that stand for keys of a later version, so that nobody believes they are in force.
pub(super) fn refuse_later_variables(environment: &Environment) -> Result<(), ConfigError> {
    match LATER_VARIABLES
        .iter()
        .find(|name| environment.get(name).is_some())
    {
        Some(name) => Err(ConfigError::new(
            format!("{name} is set, and this version of Evalkit does not serve it yet."),
            format!("Unset {name}; what it asks for would not be in force."),
        )),
        None => Ok(()),
    }
}

fn object<'a>(
    value: &'a Value,
    name: &str,
    what: &str,
) -> Result<&'a Map<String, Value>, ConfigError> {
    value.as_object().ok_or_else(|| {
        ConfigError::new(
            format!("In {name}, {what} is not a mapping."),
            "Write keys and values, one a line.",
        )
    })
}

fn wrong(key: &str, what: &str, name: &str) -> ConfigError {
    ConfigError::new(
        format!("`{key}` in {name} is not {what}."),
        format!("Write {what}."),
    )
}

/// Every key is one of `known`; else the nearest is named.
fn closed(
    map: &Map<String, Value>,
    prefix: &str,
    known: &[&str],
    name: &str,
) -> Result<(), ConfigError> {
    let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) else {
        return Ok(());
    };
    if prefix.is_empty() && LATER.contains(&key.as_str()) {
        return Err(ConfigError::new(
            format!("`{key}` in {name} is a key of Evalkit that this version does not serve yet."),
            format!("Remove `{key}`; what it asks for would not be in force."),
        ));
    }
    let nearest = known
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(key, candidate), *candidate))
        .min()
        .filter(|(distance, candidate)| *distance <= candidate.len().max(3) / 2);
    Err(ConfigError::new(
        format!("`{prefix}{key}` in {name} is not a key of the configuration."),
        match nearest {
            Some((_, candidate)) => format!("Did you mean `{prefix}{candidate}`?"),
            None => format!("The keys here are: {}.", known.join(", ")),
        },
    ))
}

fn text_of(map: &Map<String, Value>, key: &str, name: &str) -> Result<Option<String>, ConfigError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(wrong(key, "a text", name)),
    }
}

fn list_of<'a>(
    map: &'a Map<String, Value>,
    key: &str,
    full: &str,
    name: &str,
) -> Result<&'a [Value], ConfigError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(&[]),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => Err(wrong(full, "a list", name)),
    }
}

fn whole_of(
    map: &Map<String, Value>,
    key: &str,
    full: &str,
    name: &str,
) -> Result<Option<u64>, ConfigError> {
    match map.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value
            .as_u64()
            .filter(|number| *number > 0)
            .map(Some)
            .ok_or_else(|| wrong(full, "a whole number above 0", name)),
    }
}

fn judge_of(top: &Map<String, Value>, key: &str, name: &str) -> Result<Option<Value>, ConfigError> {
    let Some(judge) = top.get(key) else {
        return Ok(None);
    };
    let keys = object(judge, name, &format!("`{key}`"))?;
    closed(keys, &format!("{key}."), JudgeConfig::KEYS, name)?;
    if let Some(prices) = keys.get("prices") {
        let prices = object(prices, name, &format!("`{key}.prices`"))?;
        closed(
            prices,
            &format!("{key}.prices."),
            &["input", "output"],
            name,
        )?;
    }
    Ok(Some(judge.clone()))
}

fn limits_of(map: &Map<String, Value>, name: &str) -> Result<Limits, ConfigError> {
    closed(map, "limits.", &LIMIT_KEYS, name)?;
    let mut limits = Limits::default();
    for (key, place) in [
        ("fixture_bytes", &mut limits.file_bytes),
        ("workspace_fixture_bytes", &mut limits.workspace_bytes),
        ("workspace_fixtures", &mut limits.workspace_files),
        ("dataset_cases", &mut limits.dataset_cases),
        ("trials", &mut limits.trials),
        ("open_experiments", &mut limits.open_experiments),
    ] {
        if let Some(number) = whole_of(map, key, &format!("limits.{key}"), name)? {
            *place = number;
        }
    }
    Ok(limits)
}

fn agent_of(
    map: &Map<String, Value>,
    name: &str,
) -> Result<(AgentConfig, Option<String>), ConfigError> {
    closed(map, "agents.", &AGENT_KEYS, name)?;
    let agent = text_of(map, "name", name)?.ok_or_else(|| wrong("agents.name", "a name", name))?;
    if !evalkit_core::name::is_slug(&agent) {
        return Err(wrong(
            "agents.name",
            "lower-case letters, digits and `-`, at most 63",
            name,
        ));
    }
    let adapter = match text_of(map, "adapter", name)? {
        None => Adapter::EvalkitHttp,
        Some(text) => Adapter::parse(&text).ok_or_else(|| {
            wrong(
                "agents.adapter",
                &Adapter::ALL.map(Adapter::as_str).join(", "),
                name,
            )
        })?,
    };
    let mut config = AgentConfig::new(
        agent,
        adapter,
        text_of(map, "url", name)?.unwrap_or_default(),
    );
    if adapter.is_http()
        && !(config.endpoint.starts_with("http://") || config.endpoint.starts_with("https://"))
    {
        return Err(wrong(
            "agents.url",
            "an address that begins with http:// or https://",
            name,
        ));
    }
    config.secret_header = text_of(map, "secret_header", name)?;
    config.model = text_of(map, "model", name)?;
    if let Some(rate) = map.get("rate_per_s") {
        config.rate_per_s = Some(
            rate.as_f64()
                .filter(|rate| *rate > 0.0)
                .ok_or_else(|| wrong("agents.rate_per_s", "a number above 0", name))?,
        );
    }
    for (key, place) in [
        ("concurrency", &mut config.concurrency),
        ("max_attempts", &mut config.max_attempts),
    ] {
        let full = format!("agents.{key}");
        if let Some(number) = whole_of(map, key, &full, name)? {
            *place = u32::try_from(number).map_err(|_| wrong(&full, "a smaller number", name))?;
        }
    }
    if let Some(number) = whole_of(map, "timeout_s", "agents.timeout_s", name)? {
        config.timeout_s = number;
    }
    Ok((config, text_of(map, "secret_env", name)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(yaml: &str) -> String {
        ConfigFile::parse(yaml, "config.yaml")
            .expect_err("refused")
            .to_string()
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        assert!(error("bnd: 127.0.0.1:3000").contains("Did you mean `bind`?"));
        assert!(error("public-url: x").contains("Did you mean `public_url`?"));
        assert!(error("judge:\n  provder: offline").contains("Did you mean `judge.provider`?"));
        assert!(error("limits:\n  trails: 5").contains("Did you mean `limits.trials`?"));
        assert!(error("agents:\n  - nam: x").contains("Did you mean `agents.name`?"));
        assert!(error("colour_of_the_door: red").contains("The keys here are"));
    }

    #[test]
    fn keys_of_later_versions_are_named_as_such() {
        for key in LATER {
            assert!(
                error(&format!("{key}: x")).contains("does not serve yet"),
                "{key}"
            );
        }
        let environment = Environment::from([("EVALKIT_NATS_URL", "nats://x")]);
        assert!(refuse_later_variables(&environment).is_err());
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        assert!(error("bind: [1]").contains("a text"));
        assert!(error("limits:\n  trials: 0").contains("above 0"));
        assert!(error("agents:\n  - name: A B").contains("lower-case"));
        assert!(error("agents:\n  - name: a\n    url: ftp://x").contains("http://"));
        assert!(error("- a").contains("mapping"));
        assert!(error("a: b: c").contains("not valid YAML"));
        assert!(error("bind: a\nbind: b").contains("not valid YAML"));
    }

    #[test]
    fn an_empty_file_is_the_defaults() {
        assert!(ConfigFile::parse("", "c").expect("valid").bind.is_none());
        assert!(
            ConfigFile::parse("# nothing\n\n", "c")
                .expect("valid")
                .agents
                .is_empty()
        );
    }
}
