//! Beside the scores: the exit code as it would be now, errors as they happen, distributions, what the run was frozen on.

use evalkit_core::results::ResultsJudge;
use evalkit_core::view::experiment::{ExitNow, Experiment, Frozen, TrialError};
use leptos::prelude::*;

use crate::ui::{Mark, Marked, Time, seconds};

/// The column.
#[component]
pub fn Side(
    /// The page's data.
    experiment: Experiment,
    /// Something may still change.
    open: bool,
) -> impl IntoView {
    let id = format!("{}@{}", experiment.row.run, experiment.workspace);
    let base = format!("/w/{}/runs/{}/c", experiment.workspace, experiment.row.run);
    let (latencies, costs) = (experiment.latencies_ms, experiment.costs_usd);
    view! {
        <Exit exit=experiment.exit id open/>
        <Errors errors=experiment.errors base open/>
        <Distributions latencies costs/>
        <FrozenOn
            frozen=experiment.frozen
            judge=experiment.row.judge
            workspace=experiment.workspace
            dataset=experiment.row.dataset
        />
    }
}

/// What `collect` would answer now.
#[component]
fn Exit(exit: ExitNow, id: String, open: bool) -> impl IntoView {
    let (mark, word) = match exit.code {
        0 => (Mark::Met, "complete"),
        1 => (Mark::NotMet, "below the threshold"),
        2 => (Mark::Incomplete, "incomplete"),
        _ => (Mark::ConfigurationError, "configuration error"),
    };
    let when = if open { "If it ended now:" } else { "Exits" };
    let text = format!("{when} {}, {word}", exit.code);
    view! {
        <section aria-labelledby="exit-title">
            <h2 class="h2" id="exit-title">"Exit code"</h2>
            <p class="mt-2"><Marked mark text class="text-base whitespace-normal"/></p>
            <p class="meta mt-1 break-words">{exit.why}</p>
            <p class="meta mt-1.5">"A pipeline reads it from " <span class="id break-all">"evalkit collect " {id}</span></p>
        </section>
    }
}

/// Newest first.
#[component]
fn Errors(errors: Vec<TrialError>, base: String, open: bool) -> impl IntoView {
    view! {
        <section aria-labelledby="errors-title">
            <h2 class="h2" id="errors-title">{if open { "Errors as they happen" } else { "Errors" }}</h2>
            {if errors.is_empty() {
                view! { <p class="text-sm text-ink-2 mt-1.5">{if open { "None so far." } else { "None." }}</p> }.into_any()
            } else {
                view! { <ul class="mt-1.5 text-sm">{errors.into_iter().map(|error| view! { <ErrorRow error base=base.clone()/> }).collect_view()}</ul> }
                    .into_any()
            }}
        </section>
    }
}

#[component]
fn ErrorRow(error: TrialError, base: String) -> impl IntoView {
    let TrialError {
        case_id,
        trial,
        stage,
        class,
        message,
        attempts,
        at,
    } = error;
    let tried = if attempts > 1 {
        format!(", after {attempts} attempts")
    } else {
        String::new()
    };
    view! {
        <li class="rule-t py-2">
            <p class="flex flex-wrap justify-between gap-x-3">
                <a class="id break-all" href=format!("{base}/{case_id}?trial={trial}")>{case_id.clone()}</a>
                <span class="text-ink-3"><Time at/></span>
            </p>
            <p class="text-ink-2 break-words">{message}</p>
            <p class="eyebrow">{stage} ", " <span class="id">{class}</span> {tried}</p>
        </li>
    }
}

/// Latency and cost of the trials that were recorded.
#[component]
fn Distributions(latencies: Vec<u64>, costs: Vec<f64>) -> impl IntoView {
    #[expect(
        clippy::cast_precision_loss,
        reason = "milliseconds stay far below 2^52"
    )]
    let latencies: Vec<f64> = latencies.into_iter().map(|ms| ms as f64).collect();
    view! {
        <section class="space-y-7" aria-label="Distributions">
            {(!latencies.is_empty()).then(|| view! { <Histogram title="Latency" values=latencies said=said_ms/> })}
            {(!costs.is_empty()).then(|| view! { <Histogram title="Cost a trial" values=costs said=said_usd/> })}
        </section>
    }
}

fn said_ms(value: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a latency in milliseconds, from a u64"
    )]
    seconds(value.max(0.0).round() as u64)
}

fn said_usd(value: f64) -> String {
    if value < 0.01 && value > 0.0 {
        format!("${value:.4}")
    } else {
        format!("${value:.2}")
    }
}

/// Bars of a distribution.
#[derive(Debug, Clone, PartialEq)]
struct Bins {
    counts: Vec<u64>,
    median: f64,
    largest: f64,
}

/// How many bars.
const BARS: usize = 16;

/// `None` when there is nothing finite.
fn bins(values: &[f64]) -> Option<Bins> {
    let mut sorted: Vec<f64> = values
        .iter()
        .copied()
        .filter(|value| value.is_finite() && *value >= 0.0)
        .collect();
    sorted.sort_by(f64::total_cmp);
    let largest = *sorted.last()?;
    let middle = sorted.len() / 2;
    let median = if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    };
    let mut counts = vec![0; BARS];
    for value in sorted {
        let share = if largest > 0.0 { value / largest } else { 0.0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and BARS"
        )]
        #[expect(clippy::cast_precision_loss, reason = "BARS is small")]
        let index = (share * BARS as f64) as usize;
        counts[index.min(BARS - 1)] += 1;
    }
    Some(Bins {
        counts,
        median,
        largest,
    })
}

#[component]
fn Histogram(title: &'static str, values: Vec<f64>, said: fn(f64) -> String) -> impl IntoView {
    let n = values.len();
    bins(&values).map(|Bins { counts, median, largest }| {
        let tallest = counts.iter().copied().max().unwrap_or(1).max(1);
        let label = format!("{title} of {n} trials: median {}, longest {}", said(median), said(largest));
        view! {
            <div>
                <h3 class="text-sm font-semibold mb-2">{title}</h3>
                <svg class="plot block w-full" height="64" viewBox="0 0 320 64" preserveAspectRatio="none" role="img" aria-label=label>
                    {counts
                        .into_iter()
                        .enumerate()
                        .map(|(index, count)| {
                            let height = if count == 0 { 0 } else { (count * 58 / tallest).max(2) };
                            view! {
                                <rect x=index * 20 + 1 y=62 - height width="18" height=height fill="var(--edge)">
                                    <title>{count}</title>
                                </rect>
                            }
                        })
                        .collect_view()}
                    <path d="M0 63H320" stroke="var(--ink-3)" vector-effect="non-scaling-stroke"/>
                </svg>
                <p class="eyebrow flex justify-between mt-1">
                    <span>{said(0.0)}</span>
                    <span>"median " {said(median)}</span>
                    <span>{said(largest)}</span>
                </p>
            </div>
        }
    })
}

/// What the run was measured on.
#[component]
fn FrozenOn(
    frozen: Frozen,
    judge: ResultsJudge,
    workspace: String,
    dataset: String,
) -> impl IntoView {
    let slug = dataset
        .split([':', ' ', '/'])
        .next()
        .unwrap_or_default()
        .to_owned();
    let left_out = frozen.left_out.clone();
    let templates: Vec<String> = frozen
        .templates
        .iter()
        .map(|(evaluator, version)| format!("{evaluator}@{version}"))
        .collect();
    let model = match &judge.model {
        Some(model) => format!("{}, {model}", judge.provider),
        None if judge.provider == "replay" => "recorded (replay)".to_owned(),
        None => judge.provider.clone(),
    };
    view! {
        <section aria-labelledby="frozen-title">
            <h2 class="h2" id="frozen-title">"Frozen on"</h2>
            <p class="meta">"Later edits change nothing here."</p>
            <dl class="mt-2 grid grid-cols-[104px_minmax(0,1fr)] gap-y-1.5 text-sm break-words">
                <dt class="text-ink-3">"cases"</dt>
                <dd>
                    {frozen.cases} {if frozen.cases == 1 { " version" } else { " versions" }}
                    {(!left_out.is_empty())
                        .then(|| {
                            view! {
                                ", " {left_out.len()} " left out: needs-ground-truth"
                                <span class="block">
                                    {left_out
                                        .into_iter()
                                        .map(|id| view! { <a class="id mr-2" href=format!("/w/{workspace}/d/{slug}/c/{id}")>{id.clone()}</a> })
                                        .collect_view()}
                                </span>
                            }
                        })}
                </dd>
                <dt class="text-ink-3">"overlays"</dt>
                <dd>{if frozen.overlays.is_empty() { "none".to_owned() } else { frozen.overlays.join(", ") }}</dd>
                <dt class="text-ink-3">"agent"</dt>
                <dd class="id">{frozen.agent}</dd>
                <dt class="text-ink-3">"judge"</dt>
                <dd class="id">{model}</dd>
                {(!templates.is_empty())
                    .then(|| {
                        view! {
                            <dt class="text-ink-3">"templates"</dt>
                            <dd class="id">{templates.into_iter().map(|line| view! { <span class="block">{line}</span> }).collect_view()}</dd>
                        }
                    })}
                <dt class="text-ink-3">"at once"</dt>
                <dd>{frozen.concurrency} {if frozen.concurrency == 1 { " call" } else { " calls" }}</dd>
            </dl>
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_keeps_every_trial() {
        let bins = bins(&[0.0, 10.0, 20.0, 160.0]);
        let bins = bins.as_ref();
        assert_eq!(bins.map(|b| b.counts.iter().sum::<u64>()), Some(4));
        assert_eq!(bins.map(|b| b.median), Some(15.0));
        assert_eq!(
            bins.map(|b| (b.counts[0], b.counts[1], b.counts[BARS - 1])),
            Some((1, 1, 1))
        );
    }

    #[test]
    fn nothing_finite_is_no_distribution() {
        assert_eq!(bins(&[]), None);
        assert_eq!(bins(&[f64::NAN]), None);
        assert_eq!(bins(&[0.0]).map(|b| b.counts[0]), Some(1));
    }

    #[test]
    fn money_in_words() {
        assert_eq!(said_usd(0.0), "$0.00");
        assert_eq!(said_usd(0.0031), "$0.0031");
        assert_eq!(said_usd(1.5), "$1.50");
    }
}
