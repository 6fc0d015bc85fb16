//! What changes while one looks: counts and cells by the event stream, everything else by asking again. Nothing moves under
//! the pointer: numbers change in place, at most twice a second (`ui.md`, Live).

use std::collections::BTreeMap;

use evalkit_core::experiment::{ExperimentState, TrialCounts};
use evalkit_core::view::experiment::TrialCell;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::load::Parts;
use crate::ui::Clock;

/// Case id, then trial.
pub type Cells = BTreeMap<(String, u32), TrialCell>;

/// How the page learns what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Link {
    /// Nothing to follow: the run has ended, or the page is not live.
    Still,
    /// By the event stream.
    Stream,
    /// The stream failed; asking again every few seconds.
    Polling,
    /// Asking failed too; trying again.
    Stalled,
}

/// What changes while one looks, and what the live parts of the page say of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watched {
    /// The workspace.
    pub workspace: String,
    /// Its number in the workspace.
    pub run: i64,
    /// Dataset, or dataset and split or case ids.
    pub dataset: String,
    /// The split, when one was chosen.
    pub split: Option<String>,
    /// The agent.
    pub agent: String,
    /// Who started it.
    pub by: String,
    /// Trials a case.
    pub trials: u32,
    /// Versions of cases it is frozen on.
    pub cases: u64,
    /// Microseconds.
    pub started_at: i64,
    /// Microseconds.
    pub finished_at: Option<i64>,
    /// How it stands.
    pub state: ExperimentState,
    /// By state.
    pub counts: TrialCounts,
    /// One cell a trial.
    pub cells: Vec<TrialCell>,
    /// The newest event's id: the live stream resumes from here.
    pub last_event: i64,
    /// May this viewer pause, cancel, re-run failed.
    pub may_control: bool,
}

#[cfg(feature = "ssr")]
impl From<&evalkit_core::view::experiment::Experiment> for Watched {
    fn from(page: &evalkit_core::view::experiment::Experiment) -> Self {
        Self {
            workspace: page.workspace.clone(),
            run: page.row.run,
            dataset: page.row.dataset.clone(),
            split: page.row.split.clone(),
            agent: page.row.agent.clone(),
            by: page.row.by.clone(),
            trials: page.trials,
            cases: page.frozen.cases,
            started_at: page.row.started_at,
            finished_at: page.row.finished_at,
            state: page.row.state,
            counts: page.row.counts,
            cells: page.cells.clone(),
            last_event: page.last_event,
            may_control: page.may_control,
        }
    }
}

/// The run as it is now.
#[derive(Clone, Copy)]
pub struct Live {
    /// As last loaded.
    pub page: RwSignal<Watched>,
    /// What the server drew of it then.
    pub parts: RwSignal<Parts>,
    /// By state, as of the last event.
    pub counts: RwSignal<TrialCounts>,
    /// As of the last event.
    pub state: RwSignal<ExperimentState>,
    /// Every trial, as of the last event.
    pub cells: RwSignal<Cells>,
    /// Microseconds; the page's clock, moved on by events.
    pub now: RwSignal<i64>,
    /// How the page learns.
    pub link: RwSignal<Link>,
}

impl Live {
    /// From the page as loaded.
    pub fn new(run: Watched, parts: Parts) -> Self {
        Self {
            counts: RwSignal::new(run.counts),
            state: RwSignal::new(run.state),
            cells: RwSignal::new(by_trial(&run)),
            page: RwSignal::new(run),
            parts: RwSignal::new(parts),
            now: RwSignal::new(Clock::now()),
            link: RwSignal::new(Link::Still),
        }
    }

    /// Takes a fresh load.
    pub fn take(self, run: Watched, parts: Parts, now: i64) {
        self.counts.set(run.counts);
        self.state.set(run.state);
        self.cells.set(by_trial(&run));
        self.now.set(now);
        self.page.set(run);
        self.parts.set(parts);
    }

    /// Whether anything may still change by itself.
    pub fn is_open(self) -> bool {
        self.state.get() == ExperimentState::Running || self.counts.get().open() > 0
    }
}

fn by_trial(run: &Watched) -> Cells {
    run.cells
        .iter()
        .map(|cell| ((cell.case_id.clone(), cell.trial), cell.clone()))
        .collect()
}

/// Follows the run from its last known event until it ends or the page is left.
#[cfg(not(feature = "hydrate"))]
pub fn follow(_live: Live) {}

/// Follows the run from its last known event until it ends or the page is left.
#[cfg(feature = "hydrate")]
pub fn follow(live: Live) {
    browser::follow(live);
}

/// Loads the page again, after an act of the viewer.
#[cfg(not(feature = "hydrate"))]
pub fn reload(_live: Live) {}

/// Loads the page again, after an act of the viewer.
#[cfg(feature = "hydrate")]
pub fn reload(live: Live) {
    browser::reload(live);
}

#[cfg(feature = "hydrate")]
mod browser {
    use std::cell::{Cell, RefCell};
    use std::rc::Rc;
    use std::time::Duration;

    use evalkit_core::api::events_path;
    use evalkit_core::experiment::ExperimentState;
    use evalkit_core::view::experiment::Live as Event;
    use futures::StreamExt;
    use gloo_net::eventsource::futures::EventSource;
    use leptos::prelude::*;
    use leptos::task::spawn_local;

    use super::{Link, Live};
    use crate::pages::experiment::ExperimentPage;

    /// Changes are shown at most twice a second.
    const PACE: Duration = Duration::from_millis(500);
    /// Scores, failures and errors are loaded again at most this often while events come.
    const REFRESH: Duration = Duration::from_millis(2_500);
    /// Without a stream.
    const POLL: Duration = Duration::from_secs(4);

    /// One follower of one page.
    struct Follower {
        live: Live,
        gone: Cell<bool>,
        waiting: RefCell<Vec<Event>>,
        flush_is_set: Cell<bool>,
        refresh_is_set: Cell<bool>,
    }

    pub(super) fn follow(live: Live) {
        let follower = Rc::new(Follower {
            live,
            gone: Cell::new(false),
            waiting: RefCell::new(Vec::new()),
            flush_is_set: Cell::new(false),
            refresh_is_set: Cell::new(false),
        });
        let left = StoredValue::new_local(Rc::clone(&follower));
        on_cleanup(move || {
            left.try_with_value(|follower| follower.gone.set(true));
        });
        // An effect runs in the browser alone, and after hydration. It starts one stream each time the run becomes open:
        // at first, and again after failed trials are re-run.
        Effect::new(move |was_open: Option<bool>| {
            let open = live.is_open();
            if open && was_open != Some(true) {
                spawn_local(Rc::clone(&follower).run());
            }
            open
        });
    }

    pub(super) fn reload(live: Live) {
        spawn_local(async move {
            load(live).await;
        });
    }

    async fn load(live: Live) -> bool {
        let (workspace, run) = live
            .page
            .with_untracked(|page| (page.workspace.clone(), page.run));
        match crate::ask::page(ExperimentPage { workspace, run }).await {
            Ok(loaded) => {
                let Ok(run) = loaded.open() else {
                    return false;
                };
                if !live.page.is_disposed() {
                    let now = loaded.now;
                    live.take(run, loaded.parts(), now);
                }
                true
            }
            Err(_) => false,
        }
    }

    async fn sleep(duration: Duration) {
        let (wake, woken) = futures::channel::oneshot::channel::<()>();
        set_timeout(
            move || {
                let _ = wake.send(());
            },
            duration,
        );
        let _ = woken.await;
    }

    impl Follower {
        fn is_over(&self) -> bool {
            self.gone.get() || self.live.page.is_disposed()
        }

        async fn run(self: Rc<Self>) {
            if self.stream().await.is_none() && !self.is_over() {
                self.poll().await;
            }
            if !self.is_over() {
                self.live.link.set(Link::Still);
            }
        }

        /// `Some` when the run ended or the page was left; `None` when the stream failed.
        async fn stream(self: &Rc<Self>) -> Option<()> {
            let address = self
                .live
                .page
                .with_untracked(|page| events_path(&page.workspace, page.run, page.last_event));
            let mut source = EventSource::new(&address).ok()?;
            let trials = source.subscribe("trial").ok()?;
            let experiment = source.subscribe("experiment").ok()?;
            let mut events = futures::stream::select(trials, experiment);
            self.live.link.set(Link::Stream);
            loop {
                // The stream is looked at once a second even when nothing comes, so that a page that was left closes it.
                let next = events.next();
                let tick = std::pin::pin!(sleep(Duration::from_secs(1)));
                match futures::future::select(next, tick).await {
                    futures::future::Either::Left((Some(Ok((_, message))), _)) => {
                        if let Some(event) = message
                            .data()
                            .as_string()
                            .and_then(|data| serde_json::from_str::<Event>(&data).ok())
                        {
                            self.queue(event);
                        }
                    }
                    futures::future::Either::Left(_) => return None,
                    futures::future::Either::Right(_) => {
                        if self.is_over() || !self.live.is_open_untracked() {
                            return Some(());
                        }
                    }
                }
            }
        }

        async fn poll(&self) {
            self.live.link.set(Link::Polling);
            while !self.is_over() && self.live.is_open_untracked() {
                sleep(POLL).await;
                if self.is_over() {
                    return;
                }
                let loaded = load(self.live).await;
                if !self.is_over() {
                    self.live
                        .link
                        .set(if loaded { Link::Polling } else { Link::Stalled });
                }
            }
        }

        /// Keeps an event for the next moment that the page may change.
        fn queue(self: &Rc<Self>, event: Event) {
            self.waiting.borrow_mut().push(event);
            if !self.flush_is_set.replace(true) {
                let this = Rc::clone(self);
                set_timeout(move || this.flush(), PACE);
            }
        }

        fn flush(self: &Rc<Self>) {
            self.flush_is_set.set(false);
            let events = self.waiting.take();
            if self.is_over() {
                return;
            }
            let mut last = None;
            let mut state = self.live.state.get_untracked();
            self.live.cells.update(|cells| {
                for event in events {
                    match event {
                        Event::Trial { cell, counts } => {
                            cells.insert((cell.case_id.clone(), cell.trial), cell);
                            last = Some(counts);
                        }
                        Event::Experiment { state: now, counts } => {
                            state = now;
                            last = Some(counts);
                        }
                    }
                }
            });
            if let Some(counts) = last {
                self.live.counts.set(counts);
            }
            self.live.now.set(clock());
            let ended = state != ExperimentState::Running;
            self.live.state.set(state);
            self.refresh(if ended { Duration::ZERO } else { REFRESH });
        }

        /// Loads scores, failures and errors again, once per interval.
        fn refresh(self: &Rc<Self>, after: Duration) {
            if self.refresh_is_set.replace(true) && !after.is_zero() {
                return;
            }
            let this = Rc::clone(self);
            set_timeout(
                move || {
                    this.refresh_is_set.set(false);
                    if !this.is_over() {
                        spawn_local(async move {
                            load(this.live).await;
                        });
                    }
                },
                after,
            );
        }
    }

    impl Live {
        fn is_open_untracked(self) -> bool {
            self.state.get_untracked() == ExperimentState::Running
                || self.counts.get_untracked().open() > 0
        }
    }

    /// Microseconds since 1970-01-01 UTC by the browser's clock, for rates alone.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds since 1970 fit for 290,000 years"
    )]
    fn clock() -> i64 {
        (js_sys::Date::now() * 1_000.0) as i64
    }
}
