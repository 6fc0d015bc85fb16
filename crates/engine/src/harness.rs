//! From an agent's configuration to the adapter that calls it.

use std::path::PathBuf;
use std::sync::Arc;

use evalkit_core::agent::{Adapter as AdapterKind, AgentConfig, AgentHome};
use evalkit_core::error::{Code, Fault};
use evalkit_core::run::AgentErrorClass;
use evalkit_store::{SecretRef, Store};

use crate::adapter::{Adapter, AgentFailure, Demo, DemoAgent, EvalkitHttp, Recorded};
use crate::egress::{Egress, Trust};
use crate::settings::EngineSettings;

/// Before a hash, in the endpoint of a `recorded` agent: a file that was sent to the workspace.
pub(crate) const UPLOAD: &str = "upload:";

/// What an adapter is built from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AgentOf<'a> {
    pub(crate) config: &'a AgentConfig,
    pub(crate) home: &'a AgentHome,
    pub(crate) secret: Option<&'a SecretRef>,
    /// A demo agent answers without the wait.
    pub(crate) at_once: bool,
}

/// Whom to believe about an address: the operator's file is trusted as written (`runs.md`, Egress).
pub(crate) const fn trust(home: &AgentHome) -> Trust {
    match home {
        AgentHome::Config | AgentHome::BuiltIn => Trust::Config,
        AgentHome::Workspace(_) => Trust::Product,
    }
}

/// The adapter of an agent, with its secret in place.
///
/// # Errors
/// The failure that every call of this agent would end in.
pub(crate) async fn adapter(
    store: &Store,
    egress: &Egress,
    settings: &EngineSettings,
    agent: AgentOf<'_>,
) -> Result<Arc<dyn Adapter>, AgentFailure> {
    let config = agent.config;
    match config.adapter {
        AdapterKind::EvalkitHttp => {
            let target = egress.target(&config.endpoint, trust(agent.home))?;
            let secret = secret(store, settings, agent).await?;
            Ok(Arc::new(EvalkitHttp::new(
                config,
                target,
                secret.as_deref(),
                settings.reply_cap,
            )?))
        }
        AdapterKind::Recorded => {
            let path = recorded_path(store, agent).await?;
            Ok(Arc::new(Recorded::new(path, config.capabilities.clone())))
        }
        AdapterKind::Demo => match DemoAgent::named(&config.name) {
            Some(demo) if agent.at_once => Ok(Arc::new(Demo::at_once(demo))),
            Some(demo) => Ok(Arc::new(Demo::new(demo))),
            None => Err(AgentFailure::of(
                AgentErrorClass::AgentReported,
                format!("There is no built-in agent named `{}`.", config.name),
            )),
        },
        AdapterKind::ChatSse | AdapterKind::OpenaiChat => Err(AgentFailure::of(
            AgentErrorClass::AgentReported,
            unsupported(config.adapter),
        )),
    }
}

fn unsupported(kind: AdapterKind) -> String {
    format!(
        "This version does not speak `{}`; it speaks `evalkit-http`, `recorded` and `demo`.",
        kind.as_str()
    )
}

async fn secret(
    store: &Store,
    settings: &EngineSettings,
    agent: AgentOf<'_>,
) -> Result<Option<String>, AgentFailure> {
    match (agent.home, agent.secret) {
        (AgentHome::Config, _) => Ok(settings.config_agent_secrets.get(&agent.config.name).cloned()),
        (_, None) => Ok(None),
        (_, Some(secret)) => store
            .open_secret_unchecked(secret, &agent.config.endpoint)
            .await
            .map(|text| Some(text.expose().to_owned()))
            .map_err(|_| {
                AgentFailure::of(
                    AgentErrorClass::AgentReported,
                    "The agent's secret is no longer there: its address changed, or it was removed. Set the secret again.",
                )
            }),
    }
}

async fn recorded_path(store: &Store, agent: AgentOf<'_>) -> Result<PathBuf, AgentFailure> {
    let endpoint = agent.config.endpoint.as_str();
    let failed = |message: &str| AgentFailure::of(AgentErrorClass::AgentReported, message);
    match (endpoint.strip_prefix(UPLOAD), agent.home) {
        (Some(sha256), AgentHome::Workspace(slug)) => store
            .fixture_file(&store.system_ctx(), slug, sha256)
            .await
            .map(|(path, _)| path)
            .map_err(|_| failed("The uploaded file of recorded runs is not in this workspace.")),
        (None, AgentHome::Config) => Ok(PathBuf::from(endpoint)),
        // Refused when it is registered; checked again because the row could be older than the rule.
        _ => Err(failed(
            "Only config.yaml may name files of the server's machine.",
        )),
    }
}

/// Checks an agent that a person enters, before anything is stored.
///
/// # Errors
/// `S-EGRESS-DENIED` with the lines to add, `S-INVALID` with what to write instead.
pub(crate) async fn check_entered(egress: &Egress, config: &AgentConfig) -> Result<(), Fault> {
    let invalid = |message: String, next: &str| Err(Fault::new(Code::Invalid, message, next));
    match config.adapter {
        AdapterKind::EvalkitHttp => {
            let target = egress.target(&config.endpoint, Trust::Product)?;
            target.preflight().await?;
            match &config.secret_header {
                Some(name) if !is_free_header(name) => invalid(
                    format!("`{}` cannot carry the secret.", name.escape_debug()),
                    "Name a header of your own, for example X-Api-Key, or leave it out for Authorization.",
                ),
                _ => Ok(()),
            }
        }
        AdapterKind::Recorded if config.endpoint.starts_with(UPLOAD) => Ok(()),
        AdapterKind::Recorded => invalid(
            "A `recorded` agent that reads files of the server's machine can only stand in config.yaml.".to_owned(),
            "Grade files of your own with `evalkit grade PATH --runs FILE`, or ask whoever runs the server.",
        ),
        AdapterKind::Demo => invalid(
            "The demo agents are built in and need no entry.".to_owned(),
            "Run `demo-careful` or `demo-hasty` by name.",
        ),
        AdapterKind::ChatSse | AdapterKind::OpenaiChat => invalid(
            unsupported(config.adapter),
            "Put a small `evalkit-http` server before the agent; docs/guide/first-hour.md has one in thirty lines.",
        ),
    }
}

/// Whether a header may carry a secret: a valid name that means nothing else to the call.
fn is_free_header(name: &str) -> bool {
    const TAKEN: [&str; 10] = [
        "accept",
        "connection",
        "content-length",
        "content-type",
        "expect",
        "host",
        "idempotency-key",
        "te",
        "transfer-encoding",
        "upgrade",
    ];
    http::HeaderName::try_from(name).is_ok_and(|name| !TAKEN.contains(&name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::EgressSettings;

    #[tokio::test]
    async fn what_a_person_may_enter() {
        let egress = Egress::new(EgressSettings {
            listens_on_loopback: true,
            ..EgressSettings::default()
        });
        let check = async |kind, endpoint: &str, header: Option<&str>| {
            let config = AgentConfig {
                secret_header: header.map(str::to_owned),
                ..AgentConfig::new("a", kind, endpoint)
            };
            check_entered(&egress, &config)
                .await
                .map_err(|fault| fault.code)
        };
        let http = AdapterKind::EvalkitHttp;
        assert_eq!(
            check(http, "http://127.0.0.1:9000/run", Some("X-Api-Key")).await,
            Ok(())
        );
        assert_eq!(
            check(http, "http://10.0.0.1/", None).await,
            Err(Code::EgressDenied)
        );
        assert_eq!(
            check(http, "ftp://127.0.0.1/", None).await,
            Err(Code::Invalid)
        );
        assert_eq!(
            check(http, "http://127.0.0.1/", Some("Host")).await,
            Err(Code::Invalid)
        );
        assert_eq!(
            check(http, "http://127.0.0.1/", Some("a b")).await,
            Err(Code::Invalid)
        );
        assert_eq!(
            check(AdapterKind::Recorded, "/etc/passwd", None).await,
            Err(Code::Invalid)
        );
        assert_eq!(
            check(AdapterKind::Recorded, "upload:ab", None).await,
            Ok(())
        );
        assert_eq!(check(AdapterKind::Demo, "", None).await, Err(Code::Invalid));
        assert_eq!(
            check(AdapterKind::OpenaiChat, "https://x.example/", None).await,
            Err(Code::Invalid)
        );
    }
}
