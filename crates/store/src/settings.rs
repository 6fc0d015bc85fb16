//! What the deployment decides and the store needs to know: passed in at construction, never read from the environment.

use std::path::PathBuf;

use evalkit_core::agent::AgentConfig;
use evalkit_core::view::session::JudgeInUse;

use crate::blob::Limits;
use crate::secret::SecretText;

/// Where rows are kept (`config.md`, `database_url`).
#[derive(Debug, Clone, Default)]
pub enum Database {
    /// In a file of the data folder, which one process holds.
    #[default]
    Sqlite,
    /// In a PostgreSQL, which several servers may share.
    Postgres {
        /// `postgres://user:password@host:port/database`; it may hold a password, so it is a secret.
        url: SecretText,
    },
}

impl Database {
    /// Whether it lies in the data folder.
    pub const fn is_embedded(&self) -> bool {
        matches!(self, Self::Sqlite)
    }
}

/// Deployment facts.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where rows are kept.
    pub database: Database,
    /// The key that secrets are sealed with. Absent: in the data folder, made at the first start; PostgreSQL needs one.
    pub secret_key_file: Option<PathBuf>,
    /// The server runs with demo people and data; pages say so.
    pub demo: bool,
    /// `public_url` is plain http on a host other than loopback.
    pub no_tls: bool,
    /// The address people use, without a trailing slash.
    pub public_url: String,
    /// The program's version.
    pub version: String,
    /// The judge that new runs use.
    pub judge: JudgeInUse,
    /// Agents of `config.yaml`: every workspace may use them and none may edit them.
    pub deployment_agents: Vec<AgentConfig>,
    /// Agents that are built in.
    pub builtin_agents: Vec<AgentConfig>,
    /// Names of registered custom evaluators, for lint.
    pub custom_evaluators: Vec<String>,
    /// Cases of the bundled demo dataset, for the first-run guide; 0 when none is bundled.
    pub demo_cases: u64,
    /// The bundled demo dataset's slug.
    pub demo_dataset: String,
    /// Bounds on what is stored.
    pub limits: Limits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            database: Database::default(),
            secret_key_file: None,
            demo: false,
            no_tls: false,
            public_url: "http://127.0.0.1:3000".to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            judge: JudgeInUse {
                provider: "offline".to_owned(),
                model: None,
                quality_signal: false,
            },
            deployment_agents: Vec::new(),
            builtin_agents: Vec::new(),
            custom_evaluators: Vec::new(),
            demo_cases: 0,
            demo_dataset: "world-facts".to_owned(),
            limits: Limits::default(),
        }
    }
}
