//! What pages cost on a large workspace (`web.md`, Speed: under 50 ms at the median on 10,000 cases). Asserted with
//! five-fold slack, because tests run unoptimised beside others; the figures are printed.

use std::time::{Duration, Instant};

use evalkit_core::view::dataset::DatasetQuery;
use evalkit_core::view::runs::RunsQuery;
use evalkit_lint::SourceFile;

use crate::world::{World, new_experiment, request};

const CASES: usize = 10_000;
const ALLOWED: Duration = Duration::from_millis(250);

/// The middle of five times.
async fn median<F, T>(name: &str, page: impl Fn() -> F) -> Duration
where
    F: Future<Output = T>,
{
    let mut times = Vec::new();
    for _ in 0..5 {
        let begun = Instant::now();
        page().await;
        times.push(begun.elapsed());
    }
    times.sort_unstable();
    println!("{name} with {CASES} cases: {:?}", times[2]);
    times[2]
}

async fn pages_stay_quick_on_ten_thousand_cases() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let mut sync = request("mara", "world", "");
    sync.files = (0..10)
        .map(|part| {
            let mut yaml = String::from("cases:\n");
            for n in 0..CASES / 10 {
                yaml.push_str(&format!(
                    "  - id: c{part}-{n}\n    max_response_time: 5\n    tags: [part-{part}]\n    input: {{question: \"What is {n} plus {part}?\"}}\n"
                ));
            }
            SourceFile::new(format!("part-{part}.yaml"), yaml)
        })
        .collect();
    world.store.sync(&mara, sync).await.expect("synced");
    let made = world
        .store
        .create_experiment(&mara, new_experiment("mara"))
        .await
        .expect("a run");
    assert_eq!(made.planned, CASES as u64);
    for claim in world.claim(&made.id, 8).await {
        world.end(&claim, 1, 2).await;
    }
    let store = &world.store;
    let query = DatasetQuery {
        q: "what plus 7".to_owned(),
        colour: Some("neither".to_owned()),
        ..DatasetQuery::default()
    };
    let runs = RunsQuery::default();
    let times = [
        median("home", async || store.home_page(&mara).await.expect("it")).await,
        median("workspace", async || {
            store.workspace_page(&mara, "mara").await.expect("it")
        })
        .await,
        median("dataset", async || {
            store
                .dataset_page(&mara, "mara", "world", &query)
                .await
                .expect("it")
        })
        .await,
        median("case", async || {
            store
                .case_page(&mara, "mara", "world", "c3-7", None)
                .await
                .expect("it")
        })
        .await,
        median("runs", async || {
            store.runs_page(&mara, "mara", &runs).await.expect("it")
        })
        .await,
        median("result", async || {
            store
                .result_page(&mara, "mara", 1, "c3-7", None)
                .await
                .expect("it")
        })
        .await,
    ];
    for time in times {
        assert!(time < ALLOWED, "{time:?}");
    }
}

evalkit_test_database::on_each_database![pages_stay_quick_on_ten_thousand_cases,];
