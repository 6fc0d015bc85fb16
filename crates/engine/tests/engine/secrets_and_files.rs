//! What travels with a call: the secret in its header, the files behind signed addresses (D10, D12, D15, D16).

use std::time::Duration;

use evalkit_core::agent::{Adapter, AgentConfig};
use evalkit_core::error::Code;
use evalkit_engine::NewExperiment;
use evalkit_engine::demo::{DEMO_DATASET, bundled_fixtures};
use evalkit_store::{NewAgent, SecretText};

use crate::deployment::{Deployment, HERE};
use crate::fake_agent::FakeAgent;

async fn agent_with_secret(
    here: &Deployment,
    url: &str,
    secret: Option<&str>,
    header: Option<&str>,
) {
    let config = AgentConfig {
        secret_header: header.map(str::to_owned),
        ..AgentConfig::new("bot", Adapter::EvalkitHttp, url)
    };
    let secret = secret.map(SecretText::new);
    here.engine
        .add_agent(&here.ctx, HERE, NewAgent { config, secret })
        .await
        .unwrap();
}

async fn a_secret_goes_to_its_own_origin_and_nowhere_else() {
    let agent = FakeAgent::start(Duration::from_millis(1)).await;
    let other = FakeAgent::start(Duration::from_millis(1)).await;
    let here = Deployment::start().await;
    here.sync(&["status-401"]).await;
    agent_with_secret(&here, &agent.url(), Some("s3cret-of-the-agent"), None).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 1, Duration::from_secs(10)).await;
    assert!(
        agent.ledger()[0]
            .head
            .contains("\nauthorization: bearer s3cret-of-the-agent")
    );
    let error = here.result(run, "status-401").await.error.unwrap();
    assert!(!error.message.contains("s3cret"), "{}", error.message);
    // Another header, the same secret.
    agent_with_secret(&here, &agent.url(), None, Some("X-Agent-Key")).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 1, Duration::from_secs(10)).await;
    let head = agent.ledger()[1].head.clone();
    assert!(
        head.contains("\nx-agent-key: s3cret-of-the-agent") && !head.contains("authorization"),
        "{head}"
    );
    // Another address: the secret is gone, not sent along.
    agent_with_secret(&here, &other.url(), None, Some("X-Agent-Key")).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 1, Duration::from_secs(10)).await;
    assert!(
        !other.ledger()[0].head.contains("s3cret"),
        "{}",
        other.ledger()[0].head
    );
}

async fn an_agent_reads_the_files_of_its_case_by_their_signed_address() {
    let agent = FakeAgent::start(Duration::from_millis(1)).await;
    let here = Deployment::start().await;
    here.engine.sync_demo_dataset(&here.ctx).await.unwrap();
    agent_with_secret(&here, &agent.url(), None, None).await;
    let started = here
        .engine
        .start_experiment(
            &here.ctx,
            NewExperiment {
                workspace: HERE.to_owned(),
                dataset: DEMO_DATASET.to_owned(),
                agent: "bot".to_owned(),
                case_ids: vec!["planet-density-ranking".to_owned()],
                ..NewExperiment::default()
            },
        )
        .await
        .unwrap();
    here.finish(started.run, 1, Duration::from_secs(10)).await;
    let body: serde_json::Value = serde_json::from_str(&agent.ledger()[0].body).unwrap();
    let fixture = &body["fixtures"][0];
    assert_eq!(fixture["key"], "planets.csv");
    assert!(
        body["input"]["prompt"]
            .as_str()
            .unwrap()
            .starts_with(fixture["context"].as_str().unwrap())
    );
    let url = url::Url::parse(fixture["url"].as_str().unwrap()).unwrap();
    let parts: Vec<&str> = url.path_segments().unwrap().collect();
    let [_, _, run, _, sha256, key] = parts[..] else {
        panic!("{url}");
    };
    assert_eq!(
        (run, key),
        (body["run_id"].as_str().unwrap(), "planets.csv")
    );
    let parameter = |name: &str| {
        url.query_pairs()
            .find(|(k, _)| k == name)
            .unwrap()
            .1
            .into_owned()
    };
    let (expires, signature) = (
        parameter("expires").parse::<u64>().unwrap(),
        parameter("signature"),
    );
    let now = u64::try_from(here.store.now() / 1_000_000).unwrap();
    // The call's time-out and five minutes.
    assert!(
        (now + 300..=now + 700).contains(&expires),
        "{expires} at {now}"
    );
    let (path, bytes) = here
        .engine
        .agent_fixture(run, key, sha256, expires, &signature, now)
        .await
        .unwrap();
    let (_, original) = bundled_fixtures()
        .iter()
        .find(|(name, _)| *name == key)
        .unwrap();
    assert_eq!(bytes, original.len() as u64);
    assert_eq!(std::fs::read(path).unwrap(), *original);
    let mut refused = Vec::new();
    for (key, hash, until, at) in [
        ("other.csv", sha256, expires, now),
        (key, &"0".repeat(64), expires, now),
        (key, sha256, expires + 1, now),
        (key, sha256, expires, expires + 1),
    ] {
        refused.push(
            here.engine
                .agent_fixture(run, key, hash, until, &signature, at)
                .await
                .unwrap_err(),
        );
    }
    refused.push(
        here.engine
            .agent_fixture("another-trial", key, sha256, expires, &signature, now)
            .await
            .unwrap_err(),
    );
    assert!(
        refused
            .iter()
            .all(|fault| fault.code == Code::NotFound && *fault == refused[0])
    );
}

evalkit_test_database::on_each_database![
    a_secret_goes_to_its_own_origin_and_nowhere_else,
    an_agent_reads_the_files_of_its_case_by_their_signed_address,
];
