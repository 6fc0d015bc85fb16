//! The way out against real servers on loopback: no redirect, no proxy, no unbounded body, no unbounded wait (T17, D13).

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use evalkit_engine::egress::{
    AllowRule, Call, CallFailure, Caller, Egress, EgressSettings, FailureKind, Trust,
};
use http::{HeaderMap, Method};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

fn egress(loopback: bool) -> Egress {
    Egress::new(EgressSettings {
        allow: Vec::new(),
        listens_on_loopback: loopback,
    })
}

fn call(allowed: Duration) -> Call {
    Call {
        method: Method::POST,
        headers: HeaderMap::new(),
        body: Bytes::from_static(b"{}"),
        allowed,
    }
}

/// Accepts connections, reads one request head, and hands the stream to `reply`. Counts connections.
async fn serve<F, R>(reply: F) -> (SocketAddr, Arc<AtomicUsize>)
where
    F: Fn(TcpStream) -> R + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&count);
    let reply = Arc::new(reply);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            seen.fetch_add(1, Ordering::SeqCst);
            let reply = Arc::clone(&reply);
            tokio::spawn(async move {
                let mut head = Vec::new();
                let mut byte = [0; 1024];
                while !head.windows(4).any(|w| w == b"\r\n\r\n") {
                    match stream.read(&mut byte).await {
                        Ok(0) | Err(_) => return,
                        Ok(n) => head.extend_from_slice(&byte[..n]),
                    }
                }
                reply(stream).await;
            });
        }
    });
    (address, count)
}

async fn fetch(
    url: &str,
    trust: Trust,
    allowed: Duration,
    cap: u64,
) -> Result<(u16, Vec<u8>), CallFailure> {
    let target = egress(true)
        .target(url, trust)
        .map_err(|denied| CallFailure::new(FailureKind::Denied, denied.to_string()))?;
    let mut answer = Caller::new(target)?.send(call(allowed)).await?;
    let status = answer.status.as_u16();
    let body = answer.spool(cap).await?.into_bytes().await.unwrap();
    Ok((status, body))
}

const LONG: Duration = Duration::from_secs(5);

async fn say(mut stream: TcpStream, text: &str) {
    let _ = stream.write_all(text.as_bytes()).await;
    let _ = stream.shutdown().await;
}

#[tokio::test]
async fn a_plain_reply_arrives() {
    let (at, _) = serve(|s| async move {
        say(s, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    })
    .await;
    assert_eq!(
        fetch(&format!("http://{at}/"), Trust::Product, LONG, 100).await,
        Ok((200, b"ok".to_vec()))
    );
}

#[tokio::test]
async fn redirects_are_answers_not_orders() {
    let (inner, hits) =
        serve(|s| async move { say(s, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await })
            .await;
    let (at, _) = serve(move |s| async move {
        say(
            s,
            &format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: http://{inner}/\r\ncontent-length: 0\r\n\r\n"),
        )
        .await;
    })
    .await;
    let (status, _) = fetch(&format!("http://{at}/"), Trust::Product, LONG, 100)
        .await
        .unwrap();
    assert_eq!(status, 307);
    assert_eq!(hits.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_large_body_is_refused_and_not_read_to_its_end() {
    let (at, _) = serve(|mut s| async move {
        let _ = s
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 67108864\r\n\r\n")
            .await;
        let block = vec![b'x'; 1 << 16];
        for _ in 0..1024 {
            if s.write_all(&block).await.is_err() {
                return;
            }
        }
    })
    .await;
    let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 1 << 20)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert!(failure.message.contains("1 MiB"), "{failure}");
}

#[tokio::test]
async fn a_gzip_bomb_is_counted_after_decompression() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    let zeros = vec![0_u8; 1 << 20];
    for _ in 0..64 {
        encoder.write_all(&zeros).unwrap();
    }
    let bomb = Arc::new(encoder.finish().unwrap());
    assert!(bomb.len() < 1 << 17);
    let (at, _) = serve(move |mut s| {
        let bomb = Arc::clone(&bomb);
        async move {
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
                bomb.len()
            );
            let _ = s.write_all(head.as_bytes()).await;
            let _ = s.write_all(&bomb).await;
        }
    })
    .await;
    let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 2 << 20)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
}

#[tokio::test]
async fn nested_and_false_encodings_are_refused() {
    for head in ["gzip, gzip", "br", "deflate"] {
        let (at, _) = serve(move |s| async move {
            say(
                s,
                &format!(
                    "HTTP/1.1 200 OK\r\ncontent-encoding: {head}\r\ncontent-length: 2\r\n\r\nxx"
                ),
            )
            .await;
        })
        .await;
        let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 100)
            .await
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Encoding, "{head}");
    }
    let (at, _) = serve(|s| async move {
        say(
            s,
            "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 4\r\n\r\nnope",
        )
        .await;
    })
    .await;
    let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 100)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Encoding);
}

#[tokio::test]
async fn a_drip_ends_with_the_time_allowed_for_the_whole_call() {
    let (at, _) = serve(|mut s| async move {
        let _ = s
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n")
            .await;
        while s.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let began = Instant::now();
    let failure = fetch(
        &format!("http://{at}/"),
        Trust::Product,
        Duration::from_millis(600),
        1 << 20,
    )
    .await
    .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    assert!(
        began.elapsed() < Duration::from_millis(2_600),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn silence_and_a_head_without_a_body_time_out() {
    let (at, _) = serve(|s| async move {
        tokio::time::sleep(Duration::from_secs(30)).await;
        drop(s);
    })
    .await;
    let failure = fetch(
        &format!("http://{at}/"),
        Trust::Product,
        Duration::from_millis(300),
        100,
    )
    .await
    .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
    let (at, _) = serve(|mut s| async move {
        let _ = s
            .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n")
            .await;
        tokio::time::sleep(Duration::from_secs(30)).await;
    })
    .await;
    let failure = fetch(
        &format!("http://{at}/"),
        Trust::Product,
        Duration::from_millis(300),
        100,
    )
    .await
    .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Timeout);
}

#[tokio::test]
async fn broken_connections_have_their_kinds() {
    // Closed without a word, and closed in the middle of the body.
    for text in ["", "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\npart"] {
        let (at, _) = serve(move |s| async move { say(s, text).await }).await;
        let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 100)
            .await
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cut, "{text:?}: {failure}");
    }
    // Nobody listens.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = free.local_addr().unwrap();
    drop(free);
    let failure = fetch(&format!("http://{at}/"), Trust::Product, LONG, 100)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Refused);
    // TLS with a server that speaks plain HTTP, and with one that hangs up.
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let mut first = true;
        while let Ok((mut stream, _)) = listener.accept().await {
            if first {
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
                let mut rest = [0; 4096];
                let _ = stream.read(&mut rest).await;
            }
            first = false;
        }
    });
    for _ in 0..2 {
        let failure = fetch(&format!("https://{at}/"), Trust::Product, LONG, 100)
            .await
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Tls, "{failure}");
    }
    // A name that cannot resolve (RFC 2606).
    let failure = fetch("https://agent.invalid/", Trust::Product, LONG, 100)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Dns, "{failure}");
}

#[tokio::test]
async fn a_name_is_decided_by_the_addresses_it_leads_to() {
    let (at, hits) =
        serve(|s| async move { say(s, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await })
            .await;
    // `localhost` resolves through the system here, and the peer is checked once more.
    let url = format!("http://localhost:{}/", at.port());
    assert!(fetch(&url, Trust::Product, LONG, 100).await.is_ok());
    // The machine's own name leads to a loopback or private address, which a public server does not call.
    let own = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let own = own.trim();
    if !own.is_empty()
        && tokio::net::lookup_host((own, at.port()))
            .await
            .is_ok_and(|mut found| found.next().is_some())
        && let Ok(target) =
            egress(false).target(&format!("https://{own}:{}/", at.port()), Trust::Product)
    {
        let before = hits.load(Ordering::SeqCst);
        let failure = Caller::new(target)
            .unwrap()
            .send(call(LONG))
            .await
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Denied, "{failure}");
        assert!(failure.message.contains("egress"), "{failure}");
        assert_eq!(hits.load(Ordering::SeqCst), before);
    }
}

#[tokio::test]
async fn rules_open_what_they_name() {
    let (at, _) =
        serve(|s| async move { say(s, "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await })
            .await;
    let url = format!("http://127.0.0.1:{}/", at.port());
    assert!(egress(false).target(&url, Trust::Product).is_err());
    let open = Egress::new(EgressSettings {
        allow: vec![AllowRule::parse(&format!("127.0.0.1:{}", at.port())).unwrap()],
        listens_on_loopback: false,
    });
    let target = open.target(&url, Trust::Product).unwrap();
    assert!(Caller::new(target).unwrap().send(call(LONG)).await.is_ok());
}
