//! T25: a stop with calls in flight and streams open ends soon and in order; the next server goes on.

use std::time::{Duration, Instant};

use evalkit_test_database::invariants::Plan;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::host::Host;
use crate::server::{AT_ONCE, EVALUATORS, Place};

const CASES: usize = 40;
/// As many as one person may hold open.
const STREAMS: usize = 20;

async fn a_stop_with_calls_and_streams_open_loses_nothing() {
    let place = Place::new(Duration::from_secs(2)).await;
    let host = Host::start(place.path(), Duration::from_millis(10)).await;
    let mut server = place.serve().await;
    place.prepare(&server, &host, CASES).await;
    let run = place.run(&server).await;
    let until = Instant::now() + Duration::from_secs(20);
    while host.in_flight() < AT_ONCE {
        assert!(Instant::now() < until, "{} calls", host.in_flight());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let mut streams = Vec::new();
    for _ in 0..STREAMS {
        streams.push(follow(&place, &server.address().unwrap(), run).await);
    }
    let told = Instant::now();
    server.signal("TERM");
    tokio::time::sleep(Duration::from_millis(200)).await;
    host.give(AT_ONCE);
    let status = server.ended(Duration::from_secs(15)).await;
    assert_eq!(
        status.and_then(|status| status.code()),
        Some(0),
        "{:?}: {}",
        told.elapsed(),
        place.logs()
    );
    for mut stream in streams {
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest));
        assert!(ended.await.is_ok(), "a stream outlived its server");
    }
    let history = place.history().await;
    let count = |state: &str| history.trials.iter().filter(|t| t.state == state).count();
    assert_eq!(
        count("done"),
        AT_ONCE,
        "calls in flight are journaled and graded"
    );
    assert_eq!(count("queued"), CASES - AT_ONCE, "the rest is nobody's");
    host.give(CASES);
    let next = place.serve().await;
    place.finish(&next, run, Duration::from_secs(60)).await;
    let plan = Plan {
        trials: CASES,
        evaluators: EVALUATORS,
        at_once: AT_ONCE,
        // Not one call may be made twice.
        disturbances: 0,
    };
    place.check(&host, plan).await;
    println!("a stop with {AT_ONCE} calls and {STREAMS} streams: 0 lost, 0 twice");
}

/// A live stream of the run, open.
async fn follow(place: &Place, address: &str, run: i64) -> TcpStream {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "GET /api/w/mara/runs/{run}/events HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {}\r\n\
         accept: text/event-stream\r\n\r\n",
        place.token()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    stream
}

evalkit_test_database::on_each_database![a_stop_with_calls_and_streams_open_loses_nothing];
