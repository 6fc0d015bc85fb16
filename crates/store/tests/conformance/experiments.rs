//! What an experiment is frozen on, and the pages that show it.

use evalkit_core::error::Code;
use evalkit_core::grade::Colour;
use evalkit_core::run::RecordedRun;
use evalkit_core::view::dataset::DatasetQuery;
use evalkit_core::view::runs::RunsQuery;
use evalkit_store::{Limits, Recording, Settings};
use serde_json::json;

use crate::world::{CASES, World, code, grade, new_experiment, request, told};

async fn an_experiment_stays_on_the_versions_and_overlays_it_was_frozen_on() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let overlay = "overlays:\n  - extends: paris\n    agents: [bot]\n    tags: [mine]\n    evaluators:\n      trajectory:\n        required_tools_called: {tools: [look_up]}\n";
    world
        .store
        .sync(&mara, request("mara", "desk", overlay))
        .await
        .expect("synced");
    let mut split = new_experiment("mara");
    split.split = Some("mine".to_owned());
    let made = world
        .store
        .create_experiment(&mara, split)
        .await
        .expect("it");
    assert_eq!(made.planned, 1, "an overlay's tag is a split for its agent");
    world
        .sync(&mara, "mara", &CASES.replace("12 km", "99 km"))
        .await;
    world
        .store
        .sync(&mara, request("mara", "desk", "overlays: []\n"))
        .await
        .expect("stripped");
    let claim = world.claim(&made.id, 1).await.remove(0);
    assert_eq!(claim.version, 1);
    assert!(claim.case.case.rubrics()[1].rubric.contains("12 km"));
    assert_eq!(claim.case.origins["required_tools_called"], "desk");
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    assert_eq!(page.frozen.overlays, ["desk"]);
    assert_eq!(page.row.split.as_deref(), Some("mine"));
}

async fn cases_that_need_ground_truth_are_left_out_and_listed() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world
        .sync(
            &mara,
            "mara",
            &CASES.replace("[geo]", "[geo, needs-ground-truth]"),
        )
        .await;
    let made = world.experiment(&mara, "mara").await;
    assert_eq!(made.left_out, ["nile"]);
    assert_eq!(made.planned, 1);
    let mut all = new_experiment("mara");
    all.include_needs_ground_truth = true;
    assert_eq!(
        world
            .store
            .create_experiment(&mara, all)
            .await
            .expect("it")
            .planned,
        2
    );
    let mut named = new_experiment("mara");
    named.case_ids = vec!["nile".to_owned()];
    assert_eq!(
        world
            .store
            .create_experiment(&mara, named)
            .await
            .expect("it")
            .planned,
        1
    );
    let mut unknown = new_experiment("mara");
    unknown.case_ids = vec!["oslo".to_owned(), "nile".to_owned()];
    let refused = told(world.store.create_experiment(&mara, unknown).await);
    assert!(
        refused.message.contains("oslo") && !refused.message.contains("nile"),
        "{refused:?}"
    );
    let mut none = new_experiment("mara");
    none.split = Some("nothing".to_owned());
    assert_eq!(
        code(world.store.create_experiment(&mara, none).await),
        Code::Invalid
    );
}

async fn bounds_on_trials_and_open_experiments_hold() {
    let settings = Settings {
        limits: Limits {
            trials: 3,
            open_experiments: 1,
            ..Limits::default()
        },
        ..Settings::default()
    };
    let world = World::with(settings).await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut many = new_experiment("mara");
    many.trials = 2;
    assert_eq!(
        code(world.store.create_experiment(&mara, many).await),
        Code::Limit
    );
    world.experiment(&mara, "mara").await;
    assert_eq!(
        code(
            world
                .store
                .create_experiment(&mara, new_experiment("mara"))
                .await
        ),
        Code::Limit
    );
}

async fn the_result_page_explains_a_trial_and_compares_it_with_the_previous_run() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let trajectory = json!({
        "schema_version": "ATIF-v1.4", "session_id": "s", "agent": {"name": "bot", "version": "1"},
        "steps": [
            {"step_id": 1, "source": "user", "message": "What is the capital?"},
            {"step_id": 2, "source": "agent", "message": "Paris \u{0} it is.",
             "tool_calls": [{"tool_call_id": "c1", "function_name": "look_up", "arguments": {"q": "France"}}],
             "observation": {"results": [{"source_call_id": "c1", "content": "Paris"}]}}
        ]
    });
    let bytes = serde_json::to_vec(&trajectory).expect("JSON");
    for (round, satisfied) in [(1, 2), (2, 1)] {
        let made = world.experiment(&mara, "mara").await;
        for claim in world.claim(&made.id, 5).await {
            let ctx = world.system();
            let recording = Recording {
                run: RecordedRun {
                    answer: Some("It is \0 Paris.".to_owned()),
                    latency_ms: Some(900),
                    ..RecordedRun::default()
                },
                trajectory: Some(bytes.clone()),
            };
            assert!(
                store
                    .record_answer(&ctx, &claim.fence, recording)
                    .await
                    .expect("ok")
            );
            assert!(
                store
                    .finish_trial(&ctx, &claim.fence, vec![(0, grade(satisfied, 2))])
                    .await
                    .expect("ok")
            );
        }
        assert_eq!(made.run, round);
    }
    let page = store
        .result_page(&mara, "mara", 2, "paris", None)
        .await
        .expect("a page");
    assert_eq!(page.colour, Colour::Red);
    assert_eq!(page.answer.as_deref(), Some("It is \u{2400} Paris."));
    assert_eq!(page.answer_from.as_deref(), Some("the harness"));
    assert!(
        page.conclusion.starts_with("Red, 1 of 2. R2 incorrect"),
        "{}",
        page.conclusion
    );
    let view = page.trajectory.expect("steps");
    assert_eq!((view.steps.len(), view.tool_calls), (2, 1));
    let previous = page.previous.expect("run 1");
    assert_eq!(previous.cell.run, 1);
    assert_eq!(previous.cell.colour, Colour::Green);
    assert_eq!(
        previous.changes,
        [(
            "R2".to_owned(),
            "satisfied".to_owned(),
            "incorrect".to_owned()
        )]
    );
    assert!(!previous.ruler_moved);
    assert_eq!(
        (page.before.as_deref(), page.after.as_deref()),
        (Some("nile"), None)
    );
    assert_eq!(page.next_red.as_deref(), Some("nile"));
    let file = store
        .trajectory_file(&mara, "mara", 2, "paris", 1)
        .await
        .expect("bytes");
    assert_eq!(file.bytes, bytes, "byte for byte");
    let run = store
        .recorded_run_of(&mara, "mara", 2, "paris", 1)
        .await
        .expect("a run");
    assert_eq!(run.trajectory, Some(trajectory));

    let case = store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("a page");
    assert_eq!(case.agents.len(), 1);
    assert_eq!(case.agents[0].cell.colour, Colour::Red);
    assert!(
        case.agents[0].rubrics.is_empty(),
        "verdicts of other sentences are not shown beside these"
    );
    assert_eq!(case.history[0].cells.len(), 2);
    let dataset = store
        .dataset_page(
            &mara,
            "mara",
            "world",
            &DatasetQuery {
                colour: Some("red".to_owned()),
                ..DatasetQuery::default()
            },
        )
        .await
        .expect("it");
    assert_eq!(dataset.found, 2);
    assert_eq!(dataset.agents, ["bot"]);
    let runs = store
        .runs_page(&mara, "mara", &RunsQuery::default())
        .await
        .expect("it");
    assert_eq!(runs.rows.iter().map(|r| r.run).collect::<Vec<_>>(), [2, 1]);
    assert!(runs.rows[0].score.is_some());
    let home = store.home_page(&mara).await.expect("it");
    assert_eq!(home.red.len(), 2);
    assert_eq!(home.red[0].what, "R2 incorrect");
    assert_eq!(home.finished.len(), 2);
    assert_eq!(home.workspaces[0].sparkline.len(), 2);
    let workspace = store.workspace_page(&mara, "mara").await.expect("it");
    assert_eq!(workspace.datasets[0].colours[0].map(|c| c.red), Some(2));
    assert_eq!(workspace.series[0].points.len(), 2);
    assert_eq!(workspace.lately.len(), 3);
    for missing in [(3, "paris"), (2, "oslo")] {
        assert_eq!(
            code(
                store
                    .result_page(&mara, "mara", missing.0, missing.1, None)
                    .await
            ),
            Code::NotFound
        );
    }
    assert_eq!(
        code(store.result_page(&mara, "mara", 2, "paris", Some(9)).await),
        Code::NotFound
    );
    assert_eq!(
        code(store.result_page(&mara, "team", 2, "paris", None).await),
        Code::NotFound
    );
}

async fn a_large_trajectory_goes_to_a_file_and_bytes_that_are_no_json_are_kept() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let store = &world.store;
    world.sync(&mara, "mara", CASES).await;
    let made = world.experiment(&mara, "mara").await;
    let claims = world.claim(&made.id, 5).await;
    let ctx = world.system();
    let large = vec![b'{'; 400 * 1024];
    let recording = Recording {
        run: RecordedRun::default(),
        trajectory: Some(large.clone()),
    };
    assert!(
        store
            .record_answer(&ctx, &claims[1].fence, recording)
            .await
            .expect("ok")
    );
    assert!(
        store
            .finish_trial(&ctx, &claims[1].fence, vec![(0, grade(2, 2))])
            .await
            .expect("ok")
    );
    let file = store
        .trajectory_file(&mara, "mara", 1, "paris", 1)
        .await
        .expect("bytes");
    assert_eq!(file.bytes, large);
    let page = store
        .result_page(&mara, "mara", 1, "paris", None)
        .await
        .expect("a page");
    let view = page.trajectory.expect("a view");
    assert!(view.problems[0].contains("not JSON"), "{:?}", view.problems);
    assert!(page.answer.is_none());
}

async fn trials_that_disagree_make_a_case_flaky() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.trials = 2;
    new.case_ids = vec!["paris".to_owned()];
    let made = world.store.create_experiment(&mara, new).await.expect("it");
    let claims = world.claim(&made.id, 5).await;
    world.end(&claims[0], 2, 2).await;
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    assert_eq!(page.row.colours, [0, 0, 0, 1], "open while a trial is open");
    world.end(&claims[1], 0, 2).await;
    let page = world
        .store
        .experiment_page(&mara, "mara", 1)
        .await
        .expect("it");
    assert_eq!(page.row.colours, [0, 0, 1, 0]);
    let result = world
        .store
        .result_page(&mara, "mara", 1, "paris", None)
        .await
        .expect("it");
    assert_eq!(result.trial, 2, "the first that is not green");
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("it");
    assert_eq!(case.agents[0].cell.colour, Colour::Flaky);
    assert_eq!(
        (case.agents[0].cell.satisfied, case.agents[0].cell.of),
        (0, 2)
    );
}

evalkit_test_database::on_each_database![
    an_experiment_stays_on_the_versions_and_overlays_it_was_frozen_on,
    cases_that_need_ground_truth_are_left_out_and_listed,
    bounds_on_trials_and_open_experiments_hold,
    the_result_page_explains_a_trial_and_compares_it_with_the_previous_run,
    a_large_trajectory_goes_to_a_file_and_bytes_that_are_no_json_are_kept,
    trials_that_disagree_make_a_case_flaky,
];
