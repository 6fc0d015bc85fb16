//! Plots in SVG: point, interval, previous run, the bar to reach. Title and numbers go with them as text; the numbers also
//! stand beside as text or in a table. No gradients, no pies.

use evalkit_core::grade::Colour;
use evalkit_core::view::workspace::AgentColours;
use leptos::prelude::*;

use super::{Mark, MarkShape, Tone, grouped, percent};

/// `x` of a share on a row of 420 units with 8 at either end.
fn x(share: f64) -> f64 {
    let share = if share.is_finite() {
        share.clamp(0.0, 1.0)
    } else {
        0.0
    };
    (share * 404.0 * 100.0).round() / 100.0 + 8.0
}

/// A score on the shared axis from 0 to 100: the mark is the rate, the band its 95 % interval.
#[component]
pub fn IntervalPlot(
    /// 0 to 1.
    value: f64,
    /// Lower end.
    #[prop(optional_no_strip)]
    low: Option<f64>,
    /// Upper end.
    #[prop(optional_no_strip)]
    high: Option<f64>,
    /// The rate of the run before, dashed.
    #[prop(optional_no_strip)]
    previous: Option<f64>,
    /// The bar to reach, in ink.
    #[prop(optional_no_strip)]
    bar: Option<f64>,
    /// Pixels.
    #[prop(default = 24)]
    height: u32,
) -> impl IntoView {
    let label = {
        let mut label = percent(value);
        if let (Some(low), Some(high)) = (low, high) {
            label.push_str(&format!(
                ", 95 percent interval {} to {}",
                percent(low),
                percent(high)
            ));
        }
        if let Some(previous) = previous {
            label.push_str(&format!(", before {}", percent(previous)));
        }
        if let Some(bar) = bar {
            label.push_str(&format!(", bar to reach {}", percent(bar)));
        }
        label
    };
    let h = f64::from(height);
    let ticks = format!("M8 0V{h}M109 0V{h}M210 0V{h}M311 0V{h}M412 0V{h}");
    view! {
        <svg
            class="plot block w-full min-w-[180px]"
            height=height
            viewBox=format!("0 0 420 {height}")
            preserveAspectRatio="none"
            role="img"
            aria-label=label
        >
            <path d=ticks stroke="var(--rule)" vector-effect="non-scaling-stroke"/>
            {bar.map(|bar| {
                view! {
                    <path d=format!("M{} 0V{h}", x(bar)) stroke="var(--ink)" stroke-width="1.2" vector-effect="non-scaling-stroke"/>
                }
            })}
            {previous
                .map(|previous| {
                    view! {
                        <path
                            d=format!("M{} 3V{}", x(previous), h - 3.0)
                            stroke="var(--ink-3)"
                            stroke-width="1.4"
                            stroke-dasharray="2 2"
                            vector-effect="non-scaling-stroke"
                        />
                    }
                })}
            {low
                .zip(high)
                .map(|(low, high)| {
                    view! {
                        <rect
                            x=x(low)
                            y=h / 2.0 - 3.0
                            width=(x(high) - x(low)).max(1.0)
                            height="6"
                            rx="2"
                            fill="var(--accent)"
                            opacity=".32"
                        />
                    }
                })}
            <rect x=x(value) - 2.0 y=h / 2.0 - 8.0 width="4" height="16" rx="1" fill="var(--accent)"/>
        </svg>
    }
}

/// The head of a column of [`IntervalPlot`]s: 0, 25, 50, 75, 100.
#[component]
pub fn ScoreAxis() -> impl IntoView {
    view! {
        <span class="grid grid-cols-5 min-w-[180px]" aria-hidden="true">
            <span class="text-left">"0"</span>
            <span class="text-left pl-[10%]">"25"</span>
            <span class="text-center">"50"</span>
            <span class="text-right pr-[10%]">"75"</span>
            <span class="text-right">"100"</span>
        </span>
    }
}

/// The pooled score of the last runs, oldest first, on the axis from 0 to 1.
#[component]
pub fn Sparkline(
    /// 0 to 1.
    values: Vec<f64>,
) -> impl IntoView {
    let (first, last) = (values.first().copied(), values.last().copied());
    first.zip(last).map(|(first, last)| {
        let steps = values.len().saturating_sub(1).max(1);
        #[expect(clippy::cast_precision_loss, reason = "a few dozen runs at most")]
        let points: Vec<(f64, f64)> = values
            .iter()
            .enumerate()
            .map(|(index, value)| (3.0 + 96.0 * index as f64 / steps as f64, 33.0 - 30.0 * value.clamp(0.0, 1.0)))
            .collect();
        let path: String = points
            .iter()
            .enumerate()
            .map(|(index, (x, y))| format!("{}{x:.1} {y:.1}", if index == 0 { "M" } else { "L" }))
            .collect();
        let end = points.last().copied().unwrap_or((3.0, 33.0));
        view! {
            <svg
                class="block"
                width="104"
                height="36"
                viewBox="0 0 104 36"
                role="img"
                aria-label=format!("pooled score over {} runs, from {} to {}", values.len(), percent(first), percent(last))
            >
                <path d=path fill="none" stroke="var(--accent)" stroke-width="1.6" stroke-linejoin="round"/>
                <circle cx=format!("{:.1}", end.0) cy=format!("{:.1}", end.1) r="2.6" fill="var(--accent)"/>
            </svg>
        }
    })
}

/// Cases by latest colour: a bar, then each count with its mark.
#[component]
pub fn ColourBar(
    /// By colour.
    colours: AgentColours,
) -> impl IntoView {
    let AgentColours {
        green,
        red,
        flaky,
        neither,
    } = colours;
    let all = (green + red + flaky + neither).max(1);
    let parts = [
        (Mark::Green, green, "var(--sat)"),
        (Mark::Flaky, flaky, "var(--look)"),
        (Mark::Red, red, "var(--inc)"),
        (Mark::Unscored, neither, "var(--rule)"),
    ];
    let mut at = 0;
    view! {
        <span class="block w-[132px]">
            <svg class="w-full h-2 block rounded-sm" viewBox=format!("0 0 {all} 8") preserveAspectRatio="none" aria-hidden="true">
                {parts
                    .into_iter()
                    .map(|(_, n, fill)| {
                        let x = at;
                        at += n;
                        view! { <rect x=x width=n height="8" fill=fill/> }
                    })
                    .collect_view()}
            </svg>
            <span class="flex flex-wrap gap-x-3 mt-1.5">
                {parts
                    .into_iter()
                    .filter(|(_, n, _)| *n > 0)
                    .map(|(mark, n, _)| {
                        let word = if mark == Mark::Unscored { "neither" } else { mark.word() };
                        let tone = if mark == Mark::Unscored { Tone::Mute } else { mark.tone() };
                        view! {
                            <span class=format!("v font-[450] {}", tone.class()) title=word>
                                <MarkShape mark size="sm"/>
                                {grouped(n)}
                                <span class="sr-only">" "{word}</span>
                            </span>
                        }
                    })
                    .collect_view()}
            </span>
        </span>
    }
}

/// One line of a [`LinePlot`].
#[derive(Debug, Clone, PartialEq)]
pub struct PlotSeries {
    /// Its name.
    pub name: String,
    /// Moment in microseconds and share, oldest first.
    pub points: Vec<(i64, f64)>,
}

/// Shares over time, at most one line an agent, told apart by dash as well as by tone.
#[component]
pub fn LinePlot(
    /// What is plotted.
    #[prop(into)]
    title: String,
    /// The lines.
    series: Vec<PlotSeries>,
) -> impl IntoView {
    const LINES: [(&str, &str); 4] = [
        ("var(--accent)", "none"),
        ("var(--ink-2)", "7 4"),
        ("var(--edge)", "2 4"),
        ("var(--look)", "10 3 2 3"),
    ];
    let moments = || {
        series
            .iter()
            .flat_map(|line| line.points.iter().map(|(at, _)| *at))
    };
    let (start, end) = (moments().min().unwrap_or(0), moments().max().unwrap_or(0));
    #[expect(clippy::cast_precision_loss, reason = "a position within 720 units")]
    let place = move |at: i64, share: f64| {
        let along = if end > start {
            (at - start) as f64 / (end - start) as f64
        } else {
            1.0
        };
        (
            44.0 + 620.0 * along,
            12.0 + 160.0 * (1.0 - share.clamp(0.0, 1.0)),
        )
    };
    let region = title.clone();
    view! {
        <div class="scroll-x" tabindex="0" role="group" aria-label=region>
            <svg class="plot block w-full min-w-[560px] max-w-[840px]" viewBox="0 0 720 190" role="img" aria-label=title>
                {[0, 25, 50, 75, 100]
                    .into_iter()
                    .map(|tick| {
                        let y = 12.0 + 160.0 * (1.0 - f64::from(tick) / 100.0);
                        view! {
                            <path d=format!("M44 {y}H664") stroke="var(--rule)"/>
                            <text x="36" y=y + 4.0 text-anchor="end">{tick}</text>
                        }
                    })
                    .collect_view()}
                {series
                    .iter()
                    .enumerate()
                    .map(|(index, line)| {
                        let (stroke, dash) = LINES[index % LINES.len()];
                        let placed: Vec<(f64, f64)> = line.points.iter().map(|(at, share)| place(*at, *share)).collect();
                        let path: String = placed
                            .iter()
                            .enumerate()
                            .map(|(n, (x, y))| format!("{}{x:.1} {y:.1}", if n == 0 { "M" } else { "L" }))
                            .collect();
                        let last = placed.last().copied().unwrap_or((44.0, 172.0));
                        let said = line.points.last().map_or(String::new(), |(_, share)| percent(*share));
                        view! {
                            <path d=path fill="none" stroke=stroke stroke-width="1.8" stroke-dasharray=dash stroke-linejoin="round"/>
                            <circle cx=format!("{:.1}", last.0) cy=format!("{:.1}", last.1) r="3" fill=stroke/>
                            <text class="strong" x=format!("{:.1}", last.0 + 8.0) y=format!("{:.1}", last.1 + 4.0)>{said}</text>
                        }
                    })
                    .collect_view()}
            </svg>
        </div>
        <p class="flex flex-wrap gap-x-6 gap-y-1 mt-1">
            {series
                .iter()
                .enumerate()
                .map(|(index, line)| {
                    let (stroke, dash) = LINES[index % LINES.len()];
                    view! {
                        <span class="inline-flex items-center gap-2">
                            <svg width="28" height="8" viewBox="0 0 28 8" aria-hidden="true">
                                <path d="M0 4H28" stroke=stroke stroke-width="1.8" stroke-dasharray=dash/>
                            </svg>
                            <span class="id">{line.name.clone()}</span>
                        </span>
                    }
                })
                .collect_view()}
        </p>
    }
}

/// One cell of a [`VerdictStrip`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StripCell {
    /// Of the case in that run.
    pub colour: Colour,
    /// "run 466, v4".
    pub title: String,
    /// Where it leads.
    pub href: String,
    /// Part the strip before this cell: the case version changed.
    pub new_version: bool,
}

/// What a case came to in each run, oldest first: one mark a run, a gap where the case changed.
#[component]
pub fn VerdictStrip(
    /// Whose runs, for assistive technology.
    #[prop(into)]
    label: String,
    /// Oldest first.
    cells: Vec<StripCell>,
) -> impl IntoView {
    view! {
        <ol class="flex flex-wrap items-center gap-1" aria-label=label>
            {cells
                .into_iter()
                .map(|cell| {
                    let mark = Mark::from(cell.colour);
                    let title = format!("{}: {}", cell.title, mark.word());
                    let word = title.clone();
                    view! {
                        <li class=if cell.new_version { "pl-2 ml-1 border-l border-edge" } else { "" }>
                            <a class=format!("v {}", mark.tone().class()) href=cell.href title=title>
                                <MarkShape mark/>
                                <span class="sr-only">{word}</span>
                            </a>
                        </li>
                    }
                })
                .collect_view()}
        </ol>
    }
}
