//! Endpoints of judges that are busy, broken, slow or particular (T7): tries, pauses, the breaker, places.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime};

use evalkit_core::view::judging::CallOutcome;
use evalkit_engine::judge::{Judge, JudgePace, JudgeProvider, Ledger};

use crate::scripted_judge::{KEY, Says, ScriptedJudge, endpoints, open, outcome, quick, task};

const ANSWER: &str = "Mount Everest is 8,848.86 m high.";

fn status(status: u16) -> Says {
    Says::Status(
        status,
        String::new(),
        "{\"error\": {\"message\": \"not now\"}}".to_owned(),
    )
}

/// Asks once with a script of the first replies; satisfied afterwards.
async fn after(first: Vec<Says>) -> (Vec<String>, ScriptedJudge, Ledger) {
    let judge = ScriptedJudge::start(move |_, number| {
        first
            .get(number)
            .cloned()
            .unwrap_or(Says::Verdict("satisfied"))
    })
    .await;
    let ledger = Ledger::memory();
    let found = outcome(
        &open(&judge.config(JudgeProvider::OpenAi), None),
        &task(1, ANSWER),
        &ledger,
    )
    .await;
    (found, judge, ledger)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bursts_of_failures_are_outlasted() {
    for burst in [
        vec![status(500); 4],
        vec![status(503), status(529), status(500), status(502)],
        vec![status(429); 4],
        vec![Says::Closes, status(408), Says::Closes],
    ] {
        let n = burst.len();
        let (found, judge, ledger) = after(burst).await;
        assert_eq!(found, ["satisfied"]);
        assert_eq!(judge.calls(), n + 1);
        let tries: Vec<u32> = ledger.calls().iter().map(|call| call.wire_try).collect();
        assert_eq!(
            tries,
            (1..=u32::try_from(n + 1).unwrap()).collect::<Vec<_>>(),
            "every try is kept"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_tries_on_the_wire_and_no_more() {
    for (broken, why, kept) in [
        (status(500), "provider_error", CallOutcome::Failed),
        (status(429), "provider_error", CallOutcome::RateLimited),
        (Says::Closes, "provider_error", CallOutcome::Failed),
    ] {
        let (found, judge, ledger) = after(vec![broken; 50]).await;
        assert_eq!(found, [why]);
        assert_eq!(judge.calls(), 5);
        let calls = ledger.calls();
        assert_eq!(calls.len(), 5);
        assert!(
            calls
                .iter()
                .all(|call| call.outcome == kept && !call.trouble.is_empty())
        );
    }
    // What another try cannot mend is tried once.
    for broken in [401, 403, 404, 302, 400] {
        let (found, judge, _) = after(vec![status(broken); 9]).await;
        assert_eq!(
            (found, judge.calls()),
            (vec!["provider_error".to_owned()], 1),
            "{broken}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_judge_that_hangs_is_a_timeout() {
    let judge = ScriptedJudge::start(|_, _| Says::Hangs).await;
    let pace = JudgePace {
        allowed: Duration::from_millis(200),
        ..quick()
    };
    let asks = Judge::open(
        &judge.config(JudgeProvider::OpenAi),
        None,
        std::path::Path::new(""),
        &endpoints(pace),
    )
    .unwrap();
    let began = Instant::now();
    let ledger = Ledger::memory();
    assert_eq!(outcome(&asks, &task(1, ANSWER), &ledger).await, ["timeout"]);
    assert_eq!(judge.calls(), 5);
    // Five times 200 ms and four short pauses; five-fold slack.
    assert!(
        began.elapsed() < Duration::from_secs(6),
        "{:?}",
        began.elapsed()
    );
    assert!(
        ledger
            .calls()
            .iter()
            .all(|call| call.outcome == CallOutcome::Timeout)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn retry_after_is_kept_in_seconds_and_as_a_date() {
    let (found, judge, _) = after(vec![Says::Status(
        429,
        "retry-after: 1\r\n".to_owned(),
        String::new(),
    )])
    .await;
    assert_eq!(found, ["satisfied"]);
    let at = judge.ledger();
    let waited = at[1].at - at[0].at;
    assert!(waited >= Duration::from_secs(1), "{waited:?}");
    // 1.2 times, and what a loaded machine adds to a call.
    assert!(
        waited <= Duration::from_millis(1_200) + Duration::from_millis(500),
        "{waited:?}"
    );

    // A date has whole seconds, so what was asked for lies between one and two of them.
    #[expect(
        clippy::disallowed_methods,
        reason = "the scripted endpoint dates its reply by the machine's clock, as a real one does"
    )]
    let now = SystemTime::now();
    let date = httpdate::fmt_http_date(now + Duration::from_secs(2));
    let (found, judge, _) = after(vec![Says::Status(
        503,
        format!("retry-after: {date}\r\n"),
        String::new(),
    )])
    .await;
    assert_eq!(found, ["satisfied"]);
    let at = judge.ledger();
    let waited = at[1].at - at[0].at;
    assert!(waited >= Duration::from_millis(900), "{waited:?}");
    assert!(
        waited <= Duration::from_millis(2_400) + Duration::from_millis(500),
        "{waited:?}"
    );

    // Without the header, or with one that nobody can read: our own pause.
    for header in ["", "retry-after: soon\r\n", "retry-after: 0\r\n"] {
        let began = Instant::now();
        let (found, judge, _) =
            after(vec![Says::Status(429, header.to_owned(), String::new())]).await;
        assert_eq!((found, judge.calls()), (vec!["satisfied".to_owned()], 2));
        assert!(began.elapsed() < Duration::from_secs(2));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_beyond_reason_is_not_waited_for() {
    let began = Instant::now();
    let (found, judge, _) = after(vec![Says::Status(
        429,
        "retry-after: 86400\r\n".to_owned(),
        String::new(),
    )])
    .await;
    assert_eq!(
        (found, judge.calls()),
        (vec!["provider_error".to_owned()], 1)
    );
    assert!(began.elapsed() < Duration::from_secs(3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_that_was_asked_for_holds_every_call_to_the_endpoint() {
    let judge = ScriptedJudge::start(|_, number| match number {
        0 => Says::Status(429, "retry-after: 1\r\n".to_owned(), String::new()),
        _ => Says::Verdict("satisfied"),
    })
    .await;
    let asks = open(&judge.config(JudgeProvider::OpenAi), None);
    let one = {
        let asks = asks.clone();
        tokio::spawn(async move { outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await })
    };
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(
        outcome(&asks, &task(2, ANSWER), &Ledger::memory()).await,
        ["satisfied"; 2]
    );
    one.await.unwrap();
    let at = judge.ledger();
    assert!(
        at[1..]
            .iter()
            .all(|asked| asked.at - at[0].at >= Duration::from_millis(990))
    );
}

/// A pause between calls that only an open breaker makes: it rests for 0.4 s.
const REST: Duration = Duration::from_millis(380);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_breaker_opens_probes_and_closes() {
    // Down until it was left alone twice: the first probe finds it down, the second does not. By calls and not by the clock,
    // for on a busy machine calls come when they come.
    let began = Instant::now();
    let seen = Mutex::new((None::<Instant>, 0));
    let down = move |_: &_, _| {
        let mut seen = seen.lock().unwrap();
        let (last, rests) = &mut *seen;
        *rests += u32::from(last.is_some_and(|last| last.elapsed() >= REST));
        *last = Some(Instant::now());
        if *rests < 2 {
            status(500)
        } else {
            Says::Verdict("satisfied")
        }
    };
    let judge = ScriptedJudge::start(down).await;
    let asks = open(&judge.config(JudgeProvider::OpenAi), None);
    let found = futures::future::join_all((0..4).map(|_| {
        let asks = asks.clone();
        async move { outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await }
    }))
    .await;
    assert!(
        found.iter().all(|verdicts| verdicts == &["satisfied"]),
        "{found:?}"
    );
    let at: Vec<Instant> = judge.ledger().iter().map(|asked| asked.at).collect();
    let gaps: Vec<Duration> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let rests = gaps.iter().filter(|gap| **gap >= REST).count();
    assert!(rests >= 2, "left alone twice: {gaps:?}");
    let before = gaps.iter().position(|gap| *gap >= REST).unwrap() + 1;
    assert!(before <= 8 + 3, "{before} calls before it was left alone");
    // 0.4 s of rest twice; five-fold slack.
    assert!(
        began.elapsed() < Duration::from_secs(5),
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_endpoint_that_stays_down_costs_few_calls_and_no_patience() {
    let judge = ScriptedJudge::start(|_, _| status(503)).await;
    let asks = open(&judge.config(JudgeProvider::OpenAi), None);
    let began = Instant::now();
    for _ in 0..30 {
        assert_eq!(
            outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await,
            ["provider_error"]
        );
    }
    // Thirty tasks of five tries would be 150 calls.
    assert!(judge.calls() <= 10 + 2 + 5, "{} calls", judge.calls());
    assert!(
        began.elapsed() < Duration::from_secs(10),
        "{:?}",
        began.elapsed()
    );
    assert!(
        Duration::from_secs(60) >= JudgePace::default().rest,
        "the probe comes within a minute"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_calls_at_once_than_configured() {
    let judge = ScriptedJudge::start(|_, _| {
        Says::Slowly(
            Duration::from_millis(40),
            Box::new(Says::Verdict("satisfied")),
        )
    })
    .await;
    let mut config = judge.config(JudgeProvider::OpenAi);
    config.concurrency = 3;
    let asks = open(&config, None);
    let all = (0..15).map(|_| {
        let asks = asks.clone();
        async move { outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await }
    });
    let found = futures::future::join_all(all).await;
    assert!(found.iter().all(|verdicts| verdicts == &["satisfied"]));
    assert_eq!((judge.calls(), judge.most_at_once()), (15, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_model_does_not_take_is_left_out_and_remembered() {
    let judge = ScriptedJudge::start(|asked, _| {
        let refuse = |message: &str| {
            Says::Status(
                400,
                String::new(),
                format!("{{\"error\": {{\"message\": \"{message}\"}}}}"),
            )
        };
        if asked.body.get("temperature").is_some() {
            refuse("Unsupported value: 'temperature' does not support 0 with this model.")
        } else if asked.body["response_format"]["type"] == "json_schema" {
            refuse("Invalid parameter: 'response_format' of type 'json_schema' is not supported.")
        } else {
            Says::Verdict("satisfied")
        }
    })
    .await;
    let asks = open(&judge.config(JudgeProvider::OpenAiCompatible), None);
    assert_eq!(
        outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await,
        ["satisfied"]
    );
    assert_eq!(judge.calls(), 3);
    assert_eq!(
        outcome(&asks, &task(2, ANSWER), &Ledger::memory()).await,
        ["satisfied"; 2]
    );
    assert_eq!(judge.calls(), 4, "the second time it is known");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_key_is_sent_and_never_kept() {
    let judge = ScriptedJudge::start(|_, number| match number {
        0 => Says::Status(
            500,
            String::new(),
            format!("your key {KEY} is broken, see https://u:p@x.example/?key={KEY}"),
        ),
        _ => Says::Text(format!("I was called with {KEY}")),
    })
    .await;
    let ledger = Ledger::memory();
    let judgement = open(&judge.config(JudgeProvider::OpenAi), None)
        .judge(&task(1, ANSWER), &ledger)
        .await;
    let kept = format!("{:?} {:?}", ledger.calls(), judgement);
    assert!(kept.contains("[secret]"));
    assert!(!kept.contains(KEY), "{kept}");
    assert!(judge.ledger()[0].head.contains(KEY));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redirect_is_not_followed() {
    let elsewhere = ScriptedJudge::satisfied().await;
    let to = format!(
        "location: http://{}/v1/chat/completions\r\n",
        elsewhere.address
    );
    let (found, judge, _) = after(vec![Says::Status(307, to, String::new())]).await;
    assert_eq!(
        (found, judge.calls(), elsewhere.calls()),
        (vec!["provider_error".to_owned()], 1, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_question_ends_its_call_and_frees_its_place() {
    let judge = ScriptedJudge::start(|_, number| {
        if number == 0 {
            Says::Hangs
        } else {
            Says::Verdict("satisfied")
        }
    })
    .await;
    let mut config = judge.config(JudgeProvider::OpenAi);
    config.concurrency = 1;
    let asks = open(&config, None);
    let hanging = {
        let asks = asks.clone();
        tokio::spawn(async move { outcome(&asks, &task(1, ANSWER), &Ledger::memory()).await })
    };
    while judge.calls() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    hanging.abort();
    let found = tokio::time::timeout(
        Duration::from_secs(1),
        outcome(&asks, &task(2, ANSWER), &Ledger::memory()),
    )
    .await;
    assert_eq!(found.unwrap(), ["satisfied"; 2]);
}
