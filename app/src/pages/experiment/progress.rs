//! Every planned trial has a place in the bar, and in the counts below it.

use evalkit_core::experiment::{ExperimentState, TrialCounts, TrialState};
use leptos::prelude::*;

use super::live::{Link, Live};
use crate::ui::{Icon, grouped};

/// State, its ground in the bar.
const PARTS: [(TrialState, &str); 8] = [
    (TrialState::Done, "var(--ink)"),
    (TrialState::Grading, "var(--accent)"),
    (
        TrialState::Recorded,
        "color-mix(in oklab,var(--accent) 65%,var(--paper))",
    ),
    (
        TrialState::Running,
        "color-mix(in oklab,var(--accent) 38%,var(--paper))",
    ),
    (TrialState::Queued, "var(--rule)"),
    (TrialState::Error, "var(--inc)"),
    (TrialState::Cancelled, "var(--edge)"),
    (TrialState::Budget, "var(--look)"),
];

/// Bar, counts, rate, and how the page keeps up.
#[component]
pub fn RunProgress(
    /// The run.
    live: Live,
) -> impl IntoView {
    let counts = live.counts;
    let planned = move || counts.get().planned();
    let label = move || {
        let c = counts.get();
        format!(
            "{} of {} trials have ended",
            grouped(c.planned() - c.open()),
            grouped(c.planned())
        )
    };
    let address = live
        .page
        .with_untracked(|page| format!("/w/{}/runs/{}", page.workspace, page.run));
    view! {
        <section class="mt-5" aria-label="Progress">
            <svg class="w-full h-3 rounded-sm block" preserveAspectRatio="none" viewBox=move || format!("0 0 {} 10", planned().max(1)) role="img" aria-label=label>
                <rect width=move || planned().max(1) height="10" fill="var(--ground)"/>
                {PARTS
                    .into_iter()
                    .enumerate()
                    .map(|(index, (state, fill))| {
                        let x = move || {
                            let c = counts.get();
                            PARTS[..index].iter().map(|(state, _)| c.of(*state)).sum::<u64>()
                        };
                        view! { <rect x=x width=move || counts.get().of(state) height="10" fill=fill/> }
                    })
                    .collect_view()}
            </svg>
            <dl class="mt-2 flex flex-wrap gap-x-7 gap-y-1 text-sm">
                {PARTS
                    .into_iter()
                    .map(|(state, fill)| {
                        let n = move || counts.get().of(state);
                        // States that rarely occur show when they do; the others keep their place.
                        let rare = matches!(state, TrialState::Budget | TrialState::Cancelled | TrialState::Recorded);
                        view! {
                            <div class="flex items-baseline gap-1.5" class:hidden=move || n() == 0 && (rare || (!state.is_final() && counts.get().open() == 0))>
                                <dt class="text-ink-2">
                                    <svg class="inline-block mr-1.5" width="10" height="10" viewBox="0 0 10 10" aria-hidden="true">
                                        <rect width="10" height="10" rx="2" fill=fill stroke="var(--edge)" stroke-width=".6"/>
                                    </svg>
                                    {if state == TrialState::Budget { "over the cap" } else { state.as_str() }}
                                </dt>
                                <dd class="font-semibold" class:text-inc=move || state == TrialState::Error && n() != 0>{move || grouped(n())}</dd>
                            </div>
                        }
                    })
                    .collect_view()}
                <div class="flex items-baseline gap-1.5 sm:ml-auto">
                    <dt class="text-ink-3">"planned"</dt>
                    <dd class="font-semibold">{move || grouped(planned())}</dd>
                </div>
                {move || {
                    let started = live.page.with(|page| page.started_at);
                    (live.state.get() == ExperimentState::Running)
                        .then(|| pace(counts.get(), started, live.now.get()))
                        .flatten()
                        .map(|(rate, left)| {
                            view! {
                                <div class="flex items-baseline gap-1.5"><dt class="text-ink-3">"rate"</dt><dd>{rate}</dd></div>
                                <div class="flex items-baseline gap-1.5"><dt class="text-ink-3">"left"</dt><dd>{left}</dd></div>
                            }
                        })
                }}
            </dl>
            <p class="meta mt-1 min-h-5">
                {move || {
                    let open = live.is_open();
                    match (open, live.state.get(), live.link.get()) {
                        (true, ExperimentState::Paused, _) => "Paused. Calls that were in flight end; queued trials rest until it is resumed.".into_any(),
                        (true, _, Link::Stalled) => {
                            view! { <Icon name="off"/> " Live updates stopped; trying again. The run itself goes on." }.into_any()
                        }
                        (true, _, Link::Polling) => "You can leave this page; the run goes on. Counts are asked for every few seconds.".into_any(),
                        (true, _, Link::Stream) => "You can leave this page. Nothing here depends on it staying open.".into_any(),
                        (true, _, Link::Still) => {
                            let address = address.clone();
                            view! { "You can leave this page; the run goes on. " <a href=address rel="external">"Refresh"</a> }.into_any()
                        }
                        (false, ExperimentState::Cancelled, _) => "Cancelled. What was done stays; failed and cancelled trials can be re-run.".into_any(),
                        (false, ..) => "Every planned trial has ended.".into_any(),
                    }
                }}
            </p>
            <Spoken live/>
        </section>
    }
}

/// For assistive technology: the counts when they change by a tenth, and each new error.
#[component]
fn Spoken(live: Live) -> impl IntoView {
    let said = Memo::new(move |before: Option<&(u64, u64, bool, String)>| {
        let c = live.counts.get();
        let open = c.open() > 0;
        let planned = c.planned().max(1);
        let tenth = (planned - c.open().min(planned)) * 10 / planned;
        match before {
            Some((was, errors, was_open, text))
                if *was == tenth && *errors == c.error && *was_open == open =>
            {
                (*was, *errors, *was_open, text.clone())
            }
            _ => {
                let text = format!(
                    "{} of {} trials ended, {} in error.{}",
                    grouped(c.planned() - c.open()),
                    grouped(c.planned()),
                    grouped(c.error),
                    if open { "" } else { " The run has ended." }
                );
                (tenth, c.error, open, text)
            }
        }
    });
    view! { <p class="sr-only" role="status" aria-live="polite">{move || said.with(|(.., text)| text.clone())}</p> }
}

/// "23 a minute" and "about 5 min"; `None` while there is too little to go by.
fn pace(counts: TrialCounts, started: i64, now: i64) -> Option<(String, String)> {
    let ended = counts.planned() - counts.open();
    let elapsed = u64::try_from(now - started).ok()? / 1_000_000;
    if ended < 3 || elapsed < 2 || counts.open() == 0 {
        return None;
    }
    let a_minute = ended * 60 / elapsed;
    let rate = if a_minute == 0 {
        format!("{} an hour", ended * 3_600 / elapsed)
    } else {
        format!("{} a minute", grouped(a_minute))
    };
    let left = counts.open() * elapsed / ended;
    let left = match left {
        0..20 => "a few seconds".to_owned(),
        20..90 => "about a minute".to_owned(),
        90..5_400 => format!("about {} min", (left + 30) / 60),
        _ => format!("about {} h", (left + 1_800) / 3_600),
    };
    Some((rate, left))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn counts(done: u64, queued: u64) -> TrialCounts {
        TrialCounts {
            done,
            queued,
            ..TrialCounts::default()
        }
    }

    #[test]
    fn pace_in_words() {
        let words = |done, queued, seconds: i64| pace(counts(done, queued), 0, seconds * SECOND);
        assert_eq!(words(2, 10, 60), None);
        assert_eq!(words(10, 0, 60), None);
        assert_eq!(words(10, 10, 1), None);
        assert_eq!(
            words(230, 115, 600),
            Some(("23 a minute".to_owned(), "about 5 min".to_owned()))
        );
        assert_eq!(
            words(3, 1, 7_200),
            Some(("1 an hour".to_owned(), "about 40 min".to_owned()))
        );
        assert_eq!(
            words(100, 10, 100),
            Some(("60 a minute".to_owned(), "a few seconds".to_owned()))
        );
    }

    #[test]
    fn a_clock_that_runs_behind_says_nothing() {
        assert_eq!(pace(counts(10, 10), 5 * SECOND, 0), None);
    }
}
