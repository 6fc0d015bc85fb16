//! One trial in the hands of the worker: call, journal, grade, end.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use evalkit_core::experiment::TrialState;
use evalkit_core::run::{AgentErrorClass, RecordedRun, RunError};
use evalkit_store::{Claim, Recording, StoreError, Wanted};
use tokio::time::Instant;

use super::lane::{Lane, Permits};
use super::{Worker, micros, retry};
use crate::adapter::{Again, AgentFailure, AgentReply, AgentTask};
use crate::grade::begin_apart;
use crate::judge::Ledger;

/// The stage that errors of the call name.
const CALL: &str = "agent call";
/// The stage that errors after it name.
const GRADING: &str = "grading";

/// Brings a claimed trial as far as it goes. Errors of the store end the task and nothing else: the lease runs out, and
/// the trial goes on from what is committed.
pub(super) async fn run(worker: &Arc<Worker>, lane: &Arc<Lane>, claim: Claim, permits: Permits) {
    let trial = claim.fence.trial_id.clone();
    match carry(worker, lane, claim, permits).await {
        Ok(true) => {}
        Ok(false) => tracing::info!(%trial, "a write came too late; the trial is held elsewhere"),
        Err(error) => tracing::error!(%trial, %error, "a trial could not be carried on"),
    }
}

async fn carry(
    worker: &Arc<Worker>,
    lane: &Arc<Lane>,
    claim: Claim,
    mut permits: Permits,
) -> Result<bool, StoreError> {
    let run = if claim.state == TrialState::Running {
        let called = call(worker, lane, &claim).await;
        let run = match called {
            Ok(reply) => {
                let place = lane.next_place().filter(|_| !worker.is_stopping());
                let (run, next) = journal(worker, &claim, reply, place.is_some()).await?;
                // The answer is safe: the next call begins while this one is graded.
                let call = permits.call.take();
                match (next, place) {
                    (Some(next), Some(place)) => {
                        worker.begin(next, Arc::clone(lane), Permits::following(call, place));
                    }
                    (_, place) => {
                        if place.is_some() && run.is_some() {
                            lane.drained.store(true, Ordering::Relaxed);
                        }
                        drop((call, place));
                        worker.wake.notify_one();
                    }
                }
                run
            }
            Err(failure) => return fail(worker, lane, &claim, failure).await,
        };
        match run {
            Some(run) => run,
            None => return Ok(false),
        }
    } else {
        worker
            .store
            .recorded_run(&worker.store.system_ctx(), &claim.fence.trial_id)
            .await?
    };
    grade(worker, lane, claim, run).await
}

async fn call(worker: &Worker, lane: &Lane, claim: &Claim) -> Result<AgentReply, AgentFailure> {
    let adapter = match &lane.adapter {
        Ok(adapter) => Arc::clone(adapter),
        Err(failure) => return Err(failure.clone()),
    };
    let _place = lane.gate.calls.acquire().await;
    tokio::time::sleep_until(lane.gate.reserve(Instant::now())).await;
    let now_s = u64::try_from(worker.store.now() / 1_000_000).unwrap_or(0);
    let run_id = &claim.fence.trial_id;
    let task = AgentTask::of(
        &claim.case.case,
        run_id,
        claim.trial,
        &claim.idempotency_key,
        lane.allowed,
        |key, sha256| {
            worker
                .links
                .link(run_id, key, sha256, now_s, lane.allowed.as_secs())
        },
    );
    let outcome = adapter.call(&task).await;
    if let Err(AgentFailure {
        again: Again::After(pause),
        ..
    }) = &outcome
    {
        lane.gate.hold(Instant::now(), *pause);
    }
    outcome
}

/// Stores the answer before anything else is done with it, and with it takes the next trial when one is wanted. Gives the
/// run back for grading, or nothing when the trial is no longer held.
async fn journal(
    worker: &Worker,
    claim: &Claim,
    reply: AgentReply,
    wants_next: bool,
) -> Result<(Option<RecordedRun>, Option<Claim>), StoreError> {
    let wanted = wants_next.then(|| Wanted {
        worker: worker.name.clone(),
        lease: worker.lease(),
    });
    let AgentReply {
        mut run,
        trajectory: bytes,
    } = reply;
    // The store keeps the bytes; the value is for the graders alone.
    let trajectory = run.trajectory.take();
    let recording = Recording {
        run: run.clone(),
        trajectory: bytes,
    };
    let (taken, next) = worker
        .persist("recording an answer", || {
            let (recording, wanted) = (recording.clone(), wanted.clone());
            async {
                worker
                    .store
                    .record_answer_and_claim(
                        &worker.store.system_ctx(),
                        &claim.fence,
                        recording,
                        wanted,
                    )
                    .await
            }
        })
        .await?;
    if !taken {
        return Ok((None, None));
    }
    run.trajectory = trajectory;
    // As the store writes it, so that a later regrade sees the same text (D29).
    if let Some(answer) = run.answer.as_mut().filter(|answer| answer.contains('\0')) {
        *answer = answer.replace('\0', "\u{2400}");
    }
    Ok((Some(run), next))
}

async fn fail(
    worker: &Arc<Worker>,
    lane: &Lane,
    claim: &Claim,
    failure: AgentFailure,
) -> Result<bool, StoreError> {
    let most = lane.plan.frozen.agent.max_attempts;
    let class = failure.error.class.as_str();
    let luck = rand::random::<f64>();
    if let Some(pause) = retry::pause(failure.again, claim.attempt, most, luck) {
        tracing::info!(trial = %claim.fence.trial_id, class, attempt = claim.attempt, "a call failed and is made again");
        let taken = worker
            .persist("putting a trial back", || {
                let ctx = worker.store.system_ctx();
                let not_before = ctx.now + micros(pause);
                let error = failure.error.clone();
                async move {
                    worker
                        .store
                        .retry_later(&ctx, &claim.fence, error, not_before)
                        .await
                }
            })
            .await?;
        worker.look_at(Instant::now() + pause + Duration::from_millis(1));
        return Ok(taken);
    }
    tracing::info!(trial = %claim.fence.trial_id, class, attempt = claim.attempt, "a call failed for good");
    end_in_error(worker, claim, CALL, failure.error).await
}

async fn end_in_error(
    worker: &Worker,
    claim: &Claim,
    stage: &str,
    error: RunError,
) -> Result<bool, StoreError> {
    worker
        .persist("ending a trial", || {
            let error = error.clone();
            async {
                worker
                    .store
                    .fail_trial(&worker.store.system_ctx(), &claim.fence, stage, error)
                    .await
            }
        })
        .await
}

async fn grade(
    worker: &Worker,
    lane: &Lane,
    claim: Claim,
    run: RecordedRun,
) -> Result<bool, StoreError> {
    // Only a trial that was graded before can have grades; they stay as they are.
    let have: HashSet<String> = match claim.state {
        TrialState::Running => HashSet::new(),
        _ => worker
            .store
            .stored_grades(&worker.store.system_ctx(), &claim.fence.trial_id)
            .await?
            .into_iter()
            .map(|grade| grade.evaluator)
            .collect(),
    };
    let case = Arc::new(claim.case.clone());
    let ledger = Ledger::Store {
        store: worker.store.clone(),
        trial_id: claim.fence.trial_id.clone(),
        own_only: lane.plan.frozen.no_cache,
    };
    let begun = begin_apart(
        case,
        Arc::new(run),
        Arc::clone(&lane.bars),
        lane.judge.clone(),
        have,
    )
    .await;
    if !begun.asks.is_empty() {
        // A model takes its time: what needs none is safe, and pages see that grading has begun.
        let done = begun.done.clone();
        let taken = worker
            .persist("keeping grades", || {
                let done = done.clone();
                async {
                    worker
                        .store
                        .store_grades(&worker.store.system_ctx(), &claim.fence, done)
                        .await
                }
            })
            .await?;
        if !taken {
            return Ok(false);
        }
    }
    let grades = begun.ask(&lane.judge, &ledger).await;
    let ended = worker
        .persist("ending a trial", || {
            let grades = grades.clone();
            async {
                worker
                    .store
                    .finish_trial(&worker.store.system_ctx(), &claim.fence, grades)
                    .await
            }
        })
        .await;
    match ended {
        Err(StoreError::Fault(fault)) => {
            let error = RunError {
                class: AgentErrorClass::AgentReported,
                message: fault.message.clone(),
            };
            end_in_error(worker, &claim, GRADING, error).await
        }
        outcome => outcome,
    }
}
