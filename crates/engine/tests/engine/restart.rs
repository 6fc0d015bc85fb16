//! Kills, late workers and stops: nothing is lost, nothing is done twice (T1, T2, T25 of the reliability design, in small).

use std::collections::HashMap;
use std::time::Duration;

use evalkit_core::experiment::TrialState;
use evalkit_core::run::{RecordedRun, RunError};
use evalkit_engine::{Engine, EngineSettings};
use evalkit_store::Recording;

use crate::deployment::{Deployment, HERE, settings};
use crate::fake_agent::{FakeAgent, Seen};

fn ids(n: usize) -> Vec<String> {
    (0..n).map(|n| format!("case-{n:03}")).collect()
}

fn calls_by_key(ledger: &[Seen]) -> HashMap<String, usize> {
    let mut calls = HashMap::new();
    for seen in ledger {
        *calls.entry(seen.key.clone()).or_insert(0) += 1;
    }
    calls
}

async fn killed_three_times_it_completes_without_asking_a_recorded_answer_again() {
    const CASES: usize = 60;
    const AT_ONCE: usize = 8;
    let agent = FakeAgent::start(Duration::from_millis(60)).await;
    let mut here = Deployment::start().await;
    let ids = ids(CASES);
    here.sync(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    here.agent("bot", &agent.url(), |config| {
        config.concurrency = AT_ONCE as u32;
        config.max_attempts = 10;
    })
    .await
    .unwrap();
    let run = here.run("bot", 1).await.run;
    for kill in 1..=3_u64 {
        here.wait(run, Duration::from_secs(20), |row| {
            row.counts.done >= kill * 12
        })
        .await;
        here.engine.kill();
        // Writes that were on their way end; then nothing moves.
        tokio::time::sleep(Duration::from_millis(100)).await;
        let row = here.row(run).await;
        assert_eq!(row.counts.planned(), CASES as u64);
        assert!(row.counts.open() > 0, "killed too late: {:?}", row.counts);
        let safe = row.counts.recorded + row.counts.grading + row.counts.done;
        let before = agent.ledger().len() as u64;
        assert!(
            before <= safe + AT_ONCE as u64 * kill,
            "{before} calls for {safe} answers"
        );
        here.restart().await;
    }
    let counts = here
        .finish(run, CASES as u64, Duration::from_secs(30))
        .await;
    assert_eq!(counts.done, CASES as u64);
    let ledger = agent.ledger();
    assert!(
        ledger.len() <= CASES + 3 * AT_ONCE,
        "{} calls",
        ledger.len()
    );
    let calls = calls_by_key(&ledger);
    assert_eq!(calls.len(), CASES, "one key a trial, at every attempt");
    let row = here.row(run).await;
    assert_eq!(row.score.map(|score| score.cases), Some(CASES as u64));
}

async fn a_worker_that_slept_past_its_lease_writes_nothing() {
    let agent = FakeAgent::start(Duration::from_millis(5)).await;
    let mut here = Deployment::start().await;
    // No engine works while the slow worker claims.
    here.engine.stop().await;
    here.sync(&["one", "two"]).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    let started = here.run("bot", 1).await;
    let system = here.store.system_ctx();
    let slow = here
        .store
        .claim_trials(&system, "slow", &started.id, 2, 50_000)
        .await
        .unwrap();
    assert_eq!(slow.len(), 2);
    tokio::time::sleep(Duration::from_millis(80)).await;
    here.restart().await;
    let counts = here.finish(started.run, 2, Duration::from_secs(20)).await;
    assert_eq!(counts.done, 2);
    let before = here.result(started.run, "one").await;
    // It wakes up and goes on as if nothing had happened.
    let stale = here.store.stale_writes();
    for claim in &slow {
        assert_eq!(claim.state, TrialState::Running);
        let recording = Recording {
            run: RecordedRun {
                answer: Some("late".to_owned()),
                ..RecordedRun::default()
            },
            trajectory: None,
        };
        let system = here.store.system_ctx();
        assert!(
            !here
                .store
                .record_answer(&system, &claim.fence, recording)
                .await
                .unwrap()
        );
        assert!(
            !here
                .store
                .finish_trial(&system, &claim.fence, Vec::new())
                .await
                .unwrap()
        );
        let error = RunError {
            class: evalkit_core::run::AgentErrorClass::Cut,
            message: "late".to_owned(),
        };
        assert!(
            !here
                .store
                .fail_trial(&system, &claim.fence, "agent call", error)
                .await
                .unwrap()
        );
    }
    assert_eq!(here.store.stale_writes(), stale + 6);
    let after = here.result(started.run, "one").await;
    assert_eq!(after.answer, before.answer);
    assert_eq!(after.grades, before.grades);
    assert_eq!(
        after.attempts, 2,
        "the interrupted call counts, and the page says so"
    );
}

async fn a_poisonous_trial_ends_after_its_attempts() {
    let mut here = Deployment::start().await;
    here.engine.stop().await;
    here.sync(&["one"]).await;
    let agent = FakeAgent::start(Duration::from_millis(5)).await;
    here.agent("bot", &agent.url(), |config| config.max_attempts = 2)
        .await
        .unwrap();
    let started = here.run("bot", 1).await;
    for _ in 0..2 {
        let claimed = here
            .store
            .claim_trials(&here.store.system_ctx(), "crashes", &started.id, 1, 1_000)
            .await
            .unwrap();
        assert_eq!(claimed.len(), 1);
        tokio::time::sleep(Duration::from_millis(5)).await;
        here.store.reap(&here.store.system_ctx()).await.unwrap();
    }
    here.restart().await;
    let counts = here.finish(started.run, 1, Duration::from_secs(10)).await;
    assert_eq!(counts.error, 1);
    assert_eq!(agent.ledger().len(), 0, "it is not called a third time");
    let page = here.result(started.run, "one").await;
    assert_eq!(page.attempts, 2);
}

async fn a_stop_lets_calls_end_and_gives_the_rest_back() {
    let agent = FakeAgent::start(Duration::from_millis(500)).await;
    let mut here = Deployment::start().await;
    let ids = ids(12);
    here.sync(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    here.agent("bot", &agent.url(), |config| config.concurrency = 4)
        .await
        .unwrap();
    let run = here.run("bot", 1).await.run;
    here.wait(run, Duration::from_secs(10), |row| row.counts.running == 4)
        .await;
    let began = std::time::Instant::now();
    here.engine.stop().await;
    assert!(began.elapsed() < Duration::from_secs(5));
    let row = here.row(run).await;
    assert_eq!(row.counts.running, 0);
    assert_eq!(
        row.counts.done, 4,
        "calls in flight are journaled and graded"
    );
    assert_eq!(row.counts.queued, 8);
    assert_eq!(agent.ledger().len(), 4);
    here.restart().await;
    assert_eq!(here.finish(run, 12, Duration::from_secs(20)).await.done, 12);
    assert_eq!(agent.ledger().len(), 12, "nothing is asked twice");
}

async fn a_stop_in_any_instant_leaves_nothing_in_hand() {
    let agent = FakeAgent::start(Duration::ZERO).await;
    let mut here = Deployment::start().await;
    let ids = ids(200);
    here.sync(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    here.agent("bot", &agent.url(), |config| config.concurrency = 4)
        .await
        .unwrap();
    let run = here.run("bot", 1).await.run;
    for turn in 0..20_u64 {
        tokio::time::sleep(Duration::from_micros(700 * (turn % 7))).await;
        here.engine.stop().await;
        let calls = agent.ledger().len();
        tokio::time::sleep(Duration::from_millis(30)).await;
        assert_eq!(here.row(run).await.counts.running, 0, "turn {turn}");
        assert_eq!(agent.ledger().len(), calls, "no call after a stop");
        here.restart().await;
    }
    assert_eq!(
        here.finish(run, 200, Duration::from_secs(30)).await.done,
        200
    );
    assert_eq!(agent.ledger().len(), 200, "nothing is asked twice");
}

async fn a_stop_does_not_wait_for_ever() {
    let agent = FakeAgent::start(Duration::from_secs(30)).await;
    let here = Deployment::start_with(EngineSettings {
        drain: Duration::from_millis(200),
        ..settings()
    })
    .await;
    here.sync(&["one"]).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    let run = here.run("bot", 1).await.run;
    here.wait(run, Duration::from_secs(10), |row| row.counts.running == 1)
        .await;
    here.engine.stop().await;
    // The next one takes the trial up without waiting for a lease.
    let next = Engine::new(here.store.clone(), settings()).unwrap();
    next.start().await.unwrap();
    let until = std::time::Instant::now() + Duration::from_secs(5);
    while agent.ledger().len() < 2 {
        assert!(
            std::time::Instant::now() < until,
            "it is not taken up again"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let keys: Vec<String> = agent.ledger().into_iter().map(|seen| seen.key).collect();
    assert_eq!(keys[0], keys[1]);
    next.cancel(&here.ctx, HERE, run).await.unwrap();
}

evalkit_test_database::on_each_database![
    killed_three_times_it_completes_without_asking_a_recorded_answer_again,
    a_worker_that_slept_past_its_lease_writes_nothing,
    a_poisonous_trial_ends_after_its_attempts,
    a_stop_lets_calls_end_and_gives_the_rest_back,
    a_stop_in_any_instant_leaves_nothing_in_hand,
    a_stop_does_not_wait_for_ever,
];
