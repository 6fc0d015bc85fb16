//! Progress: every planned trial has a place.

use evalkit_core::experiment::TrialCounts;
use leptos::prelude::*;

use super::grouped;

/// A plain bar.
#[component]
pub fn Progress(
    /// How far.
    done: u64,
    /// Of how many.
    of: u64,
    /// What progresses, for assistive technology.
    #[prop(into)]
    label: String,
) -> impl IntoView {
    view! {
        <svg
            class="w-full h-2 rounded-sm block"
            viewBox=format!("0 0 {} 8", of.max(1))
            preserveAspectRatio="none"
            role="img"
            aria-label=format!("{label}: {} of {}", grouped(done), grouped(of))
        >
            <rect width=of.max(1) height="8" fill="var(--rule)"/>
            <rect width=done.min(of) height="8" fill="var(--accent)"/>
        </svg>
    }
}

/// The trials of an experiment by state: ended well, at work, waiting, errors, ended by a person or a cap. It follows
/// `counts` in place.
#[component]
pub fn TrialProgress(
    /// By state.
    #[prop(into)]
    counts: Signal<TrialCounts>,
    /// Also say it in words below.
    #[prop(default = true)]
    words: bool,
) -> impl IntoView {
    let parts = move || {
        let c = counts.get();
        let busy = c.running + c.recorded + c.grading;
        [
            ("done", c.done, "var(--ink)"),
            ("at work", busy, "var(--accent)"),
            ("queued", c.queued, "var(--rule)"),
            ("in error", c.error, "var(--inc)"),
            ("cancelled", c.cancelled + c.budget, "var(--edge)"),
        ]
    };
    let sentence = move || {
        let mut said: Vec<String> = parts()
            .iter()
            .filter(|(_, n, _)| *n > 0)
            .map(|(word, n, _)| format!("{} {word}", grouped(*n)))
            .collect();
        said.push(format!("of {} planned", grouped(counts.get().planned())));
        said.join(", ")
    };
    view! {
        <div>
            <svg
                class="w-full h-3 rounded-sm block"
                viewBox=move || format!("0 0 {} 10", counts.get().planned().max(1))
                preserveAspectRatio="none"
                role="img"
                aria-label=sentence
            >
                <rect width=move || counts.get().planned().max(1) height="10" fill="var(--rule)"/>
                {(0..5usize)
                    .map(|part| {
                        let start = move || {
                            let before: u64 = parts()[..part].iter().map(|(_, n, _)| n).sum();
                            before
                        };
                        let width = move || parts()[part].1;
                        view! {
                            <rect
                                x=start
                                width=width
                                height="10"
                                fill=parts()[part].2
                            />
                        }
                    })
                    .collect_view()}
            </svg>
            {words.then(|| view! { <p class="meta mt-1.5">{sentence}</p> })}
        </div>
    }
}
