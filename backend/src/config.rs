//! The server's configuration (`config.md`): `config.yaml` with closed keys, the environment over it, the command line over
//! both. The environment is read here and nowhere else.

mod file;

use std::collections::{BTreeMap, HashMap};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use evalkit_core::agent::AgentConfig;
use evalkit_engine::egress::AllowRule;
use evalkit_engine::judge::JudgeConfig;
use evalkit_store::{Database, Limits, SecretText};

pub use file::{ConfigError, ConfigFile};

/// What the command line says of the server.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    /// Demo people and data.
    pub demo: bool,
    /// The file.
    pub config: Option<PathBuf>,
    /// The address to listen on.
    pub bind: Option<SocketAddr>,
}

/// The environment at start.
#[derive(Debug, Clone, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// Reads it once.
    pub fn read() -> Self {
        Self(
            std::env::vars_os()
                .filter_map(|(key, value)| {
                    Some((key.into_string().ok()?, value.into_string().ok()?))
                })
                .collect(),
        )
    }

    /// A filled variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }
}

impl<const N: usize> From<[(&str, &str); N]> for Environment {
    fn from(pairs: [(&str, &str); N]) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
        )
    }
}

/// The configuration in force.
#[derive(Debug, Clone)]
pub struct Config {
    /// Demo people and data.
    pub demo: bool,
    /// Where to listen.
    pub bind: SocketAddr,
    /// What people type, without a trailing slash.
    pub public_url: String,
    /// Where rows are kept.
    pub database: Database,
    /// The key that secrets are sealed with; absent = in the data folder.
    pub secret_key_file: Option<PathBuf>,
    /// The data folder; absent = a throw-away folder (the demo).
    pub data: Option<PathBuf>,
    /// The folder of `config.yaml`, for relative paths in it.
    pub folder: PathBuf,
    /// The judge's keys as written, for the engine.
    pub judge: serde_json::Value,
    /// The keys of the judge that is asked where the first reaches nothing.
    pub second_judge: Option<serde_json::Value>,
    /// Keys of judges by the variable that holds them.
    pub judge_keys: HashMap<String, String>,
    /// Agents that every workspace may use.
    pub agents: Vec<AgentConfig>,
    /// Their secrets by agent name.
    pub agent_secrets: HashMap<String, String>,
    /// Addresses that may be called although they are private.
    pub egress_allow: Vec<AllowRule>,
    /// Bounds on what is stored.
    pub limits: Limits,
    /// Where the site's files are, when the environment says.
    pub site: Option<PathBuf>,
    /// How long a worker may hold a trial without a sign of life, when the environment says (chaos tests).
    pub lease: Option<Duration>,
    /// What is logged: a filter of `tracing`.
    pub log: String,
}

impl Config {
    /// Puts command line, environment and file together.
    ///
    /// # Errors
    /// [`ConfigError`]: what is wrong, where, and what to write instead.
    pub fn load(arguments: &Arguments, environment: &Environment) -> Result<Self, ConfigError> {
        let path = arguments
            .config
            .clone()
            .or_else(|| environment.get("EVALKIT_CONFIG").map(PathBuf::from));
        let file = match &path {
            Some(path) => ConfigFile::read(path)?,
            None => ConfigFile::default(),
        };
        Self::assemble(
            arguments,
            environment,
            file,
            path.as_deref().and_then(Path::parent),
        )
    }

    fn assemble(
        arguments: &Arguments,
        environment: &Environment,
        file: ConfigFile,
        folder: Option<&Path>,
    ) -> Result<Self, ConfigError> {
        file::refuse_later_variables(environment)?;
        let bind = match (
            arguments.bind,
            environment.get("EVALKIT_BIND"),
            file.bind.as_deref(),
        ) {
            (Some(bind), ..) => bind,
            (None, Some(text), _) => parse_bind(text, "EVALKIT_BIND")?,
            (None, None, Some(text)) => parse_bind(text, "bind")?,
            (None, None, None) => SocketAddr::from(([127, 0, 0, 1], 3000)),
        };
        let public_url = environment
            .get("EVALKIT_PUBLIC_URL")
            .map(str::to_owned)
            .or(file.public_url);
        let public_url = match public_url {
            Some(url) => check_public_url(&url)?,
            None if bind.ip().is_loopback() => format!("http://{bind}"),
            None => {
                return Err(ConfigError::new(
                    format!(
                        "{bind} can be reached from other machines, and `public_url` is not set."
                    ),
                    "Set `public_url` (or EVALKIT_PUBLIC_URL) to the address people type, e.g. https://evals.example.org.",
                ));
            }
        };
        let database = environment
            .get("DATABASE_URL")
            .map(SecretText::new)
            .or(file.database_url)
            .map_or(Ok(Database::Sqlite), database_of)?;
        let secret_key_file = environment
            .get("EVALKIT_SECRET_KEY_FILE")
            .map(PathBuf::from)
            .or_else(|| file.secret_key_file.map(|path| relative_to(folder, &path)));
        let data = environment
            .get("EVALKIT_DATA")
            .map(PathBuf::from)
            .or_else(|| file.data.map(|data| relative_to(folder, &data)));
        let data = match data {
            Some(data) => Some(data),
            None if arguments.demo => None,
            None => Some(platform_folder(environment)?),
        };
        let mut agent_secrets = HashMap::new();
        for (agent, variable) in &file.agent_secret_variables {
            let secret = environment.get(variable).ok_or_else(|| {
                ConfigError::new(
                    format!(
                        "`agents` names {variable} as the secret of {agent}, and it is not set."
                    ),
                    format!("Set {variable} in the server's environment."),
                )
            })?;
            agent_secrets.insert(agent.clone(), secret.to_owned());
        }
        let variable = |name: &str| environment.get(name).map(str::to_owned);
        let judge = JudgeConfig::layered(file.judge.as_ref(), "EVALKIT_JUDGE_", variable)
            .unwrap_or_else(|| serde_json::json!({}));
        let second_judge = JudgeConfig::layered(
            file.second_judge.as_ref(),
            "EVALKIT_SECOND_JUDGE_",
            variable,
        );
        let judge_keys = keys_of([Some(&judge), second_judge.as_ref()], environment);
        Ok(Self {
            demo: arguments.demo,
            bind,
            public_url,
            database,
            secret_key_file,
            data,
            folder: folder.map_or_else(|| PathBuf::from("."), Path::to_path_buf),
            judge,
            second_judge,
            judge_keys,
            agents: file.agents,
            agent_secrets,
            egress_allow: file.egress_allow,
            limits: file.limits,
            site: environment.get("EVALKIT_SITE_DIR").map(PathBuf::from),
            lease: environment.get(LEASE).map(parse_lease).transpose()?,
            log: environment
                .get("EVALKIT_LOG")
                .unwrap_or(if arguments.demo { "warn" } else { "info" })
                .to_owned(),
        })
    }

    /// Whether `public_url` is https.
    pub fn is_https(&self) -> bool {
        self.public_url.starts_with("https://")
    }

    /// Plain http on a host other than this machine: pages carry a banner.
    pub fn no_tls(&self) -> bool {
        !self.is_https() && !is_loopback_url(&self.public_url)
    }

    /// Origins that a request of a browser may come from: `public_url`'s, and both names of loopback when it is loopback.
    pub fn origins(&self) -> Vec<String> {
        let mut origins = vec![self.public_url.clone()];
        if is_loopback_url(&self.public_url)
            && let Some(port) = self
                .public_url
                .rsplit(':')
                .next()
                .filter(|port| port.bytes().all(|b| b.is_ascii_digit()))
        {
            origins.extend([
                format!("http://localhost:{port}"),
                format!("http://127.0.0.1:{port}"),
            ]);
        }
        origins
    }
}

/// `postgres://…`; the embedded database is asked for by saying nothing.
fn database_of(url: SecretText) -> Result<Database, ConfigError> {
    let text = url.expose();
    if text.starts_with("postgres://") || text.starts_with("postgresql://") {
        return Ok(Database::Postgres { url });
    }
    // The address itself is not repeated: it may hold a password.
    Err(ConfigError::new(
        "DATABASE_URL (or `database_url`) is not an address of PostgreSQL.",
        "Write postgres://user:password@host:5432/database, or leave it out for the embedded database of the data folder.",
    ))
}

/// The values of the variables that judges name for their keys; one that is not set is left out, and the judge says so.
fn keys_of(
    judges: [Option<&serde_json::Value>; 2],
    environment: &Environment,
) -> HashMap<String, String> {
    judges
        .into_iter()
        .flatten()
        .filter_map(|judge| serde_json::from_value::<JudgeConfig>(judge.clone()).ok())
        .filter_map(|judge| {
            let variable = judge.key_in()?;
            Some((variable.to_owned(), environment.get(variable)?.to_owned()))
        })
        .collect()
}

fn parse_bind(text: &str, from: &str) -> Result<SocketAddr, ConfigError> {
    let text = text.replace("localhost:", "127.0.0.1:");
    text.parse().map_err(|_| {
        ConfigError::new(
            format!("`{from}` is `{text}`, which is no address to listen on."),
            "Write an IP address and a port, e.g. 127.0.0.1:3000.",
        )
    })
}

/// The variable of the chaos tests, which cannot wait for the lease of a deployment (`reliability.md`, section 4).
const LEASE: &str = "EVALKIT_TEST_LEASE_MS";

/// 100 ms to 60 s.
fn parse_lease(text: &str) -> Result<Duration, ConfigError> {
    text.parse()
        .ok()
        .filter(|ms| (100..=60_000).contains(ms))
        .map(Duration::from_millis)
        .ok_or_else(|| {
            ConfigError::new(
                format!("{LEASE} is `{text}`, which is no lease."),
                "Leave it out: it is for tests of kills and pauses. They write milliseconds, 100 to 60000.",
            )
        })
}

fn check_public_url(url: &str) -> Result<String, ConfigError> {
    let url = url.trim_end_matches('/');
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let plain = rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.contains(['/', '?', '#', '@', ' '])
            && !rest.chars().any(char::is_control)
    });
    if plain {
        Ok(url.to_owned())
    } else {
        Err(ConfigError::new(
            format!("`public_url` is `{url}`, which is not an address of this server."),
            "Write scheme, host and port only, e.g. https://evals.example.org.",
        ))
    }
}

fn is_loopback_url(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.rsplit_once(':').map_or(host, |(host, _)| host);
    host == "localhost"
        || host
            .trim_matches(['[', ']'])
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

fn relative_to(folder: Option<&Path>, path: &Path) -> PathBuf {
    folder.map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
}

/// The platform's folder for an application's data.
fn platform_folder(environment: &Environment) -> Result<PathBuf, ConfigError> {
    let folder = if cfg!(target_os = "windows") {
        environment.get("LOCALAPPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        environment
            .get("HOME")
            .map(|home| Path::new(home).join("Library/Application Support"))
    } else {
        environment
            .get("XDG_DATA_HOME")
            .map(PathBuf::from)
            .or_else(|| {
                environment
                    .get("HOME")
                    .map(|home| Path::new(home).join(".local/share"))
            })
    };
    folder.map(|folder| folder.join("evalkit")).ok_or_else(|| {
        ConfigError::new(
            "There is no home folder to keep data in.",
            "Set EVALKIT_DATA to the folder that Evalkit may use.",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(
        arguments: &Arguments,
        environment: Environment,
        yaml: &str,
    ) -> Result<Config, ConfigError> {
        Config::assemble(
            arguments,
            &environment,
            ConfigFile::parse(yaml, "config.yaml")?,
            Some(Path::new("/etc/evalkit")),
        )
    }

    fn plain(environment: Environment, yaml: &str) -> Result<Config, ConfigError> {
        config(&Arguments::default(), environment, yaml)
    }

    const HOME: (&str, &str) = ("HOME", "/home/ines");

    #[test]
    fn defaults() {
        let config = plain([HOME].into(), "").expect("a valid configuration");
        assert_eq!(config.bind.to_string(), "127.0.0.1:3000");
        assert_eq!(config.public_url, "http://127.0.0.1:3000");
        assert!(!config.no_tls());
        assert_eq!(
            config.origins(),
            [
                "http://127.0.0.1:3000",
                "http://localhost:3000",
                "http://127.0.0.1:3000"
            ]
        );
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_command_line_over_both() {
        let yaml = "bind: 127.0.0.1:4000\npublic_url: https://a.example/\ndata: store\n";
        let from_file = plain([HOME].into(), yaml).expect("valid");
        assert_eq!(from_file.bind.port(), 4000);
        assert_eq!(from_file.public_url, "https://a.example");
        assert_eq!(
            from_file.data.as_deref(),
            Some(Path::new("/etc/evalkit/store"))
        );
        let environment: Environment = [
            HOME,
            ("EVALKIT_BIND", "127.0.0.1:5000"),
            ("EVALKIT_DATA", "/srv/e"),
        ]
        .into();
        let arguments = Arguments {
            bind: Some(([127, 0, 0, 1], 6000).into()),
            ..Default::default()
        };
        assert_eq!(
            plain(environment.clone(), yaml).expect("valid").bind.port(),
            5000
        );
        assert_eq!(
            plain(environment.clone(), yaml)
                .expect("valid")
                .data
                .as_deref(),
            Some(Path::new("/srv/e"))
        );
        assert_eq!(
            config(&arguments, environment, yaml)
                .expect("valid")
                .bind
                .port(),
            6000
        );
    }

    #[test]
    fn the_database_is_embedded_until_an_address_says_otherwise() {
        let config = plain([HOME].into(), "").expect("valid");
        assert!(config.database.is_embedded() && config.secret_key_file.is_none());
        let yaml = "database_url: postgres://db.example/evals\nsecret_key_file: secret.key\n";
        let config = plain([HOME].into(), yaml).expect("valid");
        assert_eq!(
            config.secret_key_file.as_deref(),
            Some(Path::new("/etc/evalkit/secret.key"))
        );
        let Database::Postgres { url } = config.database else {
            panic!("the file names PostgreSQL");
        };
        assert_eq!(url.expose(), "postgres://db.example/evals");
        let environment = [
            HOME,
            (
                "DATABASE_URL",
                "postgresql://ines:s3cret@other.example/evals",
            ),
            ("EVALKIT_SECRET_KEY_FILE", "/run/key"),
        ];
        let config = plain(environment.into(), yaml).expect("valid");
        assert_eq!(
            config.secret_key_file.as_deref(),
            Some(Path::new("/run/key"))
        );
        assert!(!format!("{config:?}").contains("s3cret"));
        let error = plain([HOME, ("DATABASE_URL", "mysql://ines:s3cret@x")].into(), "")
            .expect_err("refused")
            .to_string();
        assert!(
            error.contains("postgres://") && !error.contains("s3cret"),
            "{error}"
        );
    }

    #[test]
    fn an_open_address_needs_a_public_url() {
        let error = plain([HOME].into(), "bind: 0.0.0.0:3000").expect_err("refused");
        assert!(error.to_string().contains("public_url"), "{error}");
        let config = plain(
            [HOME].into(),
            "bind: 0.0.0.0:3000\npublic_url: http://evals.example",
        )
        .expect("valid");
        assert!(config.no_tls());
    }

    #[test]
    fn the_demo_keeps_nothing_unless_told_to() {
        let demo = Arguments {
            demo: true,
            ..Default::default()
        };
        assert_eq!(config(&demo, [HOME].into(), "").expect("valid").data, None);
        let kept = config(&demo, [HOME, ("EVALKIT_DATA", "/srv/e")].into(), "")
            .expect("valid")
            .data;
        assert_eq!(kept.as_deref(), Some(Path::new("/srv/e")));
    }

    #[test]
    fn secrets_come_from_the_environment() {
        let yaml = "agents:\n  - name: ledger-bot\n    url: https://a.example/run\n    secret_env: LEDGER\n";
        assert!(
            plain([HOME].into(), yaml)
                .expect_err("not set")
                .to_string()
                .contains("LEDGER")
        );
        let config = plain([HOME, ("LEDGER", "s3cret")].into(), yaml).expect("valid");
        assert_eq!(config.agent_secrets["ledger-bot"], "s3cret");
        assert_eq!(config.agents[0].endpoint, "https://a.example/run");
    }

    #[test]
    fn the_judge_of_the_environment_wins() {
        let config = plain(
            [HOME, ("EVALKIT_JUDGE_PROVIDER", "fake")].into(),
            "judge:\n  provider: offline\n  concurrency: 4\n",
        )
        .expect("valid");
        assert_eq!(config.judge["provider"], "fake");
        assert_eq!(config.judge["concurrency"], 4);
    }

    #[test]
    fn a_judge_and_its_second_name_their_keys() {
        let yaml = "judge: {provider: openai, model: a, prices: {input: 1, output: 2}}\nsecond_judge: {provider: openai-compatible, model: b, base_url: 'http://127.0.0.1:9/v1', api_key_env: OTHER}\n";
        let config = plain(
            [
                HOME,
                ("OPENAI_API_KEY", "k1"),
                ("OTHER", "k2"),
                ("EVALKIT_SECOND_JUDGE_MODEL", "c"),
            ]
            .into(),
            yaml,
        )
        .expect("valid");
        assert_eq!(config.judge_keys["OPENAI_API_KEY"], "k1");
        assert_eq!(config.judge_keys["OTHER"], "k2");
        assert_eq!(config.second_judge.expect("there")["model"], "c");
        for (wrong, near) in [
            ("second_judge: {modell: x}", "second_judge.model"),
            ("judge: {prices: {inptu: 1}}", "judge.prices.input"),
        ] {
            let error = plain([HOME].into(), wrong).expect_err("refused");
            assert!(error.to_string().contains(near), "{error}");
        }
    }

    #[test]
    fn public_urls() {
        for bad in [
            "evals.example",
            "ftp://a",
            "https://",
            "https://a/b",
            "https://u@a",
            "https://a b",
        ] {
            assert!(check_public_url(bad).is_err(), "{bad}");
        }
        assert!(is_loopback_url("http://[::1]:3000"));
        assert!(is_loopback_url("http://localhost"));
        assert!(!is_loopback_url("http://127.0.0.1.example"));
    }
}
