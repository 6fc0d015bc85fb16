//! Several servers on one PostgreSQL, and a PostgreSQL that goes away.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalkit_core::error::Code;
use evalkit_core::experiment::ExperimentState;
use evalkit_core::view::experiment::Live;
use evalkit_store::{Claim, Database, SecretText, Settings, Store};
use sqlx::{AssertSqlSafe, PgConnection};
use tempfile::TempDir;

use crate::world::{CASES, LEASE, World, answer, code, grade, new_experiment};

/// Another server on the world's database, with a data folder of its own and the same clock.
async fn second(world: &World) -> (Store, TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = evalkit_test_database::settings(Settings::default());
    let store = Store::open_with_clock(folder.path(), settings, Arc::clone(&world.clock) as _)
        .await
        .expect("a second server");
    (store, folder)
}

fn at(url: &str) -> Settings {
    Settings {
        database: Database::Postgres {
            url: SecretText::new(url),
        },
        ..evalkit_test_database::settings(Settings::default())
    }
}

async fn refused(settings: Settings) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let begun = Instant::now();
    let error = Store::open(folder.path(), settings)
        .await
        .expect_err("refused");
    let line = error.to_string();
    assert!(begun.elapsed() < Duration::from_secs(2), "{line}");
    assert_eq!(line.lines().count(), 1, "{line}");
    line
}

async fn tell(connection: &mut PgConnection, statement: &str) {
    sqlx::raw_sql(AssertSqlSafe(statement.to_owned()))
        .execute(connection)
        .await
        .unwrap_or_else(|error| panic!("{statement}: {error}"));
}

async fn forty_trials(world: &World) -> String {
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    let mut new = new_experiment("mara");
    new.trials = 20;
    new.concurrency = Some(8);
    world
        .store
        .create_experiment(&mara, new)
        .await
        .expect("a run")
        .id
}

/// Claims, records and ends trials until the queue is empty; gives what was claimed.
async fn work(store: Store, name: &'static str, experiment: String) -> Vec<Claim> {
    let mut all = Vec::new();
    loop {
        let ctx = store.system_ctx();
        let claims = store
            .claim_trials(&ctx, name, &experiment, 4, LEASE)
            .await
            .expect("claims");
        if claims.is_empty() {
            let plan = store.experiment_plan(&ctx, &experiment).await.expect("it");
            if plan.state == ExperimentState::Finished {
                return all;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let ends = claims.iter().map(|claim| {
            let (store, ctx) = (store.clone(), ctx.clone());
            async move {
                let fence = &claim.fence;
                assert!(
                    store
                        .record_answer(&ctx, fence, answer("Paris."))
                        .await
                        .expect("recorded")
                );
                assert!(
                    store
                        .finish_trial(&ctx, fence, vec![(0, grade(1, 1))])
                        .await
                        .expect("ended")
                );
            }
        });
        futures::future::join_all(ends).await;
        all.extend(claims);
    }
}

async fn two_servers_share_the_work_and_end_the_run() {
    let world = World::new().await;
    let (other, _folder) = second(&world).await;
    let id = forty_trials(&world).await;
    let (a, b) = tokio::join!(
        tokio::spawn(work(world.store.clone(), "a", id.clone())),
        tokio::spawn(work(other.clone(), "b", id.clone())),
    );
    let (a, b) = (a.expect("a"), b.expect("b"));
    assert!(
        !a.is_empty() && !b.is_empty(),
        "{} and {}",
        a.len(),
        b.len()
    );
    let ids: HashSet<_> = a.iter().chain(&b).map(|c| &c.fence.trial_id).collect();
    assert_eq!((ids.len(), a.len() + b.len()), (40, 40));
    assert_eq!(world.store.stale_writes() + other.stale_writes(), 0);
    let mara = world.as_person("mara").await;
    let page = other.experiment_page(&mara, "mara", 1).await.expect("it");
    assert_eq!((page.row.counts.done, page.row.colours[0]), (40, 2));
}

/// A reader that remembers the last id it saw misses nothing, whichever server writes (`runs.md`, Live).
async fn live_events_of_both_servers_come_in_the_order_of_their_ids() {
    let world = World::new().await;
    let (other, _folder) = second(&world).await;
    let id = forty_trials(&world).await;
    let mara = world.as_person("mara").await;
    let working = [
        tokio::spawn(work(world.store.clone(), "a", id.clone())),
        tokio::spawn(work(other.clone(), "b", id)),
    ];
    let mut followed = Vec::new();
    let mut commits = other.commits();
    let until = Instant::now() + Duration::from_secs(30);
    loop {
        let after = followed.last().map_or(0, |(id, _)| *id);
        let news = other
            .events_after(&mara, "mara", 1, after)
            .await
            .expect("it");
        let ended = news.iter().any(|event| {
            matches!(event.live, Live::Experiment { state, .. } if state == ExperimentState::Finished)
        });
        followed.extend(
            news.iter()
                .map(|event| (event.id, format!("{:?}", kind(&event.live)))),
        );
        if ended {
            break;
        }
        assert!(Instant::now() < until, "{} events", followed.len());
        let _ = tokio::time::timeout(Duration::from_millis(50), commits.changed()).await;
    }
    for worker in working {
        worker.await.expect("a worker");
    }
    let mut all = Vec::new();
    loop {
        let after = all.last().map_or(0, |(id, _)| *id);
        let news = other
            .events_after(&mara, "mara", 1, after)
            .await
            .expect("it");
        if news.is_empty() {
            break;
        }
        all.extend(
            news.iter()
                .map(|event| (event.id, format!("{:?}", kind(&event.live)))),
        );
    }
    assert_eq!(followed, all);
    assert_eq!(all.len(), 2 + 40 * 3);
}

fn kind(live: &Live) -> (String, String) {
    match live {
        Live::Trial { cell, .. } => (
            format!("{} {}", cell.case_id, cell.trial),
            cell.state.clone(),
        ),
        Live::Experiment { state, .. } => (String::new(), format!("{state:?}")),
    }
}

async fn a_commit_of_one_server_wakes_the_other() {
    let world = World::new().await;
    let (other, _folder) = second(&world).await;
    let mara = world.as_person("mara").await;
    world.sync(&mara, "mara", CASES).await;
    // Its ear is open.
    tokio::time::sleep(Duration::from_millis(500)).await;
    let mut slowest = Duration::ZERO;
    for _ in 0..4 {
        let (mut commits, mut work) = (other.commits(), other.work());
        let begun = Instant::now();
        world.experiment(&mara, "mara").await;
        for news in [&mut commits, &mut work] {
            tokio::time::timeout(Duration::from_secs(5), news.changed())
                .await
                .expect("heard")
                .expect("open");
        }
        slowest = slowest.max(begun.elapsed());
    }
    assert!(
        slowest < Duration::from_millis(1_500),
        "four in a row are no chance of the two seconds' look: {slowest:?}"
    );
}

async fn what_a_dead_server_held_is_taken_back_when_its_lease_ends() {
    let world = World::new().await;
    let (other, _folder) = second(&world).await;
    let id = forty_trials(&world).await;
    let held = world.claim(&id, 3).await;
    assert_eq!(held.len(), 3);
    let ctx = other.system_ctx();
    assert_eq!(other.reap(&ctx).await.expect("ok").requeued, 0);
    world.clock.advance(LEASE);
    let ctx = other.system_ctx();
    assert_eq!(other.reap(&ctx).await.expect("ok").requeued, 3);
    let again = other
        .claim_trials(&ctx, "b", &id, 3, LEASE)
        .await
        .expect("claims");
    assert!(again.iter().all(|claim| claim.attempt == 2));
    let late = world
        .store
        .record_answer(&world.system(), &held[0].fence, answer("late"))
        .await;
    assert!(!late.expect("ok"));
}

/// Servers whose clocks differ agree on leases, for the database's clock is the one.
async fn leases_count_by_the_clock_of_the_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(
        folder.path(),
        evalkit_test_database::settings(Settings::default()),
    )
    .await
    .expect("a server");
    let world = World::new().await;
    let id = forty_trials(&world).await;
    // The world's clock stands years away from the database's.
    let ctx = world.system();
    store
        .claim_trials(&ctx, "w", &id, 1, LEASE)
        .await
        .expect("a claim");
    let left: i64 = sqlx::query_scalar(
        "SELECT lease_until - CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT) \
         FROM trial WHERE lease_owner = 'w'",
    )
    .fetch_one(&mut evalkit_test_database::connection().await)
    .await
    .expect("a lease");
    assert!((LEASE / 2..=LEASE).contains(&left), "{left}");
}

async fn of_two_servers_on_an_empty_database_one_migrates() {
    for _ in 0..3 {
        let url = evalkit_test_database::empty_database().await;
        let open = || async {
            let folder = tempfile::tempdir().expect("a folder");
            (Store::open(folder.path(), at(&url)).await, folder)
        };
        let (a, b, c) = tokio::join!(open(), open(), open());
        for (store, _folder) in [a, b, c] {
            let store = store.unwrap_or_else(|error| panic!("{error}"));
            assert!(
                store.session(&store.system_ctx()).await.is_ok(),
                "the schema is there"
            );
            store.close().await;
        }
    }
}

async fn every_refusal_at_start_is_one_line_that_names_the_fix() {
    let url = evalkit_test_database::url().expect("on PostgreSQL");
    let line = refused(at("postgres://ines:s3cret@127.0.0.1:1/evals")).await;
    assert!(
        line.contains("127.0.0.1:1") && line.contains("start it") && !line.contains("s3cret"),
        "{line}"
    );
    let line = refused(at("sqlite://evalkit.db")).await;
    assert!(line.contains("postgres://user"), "{line}");
    let line = refused(at(&url.replace("/test_", "/no_such_"))).await;
    assert!(line.contains("createdb no_such_"), "{line}");
    let line = refused(Settings {
        secret_key_file: None,
        ..at(&url)
    })
    .await;
    assert!(
        line.contains("EVALKIT_SECRET_KEY_FILE") && line.contains("head -c 32"),
        "{line}"
    );
    let line = refused(Settings {
        secret_key_file: Some("/not/there".into()),
        ..at(&url)
    })
    .await;
    assert!(line.contains("/not/there"), "{line}");

    let mut beside = evalkit_test_database::connection().await;
    let name: String = sqlx::query_scalar("SELECT current_database()")
        .fetch_one(&mut beside)
        .await
        .expect("a name");
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} SET synchronous_commit = off"),
    )
    .await;
    let line = refused(at(&url)).await;
    assert!(
        line.contains("synchronous_commit = off") && line.contains("set it to `on`"),
        "{line}"
    );
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} RESET synchronous_commit"),
    )
    .await;
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} SET default_transaction_read_only = on"),
    )
    .await;
    let line = refused(at(&url)).await;
    assert!(line.contains("read-only"), "{line}");
    // This connection is older than the setting and may write.
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} RESET default_transaction_read_only"),
    )
    .await;
    tell(
        &mut beside,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (999999, 'of a later version', TRUE, '', 0)",
    )
    .await;
    let line = refused(at(&url)).await;
    assert!(
        line.contains("999999") && line.contains("newer `evalkit`"),
        "{line}"
    );
}

async fn another_key_is_refused() {
    let world = World::new().await;
    let folder = tempfile::tempdir().expect("a folder");
    let key = folder.path().join("other.key");
    std::fs::write(&key, [7; 32]).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .expect("set");
    let settings = Settings {
        secret_key_file: Some(key),
        ..evalkit_test_database::settings(Settings::default())
    };
    let line = refused(settings).await;
    assert!(line.contains("sealed with another key"), "{line}");
    drop(world);
}

/// Every connection is cut again and again while writes go on: no write is lost, none is done twice, nobody is told.
async fn connections_that_are_cut_lose_nothing_and_double_nothing() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let mut beside = evalkit_test_database::connection().await;
    let cutting = tokio::spawn(async move {
        for _ in 0..12 {
            tell(
                &mut beside,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = current_database() AND pid <> pg_backend_pid()",
            )
            .await;
            tokio::time::sleep(Duration::from_millis(60)).await;
        }
    });
    let mut made = 0;
    while !cutting.is_finished() {
        made += 1;
        world
            .store
            .create_workspace(&mara, &format!("space-{made}"))
            .await
            .unwrap_or_else(|error| panic!("workspace {made}: {error}"));
    }
    cutting.await.expect("cut");
    let session = world.store.session(&mara).await.expect("it is back");
    let spaces = session
        .workspaces
        .iter()
        .filter(|w| w.starts_with("space-"))
        .count();
    assert_eq!(spaces, made);
}

async fn a_database_that_is_away_is_busy_and_then_usable_again() {
    let world = World::new().await;
    let mara = world.as_person("mara").await;
    let url = evalkit_test_database::url().expect("on PostgreSQL");
    let name = url
        .rsplit('/')
        .find(|part| part.starts_with("test_"))
        .map(|part| part.split('?').next().unwrap_or(part).to_owned());
    let name = name.unwrap_or_else(|| panic!("no database in {url}"));
    // Commands on a database that takes nobody in come from another one.
    let other = evalkit_test_database::empty_database().await;
    let mut beside = <PgConnection as sqlx::Connection>::connect(&other)
        .await
        .expect("beside");
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"),
    )
    .await;
    tell(
        &mut beside,
        &format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"),
    )
    .await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(code(world.store.session(&mara).await), Code::Busy);
    assert_eq!(
        code(world.store.create_workspace(&mara, "late").await),
        Code::Busy
    );
    tell(
        &mut beside,
        &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS true"),
    )
    .await;
    let begun = Instant::now();
    while world.store.session(&mara).await.is_err() {
        assert!(begun.elapsed() < Duration::from_secs(2), "not usable again");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world
        .store
        .create_workspace(&mara, "late")
        .await
        .expect("it writes again");
}

evalkit_test_database::on_postgres![
    two_servers_share_the_work_and_end_the_run,
    live_events_of_both_servers_come_in_the_order_of_their_ids,
    a_commit_of_one_server_wakes_the_other,
    what_a_dead_server_held_is_taken_back_when_its_lease_ends,
    leases_count_by_the_clock_of_the_database,
    of_two_servers_on_an_empty_database_one_migrates,
    every_refusal_at_start_is_one_line_that_names_the_fix,
    another_key_is_refused,
    connections_that_are_cut_lose_nothing_and_double_nothing,
    a_database_that_is_away_is_busy_and_then_usable_again,
];
