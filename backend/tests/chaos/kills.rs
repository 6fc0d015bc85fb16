//! T1: killed 25 times in the middle of a run, nothing is lost and nothing is done twice.

use std::time::{Duration, Instant};

use evalkit_test_database::invariants::{Plan, calls_broken, lost_and_twice};

use crate::host::Host;
use crate::seed::Seed;
use crate::server::{AT_ONCE, EVALUATORS, Place};

const CASES: usize = 200;
const KILLS: usize = 25;
const LEASE: Duration = Duration::from_secs(1);

async fn killed_25_times_a_run_ends_as_if_nothing_had_happened() {
    let mut seed = Seed::new("kills");
    let place = Place::new(LEASE).await;
    let host = Host::start(place.path(), Duration::from_millis(15)).await;
    let mut server = place.serve().await;
    place.prepare(&server, &host, CASES).await;
    let run = place.run(&server).await;
    let plan = Plan {
        trials: CASES,
        evaluators: EVALUATORS,
        at_once: AT_ONCE,
        disturbances: KILLS,
    };
    let (mut lost, mut twice, mut in_flight) = (0, 0, 0);
    let mut before = place.history().await;
    for kill in 0..KILLS {
        // So few answers that the run outlives all kills, and each one finds calls under way.
        host.give(CASES / (KILLS + 1));
        if seed.between(0, 5) > 0 {
            place.ready(&mut server).await;
            if kill % 2 == 0 {
                // A chosen moment: answers have just gone out, and are being journaled and graded.
                let until = Instant::now() + Duration::from_secs(3);
                while host.in_flight() < AT_ONCE && Instant::now() < until {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                host.give(1);
                tokio::time::sleep(Duration::from_millis(seed.between(0, 40))).await;
            }
        }
        if kill % 2 == 1 {
            tokio::time::sleep(Duration::from_millis(seed.between(50, 800))).await;
        }
        in_flight += usize::from(host.in_flight() > 0);
        server.kill();
        if evalkit_test_database::url().is_some() {
            // Nobody else may end the leases of a dead server.
            tokio::time::sleep(LEASE).await;
        }
        server = place.spawn();
        if kill % 3 == 2 {
            let after = place.history().await;
            let (gone, changed) = lost_and_twice(&before, &after);
            lost += gone;
            twice += changed;
            let broken = calls_broken(&after, &host.calls(), plan);
            assert!(broken.is_empty(), "after kill {}: {broken:#?}", kill + 1);
            before = after;
        }
    }
    host.give(CASES * 20);
    let booted = {
        place.ready(&mut server).await;
        Instant::now()
    };
    let disturbed = place.finish(&server, run, Duration::from_secs(60)).await;
    assert!(
        host.last_call() < booted + LEASE + Duration::from_secs(60),
        "work did not go on"
    );
    let after = place.check(&host, plan).await;
    let (gone, changed) = lost_and_twice(&before, &after);
    lost += gone;
    twice += changed;
    println!(
        "{KILLS} kills, {in_flight} of them with calls in flight: {lost} lost, {twice} twice, {} calls for {CASES} trials",
        host.calls().len()
    );
    assert_eq!((lost, twice), (0, 0));
    assert!(in_flight >= KILLS / 2, "only {in_flight} kills hit a call");
    // An undisturbed run of the same cases tells the same.
    let calm = place.run(&server).await;
    let calm = place.finish(&server, calm, Duration::from_secs(60)).await;
    assert_eq!(disturbed["counts"], calm["counts"]);
    assert_eq!(disturbed["scores"], calm["scores"]);
    let plan = Plan {
        trials: 2 * CASES,
        ..plan
    };
    place.check(&host, plan).await;
}

evalkit_test_database::on_each_database![killed_25_times_a_run_ends_as_if_nothing_had_happened];
