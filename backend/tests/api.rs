//! The HTTP API from outside: routes, faults, rights, downloads, live events.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::middleware::from_fn_with_state;
use evalkit_app::server::SessionCookie;
use evalkit_backend::api::registry::{Access, ROUTES};
use evalkit_backend::api::{ApiState, openapi, router};
use evalkit_backend::session::{Sessions, identify};
use evalkit_core::agent::{Adapter, AgentConfig, AgentHome};
use evalkit_core::api::{RunBegun, SyncDone, Whoami};
use evalkit_core::canonical::hash_bytes;
use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::{Actor, Scope};
use evalkit_core::results::{Results, ResultsJudge};
use evalkit_core::run::RecordedRun;
use evalkit_core::view::experiment::Experiment;
use evalkit_engine::{Engine, EngineSettings};
use evalkit_store::{
    Ctx, NewExperiment, NewOwner, NewTokenRequest, Recording, ResolvedAgent, Settings, Store,
};
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;
use tower::ServiceExt as _;

const CASES: &str = "cases:\n  - id: paris\n    max_response_time: 60\n    input: {question: \"What is the capital of France?\"}\n";

struct Server {
    app: Router,
    store: Store,
    token: String,
    cookie: String,
    mara: Ctx,
    stop: tokio::sync::watch::Sender<bool>,
    _folder: TempDir,
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Answer {
    fn json<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "{} {error}: {}",
                self.status,
                String::from_utf8_lossy(&self.body)
            )
        })
    }

    fn fault(&self) -> Fault {
        self.json()
    }
}

impl Server {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path(), Settings::default())
            .await
            .expect("a store");
        let link = store
            .issue_setup_link_unchecked()
            .await
            .expect("ok")
            .expect("a link");
        let nobody = store.ctx(Actor::Anonymous, "r", "");
        let owner = NewOwner {
            name: "mara".to_owned(),
            display_name: "Mara".to_owned(),
            password: "correct horse battery".to_owned(),
        };
        let signed_in = store
            .complete_setup(&nobody, &link, &owner)
            .await
            .expect("an owner");
        let actor = store
            .actor_by_session(&signed_in.secret)
            .await
            .expect("a session");
        let mara = store.ctx(actor, "r", "");
        let engine = Engine::new(store.clone(), EngineSettings::default()).expect("an engine");
        let sessions = Sessions {
            store: store.clone(),
            cookie: SessionCookie { secure: false },
            origins: vec!["http://127.0.0.1:3000".to_owned()].into(),
            demo_person: None,
        };
        let (stop, stopping) = tokio::sync::watch::channel(false);
        let state = ApiState::new(store.clone(), engine, sessions.clone(), stopping);
        let mut server = Self {
            app: router(state).layer(from_fn_with_state(sessions, identify)),
            token: String::new(),
            cookie: format!("evalkit_session={}", signed_in.secret),
            store,
            mara,
            stop,
            _folder: folder,
        };
        server.token = server.token(&Scope::ALL).await;
        server
    }

    async fn token(&self, scopes: &[Scope]) -> String {
        self.store
            .create_token(
                &self.mara,
                &NewTokenRequest {
                    name: "test".to_owned(),
                    scopes: scopes.to_vec(),
                    days: None,
                },
            )
            .await
            .expect("a token")
            .secret
    }

    async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.app.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: axum::body::to_bytes(body, 64 << 20)
                .await
                .expect("a body")
                .to_vec(),
        }
    }

    async fn ask(&self, method: Method, path: &str, body: impl Into<Body>) -> Answer {
        self.ask_as(&self.token, method, path, body).await
    }

    async fn ask_as(
        &self,
        token: &str,
        method: Method,
        path: &str,
        body: impl Into<Body>,
    ) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::AUTHORIZATION, format!("Bearer {token}"))
            .body(body.into())
            .expect("a request");
        self.send(request).await
    }

    async fn get<T: DeserializeOwned>(&self, path: &str) -> T {
        let answer = self.ask(Method::GET, path, Body::empty()).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}");
        answer.json()
    }

    async fn sync(&self) -> SyncDone {
        let body = json!({"files": [{"path": "cases.yaml", "text": CASES}]}).to_string();
        let answer = self
            .ask(Method::POST, "/api/w/mara/d/world/sync", body)
            .await;
        assert_eq!(answer.status, StatusCode::OK);
        answer.json()
    }

    /// A run whose trials nobody works on.
    async fn run(&self) -> String {
        self.sync().await;
        self.store
            .create_experiment(
                &self.mara,
                NewExperiment {
                    workspace: "mara".to_owned(),
                    dataset: "world".to_owned(),
                    agent: ResolvedAgent {
                        name: "bot".to_owned(),
                        config: AgentConfig::new("bot", Adapter::Demo, ""),
                        home: AgentHome::BuiltIn,
                        secret: None,
                    },
                    judge: ResultsJudge::default(),
                    judge_settings: Value::Null,
                    split: None,
                    case_ids: Vec::new(),
                    include_needs_ground_truth: false,
                    trials: 1,
                    concurrency: None,
                    no_cache: false,
                },
            )
            .await
            .expect("a run")
            .id
    }
}

/// A path of the registry with something in each place.
fn filled(path: &str) -> String {
    path.replace("{ws}", "mara")
        .replace("{name}", "bot")
        .replace("{ds}", "world")
        .replace("{sha256}", &"0".repeat(64))
        .replace("{run}", "run-1")
        .replace("{key}", "a.txt")
        .replace("{number}", "1")
        .replace("{case}", "paris")
        .replace("{trial}", "1")
}

#[test]
fn the_checked_in_openapi_document_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openapi.json");
    let stored = std::fs::read_to_string(path).expect("docs/openapi.json");
    let current = openapi().to_pretty_json().expect("JSON");
    assert!(
        stored.trim() == current.trim(),
        "docs/openapi.json is old; run: cargo run -p evalkit --example openapi > docs/openapi.json"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_past_any_route() {
    let server = Server::new().await;
    for (method, path, access) in ROUTES {
        let request = Request::builder()
            .method(*method)
            .uri(filled(path))
            .header("sec-fetch-site", "none")
            .body(Body::empty())
            .expect("a request");
        let answer = server.send(request).await;
        let fault = answer.fault();
        let wanted = match access {
            Access::SignedIn => Code::SignIn,
            Access::SignedAddress => Code::NotFound,
        };
        assert_eq!(fault.code, wanted, "{method} {path}");
        assert_eq!(answer.status.as_u16(), wanted.status());
        assert!(fault.request_id.is_some_and(|id| !id.is_empty()));
    }
    let answer = server
        .ask_as("evk_unknown", Method::GET, "/api/whoami", Body::empty())
        .await;
    assert_eq!(answer.fault().code, Code::SignIn);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_thing_answers_like_a_missing_one_on_every_route() {
    let server = Server::new().await;
    let leo = server
        .store
        .ensure_demo_person_unchecked("leo", "Leo", false);
    leo.await.expect("a person");
    server.run().await;
    for (method, path, access) in ROUTES {
        if *access != Access::SignedIn || !path.contains("{ws}") {
            continue;
        }
        let body = match *path {
            "/api/w/{ws}/agents/{name}" => {
                json!({"config": AgentConfig::new("bot", Adapter::Demo, "")})
            }
            "/api/w/{ws}/d/{ds}/sync" => json!({"files": []}),
            "/api/w/{ws}/fixtures/missing" => json!({"sha256": []}),
            "/api/w/{ws}/runs" => json!({"dataset": "world", "agent": "bot"}),
            _ => Value::Null,
        };
        let mut seen = Vec::new();
        for workspace in ["leo", "nowhere"] {
            let path = filled(&path.replace("{ws}", workspace));
            let method = Method::from_bytes(method.as_bytes()).expect("a method");
            let answer = server.ask(method, &path, body.to_string()).await;
            let mut fault = answer.fault();
            fault.request_id = None;
            seen.push((answer.status, fault));
        }
        assert_eq!(seen[0].1.code, Code::NotFound, "{method} {path}: {seen:?}");
        assert_eq!(seen[0], seen[1], "{method} {path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_writes_from_this_site_alone_and_a_token_needs_its_scope() {
    let server = Server::new().await;
    server.run().await;
    let with_cookie = |headers: &[(&str, &str)]| {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri("/api/w/mara/runs/1/pause")
            .header(header::COOKIE, &server.cookie);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(Body::empty()).expect("a request")
    };
    for foreign in [
        &[("sec-fetch-site", "cross-site")][..],
        &[("sec-fetch-site", "same-site")],
        &[("origin", "https://evil.example")],
        &[],
    ] {
        let answer = server.send(with_cookie(foreign)).await;
        assert_eq!(answer.fault().code, Code::CrossSite, "{foreign:?}");
    }
    let own = server
        .send(with_cookie(&[("sec-fetch-site", "same-origin")]))
        .await;
    assert_eq!(own.status, StatusCode::NO_CONTENT);

    let reader = server.token(&[Scope::Read]).await;
    let who: Whoami = server
        .ask_as(&reader, Method::GET, "/api/whoami", Body::empty())
        .await
        .json();
    assert_eq!(
        (who.name.as_str(), who.scopes.as_slice()),
        ("mara", &["read".to_owned()][..])
    );
    for (method, path, body) in [
        (Method::POST, "/api/w/mara/runs/1/resume", ""),
        (Method::POST, "/api/w/mara/d/world/sync", r#"{"files": []}"#),
        (Method::DELETE, "/api/w/mara/agents/bot", ""),
    ] {
        let answer = server.ask_as(&reader, method, path, body).await;
        assert_eq!(answer.fault().code, Code::Forbidden, "{path}");
    }
    let gone = server
        .ask_as(&reader, Method::DELETE, "/api/token", Body::empty())
        .await;
    assert_eq!(gone.status, StatusCode::NO_CONTENT);
    let again = server
        .ask_as(&reader, Method::GET, "/api/whoami", Body::empty())
        .await;
    assert_eq!(again.fault().code, Code::SignIn);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dataset_is_synced_and_its_fixtures_travel() {
    let server = Server::new().await;
    let bytes = b"a,b\n1,2\n";
    let sha = hash_bytes(bytes);
    let fixtures = format!("fixtures:\n  t.csv: {{sha256: {sha}, context: \"A table.\"}}\n");
    let files = json!({"files": [
        {"path": "cases.yaml", "text": CASES.replace("input", "fixtures: [t.csv]\n    input")},
        {"path": "fixtures.yaml", "text": fixtures},
    ]});
    let path = "/api/w/mara/d/world/sync";
    let refused = server.ask(Method::POST, path, files.to_string()).await;
    assert_eq!(refused.fault().code, Code::Fixtures);
    assert!(refused.fault().details[0].starts_with("t.csv"));

    let asked = json!({"sha256": [sha]}).to_string();
    let missing = server
        .ask(Method::POST, "/api/w/mara/fixtures/missing", asked.clone())
        .await;
    assert_eq!(missing.json::<Value>(), json!({"sha256": [sha]}));
    let put = format!("/api/w/mara/fixtures/{sha}");
    let wrong = server.ask(Method::PUT, &put, &b"other"[..]).await;
    assert_eq!(wrong.fault().code, Code::Fixtures);
    let sent = server.ask(Method::PUT, &put, &bytes[..]).await;
    assert_eq!(sent.status, StatusCode::NO_CONTENT);
    let missing = server
        .ask(Method::POST, "/api/w/mara/fixtures/missing", asked)
        .await;
    assert_eq!(missing.json::<Value>(), json!({"sha256": []}));

    let done: SyncDone = server
        .ask(Method::POST, path, files.to_string())
        .await
        .json();
    assert_eq!(done.added, ["paris"]);
    let facts: Value = server.get("/api/w/mara/d/other/facts").await;
    assert_eq!(facts["schema"], "evalkit.facts/1");
    assert_eq!(facts["other_cases"], json!({"paris": "world"}));
    assert_eq!(facts["fixtures"], json!({}), "known, and empty");

    let file = server
        .ask(
            Method::GET,
            &format!("{put}?name=t%22%0A.csv"),
            Body::empty(),
        )
        .await;
    assert_eq!(file.body, bytes);
    assert_eq!(
        file.headers[header::CONTENT_DISPOSITION],
        "attachment; filename*=UTF-8''t%22%0A.csv"
    );
    assert_eq!(
        file.headers[header::CONTENT_SECURITY_POLICY],
        "sandbox; default-src 'none'"
    );
    assert_eq!(file.headers[header::CONTENT_LENGTH], "8");
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_are_faults_that_say_what_to_do() {
    let server = Server::new().await;
    let path = "/api/w/mara/d/world/sync";
    let cases = [
        ("{", Code::Invalid),
        (r#"{"files": 3}"#, Code::Invalid),
        ("\u{0}", Code::Invalid),
    ];
    for (body, code) in cases {
        let fault = server.ask(Method::POST, path, body).await.fault();
        assert_eq!(fault.code, code, "{body:?}");
        assert!(!fault.next.is_empty());
    }
    let bad = json!({"files": [{"path": "a.yaml", "text": "cases:\n  - id: A B\n"}]}).to_string();
    let fault = server.ask(Method::POST, path, bad).await.fault();
    assert_eq!(fault.code, Code::Lint);
    assert!(
        fault
            .details
            .iter()
            .any(|line| line.contains("E-ID-FORMAT"))
    );
    let long = "x".repeat(129 * 1024 * 1024);
    let fault = server.ask(Method::POST, path, long).await.fault();
    assert_eq!(fault.code, Code::TooLarge);
    for path in [
        "/api/w/mara/runs/x",
        "/api/w/mara/runs/1",
        "/api/w/mara/runs/1/c/paris/0/answer",
    ] {
        let fault = server.ask(Method::GET, path, Body::empty()).await.fault();
        assert_eq!(fault.code, Code::NotFound, "{path}");
    }
    let body = json!({"dataset": "world", "agent": "nobody"}).to_string();
    let fault = server
        .ask(Method::POST, "/api/w/mara/runs", body)
        .await
        .fault();
    assert!(fault.message.contains("nobody"), "{fault:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_steered_and_collected() {
    let server = Server::new().await;
    let id = server.run().await;
    let engine = server.store.system_ctx();
    let claim = server
        .store
        .claim_trials(&engine, "w", &id, 1, 60_000_000)
        .await
        .expect("claims")
        .remove(0);
    let request = |last: Option<&str>| {
        let mut request = Request::builder()
            .uri("/api/w/mara/runs/1/events?after=0")
            .header(header::AUTHORIZATION, format!("Bearer {}", server.token));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        request.body(Body::empty()).expect("a request")
    };
    let stream = server
        .app
        .clone()
        .oneshot(request(None))
        .await
        .expect("a stream");
    assert_eq!(stream.headers()[header::CONTENT_TYPE], "text/event-stream");
    let mut stream = stream.into_body().into_data_stream();
    let mut text = String::new();
    while !text.contains("event: trial") {
        let chunk = stream.next().await.expect("more").expect("bytes");
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    assert!(text.contains("event: experiment"), "{text}");
    assert!(text.contains("\"running\":1"), "{text}");
    let recording = Recording {
        run: RecordedRun {
            answer: Some("Paris.".to_owned()),
            latency_ms: Some(12),
            ..RecordedRun::default()
        },
        trajectory: Some(b"{\"odd\":  1}".to_vec()),
    };
    let taken = server
        .store
        .record_answer(&engine, &claim.fence, recording)
        .await;
    assert!(taken.expect("recorded"));
    while !text.contains("\"state\":\"recorded\"") {
        let chunk = stream.next().await.expect("more").expect("bytes");
        text.push_str(&String::from_utf8_lossy(&chunk));
    }
    for bad in ["x", "-1"] {
        let answer = server.send(request(Some(bad))).await;
        assert_eq!(answer.fault().code, Code::Invalid);
    }
    server.stop.send(true).expect("a stream listens");
    while stream.next().await.is_some() {}

    let page: Experiment = server.get("/api/w/mara/runs/1").await;
    assert_eq!(page.row.counts.recorded, 1);
    let answer = server
        .ask(
            Method::GET,
            "/api/w/mara/runs/1/c/paris/1/answer",
            Body::empty(),
        )
        .await;
    assert_eq!(answer.body, b"Paris.");
    let answer = server
        .ask(
            Method::GET,
            "/api/w/mara/runs/1/c/paris/1/trajectory",
            Body::empty(),
        )
        .await;
    assert_eq!(answer.body, b"{\"odd\":  1}", "byte for byte");
    let lines = server
        .ask(Method::GET, "/api/w/mara/runs/1/recorded", Body::empty())
        .await;
    let runs: Vec<RecordedRun> = lines
        .body
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).expect("a run"))
        .collect();
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (runs[0].case_id.as_str(), runs[0].agent.as_deref()),
        ("paris", Some("bot"))
    );

    for (verb, status) in [
        ("pause", StatusCode::NO_CONTENT),
        ("pause", StatusCode::CONFLICT),
        ("resume", StatusCode::NO_CONTENT),
        ("cancel", StatusCode::NO_CONTENT),
        ("cancel", StatusCode::CONFLICT),
        ("rerun", StatusCode::OK),
    ] {
        let answer = server
            .ask(
                Method::POST,
                &format!("/api/w/mara/runs/1/{verb}"),
                Body::empty(),
            )
            .await;
        assert_eq!(answer.status, status, "{verb}");
    }
    let results: Results = server.get("/api/w/mara/runs/1/results").await;
    assert_eq!(results.schema, "evalkit.results/1");
    assert_eq!((results.counts.planned, results.counts.open), (1, 1));
    let begun = server
        .ask(
            Method::POST,
            "/api/w/mara/runs",
            json!({"dataset": "nothing", "agent": "bot"}).to_string(),
        )
        .await;
    assert!(serde_json::from_slice::<RunBegun>(&begun.body).is_err());
}
