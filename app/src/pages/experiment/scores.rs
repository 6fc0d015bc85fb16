//! Corpus scores, pooled, each with its counts and its interval.

use std::collections::BTreeMap;

use evalkit_core::results::{PooledScore, ResultsJudge};
use leptos::prelude::*;

use crate::ui::{Empty, IntervalPlot, Mark, Marked, ScoreAxis, ScrollTable, grouped, percent};

/// Score name and its word, in the order of the table. Others follow by name.
const ORDER: [(&str, &str); 13] = [
    ("answer_rubric_score", "Pooled rubrics"),
    ("answer_rubric_factual_retrieval", "Facts to find"),
    ("answer_rubric_derived_computation", "Worked out"),
    ("answer_rubric_analysis_interpretation", "Reading"),
    ("answer_rubric_coverage", "Coverage"),
    ("answer_rubric_accuracy", "Accuracy"),
    ("answer_rubric_citation", "Citation"),
    ("trajectory_rubrics", "Checkpoints"),
    ("presentation_judge", "Presentation"),
    ("required_tools_called", "Required tools"),
    ("tool_trajectory_match", "Expected calls"),
    ("max_response_time", "In time"),
    ("expect", "Fixed checks"),
];

/// The section.
#[component]
pub fn Scores(
    /// Corpus scores by name.
    scores: BTreeMap<String, PooledScore>,
    /// Who judged.
    judge: ResultsJudge,
    /// Trials with something unscored.
    unscored: u64,
    /// Something may still change.
    open: bool,
) -> impl IntoView {
    view! {
        <section aria-labelledby="scores-title">
            <Table scores judge unscored open/>
        </section>
    }
}

#[component]
fn Table(
    scores: BTreeMap<String, PooledScore>,
    judge: ResultsJudge,
    unscored: u64,
    open: bool,
) -> impl IntoView {
    let rows = rows(scores);
    let over = rows
        .iter()
        .find(|(name, ..)| name == "answer_rubric_score")
        .or_else(|| rows.first())
        .map(|(_, _, score)| {
            format!(
                "pooled over rubrics, {} of {} trials, 95 % interval by case",
                grouped(score.cases),
                grouped(score.of_cases)
            )
        });
    let empty = rows.is_empty();
    view! {
        <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1">
            <h2 class="h2" id="scores-title">{if open { "Scores so far" } else { "Scores" }}</h2>
            <span class="meta">{over}</span>
        </div>
        <Judged judge/>
        {(unscored > 0)
            .then(|| {
                let text = format!("{} {} something unscored and {} out of the pool", grouped(unscored), if unscored == 1 { "trial holds" } else { "trials hold" }, if unscored == 1 { "is" } else { "are" });
                view! { <p class="mt-1"><Marked mark=Mark::Unscored text class="whitespace-normal"/></p> }
            })}
        {if empty {
            view! {
                <div class="mt-2">
                    <Empty title="No score yet" text="A score appears when the first trial has been graded without anything left unscored."/>
                </div>
            }
                .into_any()
        } else {
            view! {
                <ScrollTable label="Scores" class="mt-1">
                    <table class="tbl">
                        <thead>
                            <tr>
                                <th scope="col" class="w-32">"Score"</th>
                                <th scope="col" class="num w-16">"Rate"</th>
                                <th scope="col"><span class="sr-only">"Plot, 0 to 100"</span><ScoreAxis/></th>
                                <th scope="col" class="num hidden sm:table-cell">"Interval"</th>
                                <th scope="col" class="num hidden sm:table-cell">"Counts"</th>
                            </tr>
                        </thead>
                        <tbody>{rows.into_iter().map(|(name, word, score)| view! { <Row name word score/> }).collect_view()}</tbody>
                    </table>
                </ScrollTable>
            }
                .into_any()
        }}
    }
}

/// Known scores in their order, then the rest by name.
fn rows(mut scores: BTreeMap<String, PooledScore>) -> Vec<(String, String, PooledScore)> {
    let mut rows: Vec<_> = ORDER
        .iter()
        .filter_map(|(name, word)| {
            scores
                .remove(*name)
                .map(|score| ((*name).to_owned(), (*word).to_owned(), score))
        })
        .collect();
    rows.extend(
        scores
            .into_iter()
            .map(|(name, score)| (name.clone(), name, score)),
    );
    rows
}

#[component]
fn Row(name: String, word: String, score: PooledScore) -> impl IntoView {
    let main = name == "answer_rubric_score";
    // A metric has a scale of its own, which the axis from 0 to 100 is not.
    let on_axis = !name.starts_with("metric:") && (0.0..=1.0).contains(&score.value);
    let figure = |value: f64| {
        if on_axis {
            format!("{:.1}", value * 100.0)
        } else {
            format!("{value:.2}")
        }
    };
    let interval = score.low.zip(score.high).map_or_else(
        || "–".to_owned(),
        |(low, high)| format!("{} to {}", figure(low), figure(high)),
    );
    let counts = if on_axis {
        format!("{} of {}", whole(score.num), whole(score.den))
    } else {
        format!("{} trials", grouped(score.cases))
    };
    let row_class = if main { "text-ink! font-semibold!" } else { "" };
    view! {
        <tr>
            <th scope="row" class=row_class title=name>
                {word}
                <span class="sm:hidden eyebrow block font-normal">{counts.clone()}</span>
            </th>
            <td class="num" class:font-semibold=main>{if on_axis { percent(score.value) } else { figure(score.value) }}</td>
            <td class="py-0! align-middle!">
                {on_axis.then(|| view! { <IntervalPlot value=score.value low=score.low high=score.high height=30/> })}
            </td>
            <td class="num text-ink-3 hidden sm:table-cell">{interval}</td>
            <td class="num text-ink-3 hidden sm:table-cell">{counts}</td>
        </tr>
    }
}

/// A pooled count: whole unless an evaluator gives shares of one.
fn whole(number: f64) -> String {
    if number.fract().abs() < 1e-9 && (0.0..1e15).contains(&number) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "whole, and within 0 to 10^15"
        )]
        let whole = number as u64;
        grouped(whole)
    } else {
        format!("{number:.1}")
    }
}

/// Who judged, where that changes how the numbers may be read.
#[component]
pub fn Judged(judge: ResultsJudge) -> impl IntoView {
    match judge.provider.as_str() {
        _ if !judge.quality_signal => view! {
            <p class="mt-1">
                <Marked mark=Mark::NeedsALook text=format!("{} judge: not a quality signal", judge.provider) class="whitespace-normal"/>
            </p>
        }
        .into_any(),
        "replay" => view! { <p class="meta mt-1">"Recorded judge: verdicts were read from a file, not given by a model in this run."</p> }.into_any(),
        _ => ().into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(value: f64) -> PooledScore {
        PooledScore {
            value,
            num: value * 10.0,
            den: 10.0,
            low: None,
            high: None,
            cases: 5,
            of_cases: 6,
        }
    }

    #[test]
    fn the_pooled_score_comes_first_and_unknown_names_last() {
        let scores = ["zeta", "answer_rubric_citation", "answer_rubric_score"]
            .map(|name| (name.to_owned(), score(0.5)))
            .into();
        let names: Vec<String> = rows(scores).into_iter().map(|(_, word, _)| word).collect();
        assert_eq!(names, ["Pooled rubrics", "Citation", "zeta"]);
    }

    #[test]
    fn counts_are_whole_where_they_can_be() {
        assert_eq!(whole(1_206.0), "1,206");
        assert_eq!(whole(2.5), "2.5");
        assert_eq!(whole(f64::NAN), "NaN");
    }
}
