//! The queue: claims, fences, leases, ends. Nothing twice, nothing lost.

use evalkit_core::error::Code;
use evalkit_core::experiment::{ExperimentState, TrialState};
use evalkit_core::run::{AgentErrorClass, RunError};
use evalkit_core::view::experiment::Live;
use evalkit_store::{Fence, Wanted};

use crate::world::{CASES, LEASE, SECOND, World, answer, code, grade, new_experiment};

fn refused() -> RunError {
    RunError {
        class: AgentErrorClass::Refused,
        message: "connection refused".to_owned(),
    }
}

async fn a_trial_runs_from_queued_to_done() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    assert_eq!((made.run, made.planned), (1, 2));
    let claims = world.claim(&made.id, 10).await;
    assert_eq!(claims.len(), 2);
    assert_eq!(claims[0].case.case.id, "nile", "in the order of ids");
    assert_eq!(claims[0].attempt, 1);
    assert!(world.claim(&made.id, 10).await.is_empty());
    world.end(&claims[0], 1, 1).await;
    world.end(&claims[1], 1, 2).await;
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("a page");
    assert_eq!(page.row.state, ExperimentState::Finished);
    assert_eq!(page.row.counts.done, 2);
    assert_eq!(page.row.colours, [1, 1, 0, 0]);
    let score = page.scores["answer_rubric_score"];
    assert!((score.num - 2.0).abs() < 1e-9 && (score.den - 3.0).abs() < 1e-9);
    assert_eq!((score.cases, score.of_cases), (2, 2));
    assert_eq!(page.exit.code, 0);
    assert_eq!(page.failures.len(), 1);
    assert_eq!(page.failures[0].cases, [("paris".to_owned(), 1)]);
    assert!(
        world
            .store
            .open_experiments(&world.system())
            .await
            .expect("ok")
            .is_empty()
    );
}

/// One transaction: an answer that is stored takes the next trial along, and one that is not takes nothing.
async fn an_answer_takes_the_next_trial_with_it() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let first = world.claim(&made.id, 1).await.remove(0);
    let ctx = world.system();
    let wanted = || {
        Some(Wanted {
            worker: "worker-a".to_owned(),
            lease: LEASE,
        })
    };
    let record = async |fence: &Fence, next| {
        world
            .store
            .record_answer_and_claim(&ctx, fence, answer("Cairo."), next)
            .await
            .expect("an answer")
    };
    let (taken, next) = record(&first.fence, wanted()).await;
    assert!(taken);
    let next = next.expect("the second trial");
    assert_ne!(next.fence.trial_id, first.fence.trial_id);
    assert_eq!((next.attempt, next.state), (1, TrialState::Running));
    assert_eq!(next.case.case.id, "paris");
    // The same answer again is stale, and takes nothing.
    assert_eq!(record(&first.fence, wanted()).await, (false, None));
    // Nothing is queued any more.
    assert_eq!(record(&next.fence, wanted()).await, (true, None));

    let paused = world.experiment(&mara, "mara").await;
    let held = world.claim(&paused.id, 1).await.remove(0);
    world
        .store
        .pause_experiment(&mara, "mara", paused.run)
        .await
        .expect("a pause");
    assert_eq!(
        record(&held.fence, wanted()).await,
        (true, None),
        "a paused run takes nothing new"
    );
}

async fn the_same_scores_come_from_the_counts_and_from_the_grades() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    for (n, claim) in world.claim(&made.id, 10).await.iter().enumerate() {
        world.end(claim, n as u64, 2).await;
    }
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    let results = world.store.results_of(&mara, "mara", 1).await.expect("it");
    let stored = page.scores["answer_rubric_score"];
    let recomputed = results.scores["answer_rubric_score"];
    assert_eq!(stored, recomputed);
    assert_eq!(results.dataset, "world@mara");
    assert_eq!(results.counts.planned, 2);
    assert!(results.finished_at.is_some());
}

async fn a_worker_that_lost_its_lease_writes_nothing() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let zombie = world.claim(&made.id, 1).await.remove(0);
    assert_eq!(
        world
            .store
            .reap(&world.system())
            .await
            .expect("ok")
            .requeued,
        0
    );
    world.clock.advance(LEASE);
    assert_eq!(
        world
            .store
            .reap(&world.system())
            .await
            .expect("ok")
            .requeued,
        1
    );
    let heir = world
        .store
        .claim_trials(&world.system(), "worker-b", &made.id, 1, LEASE)
        .await
        .expect("claims")
        .remove(0);
    assert_eq!(heir.fence.trial_id, zombie.fence.trial_id);
    assert_eq!(heir.idempotency_key, zombie.idempotency_key);
    assert_eq!(heir.attempt, 2);
    assert!(heir.fence.epoch > zombie.fence.epoch);

    let store = &world.store;
    let ctx = world.system();
    let fence = &zombie.fence;
    assert!(
        !store
            .record_answer(&ctx, fence, answer("late"))
            .await
            .expect("ok")
    );
    assert!(
        !store
            .fail_trial(&ctx, fence, "agent call", refused())
            .await
            .expect("ok")
    );
    assert!(
        !store
            .retry_later(&ctx, fence, refused(), 0)
            .await
            .expect("ok")
    );
    assert!(
        store
            .record_answer(&ctx, &heir.fence, answer("in time"))
            .await
            .expect("ok")
    );
    assert!(
        !store
            .store_grades(&ctx, fence, vec![(0, grade(0, 1))])
            .await
            .expect("ok")
    );
    assert!(
        !store
            .finish_trial(&ctx, fence, vec![(0, grade(0, 1))])
            .await
            .expect("ok")
    );
    assert_eq!(store.stale_writes(), 5);
    assert!(
        !store
            .record_answer(&ctx, &heir.fence, answer("twice"))
            .await
            .expect("ok"),
        "an answer is recorded once"
    );
    let run = store
        .recorded_run(&ctx, &heir.fence.trial_id)
        .await
        .expect("it");
    assert_eq!(run.answer.as_deref(), Some("in time"));
    assert!(
        store
            .stored_grades(&ctx, &heir.fence.trial_id)
            .await
            .expect("ok")
            .is_empty()
    );
}

async fn grading_goes_on_after_a_crash_without_a_second_call_or_verdict() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let store = &world.store;
    let claim = world.claim(&made.id, 1).await.remove(0);
    let ctx = world.system();
    assert!(
        store
            .record_answer(&ctx, &claim.fence, answer("Paris."))
            .await
            .expect("ok")
    );
    assert!(
        store
            .store_grades(&ctx, &claim.fence, vec![(0, grade(1, 1))])
            .await
            .expect("ok")
    );
    store.release_leases_unchecked(None).await.expect("ok");
    let reaped = store.reap(&world.system()).await.expect("ok");
    assert_eq!((reaped.regrade, reaped.requeued), (1, 0));
    let again = store
        .claim_recorded(&world.system(), "worker-b", 5, LEASE)
        .await
        .expect("claims");
    assert_eq!(again.len(), 1);
    let again = &again[0];
    assert_eq!(again.state, TrialState::Grading);
    assert_eq!(again.attempt, 1, "no second call was made");
    let kept = store
        .stored_grades(&ctx, &again.fence.trial_id)
        .await
        .expect("ok");
    assert_eq!(kept.len(), 1);
    assert!(
        store
            .finish_trial(&ctx, &again.fence, vec![(0, grade(0, 1))])
            .await
            .expect("ok")
    );
    let kept = store
        .stored_grades(&ctx, &again.fence.trial_id)
        .await
        .expect("ok");
    assert_eq!(kept, [grade(1, 1)], "the first verdict stays");
}

async fn a_trial_that_is_interrupted_too_often_ends_in_an_error() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.case_ids = vec!["paris".to_owned()];
    let made = world.store.create_experiment(&mara, new).await.expect("it");
    for attempt in 1..=3 {
        let claims = world.claim(&made.id, 5).await;
        assert_eq!(claims[0].attempt, attempt);
        world.clock.advance(LEASE);
        world.store.reap(&world.system()).await.expect("ok");
    }
    assert!(world.claim(&made.id, 5).await.is_empty());
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    assert_eq!(page.row.counts.error, 1);
    assert_eq!(page.row.state, ExperimentState::Finished);
    assert_eq!(page.exit.code, 2);
    assert_eq!(page.errors[0].class, "cut");
    assert_eq!(page.errors[0].attempts, 3);
}

async fn a_retry_waits_for_its_time_and_keeps_its_key() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let claims = world.claim(&made.id, 2).await;
    let until = world.store.now() + 10 * SECOND;
    let ctx = world.system();
    assert!(
        world
            .store
            .retry_later(&ctx, &claims[0].fence, refused(), until)
            .await
            .expect("ok")
    );
    assert!(world.claim(&made.id, 2).await.is_empty());
    world.clock.advance(10 * SECOND);
    let again = world.claim(&made.id, 2).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].idempotency_key, claims[0].idempotency_key);
    assert_eq!(again[0].attempt, 2);
}

async fn renewal_says_which_trials_are_lost() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let claims = world.claim(&made.id, 2).await;
    let fences: Vec<Fence> = claims.iter().map(|c| c.fence.clone()).collect();
    world.clock.advance(LEASE / 2);
    let until = world.store.now() + LEASE;
    let ctx = world.system();
    let lost = world
        .store
        .renew_leases(&ctx, "worker-a", fences.clone(), until)
        .await
        .expect("ok");
    assert!(lost.is_empty());
    world.clock.advance(LEASE / 2 + SECOND);
    assert_eq!(
        world
            .store
            .reap(&world.system())
            .await
            .expect("ok")
            .requeued,
        0,
        "renewed"
    );
    world
        .store
        .cancel_experiment(&mara, "mara", 1)
        .await
        .expect("cancelled");
    let lost = world
        .store
        .renew_leases(&ctx, "worker-a", fences.clone(), until)
        .await
        .expect("ok");
    assert_eq!(lost, fences);
}

async fn cancel_pause_resume_and_rerun() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let store = &world.store;
    store
        .pause_experiment(&mara, "mara", 1)
        .await
        .expect("paused");
    assert!(world.claim(&made.id, 5).await.is_empty());
    assert_eq!(
        code(store.pause_experiment(&mara, "mara", 1).await),
        Code::Conflict
    );
    store
        .resume_experiment(&mara, "mara", 1)
        .await
        .expect("resumed");
    let claims = world.claim(&made.id, 5).await;
    let ctx = world.system();
    assert!(
        store
            .record_answer(&ctx, &claims[0].fence, answer("kept"))
            .await
            .expect("ok")
    );
    store
        .cancel_experiment(&mara, "mara", 1)
        .await
        .expect("cancelled");
    assert!(
        !store
            .record_answer(&ctx, &claims[1].fence, answer("late"))
            .await
            .expect("ok")
    );
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(page.row.counts.cancelled, 2);
    assert_eq!(page.row.counts.planned(), 2);
    assert_eq!(
        code(store.cancel_experiment(&mara, "mara", 1).await),
        Code::Conflict
    );

    assert_eq!(
        store.rerun_failed(&mara, "mara", 1).await.expect("queued"),
        2
    );
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(page.row.state, ExperimentState::Running);
    assert_eq!(
        (page.row.counts.queued, page.row.counts.recorded),
        (1, 1),
        "an answer is not asked for again"
    );
    let graded = store
        .claim_recorded(&ctx, "w", 5, LEASE)
        .await
        .expect("claims");
    assert!(
        store
            .finish_trial(&ctx, &graded[0].fence, vec![(0, grade(1, 1))])
            .await
            .expect("ok")
    );
    let claims = world.claim(&made.id, 5).await;
    assert!(
        store
            .fail_trial(&ctx, &claims[0].fence, "agent call", refused())
            .await
            .expect("ok")
    );
    assert_eq!(
        store.rerun_failed(&mara, "mara", 1).await.expect("queued"),
        1
    );
    let claims = world.claim(&made.id, 5).await;
    world.end(&claims[0], 2, 2).await;
    let page = store.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!(page.row.counts.done, 2);
    assert!(page.failures.is_empty(), "{:?}", page.failures);
    assert_eq!(
        code(store.rerun_failed(&mara, "mara", 1).await),
        Code::Conflict
    );
}

async fn never_more_run_at_once_than_the_experiment_allows() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.trials = 10;
    new.concurrency = Some(3);
    let made = world.store.create_experiment(&mara, new).await.expect("it");
    assert_eq!(made.planned, 20);
    let workers = (0..8).map(|n| {
        let store = world.store.clone();
        let ctx = world.system();
        let id = made.id.clone();
        async move {
            store
                .claim_trials(&ctx, &format!("w{n}"), &id, 5, LEASE)
                .await
                .expect("claims")
        }
    });
    let claimed: Vec<_> = futures::future::join_all(workers)
        .await
        .into_iter()
        .flatten()
        .collect();
    assert_eq!(claimed.len(), 3);
    let mut ids: Vec<_> = claimed.iter().map(|c| &c.fence.trial_id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3, "no trial is claimed twice");
}

async fn live_events_are_gapless_and_resume() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    for claim in world.claim(&made.id, 5).await {
        world.end(&claim, 1, 1).await;
    }
    let all = world
        .store
        .events_after(&mara, "mara", 1, 0)
        .await
        .expect("events");
    let states: Vec<String> = all
        .iter()
        .map(|event| match &event.live {
            Live::Trial { cell, .. } => format!("{} {}", cell.case_id, cell.state),
            Live::Experiment { state, .. } => format!("{state:?}"),
        })
        .collect();
    assert_eq!(
        states,
        [
            "Running",
            "nile running",
            "paris running",
            "nile recorded",
            "nile done",
            "paris recorded",
            "paris done",
            "Finished"
        ]
    );
    let rest = world
        .store
        .events_after(&mara, "mara", 1, all[4].id)
        .await
        .expect("events");
    assert_eq!(rest, all[5..]);
    let leo = world.store.ctx(
        evalkit_core::policy::Actor::Person {
            user_id: "x".to_owned(),
            name: "leo".to_owned(),
            owner: false,
            scopes: None,
            token_id: None,
        },
        "r",
        "",
    );
    assert_eq!(
        code(world.store.events_after(&leo, "mara", 1, 0).await),
        Code::NotFound
    );
}

async fn only_the_engine_moves_trials() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let fence = Fence {
        trial_id: "t".to_owned(),
        epoch: 1,
    };
    let store = &world.store;
    assert_eq!(
        code(store.claim_trials(&mara, "w", "e", 1, LEASE).await),
        Code::Forbidden
    );
    assert_eq!(
        code(store.record_answer(&mara, &fence, answer("x")).await),
        Code::Forbidden
    );
    assert_eq!(
        code(store.finish_trial(&mara, &fence, vec![]).await),
        Code::Forbidden
    );
    assert_eq!(code(store.open_experiments(&mara).await), Code::Forbidden);
    assert_eq!(code(store.recorded_run(&mara, "t").await), Code::Forbidden);
}

/// 500 trials of an agent that answers at once, 50 workers: what the queue itself costs, every move durable.
async fn five_hundred_trials_cost_little() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let mut yaml = String::from("cases:\n");
    for n in 0..500 {
        yaml.push_str(&format!(
            "  - id: c{n}\n    max_response_time: 5\n    input: {{question: \"What is {n}?\"}}\n"
        ));
    }
    world.sync(&mara, "mara", &yaml).await;
    let mut new = new_experiment("mara");
    new.concurrency = Some(50);
    let made = world.store.create_experiment(&mara, new).await.expect("it");
    let begun = std::time::Instant::now();
    let workers = (0..50).map(|n| {
        let store = world.store.clone();
        let id = made.id.clone();
        tokio::spawn(async move {
            let mut done = 0;
            loop {
                let ctx = store.system_ctx();
                let claims = store
                    .claim_trials(&ctx, &format!("w{n}"), &id, 1, LEASE)
                    .await
                    .expect("claims");
                let Some(claim) = claims.into_iter().next() else {
                    return done;
                };
                assert!(
                    store
                        .record_answer(&ctx, &claim.fence, answer("a"))
                        .await
                        .expect("ok")
                );
                assert!(
                    store
                        .finish_trial(&ctx, &claim.fence, vec![(0, grade(1, 1))])
                        .await
                        .expect("ok")
                );
                done += 1;
            }
        })
    });
    let done: u32 = futures::future::join_all(workers)
        .await
        .into_iter()
        .map(|n| n.expect("a worker"))
        .sum();
    let took = begun.elapsed();
    println!("500 trials through the queue: {took:?}");
    assert_eq!(done, 500);
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    assert_eq!(page.row.counts.done, 500);
    assert_eq!(world.store.stale_writes(), 0);
}

evalkit_test_database::on_each_database![
    a_trial_runs_from_queued_to_done,
    an_answer_takes_the_next_trial_with_it,
    the_same_scores_come_from_the_counts_and_from_the_grades,
    a_worker_that_lost_its_lease_writes_nothing,
    grading_goes_on_after_a_crash_without_a_second_call_or_verdict,
    a_trial_that_is_interrupted_too_often_ends_in_an_error,
    a_retry_waits_for_its_time_and_keeps_its_key,
    renewal_says_which_trials_are_lost,
    cancel_pause_resume_and_rerun,
    never_more_run_at_once_than_the_experiment_allows,
    live_events_are_gapless_and_resume,
    only_the_engine_moves_trials,
    five_hundred_trials_cost_little,
];
