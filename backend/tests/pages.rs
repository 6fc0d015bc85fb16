//! Pages from outside, as a browser without script sees them: status, headers, forms, and what stands in the HTML.

use std::sync::OnceLock;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use evalkit_app::server::{SessionCookie, State};
use evalkit_backend::pages;
use evalkit_backend::session::{Sessions, identify};
use evalkit_backend::site::Site;
use evalkit_core::policy::Actor;
use evalkit_engine::{Engine, EngineSettings};
use evalkit_store::{NewOwner, Settings, Store};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tower::ServiceExt as _;

const ORIGIN: &str = "http://127.0.0.1:3000";

/// One server for all tests: Leptos lists its routes once a process, and the store's writer lives in one runtime.
struct Server {
    app: Router,
    cookie: String,
    _folder: TempDir,
}

static SERVER: OnceCell<Server> = OnceCell::const_new();

fn run<T>(test: impl AsyncFnOnce(&'static Server) -> T) -> T {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().expect("a runtime"));
    runtime.block_on(async { test(SERVER.get_or_init(Server::new).await).await })
}

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    fn header(&self, name: header::HeaderName) -> &str {
        self.headers
            .get(&name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
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
            display_name: "Mara <Lindqvist>".to_owned(),
            password: "correct horse battery".to_owned(),
        };
        let signed_in = store
            .complete_setup(&nobody, &link, &owner)
            .await
            .expect("an owner");
        let engine = Engine::new(store.clone(), EngineSettings::default()).expect("an engine");
        let cookie = SessionCookie { secure: false };
        let sessions = Sessions {
            store: store.clone(),
            cookie,
            origins: vec![ORIGIN.to_owned()].into(),
            demo_person: None,
        };
        let state = State {
            store,
            engine,
            cookie,
            made_tokens: Default::default(),
        };
        let app = pages::router(state, sessions.clone(), &Site::default())
            .layer(from_fn_with_state(sessions, identify))
            .layer(from_fn(|request, next| {
                pages::headers(false, request, next)
            }));
        Self {
            app,
            cookie: format!("evalkit_session={}", signed_in.secret),
            _folder: folder,
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request
            .body(Body::from(body.to_owned()))
            .expect("a request");
        let response = self.app.clone().oneshot(request).await.expect("an answer");
        let (parts, body) = response.into_parts();
        let body = axum::body::to_bytes(body, usize::MAX)
            .await
            .expect("a body");
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(body.to_vec()).expect("text"),
        }
    }

    /// As a signed-in browser.
    async fn get(&self, path: &str) -> Answer {
        self.ask(
            Method::GET,
            path,
            &[("cookie", &self.cookie), ("accept", "text/html")],
            "",
        )
        .await
    }

    /// As a form posted without script from `page`.
    async fn post(&self, path: &str, page: &str, cookie: &str, body: &str) -> Answer {
        let referer = format!("{ORIGIN}{page}");
        let headers = [
            ("cookie", cookie),
            ("accept", "text/html"),
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", ORIGIN),
            ("referer", &referer),
        ];
        self.ask(Method::POST, path, &headers, body).await
    }
}

#[test]
fn nobody_is_led_to_the_sign_in_page_and_back() {
    run(async |server| {
        let answer = server
            .ask(Method::GET, "/w/mara/runs?agent=a", &[], "")
            .await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        assert_eq!(
            answer.header(header::LOCATION),
            "/sign-in?return_to=/w/mara/runs%3Fagent%3Da"
        );
        let page = server
            .ask(Method::GET, answer.header(header::LOCATION), &[], "")
            .await;
        assert_eq!(page.status, StatusCode::OK);
        assert!(page.body.contains("/w/mara/runs?agent=a"), "{}", page.body);
        let elsewhere = server
            .ask(
                Method::GET,
                "/sign-in?return_to=https%3A%2F%2Fevil.example",
                &[],
                "",
            )
            .await;
        assert!(
            !elsewhere.body.contains("value=\"https"),
            "never another host"
        );
    });
}

#[test]
fn signing_in_works_without_script() {
    run(async |server| {
        let wrong = server
            .post(
                "/fn/sign-in",
                "/sign-in",
                "",
                "name=mara&password=wrong&return_to=%2F",
            )
            .await;
        assert_eq!(wrong.status, StatusCode::FOUND);
        let back = wrong.header(header::LOCATION).to_owned();
        assert!(back.starts_with(&format!("{ORIGIN}/sign-in?")), "{back}");
        let page = server
            .ask(
                Method::GET,
                back.strip_prefix(ORIGIN).expect("ours"),
                &[],
                "",
            )
            .await;
        assert!(page.body.contains("do not fit together"), "{}", page.body);
        let right = server
            .post(
                "/fn/sign-in",
                "/sign-in",
                "",
                "name=mara&password=correct+horse+battery&return_to=%2Fw%2Fmara",
            )
            .await;
        assert_eq!(right.status, StatusCode::FOUND);
        assert_eq!(right.header(header::LOCATION), "/w/mara");
        let cookie = right.header(header::SET_COOKIE);
        assert!(
            cookie.starts_with("evalkit_session=") && cookie.contains("HttpOnly; SameSite=Lax"),
            "{cookie}"
        );
        let session = cookie.split(';').next().unwrap_or_default().to_owned();
        let out = server.post("/fn/sign-out", "/", &session, "").await;
        assert_eq!(out.header(header::LOCATION), "/sign-in");
        let after = server
            .ask(Method::GET, "/w/mara", &[("cookie", &session)], "")
            .await;
        assert_eq!(
            after.status,
            StatusCode::SEE_OTHER,
            "the session has ended on the server"
        );
    });
}

#[test]
fn a_program_gets_the_fault_with_its_status() {
    run(async |server| {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("origin", ORIGIN),
        ];
        let answer = server
            .ask(
                Method::POST,
                "/fn/sign-in",
                &headers,
                "name=x&password=y&return_to=%2F",
            )
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        assert!(
            answer.body.contains("S-SIGN-IN") && answer.body.contains("request_id"),
            "{}",
            answer.body
        );
        let answer = server
            .ask(
                Method::POST,
                "/fn/home-page",
                &[("content-type", "application/json"), ("origin", ORIGIN)],
                "{}",
            )
            .await;
        assert_eq!(answer.status, StatusCode::UNAUTHORIZED);
        let nowhere = server.ask(Method::GET, "/api/nothing", &[], "").await;
        assert_ne!(nowhere.status, StatusCode::OK);
    });
}

#[test]
fn changes_from_other_sites_are_refused() {
    run(async |server| {
        for headers in [
            vec![
                ("cookie", server.cookie.as_str()),
                ("sec-fetch-site", "cross-site"),
            ],
            vec![
                ("cookie", server.cookie.as_str()),
                ("origin", "https://evil.example"),
            ],
            vec![("cookie", server.cookie.as_str())],
        ] {
            let answer = server.ask(Method::POST, "/fn/sign-out", &headers, "").await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{headers:?}");
            assert!(answer.body.contains("S-CROSS-SITE"));
        }
        let read_by_get = server.get("/fn/sign-out").await;
        assert_ne!(
            read_by_get.status,
            StatusCode::FOUND,
            "nothing changes through GET"
        );
        assert_eq!(server.get("/").await.status, StatusCode::OK);
    });
}

#[test]
fn every_page_holds_to_its_policy() {
    run(async |server| {
        for path in [
            "/",
            "/kit",
            "/sign-in",
            "/settings/tokens",
            "/w/mara",
            "/w/mara/runs",
            "/w/mara/agents",
            "/w/mara/d/none",
            "/nowhere",
        ] {
            let answer = server.get(path).await;
            let policy = answer.header(header::CONTENT_SECURITY_POLICY);
            let nonce = policy
                .split("'nonce-")
                .nth(1)
                .and_then(|rest| rest.split('\'').next())
                .expect(path);
            assert!(
                policy.contains("'strict-dynamic' 'wasm-unsafe-eval'")
                    && !policy.contains("'unsafe-eval'"),
                "{policy}"
            );
            assert_eq!(answer.header(header::X_CONTENT_TYPE_OPTIONS), "nosniff");
            assert_eq!(answer.header(header::REFERRER_POLICY), "same-origin");
            for script in answer.body.split("<script").skip(1) {
                let tag = script.split('>').next().unwrap_or_default();
                assert!(
                    tag.contains(&format!("nonce=\"{nonce}\"")),
                    "{path}: <script{tag}>"
                );
            }
            assert!(
                !answer.body.contains(" style=\""),
                "{path} holds a style attribute"
            );
            assert!(!answer.body.contains(" onclick="), "{path} holds a handler");
        }
    });
}

#[test]
fn missing_and_foreign_say_the_same() {
    run(async |server| {
        let mut seen = std::collections::BTreeSet::new();
        for path in [
            "/w/nobody",
            "/w/nobody/runs",
            "/w/nobody/agents",
            "/w/nobody/d/x",
            "/w/mara/d/none",
        ] {
            let answer = server.get(path).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}");
            let id = answer
                .headers
                .get("x-request-id")
                .and_then(|id| id.to_str().ok())
                .expect("an id")
                .to_owned();
            let main = answer
                .body
                .split("<main")
                .nth(1)
                .and_then(|rest| rest.split("</main>").next())
                .expect("a page");
            assert!(
                main.contains("There is nothing at this address that you can see."),
                "{path}"
            );
            seen.insert(main.replace(&id, "ID"));
        }
        assert_eq!(seen.len(), 1, "word for word: {seen:#?}");
        assert_eq!(
            server.get("/no/such/page").await.status,
            StatusCode::NOT_FOUND
        );
    });
}

#[test]
fn a_token_made_without_script_is_shown_once() {
    run(async |server| {
        let made = server
            .post(
                "/fn/make-token",
                "/settings/tokens",
                &server.cookie,
                "name=ci%20%3Cb%3E&days=30&read=yes&run=yes",
            )
            .await;
        assert_eq!(made.status, StatusCode::FOUND);
        assert_eq!(made.header(header::LOCATION), "/settings/tokens#made");
        let first = server.get("/settings/tokens").await;
        assert!(
            first.body.contains("evk_") && first.body.contains("evalkit login"),
            "the secret and the line"
        );
        assert!(first.body.contains("ci &lt;b&gt;"), "names are text");
        let second = server.get("/settings/tokens").await;
        assert!(!second.body.contains("evk_"), "and never again");
        assert!(second.body.contains("ci &lt;b&gt;"));
    });
}

#[test]
fn the_theme_is_kept_and_rendered() {
    run(async |server| {
        let set = server
            .post(
                "/fn/set-theme",
                "/kit",
                &server.cookie,
                "theme=dark&return_to=%2Fkit",
            )
            .await;
        assert_eq!(set.header(header::LOCATION), "/kit");
        assert!(
            set.header(header::SET_COOKIE)
                .starts_with("evalkit_theme=dark")
        );
        let dark = server
            .ask(Method::GET, "/kit", &[("cookie", "evalkit_theme=dark")], "")
            .await;
        assert!(dark.body.contains("data-theme=\"dark\""));
        assert!(
            !server
                .ask(Method::GET, "/kit", &[], "")
                .await
                .body
                .contains("<html lang=\"en\" data-theme")
        );
    });
}

#[test]
fn a_used_set_up_link_says_so() {
    run(async |server| {
        let answer = server
            .ask(Method::GET, "/setup/0123456789abcdef", &[], "")
            .await;
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert!(answer.body.contains("S-SETUP-LINK"), "{}", answer.body);
    });
}

#[test]
fn the_component_sheet_shows_every_mark() {
    run(async |server| {
        let answer = server.ask(Method::GET, "/kit", &[], "").await;
        for mark in evalkit_app::ui::Mark::ALL {
            assert!(answer.body.contains(mark.word()), "{}", mark.word());
            assert!(
                answer
                    .body
                    .contains(&format!("id=\"{}\"", &mark.href()[1..])),
                "{} is in the sprite",
                mark.href()
            );
        }
    });
}
