//! Text that databases keep differently comes back the same from both (`reliability.md`, D29).

use evalkit_core::run::{AgentErrorClass, RecordedRun, RunError};
use evalkit_store::{NewTokenRequest, Recording};
use serde_json::json;

use crate::world::{CASES, World, grade};

/// NUL, every other control character, characters that are none, the ends of planes, bidirectional marks, long graphemes,
/// what looks like SQL and like a place for a value.
fn hostile() -> String {
    let controls: String = (1_u8..32).map(char::from).collect();
    format!(
        "\0a\0\0b{controls}\u{7f}\u{85}\u{feff}\u{fffe}\u{ffff}\u{10ffff}\u{202e}abc\u{2066}e\u{301}\u{301}\u{200d}👩‍👩‍👧 \
         $1 ?1 ';-- \\x00 \\u0000 \\ud800 %_\\ \u{2028}\u{2029} İıſẞ"
    )
}

/// As it is kept: a NUL as `␀`, all else as it was.
fn kept() -> String {
    hostile().replace('\0', "\u{2400}")
}

async fn hostile_text_comes_back_as_it_was() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let store = &world.store;
    let claims = world.claim(&made.id, 2).await;
    let ctx = world.system();
    // Bytes as received: half of a surrogate pair, bytes that are no UTF-8, a NUL.
    let bytes = b"{\"half\": \"\\ud800\", \"nul\": \"\\u0000\"} \xff\xfe\0".to_vec();
    let recording = Recording {
        run: RecordedRun {
            answer: Some(hostile()),
            output: Some(json!({ "text": hostile() })),
            ..RecordedRun::default()
        },
        trajectory: Some(bytes.clone()),
    };
    assert!(
        store
            .record_answer(&ctx, &claims[0].fence, recording)
            .await
            .expect("recorded")
    );
    let run = store
        .recorded_run(&ctx, &claims[0].fence.trial_id)
        .await
        .expect("it");
    assert_eq!(run.answer, Some(kept()));
    assert_eq!(
        run.output,
        Some(json!({ "text": hostile() })),
        "JSON escapes what text cannot hold"
    );
    let mut explained = grade(1, 1);
    explained.explanation["verdicts"][0]["said"] = json!(hostile());
    assert!(
        store
            .finish_trial(&ctx, &claims[0].fence, vec![(0, explained.clone())])
            .await
            .expect("ended")
    );
    let grades = store
        .stored_grades(&ctx, &claims[0].fence.trial_id)
        .await
        .expect("grades");
    assert_eq!(grades, [explained]);
    let case = &claims[0].case.case.id;
    let file = store
        .trajectory_file(&mara, "mara", 1, case, 1)
        .await
        .expect("bytes");
    assert_eq!(file.bytes, bytes);
    let file = store
        .answer_file(&mara, "mara", 1, case, 1)
        .await
        .expect("an answer");
    assert_eq!(file.bytes, kept().into_bytes());

    let error = RunError {
        class: AgentErrorClass::AgentReported,
        message: hostile(),
    };
    assert!(
        store
            .fail_trial(&ctx, &claims[1].fence, &hostile(), error)
            .await
            .expect("ended")
    );
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(page.errors[0].stage, kept());
    assert_eq!(page.errors[0].message, hostile().replace('\0', ""));

    // What a caller sends to be looked up or to be written elsewhere.
    for name in [hostile(), "\0".to_owned()] {
        assert!(store.sign_in(&world.nobody(), &name, "x").await.is_err());
        assert!(store.resolve_agent(&mara, "mara", &name).await.is_err());
        assert!(
            store
                .result_page(&mara, "mara", 1, &name, None)
                .await
                .is_err()
        );
        let query = evalkit_core::view::dataset::DatasetQuery {
            q: name.clone(),
            tag: Some(name.clone()),
            agent: Some(name),
            ..Default::default()
        };
        let page = store
            .dataset_page(&mara, "mara", "world", &query)
            .await
            .expect("a page");
        assert_eq!(page.found, 0);
    }
    let request = NewTokenRequest {
        name: "İ e\u{301} \u{202e}👩‍👩‍👧".to_owned(),
        scopes: vec![evalkit_core::policy::Scope::Read],
        days: None,
    };
    let token = store.create_token(&mara, &request).await.expect("a token");
    assert_eq!(
        store.tokens(&mara).await.expect("tokens")[0].name,
        token.row.name
    );
}

evalkit_test_database::on_each_database![hostile_text_comes_back_as_it_was];
