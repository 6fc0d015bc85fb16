//! Commands that ask a server, against a small one that speaks the documented API.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use evalkit_core::api::{AgentPut, Hashes, RunBegun, RunPost, SyncDone, SyncPost, Whoami};
use evalkit_core::canonical::hash_bytes;
use evalkit_core::error::{Code, Fault};
use evalkit_core::experiment::TrialState;
use evalkit_core::grade::{Grade, Outcome, ScoreValue, Share};
use evalkit_core::results::{ResultsHead, ResultsJudge, TrialInput, build};
use serde_json::{Value, json};

use super::{DESK, Done, RUNS, desk, evalkit_with, write};
use crate::environment::Environment;

const TOKEN: &str = "evk_good";

#[derive(Default)]
struct Seen {
    agents: BTreeMap<String, AgentPut>,
    fixtures: BTreeSet<String>,
    syncs: Vec<SyncPost>,
    runs: Vec<RunPost>,
    streams: Vec<Option<String>>,
    refuse_archiving: bool,
    unfinished: bool,
}

#[derive(Clone, Default)]
struct Fake(Arc<Mutex<Seen>>);

impl Fake {
    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn fault(code: Code, message: &str, next: &str) -> Response {
    let mut fault = Fault::new(code, message, next);
    fault.request_id = Some("r-1".to_owned());
    let status = StatusCode::from_u16(code.status()).expect("a status");
    (status, Json(fault)).into_response()
}

fn signed_in(headers: &HeaderMap) -> Result<(), Box<Response>> {
    let given = headers
        .get(header::AUTHORIZATION)
        .and_then(|v| v.to_str().ok());
    if given == Some(&format!("Bearer {TOKEN}")) {
        Ok(())
    } else {
        Err(Box::new(fault(
            Code::SignIn,
            "The token is not known.",
            "Sign in.",
        )))
    }
}

async fn whoami(headers: HeaderMap) -> Result<Json<Whoami>, Response> {
    signed_in(&headers).map_err(|refused| *refused)?;
    Ok(Json(Whoami {
        name: "mara".to_owned(),
        display_name: "Mara \u{1b}[31mLind".to_owned(),
        owner: true,
        scopes: vec!["read".to_owned(), "run".to_owned()],
        workspaces: vec!["mara".to_owned()],
        version: "0.1.0".to_owned(),
    }))
}

async fn put_agent(
    State(fake): State<Fake>,
    Path((ws, name)): Path<(String, String)>,
    headers: HeaderMap,
    Json(agent): Json<AgentPut>,
) -> Result<StatusCode, Response> {
    signed_in(&headers).map_err(|refused| *refused)?;
    fake.seen().agents.insert(format!("{name}@{ws}"), agent);
    Ok(StatusCode::NO_CONTENT)
}

async fn missing(State(fake): State<Fake>, Json(asked): Json<Hashes>) -> Json<Hashes> {
    let seen = fake.seen();
    let lacks = |hash: &String| !seen.fixtures.contains(hash);
    Json(Hashes {
        sha256: asked.sha256.into_iter().filter(lacks).collect(),
    })
}

async fn put_fixture(
    State(fake): State<Fake>,
    Path((_, sha256)): Path<(String, String)>,
    bytes: Bytes,
) -> StatusCode {
    assert_eq!(hash_bytes(&bytes), sha256);
    fake.seen().fixtures.insert(sha256);
    StatusCode::NO_CONTENT
}

async fn sync(
    State(fake): State<Fake>,
    headers: HeaderMap,
    Json(post): Json<SyncPost>,
) -> Result<Json<SyncDone>, Response> {
    signed_in(&headers).map_err(|refused| *refused)?;
    let mut seen = fake.seen();
    seen.syncs.push(post.clone());
    if seen.refuse_archiving && !post.archive {
        return Err(fault(
            Code::Conflict,
            "This sync would archive 30 of 40 cases.",
            "Say that it is meant with --archive.",
        ));
    }
    Ok(Json(SyncDone {
        added: vec!["three-mugs".to_owned(), "express-shipping".to_owned()],
        archived: vec!["old-one".to_owned()],
        dry_run: post.dry_run,
        ..SyncDone::default()
    }))
}

async fn begin(
    State(fake): State<Fake>,
    headers: HeaderMap,
    Json(run): Json<RunPost>,
) -> Result<Json<RunBegun>, Response> {
    signed_in(&headers).map_err(|refused| *refused)?;
    if run.agent == "nobody" {
        return Err(fault(
            Code::NotFound,
            "There is no agent `nobody`.",
            "Check the name.",
        ));
    }
    fake.seen().runs.push(run);
    Ok(Json(RunBegun {
        id: "0190".to_owned(),
        number: 7,
        planned: 2,
        left_out: vec!["waits".to_owned()],
        agent: "desk".to_owned(),
        judge: ResultsJudge::default(),
    }))
}

/// The first stream breaks off after one event; the second has the rest.
async fn events(State(fake): State<Fake>, headers: HeaderMap) -> Response {
    let after = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    let mut seen = fake.seen();
    seen.streams.push(after);
    let counts = |done: u64| json!({"queued": 2 - done, "running": 0, "recorded": 0, "grading": 0, "done": done, "error": 0, "cancelled": 0, "budget": 0});
    let body = if seen.streams.len() == 1 {
        let trial = json!({"kind": "trial", "case_id": "three-mugs", "trial": 1, "state": "done", "colour": "green", "satisfied": 2, "of": 2, "needs_a_look": false, "counts": counts(1)});
        format!(": hello\n\nid: 41\nevent: trial\ndata: {trial}\n\n")
    } else {
        let end = json!({"kind": "experiment", "state": "finished", "counts": counts(2)});
        format!("id: 42\nevent: experiment\ndata: {end}\n\n")
    };
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

async fn results(State(fake): State<Fake>) -> Json<Value> {
    let grade = |num: u64, den: u64| Grade {
        evaluator: "answer_rubrics".to_owned(),
        outcome: Outcome::Scored { met: num == den },
        scores: [(
            "answer_rubric_score".to_owned(),
            ScoreValue::Share(Share { num, den }),
        )]
        .into(),
        skipped: BTreeMap::new(),
        explanation: json!({"verdicts": [{"rubric": "States that express shipping costs €9.90.", "verdict": if num == den { "satisfied" } else { "incorrect" }, "said": "€12.90"}]}),
        judge: None,
    };
    let trial = |id: &str, grades: Vec<Grade>, state| TrialInput {
        case_id: id.to_owned(),
        version: Some(1),
        trial: 1,
        state,
        names: vec!["answer_rubric_score".to_owned()],
        grades,
        latency_ms: Some(20),
        usage: None,
        error: None,
    };
    let second = if fake.seen().unfinished {
        trial("express-shipping", Vec::new(), TrialState::Running)
    } else {
        trial("express-shipping", vec![grade(0, 1)], TrialState::Done)
    };
    let head = ResultsHead {
        dataset: "shop-desk@mara".to_owned(),
        agent: Some("desk".to_owned()),
        experiment: Some("0190".to_owned()),
        judge: ResultsJudge {
            provider: "offline".to_owned(),
            ..ResultsJudge::default()
        },
        ..ResultsHead::default()
    };
    let trials = [
        trial("three-mugs", vec![grade(2, 2)], TrialState::Done),
        second,
    ];
    Json(json!(build(head, &trials)))
}

fn app(fake: Fake) -> Router {
    let ok = |value: Value| get(move || async move { Json(value) });
    Router::new()
        .route("/api/whoami", get(whoami))
        .route("/api/token", axum::routing::delete(|| async { StatusCode::NO_CONTENT }))
        .route(
            "/api/w/{ws}/agents",
            ok(json!({"workspace": "mara", "may_register": true, "rows": [{"name": "desk", "adapter": "evalkit-http", "endpoint": "http://127.0.0.1:8080/", "capabilities": [], "from": "workspace", "concurrency": 8, "timeout_s": 300, "has_secret": false, "runs": 0, "last_check": null}]})),
        )
        .route("/api/w/{ws}/agents/{name}", put(put_agent).delete(|| async { StatusCode::NO_CONTENT }))
        .route(
            "/api/w/{ws}/agents/{name}/check",
            post(|| async {
                Json(json!({"ok": false, "class": "refused", "message": "Nothing listens there.", "steps": [["Address", true, "http://127.0.0.1:8080"], ["Call", false, "refused"]], "reply": "", "latency_ms": 1, "at": 0}))
            }),
        )
        .route(
            "/api/w/{ws}/d/{ds}/facts",
            ok(json!({"schema": "evalkit.facts/1", "other_cases": {"taken": "other"}, "base_cases": {}, "overlays": [], "evaluators": [], "fixtures": {}, "fixture_files": {}})),
        )
        .route("/api/w/{ws}/d/{ds}/sync", post(sync))
        .route("/api/w/{ws}/fixtures/missing", post(missing))
        .route("/api/w/{ws}/fixtures/{sha256}", put(put_fixture))
        .route("/api/w/{ws}/runs", post(begin))
        .route("/api/w/{ws}/runs/{n}/events", get(events))
        .route("/api/w/{ws}/runs/{n}/results", get(results))
        .route("/api/w/{ws}/runs/{n}/recorded", get(|| async { RUNS }))
        .with_state(fake)
}

struct Setting {
    fake: Fake,
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Setting {
    async fn new() -> Self {
        let fake = Fake::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .expect("a port");
        let address = listener.local_addr().expect("an address");
        let app = app(fake.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        let folder = desk();
        write(
            folder.path(),
            "evalkit.yaml",
            "datasets: {shop-desk: cases}\nfixtures: files\nsubject_terms: [server]\n",
        );
        let environment = Environment {
            server: Some(format!("http://{address}")),
            token: Some(TOKEN.to_owned()),
            ci: true,
            config: Some(folder.path().join("config")),
            folder: folder.path().to_owned(),
        };
        Self {
            fake,
            folder,
            environment,
        }
    }

    async fn evalkit(&self, arguments: &[&str]) -> Done {
        evalkit_with(self.environment.clone(), arguments).await
    }
}

#[tokio::test]
async fn whoami_shows_whose_token_is_used_and_obeys_no_control_character() {
    let setting = Setting::new().await;
    let done = setting.evalkit(&["whoami"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out
            .starts_with("mara (Mara ?[31mLind) at http://127.0.0.1:"),
        "{}",
        done.out
    );
    assert_eq!(
        setting.evalkit(&["whoami", "--json"]).await.json()["name"],
        "mara"
    );
}

#[tokio::test]
async fn a_refusal_has_its_code_its_next_step_and_its_request() {
    let mut setting = Setting::new().await;
    setting.environment.token = Some("evk_bad".to_owned());
    let done = setting.evalkit(&["whoami"]).await;
    assert_eq!(done.code, 3);
    assert!(
        done.err
            .starts_with("error[S-SIGN-IN]: The token is not known.\n  request r-1\n  next: "),
        "{}",
        done.err
    );
    setting.environment.token = None;
    let done = setting.evalkit(&["whoami"]).await;
    assert_eq!(done.code, 3);
    assert!(done.err.contains("You are not logged in"), "{}", done.err);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_three_and_says_how_to_start_one() {
    let mut setting = Setting::new().await;
    setting.environment.server = Some("http://127.0.0.1:9".to_owned());
    for arguments in [
        &["whoami"][..],
        &["run", "shop-desk", "--agent", "desk"],
        &["collect", "7"],
    ] {
        let done = setting.evalkit(arguments).await;
        assert_eq!(done.code, 3, "{arguments:?}");
        assert!(done.err.contains("cannot be reached"), "{}", done.err);
        assert!(done.err.contains("evalkit serve"), "{}", done.err);
    }
}

/// A project file names the server; a token of the environment alone is not handed to it.
#[tokio::test]
async fn a_project_file_cannot_claim_a_token() {
    let mut setting = Setting::new().await;
    setting.environment.server = None;
    write(
        setting.folder.path(),
        "evalkit.yaml",
        "server: https://evil.example\n",
    );
    let done = setting.evalkit(&["whoami"]).await;
    assert_eq!(done.code, 3);
    assert!(
        done.err.contains("EVALKIT_SERVER=https://evil.example"),
        "{}",
        done.err
    );
    assert!(!done.err.contains(TOKEN));
    setting.environment.token = None;
    let kept = crate::credentials::Stored {
        token: TOKEN.to_owned(),
        name: "mara".to_owned(),
    };
    crate::credentials::Credentials::read(setting.environment.config.as_deref())
        .unwrap()
        .keep("http://127.0.0.1:3000", kept)
        .unwrap();
    let done = setting.evalkit(&["whoami"]).await;
    assert!(
        done.err.contains("not logged in to https://evil.example"),
        "{}",
        done.err
    );
    for server in ["ftp://x", "not a url", "http://user:pw@127.0.0.1/"] {
        setting.environment.server = Some(server.to_owned());
        assert_eq!(setting.evalkit(&["whoami"]).await.code, 3, "{server}");
    }
}

#[tokio::test]
async fn logout_forgets_the_token() {
    let mut setting = Setting::new().await;
    let origin = setting.environment.server.clone().unwrap();
    setting.environment.token = None;
    let kept = crate::credentials::Stored {
        token: TOKEN.to_owned(),
        name: "mara".to_owned(),
    };
    crate::credentials::Credentials::read(setting.environment.config.as_deref())
        .unwrap()
        .keep(&origin, kept)
        .unwrap();
    assert_eq!(setting.evalkit(&["whoami"]).await.code, 0);
    let done = setting.evalkit(&["logout"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.err.contains("revoked"), "{}", done.err);
    assert_eq!(setting.evalkit(&["whoami"]).await.code, 3);
}

#[tokio::test]
async fn agents_are_added_listed_checked_and_removed() {
    let setting = Setting::new().await;
    let done = setting
        .evalkit(&[
            "agent",
            "add",
            "desk",
            "--url",
            "http://127.0.0.1:8080/",
            "--capability",
            "tool_calls",
            "--timeout",
            "30",
        ])
        .await;
    assert_eq!(done.code, 0, "{}", done.err);
    let put = setting.fake.seen().agents["desk@mara"].clone();
    assert_eq!(put.config.endpoint, "http://127.0.0.1:8080/");
    assert_eq!(put.config.timeout_s, 30);
    assert_eq!(put.config.capabilities.map(|c| c.len()), Some(1));
    let done = setting.evalkit(&["agent", "list"]).await;
    assert!(done.out.contains("desk  evalkit-http"), "{}", done.out);
    let done = setting.evalkit(&["agent", "check", "desk"]).await;
    assert_eq!(done.code, 1);
    assert!(
        done.out.contains("does not answer (refused)"),
        "{}",
        done.out
    );
    assert_eq!(
        setting
            .evalkit(&["agent", "remove", "desk@mara"])
            .await
            .code,
        0
    );
    for wrong in [
        &["agent", "add", "Desk", "--url", "http://a/"][..],
        &[
            "agent",
            "add",
            "desk",
            "--url",
            "http://a/",
            "--adapter",
            "evalkit_http",
        ],
        &[
            "agent",
            "add",
            "desk",
            "--url",
            "http://a/",
            "--capability",
            "magic",
        ],
        &[
            "agent",
            "add",
            "desk",
            "--url",
            "http://a/",
            "--secret-env",
            "EVALKIT_TEST_IS_NOT_SET",
        ],
    ] {
        assert_eq!(setting.evalkit(wrong).await.code, 3, "{wrong:?}");
    }
}

#[tokio::test]
async fn sync_sends_files_and_prints_what_changed() {
    let setting = Setting::new().await;
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(
        done.out,
        "+ three-mugs\n+ express-shipping\n- old-one\nshop-desk@mara: 2 added, 0 changed, 0 unchanged, 1 archived\n"
    );
    {
        let seen = setting.fake.seen();
        assert_eq!(seen.syncs[0].files.len(), 1);
        assert_eq!(seen.syncs[0].files[0].path, "desk.yaml");
        assert_eq!(seen.syncs[0].files[0].text, DESK);
        assert_eq!(seen.syncs[0].subject_terms, ["server"]);
    }
    let done = setting.evalkit(&["sync", "cases", "--dry-run"]).await;
    assert!(done.out.contains("nothing was changed"), "{}", done.out);
    assert_eq!(
        setting.evalkit(&["sync", "cases", "--json"]).await.json()["added"][0],
        "three-mugs"
    );
}

#[tokio::test]
async fn lint_errors_and_known_facts_stop_a_sync_before_anything_is_sent() {
    let setting = Setting::new().await;
    write(
        setting.folder.path(),
        "cases/more.yaml",
        "id: taken\ninput: {question: q}\nmax_response_time: 1\n",
    );
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 1);
    assert!(done.err.contains("E-ID-TAKEN"), "{}", done.err);
    assert!(setting.fake.seen().syncs.is_empty());
    let done = setting
        .evalkit(&["lint", "cases", "--dataset", "shop-desk"])
        .await;
    assert_eq!(done.code, 1);
    assert!(done.out.contains("E-ID-TAKEN"), "{}", done.out);
}

#[tokio::test]
async fn many_cases_are_archived_only_when_it_is_meant() {
    let setting = Setting::new().await;
    setting.fake.seen().refuse_archiving = true;
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("S-CONFLICT") && done.err.contains("--archive"),
        "{}",
        done.err
    );
    assert_eq!(
        setting.evalkit(&["sync", "cases", "--archive"]).await.code,
        0
    );
}

#[tokio::test]
async fn fixtures_are_sent_once_and_every_absent_one_is_named() {
    let setting = Setting::new().await;
    let here = hash_bytes(b"here");
    let there = hash_bytes(b"there");
    let registry = |extra: &str| {
        format!(
            "fixtures:\n  here.txt: {{sha256: {here}, context: c}}\n  there.txt: {{sha256: {there}, context: c}}\n{extra}"
        )
    };
    write(setting.folder.path(), "files/here.txt", "here");
    setting.fake.seen().fixtures.insert(there.clone());
    let gone = format!(
        "  gone.txt: {{sha256: {}, context: c}}\n  lost.txt: {{sha256: {}, context: c}}\n",
        "a".repeat(64),
        "b".repeat(64)
    );
    write(
        setting.folder.path(),
        "cases/fixtures.yaml",
        &registry(&gone),
    );
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 1);
    assert!(
        done.err.contains("gone.txt") && done.err.contains("lost.txt"),
        "{}",
        done.err
    );
    assert!(setting.fake.seen().syncs.is_empty());
    assert!(!setting.fake.seen().fixtures.contains(&here));

    write(setting.folder.path(), "cases/fixtures.yaml", &registry(""));
    let done = setting.evalkit(&["sync", "cases", "--dry-run"]).await;
    assert!(done.err.contains("would send here.txt"), "{}", done.err);
    assert!(!setting.fake.seen().fixtures.contains(&here));
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.err.contains("the server has the bytes: there.txt"),
        "{}",
        done.err
    );
    assert!(setting.fake.seen().fixtures.contains(&here));
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert!(!done.err.contains("sending"), "{}", done.err);

    write(setting.folder.path(), "files/here.txt", "changed");
    let done = setting.evalkit(&["sync", "cases"]).await;
    assert_eq!(done.code, 1);
    assert!(done.err.contains("E-FIXTURE-HASH"), "{}", done.err);
}

#[tokio::test]
async fn run_syncs_follows_over_a_broken_stream_and_reports() {
    let setting = Setting::new().await;
    let done = setting
        .evalkit(&[
            "run",
            "shop-desk",
            "--agent",
            "desk",
            "--split",
            "prices",
            "--threshold",
            "0.9",
        ])
        .await;
    assert_eq!(done.code, 1, "{}\n{}", done.out, done.err);
    assert!(
        done.err.contains("synced shop-desk@mara: 2 added"),
        "{}",
        done.err
    );
    assert!(
        done.err.contains("left out, they need ground truth: waits"),
        "{}",
        done.err
    );
    assert!(
        done.err
            .contains("not met: answer_rubric_score 0.667 is below 0.9 (not a quality signal)"),
        "{}",
        done.err
    );
    assert!(
        done.out
            .contains("incorrect: States that express shipping costs €9.90.; said: €12.90"),
        "{}",
        done.out
    );
    assert!(
        done.out.trim_end().ends_with("/w/mara/runs/7"),
        "{}",
        done.out
    );
    {
        let seen = setting.fake.seen();
        assert_eq!(seen.syncs.len(), 1);
        assert_eq!(seen.runs[0].split.as_deref(), Some("prices"));
        assert_eq!(seen.streams, [Some("0".to_owned()), Some("41".to_owned())]);
    }
    let json = setting
        .evalkit(&["run", "shop-desk@dev", "--agent", "desk", "--json"])
        .await;
    assert_eq!(json.code, 0, "{}", json.err);
    assert_eq!(json.json()["schema"], "evalkit.results/1");
    assert_eq!(
        setting.fake.seen().syncs.len(),
        1,
        "a shared dataset is not synced"
    );
}

#[tokio::test]
async fn run_names_datasets_as_people_do() {
    let setting = Setting::new().await;
    let run = async |dataset: &'static str, more: &[&str]| {
        let mut arguments = vec!["run", dataset, "--agent", "desk", "--detach"];
        arguments.extend(more);
        setting.evalkit(&arguments).await
    };
    let done = run("cases", &[]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(
        done.out.trim_end().ends_with("/w/mara/runs/7"),
        "{}",
        done.out
    );
    assert_eq!(setting.fake.seen().runs[0].dataset, "shop-desk");
    assert_eq!(run("shop-desk", &["--no-sync"]).await.code, 0);
    assert_eq!(run("elsewhere", &["--no-sync"]).await.code, 0);
    assert_eq!(setting.fake.seen().syncs.len(), 1);
    let done = run("shop-dest", &[]).await;
    assert_eq!(done.code, 3);
    assert!(
        done.err.contains("Did you mean `shop-desk`?"),
        "{}",
        done.err
    );
    let syncs = setting.fake.seen().syncs.len();
    for (agent, next) in [
        ("nobody", "evalkit agent add nobody"),
        ("dask", "Did you mean `desk`?"),
    ] {
        let done = setting
            .evalkit(&["run", "shop-desk", "--agent", agent])
            .await;
        assert_eq!(done.code, 3);
        assert!(done.err.contains("S-NOT-FOUND"), "{}", done.err);
        assert!(done.err.contains(next), "{}", done.err);
    }
    assert_eq!(setting.fake.seen().syncs.len(), syncs, "nothing was synced");
    let done = run("shop-desk@dev", &["--trials", "0"]).await;
    assert_eq!(done.code, 3, "{}", done.err);
}

#[tokio::test]
async fn collect_prints_formats_and_writes_a_bundle() {
    let setting = Setting::new().await;
    let done = setting.evalkit(&["collect", "7"]).await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["counts"]["red"], 1);
    assert_eq!(
        setting
            .evalkit(&["collect", "7", "--threshold", "0.7"])
            .await
            .code,
        1
    );
    let runs = setting
        .evalkit(&["collect", "7@mara", "--format", "runs"])
        .await;
    assert_eq!(runs.out, RUNS);
    let junit = setting
        .evalkit(&["collect", "7", "--format", "junit"])
        .await;
    insta::assert_snapshot!("collect-junit", junit.out);
    let markdown = setting
        .evalkit(&["collect", "7", "--format", "markdown"])
        .await;
    insta::assert_snapshot!("collect-markdown", markdown.out);

    let done = setting
        .evalkit(&["collect", "7", "--out", "results", "--format", "runs"])
        .await;
    assert_eq!(done.code, 0, "{}", done.err);
    let read = |name: &str| {
        std::fs::read_to_string(setting.folder.path().join("results").join(name)).expect(name)
    };
    assert_eq!(read("runs.jsonl"), RUNS);
    assert_eq!(
        read("express-shipping/1/answer.md"),
        "Express shipping costs €12.90."
    );
    assert!(read("three-mugs/1/explanation.json").contains("answer_rubrics"));
    let results: Value = serde_json::from_str(&read("results.json")).unwrap();
    assert_eq!(results["schema"], "evalkit.results/1");

    setting.fake.seen().unfinished = true;
    let done = setting.evalkit(&["collect", "7", "--threshold", "0"]).await;
    assert_eq!(done.code, 2, "an open trial makes a run incomplete");
    assert!(done.err.contains("1 trial not done"), "{}", done.err);
}

/// What `collect --format runs` writes is what `grade` reads.
#[tokio::test]
async fn collected_runs_can_be_graded_without_the_server() {
    let setting = Setting::new().await;
    let runs = setting.evalkit(&["collect", "7", "--format", "runs"]).await;
    write(setting.folder.path(), "collected.jsonl", &runs.out);
    let done = setting
        .evalkit(&[
            "grade",
            "cases",
            "--runs",
            "collected.jsonl",
            "--judge",
            "replay:replies.jsonl",
            "--json",
        ])
        .await;
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["counts"]["green"], 1);
}
