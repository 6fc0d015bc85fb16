//! A trial without an answer: what happened, what Evalkit did about it, what helps. It is neither green nor red.

use evalkit_core::next_act::error_in_words;
use evalkit_core::run::RunError;
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use crate::ui::{Empty, Mark, MarkShape};

/// In the answer's place.
#[component]
pub fn NoAnswer(
    /// The result.
    page: ResultPage,
) -> impl IntoView {
    let run = format!("/w/{}/runs/{}", page.workspace, page.run);
    match page.error {
        Some(error) => {
            view! { <Failed error attempts=page.attempts agent=page.agent run/> }.into_any()
        }
        None => {
            let (title, text) = match page.state.as_str() {
                "queued" => (
                    "Not asked yet",
                    "The trial waits for a free worker. Load the page again to see how it stands.",
                ),
                "running" => (
                    "The agent is answering",
                    "Its answer appears here when it has come back whole.",
                ),
                "recorded" | "grading" => (
                    "The answer is being graded",
                    "It is stored; its verdicts appear here one by one.",
                ),
                "cancelled" => (
                    "Cancelled before it was answered",
                    "Nothing was graded. Re-run the failed and cancelled trials from the run’s page.",
                ),
                "budget" => (
                    "Left out at the cap on cost",
                    "The run reached its cap before this trial was asked.",
                ),
                _ => (
                    "Nothing was recorded",
                    "The trial ended without an answer and without an agent error.",
                ),
            };
            view! {
                <Empty title=title text=text>
                    <a class="btn sm" href=run>"Open the run"</a>
                </Empty>
            }
            .into_any()
        }
    }
}

#[component]
fn Failed(error: RunError, attempts: u32, agent: String, run: String) -> impl IntoView {
    let words = error_in_words(error.class);
    let did = match (attempts, words.retried) {
        (0, _) => "It was not called.".to_owned(),
        (1, true) => "Evalkit called it once.".to_owned(),
        (1, false) => {
            "Evalkit called it once and did not try again: another attempt would end the same way."
                .to_owned()
        }
        (n, _) => format!(
            "Evalkit tried {n} times, waiting longer each time, always with the same idempotency key."
        ),
    };
    view! {
        <section class="max-w-[68ch]" aria-labelledby="failed">
            <h2 class="v v-inc text-base whitespace-normal" id="failed"><MarkShape mark=Mark::Error/><span>"No answer to grade"</span></h2>
            <dl class="mt-2 grid sm:grid-cols-[140px_minmax(0,1fr)] gap-x-4 gap-y-1.5 text-sm">
                <dt class="text-ink-3">"What happened"</dt>
                <dd>{words.happened}</dd>
                <dt class="text-ink-3">"What Evalkit did"</dt>
                <dd>{did} " The trial counts as an error: neither green nor red, and out of every score."</dd>
                <dt class="text-ink-3">"What to do next"</dt>
                <dd><b class="font-semibold">{words.who.title(&agent)} ": "</b>{words.next} " " <a href=run>"Open the run"</a></dd>
                <dt class="text-ink-3">"In its own words"</dt>
                <dd class="id break-words plain">{error.message}</dd>
                <dt class="text-ink-3">"Class"</dt>
                <dd class="id">{error.class.as_str()}</dd>
            </dl>
        </section>
    }
}
