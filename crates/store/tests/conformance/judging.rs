//! What judge models were asked and what they settled.

use evalkit_core::judge::JudgedEntry;
use evalkit_core::results::ResultsJudge;
use evalkit_core::verdict::Unscored;
use evalkit_core::view::judging::{CallOutcome, JudgeCall, JudgePause};
use evalkit_store::Settled;

use crate::world::{CASES, World, answer, grade, new_experiment};

fn call(reply: &str) -> JudgeCall {
    JudgeCall {
        evaluator: "answer_rubrics".to_owned(),
        seat: "first".to_owned(),
        provider: "openai".to_owned(),
        model: "m-1".to_owned(),
        template: "1".to_owned(),
        prompt_hash: "hash".to_owned(),
        part: 1,
        vote: 1,
        attempt: 1,
        wire_try: 1,
        asked: 2,
        outcome: CallOutcome::Verdicts,
        trouble: String::new(),
        status: Some(200),
        input_tokens: Some(1_000),
        output_tokens: Some(100),
        cost_usd: Some(0.25),
        latency_ms: 40,
        reply_bytes: reply.len() as u64,
        reply: Some(reply.to_owned()),
        at: 0,
    }
}

fn entry(reason: &str) -> JudgedEntry {
    JudgedEntry {
        verdict: Err(Unscored::ParseFailure),
        evidence: vec!["Paris".to_owned()],
        reason: Some(reason.to_owned()),
        said: None,
        source: None,
        cited: None,
        citations: Vec::new(),
        by: None,
        votes: Vec::new(),
        cached: false,
    }
}

async fn calls_are_kept_and_what_they_settled_is_found_again() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.judge = ResultsJudge {
        provider: "openai".to_owned(),
        model: Some("m-1".to_owned()),
        quality_signal: true,
        ..ResultsJudge::default()
    };
    let made = store.create_experiment(&mara, new).await.expect("a run");
    let ctx = world.system();
    let claims = world.claim(&made.id, 2).await;
    let (one, two) = (&claims[0].fence, &claims[1].fence);
    assert!(
        store
            .record_answer(&ctx, one, answer("Paris."))
            .await
            .expect("recorded")
    );
    let settled = Settled {
        key: "key".to_owned(),
        entries: vec![(1, entry("because"))],
    };
    store
        .keep_judging(
            &ctx,
            &one.trial_id,
            Some(call("a\0b")),
            Some(settled.clone()),
        )
        .await
        .expect("kept");
    store
        .keep_judging(&ctx, &one.trial_id, Some(call("again")), None)
        .await
        .expect("kept");
    let found = |trial: &str, own_only| {
        let (store, ctx, trial) = (store.clone(), ctx.clone(), trial.to_owned());
        async move {
            store
                .judged_before(&ctx, &trial, "key", own_only)
                .await
                .expect("ok")
        }
    };
    assert_eq!(
        found(&one.trial_id, true).await,
        Some((settled.entries.clone(), false))
    );
    assert_eq!(
        found(&two.trial_id, false).await,
        Some((settled.entries, true))
    );
    assert_eq!(found(&two.trial_id, true).await, None);

    assert!(
        store
            .finish_trial(&ctx, one, vec![(0, grade(1, 1))])
            .await
            .expect("ended")
    );
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!((page.judging.calls, page.judging.input_tokens), (2, 2_000));
    assert_eq!(page.judging.cost_usd, Some(0.5));
    let page = store
        .result_page(&mara, "mara", 1, &claims[0].case.case.id, None)
        .await
        .expect("it");
    let replies: Vec<_> = page
        .judge_calls
        .iter()
        .map(|call| call.reply.as_deref())
        .collect();
    assert_eq!(replies, [Some("a\u{2400}b"), Some("again")]);
}

async fn a_judge_that_rests_is_named_until_it_answers() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.judge.provider = "openai".to_owned();
    new.judge.model = Some("m-1".to_owned());
    store.create_experiment(&mara, new).await.expect("a run");
    let pause = |why: &str| JudgePause {
        provider: "openai".to_owned(),
        model: "m-1".to_owned(),
        why: why.to_owned(),
        opened_at: world.store.now(),
        until: world.store.now() + 1_000,
    };
    let ctx = world.system();
    for why in ["first", "second"] {
        store
            .mark_judge_pause(&ctx, "openai", "m-1", Some(pause(why)))
            .await
            .expect("marked");
    }
    let shown = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(shown.judge_pause, Some(pause("second")));
    store
        .mark_judge_pause(&ctx, "openai", "m-1", None)
        .await
        .expect("marked");
    let shown = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(shown.judge_pause, None);
}

evalkit_test_database::on_each_database![
    calls_are_kept_and_what_they_settled_is_found_again,
    a_judge_that_rests_is_named_until_it_answers,
];
