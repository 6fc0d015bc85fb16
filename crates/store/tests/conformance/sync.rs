//! Sync: all or nothing, idempotent, versions that go on.

use evalkit_core::error::Code;
use evalkit_core::view::dataset::DatasetQuery;
use evalkit_lint::SourceFile;

use crate::world::{CASES, World, code, request, told};

async fn a_second_sync_of_the_same_files_changes_nothing() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let first = world.sync(&mara, "mara", CASES).await;
    assert_eq!(first.added, ["paris", "nile"]);
    assert!(first.changes_anything());
    let second = world.sync(&mara, "mara", CASES).await;
    assert_eq!(second.unchanged, 2);
    assert!(!second.changes_anything(), "{second:?}");
    let page = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("a case");
    assert_eq!((page.version, page.newest), (1, 1));
    assert_eq!(page.versions.len(), 1);
    assert_eq!(page.versions[0].by, "mara");
    assert!(
        page.yaml.contains("# the capital"),
        "comments stay: {}",
        page.yaml
    );
    assert_eq!(
        page.case.max_response_time,
        Some(60.0),
        "defaults are folded in"
    );
}

async fn versions_go_on_through_change_archive_and_return() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let changed = CASES.replace("12 km", "13 km");
    let report = world.sync(&mara, "mara", &changed).await;
    assert_eq!(report.changed, ["paris"]);
    assert_eq!(report.unchanged, 1);

    let only_nile = format!(
        "cases:\n{}",
        &changed[changed.find("  - id: nile").expect("it")..]
    );
    let dry = world
        .store
        .sync(&mara, {
            let mut request = request("mara", "world", &only_nile);
            request.dry_run = true;
            request
        })
        .await
        .expect("a dry run");
    assert_eq!(dry.archived, ["paris"]);
    let query = DatasetQuery::default();
    let page = world
        .store
        .dataset_page(&mara, "mara", "world", &query)
        .await
        .expect("a page");
    assert_eq!(
        (page.total, page.archived),
        (2, 0),
        "a dry run writes nothing"
    );

    let report = world.sync(&mara, "mara", &only_nile).await;
    assert_eq!(report.archived, ["paris"]);
    let page = world
        .store
        .dataset_page(&mara, "mara", "world", &query)
        .await
        .expect("a page");
    assert_eq!((page.total, page.archived, page.found), (1, 1, 1));
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", Some(1))
        .await
        .expect("archived cases stay readable");
    assert!(case.archived);
    assert!(case.case.rubrics()[1].rubric.contains("12 km"));

    let report = world.sync(&mara, "mara", CASES).await;
    assert_eq!(report.added, ["paris"], "{report:?}");
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("it is back");
    assert_eq!(case.version, 3, "versions go on");
    assert!(!case.archived);
}

async fn a_lint_error_refuses_the_whole_sync_and_lists_every_error() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let bad = CASES
        .replace("type: derived_computation", "type: guess")
        .replace("id: nile", "id: Nile River");
    let refused = told(
        world
            .store
            .sync(&mara, request("mara", "world", &bad))
            .await,
    );
    assert_eq!(refused.code, Code::Lint);
    assert!(refused.details.len() >= 2, "{refused:?}");
    assert!(
        refused
            .details
            .iter()
            .any(|line| line.contains("E-RUBRIC-TYPE"))
    );
    assert!(
        refused
            .details
            .iter()
            .any(|line| line.contains("E-ID-FORMAT"))
    );
    let page = world
        .store
        .dataset_page(&mara, "mara", "world", &DatasetQuery::default())
        .await;
    assert_eq!(code(page), Code::NotFound, "nothing was made");
}

async fn an_id_belongs_to_one_dataset_and_can_move_when_it_is_archived() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let refused = told(
        world
            .store
            .sync(&mara, request("mara", "other", CASES))
            .await,
    );
    assert!(
        refused
            .details
            .iter()
            .all(|line| line.contains("E-ID-TAKEN")),
        "{refused:?}"
    );
    let fresh = CASES
        .replace("id: paris", "id: rome")
        .replace("id: nile", "id: po");
    world.sync(&mara, "mara", &fresh).await;
    let moved = world
        .store
        .sync(&mara, request("mara", "other", CASES))
        .await
        .expect("the ids are free");
    assert_eq!(moved.added.len(), 2);
    assert!(
        world
            .store
            .case_page(&mara, "mara", "other", "paris", None)
            .await
            .is_ok()
    );
}

async fn overlays_clash_across_datasets_and_go_when_their_file_goes() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let overlay = "overlays:\n  - extends: paris\n    agents: [bot]\n    evaluators:\n      trajectory:\n        required_tools_called: {tools: [look_up]}\n";
    let desk = |name: &str| request("mara", name, overlay);
    let report = world.store.sync(&mara, desk("desk")).await.expect("synced");
    assert_eq!(report.overlays, 1);
    let refused = told(world.store.sync(&mara, desk("desk-two")).await);
    assert!(
        refused.details[0].contains("E-OVERLAY-CLASH") && refused.details[0].contains("desk"),
        "{refused:?}"
    );
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("a case");
    assert_eq!(case.overlays.len(), 1);
    let mut empty = desk("desk");
    empty.files = vec![SourceFile::new("none.yaml", "")];
    let report = world.store.sync(&mara, empty).await.expect("synced");
    assert!(report.overlays_changed);
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("a case");
    assert!(case.overlays.is_empty());
}

async fn archiving_much_asks_first() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut request = request("mara", "world", "cases: []\n");
    request.archive = false;
    let refused = told(world.store.sync(&mara, request.clone()).await);
    assert_eq!(refused.code, Code::Conflict);
    assert!(refused.message.contains("2 of 2"), "{refused:?}");
    request.keep_missing = true;
    let report = world.store.sync(&mara, request).await.expect("kept");
    assert_eq!(report.kept, ["nile", "paris"]);
}

async fn two_syncs_at_once_serialise() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let syncs = (0..6).map(|n| {
        let yaml = CASES.replace("12 km", &format!("{} km", 20 + n));
        let store = world.store.clone();
        let ctx = mara.clone();
        async move { store.sync(&ctx, request("mara", "world", &yaml)).await }
    });
    for outcome in futures::future::join_all(syncs).await {
        outcome.expect("none is lost");
    }
    let case = world
        .store
        .case_page(&mara, "mara", "world", "paris", None)
        .await
        .expect("a case");
    assert_eq!(case.version, 6);
    let numbers: Vec<u32> = case.versions.iter().map(|v| v.version).collect();
    assert_eq!(numbers, [6, 5, 4, 3, 2, 1]);
}

async fn the_case_table_is_searched_sorted_and_paged_on_the_server() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let mut yaml = String::from("defaults: {max_response_time: 5}\ncases:\n");
    for n in 0..120 {
        let tag = if n % 10 == 0 { "tenth" } else { "rest" };
        yaml.push_str(&format!(
            "  - id: case-{n:03}\n    tags: [{tag}]\n    input: {{question: \"What is {n} in 100% of 2024_cases?\"}}\n"
        ));
    }
    world.sync(&mara, "mara", &yaml).await;
    let ask = |query: DatasetQuery| {
        let store = world.store.clone();
        let ctx = mara.clone();
        async move {
            store
                .dataset_page(&ctx, "mara", "world", &query)
                .await
                .expect("a page")
        }
    };
    let query = |q: &str| DatasetQuery {
        q: q.to_owned(),
        sort: Some("id".to_owned()),
        ..DatasetQuery::default()
    };
    let page = ask(query("")).await;
    assert_eq!((page.total, page.found, page.rows.len()), (120, 120, 50));
    assert_eq!(page.rows[0].id, "case-000");
    assert_eq!(page.tags[1], ("tenth".to_owned(), 12));
    let last = ask(DatasetQuery {
        page: 99,
        ..query("")
    })
    .await;
    assert_eq!((last.page, last.rows.len()), (3, 20));
    assert_eq!(ask(query("CASE-07 what")).await.found, 10);
    assert_eq!(ask(query("100% 2024_c")).await.found, 120);
    assert_eq!(
        ask(query("100_")).await.found,
        0,
        "wildcards are plain letters"
    );
    assert_eq!(ask(query("' OR 1=1 --")).await.found, 0);
    assert_eq!(
        ask(query(&"w".repeat(60_000))).await.found,
        0,
        "a word that no case has is no fault"
    );
    let tenth = DatasetQuery {
        tag: Some("tenth".to_owned()),
        ..query("")
    };
    assert_eq!(ask(tenth).await.found, 12);
    let not_run = DatasetQuery {
        colour: Some("not-run".to_owned()),
        ..query("")
    };
    assert_eq!(ask(not_run).await.found, 120);
}

/// The bound of `cases.md`, 20,000 cases a dataset, within the transaction's own time.
async fn twenty_thousand_cases_sync() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let mut files = Vec::new();
    for part in 0..20 {
        let mut yaml = String::from("cases:\n");
        for n in 0..1_000 {
            let n = part * 1_000 + n;
            yaml.push_str(&format!(
                "  - id: c{n}\n    max_response_time: 5\n    tags: [a, b{part}]\n    input: {{question: \"What is {n}?\"}}\n"
            ));
        }
        files.push(SourceFile::new(format!("part-{part:02}.yaml"), yaml));
    }
    let mut request = request("mara", "world", "");
    request.files = files;
    let begun = std::time::Instant::now();
    let report = world
        .store
        .sync(&mara, request.clone())
        .await
        .expect("synced");
    println!("first sync of 20,000 cases: {:?}", begun.elapsed());
    assert_eq!(report.added.len(), 20_000);
    let begun = std::time::Instant::now();
    let report = world.store.sync(&mara, request).await.expect("synced");
    println!("unchanged sync of 20,000 cases: {:?}", begun.elapsed());
    assert_eq!(report.unchanged, 20_000);
}

evalkit_test_database::on_each_database![
    a_second_sync_of_the_same_files_changes_nothing,
    versions_go_on_through_change_archive_and_return,
    a_lint_error_refuses_the_whole_sync_and_lists_every_error,
    an_id_belongs_to_one_dataset_and_can_move_when_it_is_archived,
    overlays_clash_across_datasets_and_go_when_their_file_goes,
    archiving_much_asks_first,
    two_syncs_at_once_serialise,
    the_case_table_is_searched_sorted_and_paged_on_the_server,
    twenty_thousand_cases_sync,
];
