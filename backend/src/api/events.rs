//! Live events of a run, as server-sent events that resume by `Last-Event-ID` (`runs.md`, Live; `reliability.md`, D25).
//!
//! A stream reads the event table whenever something was committed. It holds nothing between two looks, so a reader that
//! does not read costs no memory, and what it missed is read when it comes back.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use evalkit_core::error::{Code, Fault};
use evalkit_core::policy::Actor;
use evalkit_core::view::experiment::Live;
use evalkit_store::{Ctx, NumberedEvent};
use futures::stream::{self, Stream};
use serde::Deserialize;
use tokio::time::Instant;

use super::ApiState;
use super::reply::{Asked, Caller, Place, Reply, invalid};

/// Streams of one person.
const OF_A_PERSON: usize = 20;
/// Streams of the server.
const OF_ALL: usize = 512;
/// The caller is looked up again this often; someone who may no longer see the run gets nothing more.
const RECHECK: Duration = Duration::from_secs(15);
/// Commits that come closer together than this are looked at together.
const GATHER: Duration = Duration::from_millis(100);

/// Open streams by person.
#[derive(Debug, Clone, Default)]
pub(super) struct Streams(Arc<Mutex<HashMap<String, usize>>>);

/// A place among the open streams; given back when it is dropped.
struct Ticket {
    streams: Streams,
    person: String,
}

impl Streams {
    fn enter(&self, person: &str) -> Result<Ticket, Fault> {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if open.values().sum::<usize>() >= OF_ALL {
            return Err(Fault::new(
                Code::Busy,
                "The server has as many live streams as it serves.",
                "Reload the page in a moment; it shows how things stand without a stream.",
            ));
        }
        let own = open.entry(person.to_owned()).or_default();
        if *own >= OF_A_PERSON {
            return Err(Fault::new(
                Code::RateLimited,
                format!("You have {OF_A_PERSON} live streams open, as many as one person may."),
                "Close some pages or commands that follow a run.",
            ));
        }
        *own += 1;
        Ok(Ticket {
            streams: self.clone(),
            person: person.to_owned(),
        })
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut open = self
            .streams
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = open.get_mut(&self.person) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.person);
            }
        }
    }
}

/// Where a stream begins when the browser does not say by `Last-Event-ID`.
#[derive(Debug, Deserialize)]
pub(super) struct From {
    #[serde(default)]
    after: Option<i64>,
}

/// Follows a run: one event a move of a trial or of the run, its kind in `event`, its id in `id`.
#[utoipa::path(
    get, path = "/api/w/{ws}/runs/{number}/events", tag = "runs",
    params(
        ("ws" = String, Path, description = "The workspace"), ("number" = i64, Path, description = "The run's number"),
        ("after" = Option<i64>, Query, description = "Only events after this id; `Last-Event-ID` goes before it"),
        ("Last-Event-ID" = Option<i64>, Header, description = "Only events after this id")
    ),
    responses((status = 200, description = "Server-sent events: `trial` and `experiment`, JSON data", content_type = "text/event-stream", body = String))
)]
pub(super) async fn stream(
    State(state): State<ApiState>,
    Caller(ctx): Caller,
    Place((workspace, run)): Place<(String, i64)>,
    Asked(from): Asked<From>,
    headers: HeaderMap,
) -> Reply<Sse<impl Stream<Item = Result<Event, Infallible>>>> {
    let after = match headers.get("last-event-id") {
        Some(id) => id
            .to_str()
            .ok()
            .and_then(|id| id.parse::<i64>().ok())
            .filter(|id| *id >= 0)
            .ok_or_else(|| {
                invalid(
                    "`Last-Event-ID` is not the id of an event.",
                    "Send the id of the last event that you have, or none.",
                )
            })?,
        None => from.after.unwrap_or(0).max(0),
    };
    let person = match &ctx.actor {
        Actor::Person { user_id, .. } => user_id.clone(),
        Actor::Anonymous | Actor::System => String::new(),
    };
    let ticket = state.streams.enter(&person)?;
    let commits = state.store.commits();
    // The first look answers for the run's existence and the caller's right to it.
    let first = state
        .store
        .events_after(&ctx, &workspace, run, after)
        .await?;
    let follower = Follower {
        state,
        ctx,
        workspace,
        run,
        after,
        headers,
        commits,
        checked: Instant::now(),
        waiting: first.into(),
        _ticket: ticket,
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(RECHECK)))
}

struct Follower {
    state: ApiState,
    ctx: Ctx,
    workspace: String,
    run: i64,
    after: i64,
    /// The caller's credentials, to be looked at again.
    headers: HeaderMap,
    commits: tokio::sync::watch::Receiver<u64>,
    checked: Instant,
    waiting: std::collections::VecDeque<NumberedEvent>,
    _ticket: Ticket,
}

impl Follower {
    /// The next event; `None` ends the stream.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.after = event.id;
                return written(&event);
            }
            self.look().await?;
        }
    }

    /// Waits for news and reads them. `None` when the stream is to end: the server stops, the caller may not see the run
    /// any more, or the database fails, after which the browser comes back by itself.
    async fn look(&mut self) -> Option<()> {
        let recheck = self.checked + RECHECK;
        tokio::select! {
            stopped = self.state.stopping.wait_for(|stop| *stop) => {
                drop(stopped);
                return None;
            }
            changed = self.commits.changed() => changed.ok()?,
            () = tokio::time::sleep_until(recheck) => {}
        }
        tokio::time::sleep(GATHER).await;
        self.commits.mark_unchanged();
        if self.checked.elapsed() >= RECHECK {
            let actor = self.state.sessions.actor(&self.headers).await.ok()?;
            self.ctx =
                self.state
                    .store
                    .ctx(actor, self.ctx.request_id.clone(), self.ctx.ip.clone());
            self.checked = Instant::now();
        }
        let events = self
            .state
            .store
            .events_after(&self.ctx, &self.workspace, self.run, self.after)
            .await
            .ok()?;
        self.waiting = events.into();
        Some(())
    }
}

fn written(event: &NumberedEvent) -> Option<Event> {
    let kind = match event.live {
        Live::Trial { .. } => "trial",
        Live::Experiment { .. } => "experiment",
    };
    let data = serde_json::to_string(&event.live).ok()?;
    Some(
        Event::default()
            .id(event.id.to_string())
            .event(kind)
            .data(data),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_bounded_a_person_and_given_back() {
        let streams = Streams::default();
        let tickets: Vec<_> = (0..OF_A_PERSON)
            .map(|_| streams.enter("mara").map_err(|f| f.code))
            .collect();
        assert!(tickets.iter().all(Result::is_ok));
        assert_eq!(
            streams.enter("mara").map(drop).map_err(|f| f.code),
            Err(Code::RateLimited)
        );
        assert!(streams.enter("leo").is_ok());
        drop(tickets);
        assert!(streams.enter("mara").is_ok());
        let mut all = Vec::new();
        for n in 0..OF_ALL {
            all.push(streams.enter(&format!("p{n}")));
        }
        assert_eq!(
            streams.enter("late").map(drop).map_err(|f| f.code),
            Err(Code::Busy)
        );
    }
}
