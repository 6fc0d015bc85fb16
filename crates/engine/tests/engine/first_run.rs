//! The demo as it starts, and the first-run guide.

use std::time::{Duration, Instant};

use evalkit_core::view::runs::RunsQuery;
use evalkit_engine::NewExperiment;
use evalkit_engine::demo::{DEMO_DATASET, demo_case_count};

use crate::deployment::{Deployment, HERE};

async fn the_demo_is_there_at_once_and_whole() {
    let mut here = Deployment::start().await;
    let began = Instant::now();
    here.engine.seed_demo().await.unwrap();
    let took = began.elapsed();
    // The figure to keep is a fraction of a second; a loaded machine gets five times that.
    assert!(took < Duration::from_secs(5), "{took:?}");
    let page = here
        .store
        .runs_page(&here.ctx, HERE, &RunsQuery::default())
        .await
        .unwrap();
    assert_eq!(page.rows.len(), 2);
    for row in &page.rows {
        assert_eq!(row.counts.planned(), demo_case_count());
        assert_eq!(row.counts.open(), 0);
        assert_eq!(row.unscored, 0, "every recorded verdict fits");
        assert_eq!(row.judge.provider, "replay");
        assert!(row.judge.quality_signal);
        let errors = if row.agent == "demo-hasty" { 2 } else { 0 };
        assert_eq!(row.counts.error, errors, "{}", row.agent);
        assert_eq!(row.counts.done, demo_case_count() - errors);
    }
    let score = |agent: &str| {
        let row = page.rows.iter().find(|row| row.agent == agent).unwrap();
        row.score.unwrap().value
    };
    assert!(score("demo-careful") > score("demo-hasty"));
    // A second start finds everything in place.
    here.engine.stop().await;
    here.restart().await;
    here.engine.seed_demo().await.unwrap();
    let again = here
        .store
        .runs_page(&here.ctx, HERE, &RunsQuery::default())
        .await
        .unwrap();
    assert_eq!(again.rows, page.rows);
}

async fn two_clicks_from_nothing_to_verdicts() {
    let here = Deployment::start().await;
    let report = here.engine.sync_demo_dataset(&here.ctx).await.unwrap();
    assert_eq!(report.added.len() as u64, demo_case_count());
    assert!(
        !here
            .engine
            .sync_demo_dataset(&here.ctx)
            .await
            .unwrap()
            .changes_anything()
    );
    let started = here
        .engine
        .start_experiment(
            &here.ctx,
            NewExperiment {
                workspace: HERE.to_owned(),
                dataset: DEMO_DATASET.to_owned(),
                agent: "demo-hasty".to_owned(),
                case_ids: vec![
                    "everest-height-2020".to_owned(),
                    "kepler-third-law-jupiter".to_owned(),
                ],
                trials: 2,
                ..NewExperiment::default()
            },
        )
        .await
        .unwrap();
    assert_eq!(started.judge.provider, "replay");
    let counts = here.finish(started.run, 4, Duration::from_secs(20)).await;
    assert_eq!((counts.done, counts.error), (2, 2));
    assert_eq!(here.row(started.run).await.unscored, 0);
}

evalkit_test_database::on_each_database![
    the_demo_is_there_at_once_and_whole,
    two_clicks_from_nothing_to_verdicts,
];
