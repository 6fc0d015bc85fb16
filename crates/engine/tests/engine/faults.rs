//! Agents that misbehave: each ends in its documented class within its time, and the healthy ones beside it do not notice
//! (T6 of the reliability design).

use std::time::{Duration, Instant};

use evalkit_core::run::AgentErrorClass as C;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use crate::deployment::Deployment;
use crate::fake_agent::{FakeAgent, GOOD};

/// Behaviours that end in an error, with the class and the attempts that were made.
const BAD: [(&str, C, u32); 25] = [
    ("silent", C::Timeout, 1),
    ("head-then-hang", C::Timeout, 1),
    ("drip", C::Timeout, 1),
    ("endless", C::TooLarge, 1),
    ("reset", C::Cut, 3),
    ("closed", C::Cut, 3),
    ("cut-body", C::Cut, 3),
    ("to-metadata", C::Redirect, 1),
    ("status-401", C::Http4xx, 1),
    ("status-404", C::Http4xx, 1),
    ("status-422", C::Http4xx, 1),
    ("status-429", C::RateLimited, 3),
    ("status-500", C::Http5xx, 3),
    ("status-503", C::Http5xx, 3),
    ("html", C::NotJson, 1),
    ("empty", C::NotJson, 1),
    ("cut-json", C::NotJson, 1),
    ("deep", C::NotJson, 1),
    ("not-a-number", C::NotJson, 1),
    ("too-big-number", C::NotJson, 1),
    ("latin1", C::NotJson, 1),
    ("large", C::TooLarge, 1),
    ("gzip-bomb", C::TooLarge, 1),
    ("bad-atif", C::InvalidAtif, 1),
    ("says-error", C::AgentReported, 1),
];

/// Behaviours that are odd and answer all the same, with the answer and the attempts.
const ODD: [(&str, &str, u32); 9] = [
    ("duplicate-keys", GOOD, 1),
    ("nul", "a\u{2400}b", 1),
    ("lone-surrogate", "a\\ud800b", 1),
    ("long-atif", GOOD, 1),
    ("call-without-result", GOOD, 1),
    ("by-events", GOOD, 1),
    ("busy-once", GOOD, 2),
    ("flaky-once", GOOD, 2),
    ("healthy-1", GOOD, 1),
];

async fn every_behaviour_ends_in_its_class() {
    let agent = FakeAgent::start(Duration::from_millis(5)).await;
    let here = Deployment::start().await;
    let mut ids: Vec<&str> = BAD
        .iter()
        .map(|(id, ..)| *id)
        .chain(ODD.iter().map(|(id, ..)| *id))
        .collect();
    ids.push("events-without-result");
    let healthy: Vec<String> = (2..20).map(|n| format!("healthy-{n}")).collect();
    ids.extend(healthy.iter().map(String::as_str));
    here.sync(&ids).await;
    // The time-out leaves room for bodies of 32 MiB on a busy machine; the silent ones wait it out side by side.
    here.agent("odd", &agent.url(), |config| {
        config.concurrency = 16;
        config.timeout_s = 8;
    })
    .await
    .unwrap();
    let began = Instant::now();
    let run = here.run("odd", 1).await.run;
    let counts = here
        .finish(run, ids.len() as u64, Duration::from_secs(60))
        .await;
    assert!(
        began.elapsed() < Duration::from_secs(40),
        "{:?}",
        began.elapsed()
    );
    assert_eq!(counts.error, BAD.len() as u64 + 1);
    assert_eq!(counts.done, ODD.len() as u64 + healthy.len() as u64);
    for (id, class, attempts) in BAD {
        let page = here.result(run, id).await;
        let error = page.error.unwrap();
        assert_eq!(error.class, class, "{id}: {}", error.message);
        assert_eq!(page.attempts, attempts, "{id}");
        assert_eq!(agent.calls(id), attempts as usize, "{id}");
        assert!(
            !error.message.contains("s3cret") && !error.message.contains("abcdefghijklmnop"),
            "{}",
            error.message
        );
    }
    let page = here.result(run, "events-without-result").await;
    assert_eq!(page.error.map(|error| error.class), Some(C::Cut));
    for (id, answer, attempts) in ODD {
        let page = here.result(run, id).await;
        assert_eq!(page.answer.as_deref(), Some(answer), "{id}");
        assert_eq!(page.attempts, attempts, "{id}");
        assert_eq!(agent.calls(id), attempts as usize, "{id}");
        assert_eq!(page.grades.len(), 1, "{id}");
    }
    // Attempts of one trial carry one key, and different trials different ones.
    let ledger = agent.ledger();
    let keys_of = |id: &str| {
        let mut keys: Vec<_> = ledger
            .iter()
            .filter(|seen| seen.case_id == id)
            .map(|seen| seen.key.clone())
            .collect();
        keys.dedup();
        keys
    };
    assert_eq!(keys_of("status-500").len(), 1);
    assert_ne!(keys_of("status-500"), keys_of("status-503"));
    // Nothing of the ground truth left the house (D21).
    for seen in &ledger {
        assert!(
            !seen.body.contains("CANARY")
                && !seen.body.contains("8,848")
                && !seen.head.contains("canary"),
            "{}",
            seen.body
        );
        assert!(seen.body.contains("\"api\":\"evalkit.agent/1\""));
    }
}

async fn agents_that_cannot_be_reached() {
    let here = Deployment::start().await;
    here.sync(&["one"]).await;
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let refused = free.local_addr().unwrap();
    drop(free);
    // Accepts, and hangs up instead of speaking TLS.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let no_tls = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.read(&mut [0; 64]).await;
        }
    });
    for (name, url, class, attempts) in [
        ("nobody", format!("http://{refused}/"), C::Refused, 3),
        ("no-name", "https://agent.invalid/run".to_owned(), C::Dns, 3),
        ("no-tls", format!("https://{no_tls}/"), C::Tls, 1),
    ] {
        here.agent(name, &url, |config| config.timeout_s = 8)
            .await
            .unwrap();
        let run = here.run(name, 1).await.run;
        let counts = here.finish(run, 1, Duration::from_secs(30)).await;
        assert_eq!(counts.error, 1, "{name}");
        let page = here.result(run, "one").await;
        let error = page.error.unwrap();
        assert_eq!(
            (error.class, page.attempts),
            (class, attempts),
            "{name}: {}",
            error.message
        );
    }
}

async fn an_agent_that_may_not_be_called_is_refused_when_it_is_entered() {
    let here = Deployment::start().await;
    let fault = here
        .agent("inside", "http://10.1.2.3:8080/run", |_| {})
        .await
        .unwrap_err();
    assert_eq!(fault.code, evalkit_core::error::Code::EgressDenied);
    assert!(
        fault
            .details
            .iter()
            .any(|line| line.contains("10.1.2.3:8080")),
        "{fault:?}"
    );
    let fault = here
        .agent("cloud", "http://169.254.169.254/latest", |_| {})
        .await
        .unwrap_err();
    assert_eq!(fault.code, evalkit_core::error::Code::EgressDenied);
    assert!(fault.details.is_empty(), "nothing can allow it: {fault:?}");
}

async fn a_check_says_what_came_back() {
    let here = Deployment::start().await;
    let agent = FakeAgent::start(Duration::from_millis(5)).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    let check = here
        .engine
        .check_agent(&here.ctx, crate::deployment::HERE, "bot")
        .await
        .unwrap();
    assert!(check.ok, "{check:?}");
    assert_eq!(check.reply, GOOD);
    assert_eq!(agent.ledger().len(), 1, "one probe, one call");
    let steps: Vec<&str> = check.steps.iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(steps, ["Address", "Call", "Answer", "Trajectory", "Usage"]);
    // It is kept for the Agents page.
    let page = here
        .store
        .agents_page(&here.ctx, crate::deployment::HERE)
        .await
        .unwrap();
    let row = page.rows.iter().find(|row| row.name == "bot").unwrap();
    assert_eq!(row.last_check.as_ref(), Some(&check));
    let demo = here
        .engine
        .check_agent(&here.ctx, crate::deployment::HERE, "demo-careful")
        .await
        .unwrap();
    assert!(demo.ok, "{demo:?}");
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", free.local_addr().unwrap());
    drop(free);
    here.agent("gone", &url, |_| {}).await.unwrap();
    let check = here
        .engine
        .check_agent(&here.ctx, crate::deployment::HERE, "gone")
        .await
        .unwrap();
    assert!(!check.ok);
    assert_eq!(check.class.as_deref(), Some("refused"));
    assert!(
        here.engine
            .check_agent(&here.ctx, crate::deployment::HERE, "unheard-of")
            .await
            .is_err()
    );
}

evalkit_test_database::on_each_database![
    every_behaviour_ends_in_its_class,
    agents_that_cannot_be_reached,
    an_agent_that_may_not_be_called_is_refused_when_it_is_entered,
    a_check_says_what_came_back,
];
