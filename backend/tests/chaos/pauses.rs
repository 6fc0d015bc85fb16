//! T2: paused past its lease 30 times, a server that wakes up writes nothing that another has written. With PostgreSQL
//! two servers share the work and either is paused; the embedded database has one, which takes its own trials back.

use std::time::{Duration, Instant};

use evalkit_test_database::invariants::{Plan, lost_and_twice};
use serde_json::Value;

use crate::host::Host;
use crate::seed::Seed;
use crate::server::{AT_ONCE, EVALUATORS, Place, Server};

const CASES: usize = 200;
const PAUSES: usize = 30;
/// Every so many pauses end in a kill.
const KILL_EACH: usize = 6;
const LEASE: Duration = Duration::from_millis(600);

/// Makes a server look at the queue now.
async fn poke(place: &Place, server: &Server, run: i64) {
    for action in ["pause", "resume"] {
        let path = format!("/api/w/mara/runs/{run}/{action}");
        place.say(server, "POST", &path, Value::Null).await;
    }
}

async fn paused_30_times_nothing_is_written_late() {
    let mut seed = Seed::new("pauses");
    let place = Place::new(LEASE).await;
    let host = Host::start(place.path(), Duration::from_millis(10)).await;
    let shared = evalkit_test_database::url().is_some();
    let mut servers = vec![place.serve().await];
    place.prepare(&servers[0], &host, CASES).await;
    if shared {
        servers.push(place.serve().await);
    }
    let run = place.run(&servers[0]).await;
    let (mut lost, mut twice, mut kills) = (0, 0, 0);
    let mut before = place.history().await;
    for pause in 0..PAUSES {
        let victim = usize::try_from(seed.between(0, servers.len() as u64)).unwrap();
        host.give(3);
        tokio::time::sleep(Duration::from_millis(seed.between(5, 60))).await;
        servers[victim].signal("STOP");
        // These reach a server that cannot take them.
        host.give(3);
        let until = Instant::now() + LEASE.mul_f64(1.5);
        let kill = pause % KILL_EACH == KILL_EACH - 1;
        let taken_over = async {
            if shared {
                tokio::time::sleep(LEASE.mul_f64(1.1)).await;
                poke(&place, &servers[1 - victim], run).await;
            }
        };
        // One that was paused inside a transaction holds the other up until it goes on, or is gone.
        let goes_on = async {
            tokio::time::sleep_until(until.into()).await;
            servers[victim].signal(if kill { "KILL" } else { "CONT" });
        };
        tokio::join!(taken_over, goes_on);
        if kill {
            servers[victim].kill();
            kills += 1;
            servers[victim] = place.serve().await;
        }
        if !shared {
            poke(&place, &servers[0], run).await;
        }
        let after = place.history().await;
        let (gone, changed) = lost_and_twice(&before, &after);
        lost += gone;
        twice += changed;
        before = after;
    }
    host.give(CASES * 20);
    let results = place
        .finish(&servers[0], run, Duration::from_secs(60))
        .await;
    assert_eq!(results["counts"]["done"], CASES, "{}", results["counts"]);
    let plan = Plan {
        trials: CASES,
        evaluators: EVALUATORS,
        at_once: AT_ONCE,
        disturbances: PAUSES + kills,
    };
    let after = place.check(&host, plan).await;
    let (gone, changed) = lost_and_twice(&before, &after);
    let logs = place.logs();
    let late = logs.matches("a write came too late").count()
        + logs.matches("the trial is no longer held here").count();
    println!(
        "{PAUSES} pauses, {kills} of them ended by a kill: {} lost, {} twice, {late} trials given up, {} calls for {CASES} trials",
        lost + gone,
        twice + changed,
        host.calls().len()
    );
    assert_eq!((lost + gone, twice + changed), (0, 0));
    assert!(late > 0, "no server ever woke up too late");
    cancelled_while_one_sleeps(&place, &host, &servers).await;
}

/// A run is cancelled while the server that calls for it is paused: it starts no further call when it wakes up.
async fn cancelled_while_one_sleeps(place: &Place, host: &Host, servers: &[Server]) {
    if servers.len() < 2 {
        return;
    }
    // A ration of nothing: what is called waits.
    let host_of = Host::start(place.path(), Duration::from_secs(60)).await;
    place.agent(&servers[0], "bot", &host_of.url()).await;
    let run = place.run(&servers[0]).await;
    let until = Instant::now() + Duration::from_secs(10);
    while host_of.in_flight() < AT_ONCE {
        assert!(Instant::now() < until, "{} calls", host_of.in_flight());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    servers[0].signal("STOP");
    let path = format!("/api/w/mara/runs/{run}/cancel");
    place.say(&servers[1], "POST", &path, Value::Null).await;
    let calls = host_of.calls().len();
    tokio::time::sleep(LEASE.mul_f64(1.5)).await;
    servers[0].signal("CONT");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        host_of.calls().len(),
        calls,
        "a cancelled run was called for"
    );
    assert_eq!(
        host_of.in_flight(),
        0,
        "calls of a cancelled run are cut off"
    );
    assert!(host.calls().len() >= CASES);
}

evalkit_test_database::on_each_database![paused_30_times_nothing_is_written_late];
