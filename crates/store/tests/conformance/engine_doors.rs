//! What the engine and the routes ask of the store beside the queue: rights, checks, lint facts, files of trials.

use evalkit_core::canonical::hash_bytes;
use evalkit_core::error::Code;
use evalkit_core::experiment::ExperimentState;
use evalkit_core::policy::{Action, Actor, Scope};
use evalkit_core::view::agents::AgentCheck;
use evalkit_core::view::experiment::Live;
use evalkit_store::{NewOwner, NewTokenRequest, Settings, Store};

use crate::world::{CASES, World, answer, code, grade, request};

async fn rights_are_asked_before_anything_else() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    store
        .require(&mara, "team", Action::RegisterAgent)
        .await
        .expect("an admin");
    assert_eq!(
        code(store.require(&world.nobody(), "team", Action::Read).await),
        Code::SignIn
    );
    assert_eq!(
        code(store.require(&mara, "leo", Action::Read).await),
        Code::NotFound
    );
}

async fn the_link_of_an_owner_to_be_is_known_until_it_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = evalkit_test_database::settings(Settings::default());
    let store = Store::open(folder.path(), settings).await.expect("opens");
    let nobody = store.ctx(Actor::Anonymous, "r", "");
    let first = store
        .issue_setup_link_unchecked()
        .await
        .expect("ok")
        .expect("a link");
    let link = store
        .issue_setup_link_unchecked()
        .await
        .expect("ok")
        .expect("a link");
    assert_eq!(
        code(store.check_setup_link(&nobody, &first).await),
        Code::SetupLink
    );
    store
        .check_setup_link(&nobody, &link)
        .await
        .expect("the one printed last");
    let owner = NewOwner {
        name: "mara".to_owned(),
        display_name: "Mara".to_owned(),
        password: "correct horse battery".to_owned(),
    };
    store
        .complete_setup(&nobody, &link, &owner)
        .await
        .expect("an owner");
    assert_eq!(
        code(store.check_setup_link(&nobody, &link).await),
        Code::SetupLink
    );
}

async fn a_token_may_end_itself() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    assert_eq!(code(store.revoke_own_token(&mara).await), Code::Invalid);
    let request = NewTokenRequest {
        name: "CI".to_owned(),
        scopes: vec![Scope::Read],
        days: None,
    };
    let made = store.create_token(&mara, &request).await.expect("a token");
    let actor = store.actor_by_token(&made.secret).await.expect("ok");
    let ctx = store.ctx(actor, "r", "");
    store.revoke_own_token(&ctx).await.expect("ended");
    let actor = store.actor_by_token(&made.secret).await.expect("ok");
    assert_eq!(actor, Actor::Anonymous);
}

async fn the_last_check_of_an_agent_is_shown() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    let check = |message: &str| AgentCheck {
        ok: false,
        class: Some("timeout".to_owned()),
        message: message.to_owned(),
        steps: vec![("call".to_owned(), false, "no reply".to_owned())],
        reply: String::new(),
        latency_ms: 30_000,
        at: world.store.now(),
    };
    let agent = evalkit_store::NewAgent {
        config: evalkit_core::agent::AgentConfig::new(
            "bot",
            evalkit_core::agent::Adapter::EvalkitHttp,
            "https://agent.example/",
        ),
        secret: None,
    };
    store.put_agent(&mara, "mara", agent).await.expect("added");
    for message in ["first", "second"] {
        store
            .save_agent_check(&mara, "mara", "bot", check(message))
            .await
            .expect("kept");
    }
    let page = store.agents_page(&mara, "mara").await.expect("a page");
    assert_eq!(page.rows[0].last_check, Some(check("second")));
}

async fn lint_knows_what_lies_beside_a_dataset() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let sha = hash_bytes(b"bytes");
    let mut writer = store.begin_fixture(&mara, "mara").await.expect("may");
    writer.write(b"bytes").await.expect("taken");
    store
        .finish_fixture(&mara, "mara", &sha, writer)
        .await
        .expect("stored");
    let overlay = "overlays:\n  - extends: paris\n    agents: [bot]\n    tags: [mine]\n";
    let mut sync = request("mara", "desk", overlay);
    let registry = format!("fixtures:\n  a.txt: {{sha256: {sha}, context: \"A report.\"}}\n");
    sync.files.push(evalkit_lint::SourceFile::new(
        "fixtures.yaml",
        registry.as_bytes(),
    ));
    store.sync(&mara, sync).await.expect("synced");
    let facts = store
        .lint_facts(&mara, "mara", "desk")
        .await
        .expect("facts");
    let cases = facts.other_cases.unwrap_or_default();
    assert_eq!(cases.get("paris").map(String::as_str), Some("world"));
    assert_eq!(facts.fixture_files.unwrap_or_default()["a.txt"].bytes, 5);
    let facts = store
        .lint_facts(&mara, "mara", "world")
        .await
        .expect("facts");
    assert_eq!(facts.overlays.map(|overlays| overlays.len()), Some(1));
    assert_eq!(
        code(store.lint_facts(&mara, "leo", "world").await),
        Code::NotFound
    );
}

async fn files_of_a_trial_are_its_workspaces_and_its_own() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let sha = hash_bytes(b"bytes");
    let mut writer = store.begin_fixture(&mara, "mara").await.expect("may");
    writer.write(b"bytes").await.expect("taken");
    store
        .finish_fixture(&mara, "mara", &sha, writer)
        .await
        .expect("stored");
    let made = world.experiment(&mara, "mara").await;
    let ctx = world.system();
    let claims = world.claim(&made.id, 2).await;
    let (path, bytes) = store
        .trial_fixture_file_unchecked(&claims[0].fence.trial_id, &sha)
        .await
        .expect("it");
    assert_eq!(
        (std::fs::read(path).expect("bytes"), bytes),
        (b"bytes".to_vec(), 5)
    );
    for (trial, hash) in [
        ("no-trial", sha.as_str()),
        (&claims[0].fence.trial_id, &hash_bytes(b"other")),
    ] {
        assert_eq!(
            code(store.trial_fixture_file_unchecked(trial, hash).await),
            Code::NotFound
        );
    }

    assert!(
        store
            .record_answer(&ctx, &claims[0].fence, answer("Long."))
            .await
            .expect("recorded")
    );
    assert!(
        store
            .begin_grading(&ctx, &claims[0].fence)
            .await
            .expect("begun")
    );
    assert!(
        store
            .begin_grading(&ctx, &claims[0].fence)
            .await
            .expect("begun already")
    );
    assert!(
        !store
            .begin_grading(&ctx, &claims[1].fence)
            .await
            .expect("nothing is recorded")
    );
    let grading = store
        .events_after(&mara, "mara", 1, 0)
        .await
        .expect("events")
        .iter()
        .filter(|event| matches!(&event.live, Live::Trial { cell, .. } if cell.state == "grading"))
        .count();
    assert_eq!(grading, 1);
    assert_eq!(
        store
            .recorded_trials(&mara, "mara", 1)
            .await
            .expect("a list"),
        [("nile".to_owned(), 1)]
    );
    let file = store
        .answer_file(&mara, "mara", 1, "nile", 1)
        .await
        .expect("it");
    assert_eq!(
        (file.name.as_str(), file.bytes.as_slice()),
        ("nile.1.answer.md", b"Long.".as_slice())
    );
    assert_eq!(
        code(store.answer_file(&mara, "mara", 1, "paris", 1).await),
        Code::NotFound
    );
    assert!(
        store
            .finish_trial(&ctx, &claims[0].fence, vec![(0, grade(1, 1))])
            .await
            .expect("ended")
    );
    let plan = store.experiment_plan(&ctx, &made.id).await.expect("a plan");
    assert_eq!((plan.run, plan.state), (1, ExperimentState::Running));
    assert_eq!(
        code(store.experiment_plan(&ctx, "none").await),
        Code::NotFound
    );
}

/// Of two ends that come for one trial at once, one is taken; an end without a grade harms no other.
async fn ends_that_come_together_are_told_apart() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let mut new = crate::world::new_experiment("mara");
    new.trials = 6;
    let made = store.create_experiment(&mara, new).await.expect("a run");
    let ctx = world.system();
    let claims = world.claim(&made.id, 12).await;
    assert_eq!(claims.len(), 8, "as many as the agent takes");
    let twice = claims.iter().chain(&claims).map(|claim| async {
        store
            .record_answer(&ctx, &claim.fence, answer("a"))
            .await
            .expect("ok")
    });
    let taken = futures::future::join_all(twice).await;
    assert_eq!(taken.iter().filter(|taken| **taken).count(), 8);
    let ends = claims.iter().chain(&claims).enumerate().map(|(n, claim)| {
        let grades = if n % 8 == 3 {
            Vec::new()
        } else {
            vec![(0, grade((n % 2) as u64, 1))]
        };
        async { store.finish_trial(&ctx, &claim.fence, grades).await }
    });
    let ended = futures::future::join_all(ends).await;
    assert_eq!(
        ended.iter().filter(|end| matches!(end, Ok(true))).count(),
        7
    );
    let late = ended.iter().filter(|end| matches!(end, Ok(false))).count();
    let refused = ended.iter().filter(|end| end.is_err()).count();
    assert!(
        late >= 7 && refused >= 1 && late + refused == 9,
        "{late} and {refused}"
    );
    assert_eq!(store.stale_writes(), 8 + late as u64);
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!((page.row.counts.done, page.row.counts.recorded), (7, 1));
}

evalkit_test_database::on_each_database![
    rights_are_asked_before_anything_else,
    the_link_of_an_owner_to_be_is_known_until_it_is_used,
    a_token_may_end_itself,
    the_last_check_of_an_agent_is_shown,
    lint_knows_what_lies_beside_a_dataset,
    files_of_a_trial_are_its_workspaces_and_its_own,
    ends_that_come_together_are_told_apart,
];
