//! Pause, resume, cancel, re-run; rates and limits.

use std::time::{Duration, Instant};

use evalkit_core::error::Code;
use evalkit_core::experiment::ExperimentState;
use evalkit_engine::NewExperiment;

use crate::deployment::{DATASET, Deployment, HERE};
use crate::fake_agent::FakeAgent;

async fn with_cases(here: &Deployment, n: usize) {
    let ids: Vec<String> = (0..n).map(|n| format!("case-{n:03}")).collect();
    here.sync(&ids.iter().map(String::as_str).collect::<Vec<_>>())
        .await;
}

async fn a_paused_run_rests_and_goes_on() {
    let agent = FakeAgent::start(Duration::from_millis(100)).await;
    let here = Deployment::start().await;
    with_cases(&here, 12).await;
    here.agent("bot", &agent.url(), |config| config.concurrency = 3)
        .await
        .unwrap();
    let run = here.run("bot", 1).await.run;
    here.wait(run, Duration::from_secs(10), |row| row.counts.done >= 2)
        .await;
    here.engine.pause(&here.ctx, HERE, run).await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    let row = here.row(run).await;
    assert_eq!(row.state, ExperimentState::Paused);
    assert_eq!(row.counts.running, 0, "calls in flight ended");
    let calls = agent.ledger().len();
    assert!(calls < 12);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(agent.ledger().len(), calls, "no call begins while it rests");
    here.engine.resume(&here.ctx, HERE, run).await.unwrap();
    assert_eq!(here.finish(run, 12, Duration::from_secs(10)).await.done, 12);
    assert_eq!(agent.ledger().len(), 12);
}

async fn a_cancelled_run_cuts_its_calls_off_and_can_be_run_again() {
    let agent = FakeAgent::start(Duration::from_millis(600)).await;
    let here = Deployment::start().await;
    with_cases(&here, 8).await;
    here.agent("bot", &agent.url(), |config| config.concurrency = 4)
        .await
        .unwrap();
    let run = here.run("bot", 1).await.run;
    here.wait(run, Duration::from_secs(10), |row| row.counts.running == 4)
        .await;
    here.engine.cancel(&here.ctx, HERE, run).await.unwrap();
    let counts = here.finish(run, 8, Duration::from_secs(5)).await;
    assert_eq!(counts.cancelled, 8);
    tokio::time::sleep(Duration::from_millis(100)).await;
    let calls = agent.ledger().len();
    assert!(calls <= 4, "{calls} calls");
    tokio::time::sleep(Duration::from_millis(700)).await;
    assert_eq!(agent.ledger().len(), calls, "no call begins after the end");
    assert_eq!(
        here.row(run).await.counts.cancelled,
        8,
        "late answers change nothing"
    );
    let fault = here.engine.cancel(&here.ctx, HERE, run).await.unwrap_err();
    assert_eq!(fault.code, Code::Conflict);
    assert_eq!(
        here.engine
            .rerun_failed(&here.ctx, HERE, run)
            .await
            .unwrap(),
        8
    );
    assert_eq!(here.finish(run, 8, Duration::from_secs(10)).await.done, 8);
}

async fn failed_trials_run_again_alone() {
    let agent = FakeAgent::start(Duration::from_millis(5)).await;
    let here = Deployment::start().await;
    here.sync(&["fine", "status-404"]).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    let run = here.run("bot", 2).await.run;
    let counts = here.finish(run, 4, Duration::from_secs(10)).await;
    assert_eq!((counts.done, counts.error), (2, 2));
    assert_eq!(
        here.engine
            .rerun_failed(&here.ctx, HERE, run)
            .await
            .unwrap(),
        2
    );
    let counts = here.finish(run, 4, Duration::from_secs(10)).await;
    assert_eq!((counts.done, counts.error), (2, 2));
    assert_eq!((agent.calls("fine"), agent.calls("status-404")), (2, 4));
}

async fn no_more_calls_at_once_than_the_agent_allows() {
    let agent = FakeAgent::start(Duration::from_millis(120)).await;
    let here = Deployment::start().await;
    with_cases(&here, 9).await;
    here.agent("bot", &agent.url(), |config| {
        config.concurrency = 3;
    })
    .await
    .unwrap();
    let began = Instant::now();
    // Two runs at once share the agent's three places.
    let first = here.run("bot", 1).await.run;
    let second = here.run("bot", 1).await.run;
    here.finish(first, 9, Duration::from_secs(20)).await;
    here.finish(second, 9, Duration::from_secs(20)).await;
    assert!(
        began.elapsed() >= Duration::from_millis(6 * 120),
        "{:?}",
        began.elapsed()
    );
}

async fn no_more_calls_a_second_than_the_agent_allows() {
    let agent = FakeAgent::start(Duration::from_millis(1)).await;
    let here = Deployment::start().await;
    with_cases(&here, 8).await;
    here.agent("bot", &agent.url(), |config| config.rate_per_s = Some(4.0))
        .await
        .unwrap();
    let began = Instant::now();
    let run = here.run("bot", 1).await.run;
    here.finish(run, 8, Duration::from_secs(20)).await;
    // Four at once, then one every quarter of a second.
    assert!(
        began.elapsed() >= Duration::from_millis(950),
        "{:?}",
        began.elapsed()
    );
}

async fn what_cannot_be_started_says_why() {
    let here = Deployment::start().await;
    with_cases(&here, 1).await;
    let start = async |change: &dyn Fn(&mut NewExperiment)| {
        let mut new = NewExperiment {
            workspace: HERE.to_owned(),
            dataset: DATASET.to_owned(),
            agent: "demo-careful".to_owned(),
            ..NewExperiment::default()
        };
        change(&mut new);
        here.engine
            .start_experiment(&here.ctx, new)
            .await
            .map_err(|fault| fault.code)
            .map(|started| started.planned)
    };
    assert_eq!(
        start(&|new| new.agent = "nobody".to_owned()).await,
        Err(Code::NotFound)
    );
    assert_eq!(
        start(&|new| new.dataset = "nothing".to_owned()).await,
        Err(Code::NotFound)
    );
    assert_eq!(
        start(&|new| new.workspace = "elsewhere".to_owned()).await,
        Err(Code::NotFound)
    );
    assert_eq!(start(&|new| new.trials = 5_000).await, Err(Code::Invalid));
    assert_eq!(
        start(&|new| new.split = Some("none".to_owned())).await,
        Err(Code::Invalid)
    );
    assert_eq!(
        start(&|new| new.case_ids = vec!["none".to_owned()]).await,
        Err(Code::Invalid)
    );
    assert_eq!(start(&|new| new.trials = 3).await, Ok(3));
}

evalkit_test_database::on_each_database![
    a_paused_run_rests_and_goes_on,
    a_cancelled_run_cuts_its_calls_off_and_can_be_run_again,
    failed_trials_run_again_alone,
    no_more_calls_at_once_than_the_agent_allows,
    no_more_calls_a_second_than_the_agent_allows,
    what_cannot_be_started_says_why,
];
