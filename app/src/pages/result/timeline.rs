//! When each step of a trajectory ran.

use evalkit_core::view::result::TrajectoryView;
use leptos::prelude::*;

use super::trajectory::at;

/// When each step ran, one row a depth. Drawn only when at least two steps say when they were.
#[component]
pub fn Timeline(trajectory: TrajectoryView) -> impl IntoView {
    let timed: Vec<(u32, i64, bool)> = trajectory
        .steps
        .iter()
        .filter(|step| !step.copied)
        .filter_map(|step| {
            step.at_ms
                .filter(|at| *at >= 0)
                .map(|at| (step.depth.min(3), at, step.source == "agent"))
        })
        .collect();
    let last = timed.iter().map(|(_, at, _)| *at).max().unwrap_or(0);
    if timed.len() < 2 || last <= 0 {
        return ().into_any();
    }
    let lanes = timed.iter().map(|(depth, ..)| *depth).max().unwrap_or(0) + 1;
    // The last step has no end of its own: it gets a hundredth of the whole, so that it can be seen.
    let whole = last + (last / 60).max(1);
    let height = lanes * 16;
    #[expect(clippy::cast_precision_loss, reason = "a position within 1200 units")]
    let x = |at: i64| 1_200.0 * at as f64 / whole as f64;
    let rects: Vec<_> = timed
        .iter()
        .enumerate()
        .map(|(index, (depth, at, agent))| {
            let end = timed[index + 1..]
                .iter()
                .map(|(_, next, _)| *next)
                .find(|next| next > at)
                .unwrap_or(whole);
            let fill = match (depth, agent) {
                (0, true) => "var(--ink-3)",
                (0, false) => "var(--edge)",
                _ => "var(--accent)",
            };
            (
                format!("{:.1}", x(*at)),
                format!("{:.1}", (x(end) - x(*at) - 3.0).max(2.0)),
                depth * 16 + 4,
                fill,
            )
        })
        .collect();
    let label = format!("Timeline of {} steps over {}", timed.len(), at(last));
    view! {
        <svg
            class="plot w-full hidden sm:block"
            height=height
            viewBox=format!("0 0 1200 {height}")
            preserveAspectRatio="none"
            role="img"
            aria-label=label
        >
            {(0..lanes).map(|lane| view! { <rect y=lane * 16 + 2 width="1200" height="12" fill="var(--ground)"/> }).collect_view()}
            {rects
                .into_iter()
                .map(|(x, width, y, fill)| view! { <rect x=x y=y width=width height="8" rx="1" fill=fill/> })
                .collect_view()}
        </svg>
    }
    .into_any()
}
