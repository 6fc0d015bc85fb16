//! The fault of `begin` in sqlx 0.9, and the guards against it.

use std::future::Future;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use super::{READ, WRITE, begin, boot, pool};
use crate::secret::SecretText;

fn options() -> PgConnectOptions {
    let url = evalkit_test_database::url().unwrap_or_default();
    boot::options(&SecretText::new(url)).expect("an address")
}

/// Polls `work` at most `times`, a moment apart, then drops it.
async fn cancelled_after<T>(times: usize, work: impl Future<Output = T>) {
    let mut work = Box::pin(work);
    for _ in 0..times {
        if work.as_mut().now_or_never().is_some() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

/// Connections of ours that sit in a transaction.
async fn open_transactions() -> i64 {
    let mut beside = evalkit_test_database::connection().await;
    sqlx::query_scalar(
        "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() \
         AND application_name = 'evalkit' AND state LIKE 'idle in transaction%'",
    )
    .fetch_one(&mut beside)
    .await
    .expect("a count")
}

async fn settled(what: &str) {
    let until = Instant::now() + Duration::from_secs(5);
    while open_transactions().await > 0 {
        assert!(Instant::now() < until, "{what}: a transaction stays open");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Without our guards the fault is there. When this fails, sqlx was mended, and the guards may go.
async fn the_fault_is_there_without_the_guards() {
    let plain = PgPoolOptions::new()
        .max_connections(1)
        .test_before_acquire(false)
        .connect_with(options())
        .await
        .expect("a pool");
    // At which poll the statement is on its way, and its answer not yet here, depends on the machine.
    for times in 1..=8 {
        cancelled_after(times, plain.begin_with(WRITE)).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        if open_transactions().await == 1 {
            let in_pool = plain.acquire().await.expect("the same connection");
            assert_eq!(open_transactions().await, 1, "and the pool hands it out");
            drop(in_pool);
            return;
        }
    }
    panic!("no cancelled begin left a transaction open");
}

async fn a_begin_that_is_cancelled_leaves_no_open_transaction() {
    let guarded: PgPool = pool(2).connect_with(options()).await.expect("a pool");
    for statement in [READ, WRITE] {
        for times in 0..8 {
            cancelled_after(times, begin(&guarded, statement)).await;
            settled("the task").await;
            // The second guard alone: what sqlx leaves open is rolled back when it is released.
            cancelled_after(times, guarded.begin_with(statement)).await;
            settled("the release").await;
        }
    }
    // Nobody holds the lock of the one writer.
    let writes = tokio::time::timeout(Duration::from_secs(5), begin(&guarded, WRITE)).await;
    writes
        .expect("the lock is free")
        .expect("a transaction")
        .rollback()
        .await
        .expect("rolled back");
}

async fn a_missing_socket_is_tried_again_and_then_the_database_is_away() {
    let nowhere = PgConnectOptions::new_without_pgpass()
        .socket("/nowhere/at/all")
        .username("nobody");
    let pool = pool(1).connect_lazy_with(nowhere);
    let begun = Instant::now();
    let error = begin(&pool, READ).await.expect_err("away");
    assert_eq!(error.code(), evalkit_core::error::Code::Busy, "{error}");
    let took = begun.elapsed();
    assert!(
        (Duration::from_millis(390)..Duration::from_secs(3)).contains(&took),
        "{took:?}"
    );
}

evalkit_test_database::on_postgres![
    the_fault_is_there_without_the_guards,
    a_begin_that_is_cancelled_leaves_no_open_transaction,
    a_missing_socket_is_tried_again_and_then_the_database_is_away,
];
