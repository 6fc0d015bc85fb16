//! Agents, their secrets, and who finds which.

use evalkit_core::agent::{Adapter, AgentConfig, AgentHome};
use evalkit_core::error::Code;
use evalkit_store::{NewAgent, SecretText, Settings};

use crate::world::{World, code};

fn agent(endpoint: &str, secret: Option<&str>) -> NewAgent {
    NewAgent {
        config: AgentConfig::new("bot", Adapter::EvalkitHttp, endpoint),
        secret: secret.map(SecretText::new),
    }
}

async fn a_changed_address_voids_the_secret() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    let first = "https://agent.example/run";
    store
        .put_agent(&mara, "mara", agent(first, Some("s3cret")))
        .await
        .expect("added");
    let found = store.resolve_agent(&mara, "mara", "bot").await.expect("it");
    let secret = found.secret.expect("a secret");
    let text = store
        .open_secret_unchecked(&secret, first)
        .await
        .expect("opens");
    assert_eq!(text.expose(), "s3cret");
    assert_eq!(format!("{text:?}"), "[secret]");
    assert_eq!(
        code(
            store
                .open_secret_unchecked(&secret, "https://evil.example/run")
                .await
        ),
        Code::NotFound,
        "a secret opens for its origin alone"
    );

    store
        .put_agent(&mara, "mara", agent(first, None))
        .await
        .expect("same address");
    let kept = store.resolve_agent(&mara, "mara", "bot").await.expect("it");
    assert_eq!(kept.secret.as_ref(), Some(&secret));

    store
        .put_agent(&mara, "mara", agent("https://agent.example/other", None))
        .await
        .expect("moved");
    let moved = store.resolve_agent(&mara, "mara", "bot").await.expect("it");
    assert!(moved.secret.is_none());
    assert_eq!(
        code(store.open_secret_unchecked(&secret, first).await),
        Code::NotFound,
        "an experiment frozen on the old secret cannot use it"
    );
    if evalkit_test_database::url().is_none() {
        let bytes = std::fs::read(world.folder.path().join("evalkit.db")).expect("the file");
        let wal = std::fs::read(world.folder.path().join("evalkit.db-wal")).unwrap_or_default();
        for file in [bytes, wal] {
            assert!(
                !file.windows(6).any(|w| w == b"s3cret"),
                "no secret at rest in the clear"
            );
        }
    }
}

async fn a_bare_name_is_looked_up_in_order() {
    let settings = Settings {
        deployment_agents: vec![AgentConfig::new(
            "shared",
            Adapter::EvalkitHttp,
            "http://x/",
        )],
        builtin_agents: vec![AgentConfig::new("demo", Adapter::Demo, "")],
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    for workspace in ["mara", "team"] {
        store
            .put_agent(&mara, workspace, agent("https://a.example/", None))
            .await
            .expect("added");
    }
    let found = store.resolve_agent(&mara, "team", "bot").await.expect("it");
    assert_eq!(found.name, "bot@mara", "one's own comes first");
    let found = store
        .resolve_agent(&mara, "team", "bot@team")
        .await
        .expect("it");
    assert_eq!(found.name, "bot");
    let found = store
        .resolve_agent(&mara, "team", "shared")
        .await
        .expect("it");
    assert_eq!(found.home, AgentHome::Config);
    let found = store
        .resolve_agent(&mara, "team", "demo")
        .await
        .expect("it");
    assert_eq!(found.home, AgentHome::BuiltIn);
    for missing in ["nobody", "bot@leo", "bot@nowhere"] {
        assert_eq!(
            code(store.resolve_agent(&mara, "team", missing).await),
            Code::NotFound
        );
    }
    let page = store.agents_page(&mara, "team").await.expect("a page");
    let names: Vec<_> = page.rows.iter().map(|r| r.name.as_str()).collect();
    assert_eq!(names, ["bot", "shared", "demo"]);
    store
        .remove_agent(&mara, "team", "bot")
        .await
        .expect("removed");
    assert_eq!(
        code(store.remove_agent(&mara, "team", "bot").await),
        Code::NotFound
    );
}

evalkit_test_database::on_each_database![
    a_changed_address_voids_the_secret,
    a_bare_name_is_looked_up_in_order,
];
