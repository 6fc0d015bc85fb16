//! Two servers on one PostgreSQL: they share the work, and what one held when it was killed the other ends (T9 of the
//! reliability design, in small).

use std::collections::HashMap;
use std::time::Duration;

use crate::deployment::Deployment;
use crate::fake_agent::FakeAgent;

const CASES: usize = 60;
const AT_ONCE: usize = 8;

async fn sixty_cases(here: &Deployment, agent: &FakeAgent) {
    let ids: Vec<String> = (0..CASES).map(|n| format!("case-{n:03}")).collect();
    here.sync(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
    here.agent("bot", &agent.url(), |config| {
        config.concurrency = AT_ONCE as u32;
        config.max_attempts = 10;
    })
    .await
    .unwrap();
}

/// Calls by idempotency key.
fn calls(agent: &FakeAgent) -> HashMap<String, usize> {
    let mut calls = HashMap::new();
    for seen in agent.ledger() {
        *calls.entry(seen.key).or_insert(0) += 1;
    }
    calls
}

async fn a_server_that_starts_leaves_the_work_of_another_alone() {
    let agent = FakeAgent::start(Duration::from_millis(600)).await;
    let first = Deployment::start().await;
    sixty_cases(&first, &agent).await;
    let run = first.run("bot", 1).await.run;
    first
        .wait(run, Duration::from_secs(10), |row| row.counts.running >= 8)
        .await;
    let second = Deployment::start().await;
    let counts = second
        .finish(run, CASES as u64, Duration::from_secs(60))
        .await;
    assert_eq!(counts.done, CASES as u64);
    let calls = calls(&agent);
    assert_eq!(calls.len(), CASES);
    assert!(
        calls.values().all(|n| *n == 1),
        "nothing is asked for twice: {calls:?}"
    );
    assert_eq!(first.store.stale_writes() + second.store.stale_writes(), 0);
}

async fn the_other_server_ends_what_a_killed_one_held() {
    let agent = FakeAgent::start(Duration::from_millis(60)).await;
    let first = Deployment::start().await;
    let second = Deployment::start().await;
    sixty_cases(&first, &agent).await;
    let run = first.run("bot", 1).await.run;
    second
        .wait(run, Duration::from_secs(20), |row| row.counts.done >= 15)
        .await;
    first.engine.kill();
    let counts = second
        .finish(run, CASES as u64, Duration::from_secs(30))
        .await;
    assert_eq!(counts.done, CASES as u64);
    let calls = calls(&agent);
    assert_eq!(calls.len(), CASES, "one key a trial, at every attempt");
    let again = calls.values().filter(|n| **n > 1).count();
    assert!(again <= AT_ONCE, "{again} were asked for again");
    let row = second.row(run).await;
    assert_eq!(row.score.map(|score| score.cases), Some(CASES as u64));
}

evalkit_test_database::on_postgres![
    a_server_that_starts_leaves_the_work_of_another_alone,
    the_other_server_ends_what_a_killed_one_held,
];
