//! Runs whose judge is a model: what is kept, what is bought once, what people are told when it fails (T7, T29).

use std::time::Duration;

use evalkit_core::grade::Colour;
use evalkit_core::view::experiment::Experiment;
use evalkit_core::view::judging::CallOutcome;
use evalkit_engine::judge::{JudgePrices, JudgeProvider};
use evalkit_engine::{Engine, EngineSettings, NewExperiment};
use evalkit_lint::SourceFile;
use evalkit_store::SyncRequest;

use crate::deployment::{DATASET, Deployment, HERE, settings};
use crate::fake_agent::FakeAgent;
use crate::scripted_judge::{KEY, Says, ScriptedJudge, quick};

const LONG: Duration = Duration::from_secs(30);

fn judged_by(judge: &ScriptedJudge) -> EngineSettings {
    let mut config = judge.config(JudgeProvider::OpenAi);
    config.prices = Some(JudgePrices {
        input: 2.0,
        output: 10.0,
    });
    EngineSettings {
        judge: config,
        judge_keys: [("KEY".to_owned(), KEY.to_owned())].into(),
        judge_pace: quick(),
        ..settings()
    }
}

async fn start(settings: EngineSettings, cases: &[&str]) -> (Deployment, FakeAgent) {
    let agent = FakeAgent::start(Duration::from_millis(1)).await;
    let here = Deployment::start_with(settings).await;
    here.sync(cases).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    (here, agent)
}

async fn page(here: &Deployment, run: i64) -> Experiment {
    here.store
        .experiment_page(&here.ctx, HERE, run)
        .await
        .unwrap()
}

async fn run_anew(here: &Deployment) -> i64 {
    let wanted = NewExperiment {
        workspace: HERE.to_owned(),
        dataset: DATASET.to_owned(),
        agent: "bot".to_owned(),
        no_cache: true,
        ..NewExperiment::default()
    };
    here.engine
        .start_experiment(&here.ctx, wanted)
        .await
        .unwrap()
        .run
}

/// One case with `n` rubrics.
async fn sync_long(here: &Deployment, n: usize) {
    let mut yaml = String::from(
        "cases:\n  - id: long\n    input: { question: How high is Mount Everest? }\n    evaluators:\n      output:\n        answer_rubrics:\n          rubrics:\n",
    );
    for i in 1..=n {
        yaml.push_str(&format!("            - {{ rubric: \"States fact number {i} of Mount Everest.\", type: factual_retrieval }}\n"));
    }
    let request = SyncRequest {
        workspace: HERE.to_owned(),
        dataset: DATASET.to_owned(),
        files: vec![SourceFile::new("cases.yaml", yaml)],
        keep_missing: false,
        archive: true,
        dry_run: false,
        jargon: Vec::new(),
        subject_terms: Vec::new(),
    };
    here.store.sync(&here.ctx, request).await.unwrap();
}

async fn a_run_keeps_every_call_and_buys_no_verdict_twice() {
    let judge = ScriptedJudge::satisfied().await;
    let (here, _agent) = start(judged_by(&judge), &["one", "two", "three"]).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 3, LONG).await;
    assert_eq!(judge.calls(), 3);
    let first = page(&here, run).await;
    assert_eq!(first.exit.code, 0, "{:?}", first.exit);
    assert_eq!(first.judging.calls, 3);
    assert_eq!(
        (first.judging.input_tokens, first.judging.output_tokens),
        (3_000, 300)
    );
    // 1,000 tokens at $2 and 100 at $10 a million, three times.
    assert!((first.judging.cost_usd.unwrap() - 0.009).abs() < 1e-12);
    assert_eq!(first.row.judge.provider, "openai");
    assert_eq!(first.row.judge.model.as_deref(), Some("scripted-1"));
    assert_eq!(first.row.judge.templates["answer_rubrics"], "1");
    assert!(first.row.judge.quality_signal);
    let result = here.result(run, "one").await;
    assert_eq!(result.colour, Colour::Green);
    let call = &result.judge_calls[0];
    assert_eq!(call.outcome, CallOutcome::Verdicts);
    assert_eq!(
        (
            call.attempt,
            call.wire_try,
            call.asked,
            call.part,
            call.vote
        ),
        (1, 1, 1, 1, 1)
    );
    assert!(call.reply.as_ref().unwrap().contains("verdicts"));
    assert_eq!(call.prompt_hash.len(), 64);
    let kept = serde_json::to_string(&result).unwrap();
    assert!(!kept.contains(KEY));

    // The same answers to the same rubrics: nothing is asked, and the page says so.
    let again = here.run("bot", 1).await.run;
    here.finish(again, 3, LONG).await;
    assert_eq!(judge.calls(), 3);
    let second = page(&here, again).await;
    assert_eq!(second.judging.calls, 0);
    assert_eq!(second.row.score, first.row.score);
    let verdicts =
        evalkit_core::explanation::rubric_verdicts(&here.result(again, "one").await.grades);
    assert!(verdicts[0].how.cached);

    // Unless everything is to be asked anew.
    let anew = run_anew(&here).await;
    here.finish(anew, 3, LONG).await;
    assert_eq!(judge.calls(), 6);
    let verdicts =
        evalkit_core::explanation::rubric_verdicts(&here.result(anew, "one").await.grades);
    assert!(!verdicts[0].how.cached);
}

async fn a_judge_that_is_no_use_leaves_an_incomplete_run_that_says_why() {
    let judge = ScriptedJudge::start(|_, _| Says::Text("They are all satisfied.".to_owned())).await;
    let (here, agent) = start(judged_by(&judge), &["one", "two", "three"]).await;
    let run = here.run("bot", 1).await.run;
    let counts = here.finish(run, 3, LONG).await;
    assert_eq!(counts.done, 3, "the answers are there");
    let page = page(&here, run).await;
    assert_eq!(page.exit.code, 2);
    assert!(
        page.exit
            .why
            .contains("3 with something unscored (3 parse_failure)"),
        "{}",
        page.exit.why
    );
    assert_eq!(page.row.unscored, 3);
    assert_eq!(page.unscored[0].entries, 3);
    assert_eq!(
        page.scores.get("answer_rubric_score"),
        None,
        "no score is published"
    );
    assert_eq!(page.row.score, None);
    assert!(
        page.cells
            .iter()
            .all(|cell| cell.colour == Colour::Unscored)
    );
    assert_eq!(page.judging.without_verdict, page.judging.calls);
    let result = here.result(run, "one").await;
    assert_eq!(result.judge_calls.len(), 3, "three tries");
    assert!(
        result.judge_calls.iter().all(|call| call
            .reply
            .as_ref()
            .unwrap()
            .contains("all satisfied"))
    );
    assert_eq!(agent.ledger().len(), 3, "no answer was asked for again");
}

async fn a_part_of_the_run_unscored_counts_over_the_rest() {
    let judge = ScriptedJudge::start(|_, number| {
        if number == 0 {
            Says::Verdict("satisfied")
        } else {
            Says::Text("nothing".to_owned())
        }
    })
    .await;
    let mut settings = judged_by(&judge);
    settings.judge.concurrency = 1;
    let (here, _agent) = start(settings, &["one", "two", "three"]).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 3, LONG).await;
    let page = page(&here, run).await;
    let score = page.scores["answer_rubric_score"];
    assert_eq!(
        (score.num, score.den, score.cases, score.of_cases),
        (1.0, 1.0, 1, 3),
        "over 1 of 3"
    );
    assert_eq!(page.exit.code, 2);
}

async fn a_kill_between_two_calls_keeps_what_was_judged() {
    let judge = ScriptedJudge::start(|_, number| match number {
        // The first part is settled; the second is on its way when the server dies.
        0 => Says::Verdict("satisfied"),
        1 => Says::Hangs,
        _ => Says::Verdict("satisfied"),
    })
    .await;
    let mut settings = judged_by(&judge);
    settings.judge.concurrency = 1;
    settings.judge_pace.allowed = Duration::from_secs(60);
    let agent = FakeAgent::start(Duration::from_millis(1)).await;
    let mut here = Deployment::start_with(settings.clone()).await;
    sync_long(&here, 60).await;
    here.agent("bot", &agent.url(), |_| {}).await.unwrap();
    let run = run_anew(&here).await;
    let until = tokio::time::Instant::now() + LONG;
    while judge.calls() < 2 {
        assert!(tokio::time::Instant::now() < until);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    here.engine.kill();
    tokio::time::sleep(Duration::from_millis(100)).await;
    here.engine = Engine::new(here.store.clone(), settings).unwrap();
    here.engine.start().await.unwrap();
    here.finish(run, 1, LONG).await;
    let asked = judge.ledger();
    assert_eq!(
        asked.len(),
        3,
        "one call for what was on its way, none for what was judged"
    );
    assert_eq!(asked[1].ids, asked[2].ids);
    assert_ne!(asked[0].ids, asked[2].ids);
    assert_eq!(agent.ledger().len(), 1);
    let result = here.result(run, "long").await;
    assert_eq!(result.colour, Colour::Green);
    let verdicts = evalkit_core::explanation::rubric_verdicts(&result.grades);
    assert_eq!(verdicts.len(), 60);
    assert!(
        verdicts.iter().all(|verdict| !verdict.how.cached),
        "they were bought for this trial"
    );
}

async fn a_cancelled_run_ends_its_calls_to_the_judge() {
    let judge = ScriptedJudge::start(|_, _| Says::Hangs).await;
    let mut settings = judged_by(&judge);
    settings.judge_pace.allowed = Duration::from_secs(60);
    let (here, _agent) = start(settings, &["one", "two"]).await;
    let run = here.run("bot", 1).await.run;
    here.wait(run, LONG, |row| row.counts.grading == 2).await;
    here.engine.cancel(&here.ctx, HERE, run).await.unwrap();
    let counts = here.finish(run, 2, Duration::from_secs(5)).await;
    assert_eq!(counts.cancelled, 2);
    let calls = judge.calls();
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(judge.calls(), calls, "nobody asks any more");
}

async fn an_endpoint_that_fails_is_shown_while_the_run_goes_on() {
    let judge =
        ScriptedJudge::start(|_, _| Says::Status(503, String::new(), "down for repair".to_owned()))
            .await;
    let mut settings = judged_by(&judge);
    settings.judge_pace.rest = Duration::from_secs(2);
    let (here, _agent) = start(settings, &["one", "two", "three", "four"]).await;
    let run = here.run("bot", 1).await.run;
    let until = tokio::time::Instant::now() + LONG;
    let pause = loop {
        if let Some(pause) = page(&here, run).await.judge_pause {
            break pause;
        }
        assert!(
            tokio::time::Instant::now() < until,
            "the pause is never shown"
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(pause.why.contains("503"), "{}", pause.why);
    assert!(pause.why.contains("down for repair"));
    assert!(pause.until > pause.opened_at);
    here.finish(run, 4, LONG).await;
    let page = page(&here, run).await;
    assert_eq!(
        page.judge_pause, None,
        "a run that has ended waits for nobody"
    );
    assert_eq!(page.exit.code, 2);
    assert!(
        page.exit.why.contains("provider_error"),
        "{}",
        page.exit.why
    );
    assert!(judge.calls() <= 10 + 3 + 3, "{} calls", judge.calls());
}

async fn the_second_judge_of_a_run_is_named_where_it_decided() {
    let first = ScriptedJudge::start(|_, _| Says::Text("no".to_owned())).await;
    let second = ScriptedJudge::satisfied().await;
    let mut settings = judged_by(&first);
    settings.second_judge = Some(second.config(JudgeProvider::Google));
    let (here, _agent) = start(settings, &["one"]).await;
    let run = here.run("bot", 1).await.run;
    here.finish(run, 1, LONG).await;
    let result = here.result(run, "one").await;
    assert_eq!(result.colour, Colour::Green);
    let verdicts = evalkit_core::explanation::rubric_verdicts(&result.grades);
    assert_eq!(
        verdicts[0].how.judged_by.as_deref(),
        Some("google scripted-1")
    );
    let seats: Vec<&str> = result
        .judge_calls
        .iter()
        .map(|call| call.seat.as_str())
        .collect();
    assert_eq!(seats, ["first", "first", "first", "second"]);
    // The second judge has no prices here: the cost is known to be incomplete.
    assert_eq!(page(&here, run).await.judging.unpriced, 1);
}

evalkit_test_database::on_each_database![
    a_run_keeps_every_call_and_buys_no_verdict_twice,
    a_judge_that_is_no_use_leaves_an_incomplete_run_that_says_why,
    a_part_of_the_run_unscored_counts_over_the_rest,
    a_kill_between_two_calls_keeps_what_was_judged,
    a_cancelled_run_ends_its_calls_to_the_judge,
    an_endpoint_that_fails_is_shown_while_the_run_goes_on,
    the_second_judge_of_a_run_is_named_where_it_decided,
];
