//! Following an experiment to its end by its live events. A stream that breaks is taken up where it broke off.

use std::time::Duration;

use evalkit_core::experiment::{ExperimentState, TrialCounts};
use evalkit_core::view::experiment::{Experiment, Live};
use eventsource_stream::Eventsource as _;
use futures::StreamExt as _;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::time::{Instant, sleep};

use crate::command::Context;
use crate::console::Console;
use crate::exit::{Exit, Failure};
use crate::server::Server;

/// How long a server may be out of reach before following ends; the run itself goes on.
const PATIENCE: Duration = Duration::from_secs(60);
/// A line of progress where there is no terminal, this often.
const LINE_EVERY: Duration = Duration::from_secs(20);
/// A stream that says nothing for this long is opened anew.
const SILENCE: Duration = Duration::from_secs(60);

/// Waits until every trial is final.
///
/// # Errors
/// Exit 2 when the server stays out of reach, 130 on Ctrl-C.
pub(super) async fn follow(
    server: &Server,
    workspace: &str,
    number: &str,
    planned: u64,
    context: &mut Context,
) -> Result<(), Failure> {
    let mut shown = Shown::new(planned, context.console.progress);
    let result = tokio::select! {
        result = to_the_end(server, workspace, number, &mut shown, &mut context.console) => result,
        _ = tokio::signal::ctrl_c() => Err(Failure::new(
            Exit::Interrupted,
            "Stopped following; the run goes on at the server.",
            format!("`evalkit collect {number}@{workspace}` fetches what it has; cancel it on its page."),
        )),
    };
    shown.end();
    result
}

async fn to_the_end(
    server: &Server,
    workspace: &str,
    number: &str,
    shown: &mut Shown,
    console: &mut Console,
) -> Result<(), Failure> {
    let mut after = "0".to_owned();
    let mut lost_since: Option<Instant> = None;
    loop {
        match stream(server, workspace, number, &mut after, shown, console).await {
            Ok(true) => return Ok(()),
            Ok(false) => lost_since = None,
            // The server refused: it will not change its mind.
            Err(failure) if failure.code.is_some() => {
                return Err(Failure {
                    exit: Exit::Incomplete,
                    ..failure
                });
            }
            Err(failure) => {
                let since = *lost_since.get_or_insert_with(Instant::now);
                if since.elapsed() > PATIENCE {
                    return Err(Failure {
                        exit: Exit::Incomplete,
                        ..failure
                    });
                }
            }
        }
        sleep(Duration::from_millis(700)).await;
        // The state itself is asked for too, so that a lost last event is no endless wait.
        let page = server
            .get::<Experiment>(&["w", workspace, "runs", number])
            .await;
        if let Ok(page) = page {
            shown.counts(&page.row.counts, console);
            if is_final(page.row.state) {
                return Ok(());
            }
        }
    }
}

/// Reads one stream of events; true when the experiment has ended.
async fn stream(
    server: &Server,
    workspace: &str,
    number: &str,
    after: &mut String,
    shown: &mut Shown,
    console: &mut Console,
) -> Result<bool, Failure> {
    let path = ["w", workspace, "runs", number, "events"];
    let response = server.open(&path, Some(after)).await?;
    let mut events = response.bytes_stream().eventsource();
    loop {
        let event = match tokio::time::timeout(SILENCE, events.next()).await {
            Ok(Some(Ok(event))) => event,
            _ => return Ok(false),
        };
        if !event.id.is_empty() {
            after.clone_from(&event.id);
        }
        let Ok(live) = serde_json::from_str::<Live>(&event.data) else {
            continue;
        };
        match live {
            Live::Trial { counts, .. } => shown.counts(&counts, console),
            Live::Experiment { state, counts } => {
                shown.counts(&counts, console);
                if is_final(state) {
                    return Ok(true);
                }
            }
        }
    }
}

const fn is_final(state: ExperimentState) -> bool {
    matches!(
        state,
        ExperimentState::Finished | ExperimentState::Cancelled
    )
}

/// Progress as people see it: a bar on a terminal, a line now and then elsewhere.
struct Shown {
    bar: ProgressBar,
    lines: bool,
    last_line: Instant,
}

impl Shown {
    fn new(planned: u64, terminal: bool) -> Self {
        let target = if terminal {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        let bar = ProgressBar::with_draw_target(Some(planned), target);
        // The template is ours; were it wrong, the plain bar would do.
        if let Ok(style) =
            ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}  {elapsed_precise}")
        {
            bar.set_style(style);
        }
        Self {
            bar,
            lines: !terminal,
            last_line: Instant::now(),
        }
    }

    fn counts(&mut self, counts: &TrialCounts, console: &mut Console) {
        let ended = counts.planned() - counts.open();
        let mut parts = Vec::new();
        for (n, word) in [
            (counts.running, "with the agent"),
            (counts.recorded + counts.grading, "being graded"),
            (counts.error, "failed"),
            (counts.cancelled, "cancelled"),
        ] {
            if n > 0 {
                parts.push(format!("{n} {word}"));
            }
        }
        let message = parts.join(", ");
        self.bar.set_length(counts.planned());
        self.bar.set_position(ended);
        if self.lines && self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            console.note(format!("{ended} of {}: {message}", counts.planned()));
        }
        self.bar.set_message(message);
    }

    fn end(&self) {
        self.bar.finish_and_clear();
    }
}
