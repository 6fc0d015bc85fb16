//! `evalkit serve`: configuration, store, engine, router; prints where it is; drains on a signal.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use axum::routing::get;
use evalkit_app::server::{SessionCookie, State};
use evalkit_core::error::Fault;
use evalkit_core::policy::Scope;
use evalkit_core::view::session::JudgeInUse;
use evalkit_engine::demo::{DEMO_DATASET, DEMO_PERSON, builtin_agents, demo_case_count};
use evalkit_engine::egress::EgressSettings;
use evalkit_engine::judge::{JudgeConfig, JudgeProvider};
use evalkit_engine::{Engine, EngineSettings};
use evalkit_store::{NewTokenRequest, Settings, Store};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;

use crate::api::{self, ApiState};
use crate::config::{Arguments, Config, Environment};
use crate::pages;
use crate::session::{Sessions, identify};
use crate::site::Site;

/// How long open requests may take after a signal.
const DRAIN: Duration = Duration::from_secs(10);

/// Configuration or usage (`cli.md`, exit codes).
const EXIT_CONFIGURATION: u8 = 3;

/// Why the server did not start: one paragraph that names the fix.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Refused(String);

/// Serves until a signal; the exit code says how it ended.
pub async fn run(arguments: Arguments) -> ExitCode {
    match start(arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(refused) => {
            let _ = writeln!(std::io::stderr(), "error: {refused}");
            ExitCode::from(EXIT_CONFIGURATION)
        }
    }
}

async fn start(arguments: Arguments) -> Result<(), Refused> {
    let config = Config::load(&arguments, &Environment::read())
        .map_err(|error| Refused(error.to_string()))?;
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(&config.log))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()))
        .init();
    let listener = listen(config.bind).await?;
    let address = listener
        .local_addr()
        .map_err(|error| Refused(error.to_string()))?;
    let (folder, _throw_away) = data_folder(&config)?;
    let judge = judge(&config)?;
    let store = Store::open(&folder, settings(&config, &judge))
        .await
        .map_err(|error| Refused(error.to_string()))?;
    let engine = engine(&config, store.clone(), judge)?;
    engine
        .start()
        .await
        .map_err(|fault| Refused(format!("{}\n{}", fault.message, fault.next)))?;
    let setup = store
        .issue_setup_link_unchecked()
        .await
        .map_err(|error| Refused(error.to_string()))?;
    let site = Site::load(config.site.as_deref()).unwrap_or_else(|missing| {
        tracing::warn!("{missing}");
        Site::default()
    });
    let welcome = if config.demo {
        Welcome::Demo(seed(&engine).await?)
    } else {
        setup.map_or(Welcome::Plain, Welcome::Setup)
    };
    let (told, mut heard) = watch::channel(false);
    let app = router(&config, store.clone(), engine.clone(), &site, heard.clone());
    greet(&config, address, &folder, &welcome);
    let service = app.into_make_service_with_connect_info::<SocketAddr>();
    let server = axum::serve(listener, service).with_graceful_shutdown(async move {
        signal().await;
        let _ = told.send(true);
    });
    let mut also_heard = heard.clone();
    // Calls of agents in flight and open requests drain side by side.
    let stop_engine = async {
        let _ = also_heard.wait_for(|stop| *stop).await;
        engine.stop().await;
    };
    let too_long = async {
        let _ = heard.wait_for(|stop| *stop).await;
        tokio::time::sleep(DRAIN).await;
    };
    let answer = async {
        tokio::select! {
            ended = std::future::IntoFuture::into_future(server) => ended,
            () = too_long => {
                tracing::warn!("requests still open after {} s were dropped", DRAIN.as_secs());
                Ok(())
            }
        }
    };
    let (ended, ()) = tokio::join!(answer, stop_engine);
    ended.map_err(|error| Refused(error.to_string()))?;
    store.close().await;
    Ok(())
}

/// Everything that answers, innermost first.
fn router(
    config: &Config,
    store: Store,
    engine: Engine,
    site: &Site,
    stopping: watch::Receiver<bool>,
) -> Router {
    let cookie = SessionCookie {
        secure: config.is_https(),
    };
    let sessions = Sessions {
        store: store.clone(),
        cookie,
        origins: config.origins().into(),
        demo_person: config.demo.then(|| DEMO_PERSON.into()),
    };
    let api = api::router(ApiState::new(
        store.clone(),
        engine.clone(),
        sessions.clone(),
        stopping,
    ));
    let state = State {
        store,
        engine,
        cookie,
        made_tokens: Default::default(),
    };
    let https = config.is_https();
    pages::router(state, sessions.clone(), site)
        .merge(api)
        .layer(middleware::from_fn_with_state(sessions, identify))
        .route("/healthz", get(|| async { "ok" }))
        .layer(CatchPanicLayer::custom(pages::panicked))
        .layer(middleware::from_fn(move |request, next| {
            pages::headers(https, request, next)
        }))
}

fn judge(config: &Config) -> Result<JudgeConfig, Refused> {
    read_judge(&config.judge, "judge", "leave it out for the offline judge")
}

fn read_judge(
    value: &serde_json::Value,
    key: &str,
    otherwise: &str,
) -> Result<JudgeConfig, Refused> {
    serde_json::from_value(value.clone()).map_err(|error| {
        Refused(format!(
            "`{key}` cannot be used: {error}.\nCorrect it in config.yaml, or {otherwise}."
        ))
    })
}

fn engine(config: &Config, store: Store, judge: JudgeConfig) -> Result<Engine, Refused> {
    let usual = EngineSettings::default();
    let settings = EngineSettings {
        egress: EgressSettings {
            allow: config.egress_allow.clone(),
            listens_on_loopback: config.bind.ip().is_loopback(),
        },
        judge,
        second_judge: config
            .second_judge
            .as_ref()
            .map(|second| read_judge(second, "second_judge", "leave it out"))
            .transpose()?,
        judge_keys: config.judge_keys.clone(),
        config_folder: config.folder.clone(),
        config_agent_secrets: config.agent_secrets.clone(),
        lease: config.lease.unwrap_or(usual.lease),
        ..usual
    };
    Engine::new(store, settings).map_err(|error| Refused(error.to_string()))
}

fn settings(config: &Config, judge: &JudgeConfig) -> Settings {
    Settings {
        database: config.database.clone(),
        secret_key_file: config.secret_key_file.clone(),
        demo: config.demo,
        no_tls: config.no_tls(),
        public_url: config.public_url.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        judge: JudgeInUse {
            provider: judge.provider.as_str().to_owned(),
            model: judge.model.clone(),
            quality_signal: !matches!(judge.provider, JudgeProvider::Offline | JudgeProvider::Fake),
        },
        builtin_agents: builtin_agents(),
        demo_cases: demo_case_count(),
        demo_dataset: DEMO_DATASET.to_owned(),
        deployment_agents: config.agents.clone(),
        limits: config.limits,
        ..Settings::default()
    }
}

/// The name of the token that the demo prints.
const TERMINAL: &str = "demo terminal";

/// Fills the demo, and makes the token that its first terminal uses.
async fn seed(engine: &Engine) -> Result<String, Refused> {
    let fault = |fault: Fault| Refused(format!("{}\n{}", fault.message, fault.next));
    engine.seed_demo().await.map_err(fault)?;
    let store = engine.store();
    let signed_in = store
        .sign_in_as_demo(&store.system_ctx(), DEMO_PERSON)
        .await
        .map_err(|error| fault(error.into()))?;
    let actor = store
        .actor_by_session(&signed_in.secret)
        .await
        .map_err(|error| fault(error.into()))?;
    let ctx = store.ctx(actor, "demo", "");
    // A demo that is kept prints a token at each start; those that nobody used go.
    for old in store
        .tokens(&ctx)
        .await
        .map_err(|error| fault(error.into()))?
    {
        if old.name == TERMINAL && old.last_used_at.is_none() {
            store
                .revoke_token(&ctx, &old.id)
                .await
                .map_err(|error| fault(error.into()))?;
        }
    }
    let request = NewTokenRequest {
        name: TERMINAL.to_owned(),
        scopes: Scope::ALL.to_vec(),
        days: Some(1),
    };
    let token = store
        .create_token(&ctx, &request)
        .await
        .map_err(|error| fault(error.into()))?;
    store
        .sign_out(&ctx, &signed_in.secret)
        .await
        .map_err(|error| fault(error.into()))?;
    Ok(token.login_line)
}

async fn listen(bind: SocketAddr) -> Result<TcpListener, Refused> {
    TcpListener::bind(bind).await.map_err(|error| {
        Refused(match error.kind() {
            std::io::ErrorKind::AddrInUse => format!(
                "{bind} is taken by another program.\nEnd that program, or choose another port: evalkit serve --bind {}:{}",
                bind.ip(),
                bind.port().checked_add(1).unwrap_or(3000),
            ),
            std::io::ErrorKind::PermissionDenied => {
                format!("{bind} is not allowed: ports below 1024 need more rights.\nChoose a higher port with --bind.")
            }
            _ => format!("{bind} cannot be listened on: {error}.\nChoose an address of this machine with --bind."),
        })
    })
}

/// The data folder, and the guard that removes a throw-away one.
fn data_folder(config: &Config) -> Result<(PathBuf, Option<tempfile::TempDir>), Refused> {
    match &config.data {
        Some(folder) => Ok((folder.clone(), None)),
        None => {
            let folder = tempfile::Builder::new()
                .prefix("evalkit-demo-")
                .tempdir()
                .map_err(|error| {
                    Refused(format!(
                        "no throw-away folder can be made: {error}.\nSet EVALKIT_DATA."
                    ))
                })?;
            Ok((folder.path().to_path_buf(), Some(folder)))
        }
    }
}

/// What the server says once it is ready.
enum Welcome {
    /// It has an owner.
    Plain,
    /// It waits for one: the link's secret.
    Setup(String),
    /// The demo: the line that signs a terminal in.
    Demo(String),
}

/// What a person needs to know, on standard output.
fn greet(config: &Config, address: SocketAddr, folder: &std::path::Path, welcome: &Welcome) {
    let mut out = std::io::stdout().lock();
    let url = if config.public_url == format!("http://{}", config.bind) {
        format!("http://{address}")
    } else {
        config.public_url.clone()
    };
    let kept = if config.data.is_none() {
        ", thrown away when it stops"
    } else {
        ""
    };
    let _ = writeln!(out, "Evalkit {} at {url}/", env!("CARGO_PKG_VERSION"));
    let _ = if config.database.is_embedded() {
        writeln!(out, "Data in {}{kept}", folder.display())
    } else {
        writeln!(
            out,
            "Data in PostgreSQL; fixtures and large trajectories in {}{kept}",
            folder.display()
        )
    };
    let _ = match welcome {
        Welcome::Plain => Ok(()),
        Welcome::Setup(link) => writeln!(
            out,
            "This server has no owner yet. Open this link, which works once, to become the owner:\n  {url}/setup/{link}"
        ),
        Welcome::Demo(line) => writeln!(
            out,
            "To use the command with this demo, paste this into another terminal:\n  {line}"
        ),
    };
    let _ = out.flush();
}

/// Waits for SIGTERM or Ctrl C.
async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
}
