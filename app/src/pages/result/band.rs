//! The verdict first: colour and count, what fell, whose move it is, the scores behind it, and what changed.

use evalkit_core::explanation::share;
use evalkit_core::grade::{Colour, Outcome};
use evalkit_core::next_act::{Who, error_in_words, next_acts, what_fell};
use evalkit_core::view::result::{PreviousResult, ResultPage};
use leptos::prelude::*;

use super::query::ResultQuery;
use super::words::{Sentence, colour_word};
use crate::ui::{Mark, MarkShape, Marked, Time, grouped};

/// Score name and its word in the band.
const SCORES: [(&str, &str); 8] = [
    ("answer_rubric_coverage", "coverage"),
    ("answer_rubric_accuracy", "accuracy"),
    ("answer_rubric_citation", "citation"),
    ("answer_rubric_factual_retrieval", "facts"),
    ("answer_rubric_derived_computation", "worked out"),
    ("answer_rubric_analysis_interpretation", "reading"),
    ("trajectory_rubrics", "checkpoints"),
    ("presentation_judge", "presentation"),
];

/// The band.
#[component]
pub fn VerdictBand(
    /// The result.
    page: ResultPage,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let mark = if page.colour == Colour::Open {
        Mark::Running
    } else {
        Mark::from(page.colour)
    };
    let count = share(&page.grades, "answer_rubric_score");
    let title = match count {
        Some(count) => format!(
            "{}, {} of {}",
            colour_word(page.colour),
            grouped(count.num),
            grouped(count.den)
        ),
        None => colour_word(page.colour).to_owned(),
    };
    let needs = match (page.colour, count) {
        (Colour::Open, _) => format!("{} now", page.state),
        (Colour::Green, _) => "every check met".to_owned(),
        (Colour::Red, Some(count)) if count.num == count.den => {
            "rubrics all satisfied; another check is not met".to_owned()
        }
        (Colour::Red, Some(count)) => {
            format!("needs {} of {}, and every check met", count.den, count.den)
        }
        (Colour::Red, None) => "a check is not met".to_owned(),
        (Colour::Unscored, _) => "no score is published while a rubric has no verdict".to_owned(),
        (Colour::Error, _) => "neither green nor red".to_owned(),
        _ => "counted apart from green and red".to_owned(),
    };
    let fell = what_fell(&page);
    let acts = next_acts(&page);
    let agent = page.agent.clone();
    let scores: Vec<_> = SCORES
        .iter()
        .filter_map(|(name, word)| share(&page.grades, name).map(|share| (*word, share)))
        .collect();
    let unscored = page.grades.iter().filter_map(|grade| match grade.outcome {
        Outcome::Unscored { entries, of, .. } => Some(format!(
            "{} of {} in {} have no verdict",
            entries, of, grade.evaluator
        )),
        _ => None,
    });
    let unscored: Vec<String> = unscored.collect();
    let graded = !page.grades.is_empty();
    let no_signal = graded && !page.judge.quality_signal;
    let recorded = page.judge.provider == "replay";
    let has_previous = page.previous.is_some();
    let columns = if has_previous {
        "md:grid-cols-[auto_minmax(0,1fr)] xl:grid-cols-[auto_minmax(0,1fr)_minmax(0,360px)]"
    } else {
        "md:grid-cols-[auto_minmax(0,1fr)]"
    };
    let (workspace, dataset) = (page.workspace.clone(), page.dataset.clone());
    let case_id = page.case.id.clone();
    view! {
        <section class=format!("mt-6 rule-t rule-b py-4 grid gap-x-10 gap-y-4 items-start {columns}") aria-label="Verdict">
            <div class="flex items-center gap-3">
                <span class=format!("v {}", mark.tone().class())>
                    <MarkShape mark size="lg"/>
                </span>
                <div>
                    <p class="text-title font-semibold">{title}</p>
                    <p class="meta max-w-[26ch]">{needs}</p>
                </div>
            </div>
            <div class="text-base max-w-[66ch] min-w-0">
                {(!fell.is_empty()).then(|| view! { <p class="break-words"><Sentence parts=fell query/></p> })}
                {page
                    .error
                    .as_ref()
                    .map(|error| view! { <p>"There is no answer to grade. " {error_in_words(error.class).happened}</p> })}
                {(page.colour == Colour::Green)
                    .then(|| view! { <p>"The answer contains everything the case asks for, and every check that ran was met."</p> })}
                {unscored.into_iter().map(|line| view! { <p class="mt-1"><Marked mark=Mark::Unscored text=line class="whitespace-normal"/></p> }).collect_view()}
                <dl class="mt-3 grid gap-1">
                    <dt class="text-sm font-semibold text-ink-3">"Who acts next"</dt>
                    {acts
                        .into_iter()
                        .map(|act| {
                            let who = act.who.title(&agent);
                            let author = act.who == Who::AgentTeam;
                            let case_href = format!("/w/{workspace}/d/{dataset}/c/{case_id}");
                            view! {
                                <dd class="break-words">
                                    <b class="font-semibold">{who} ": "</b>
                                    <Sentence parts=act.what query/>
                                    {(author && page.colour == Colour::Red)
                                        .then(|| view! { " " <a href=case_href>"Read the case"</a> })}
                                </dd>
                            }
                        })
                        .collect_view()}
                </dl>
                {(!scores.is_empty())
                    .then(|| {
                        view! {
                            <p class="meta mt-3 flex flex-wrap gap-x-5 gap-y-1">
                                {scores
                                    .into_iter()
                                    .map(|(word, share)| {
                                        view! {
                                            <span>
                                                {word} " "
                                                <b class="font-semibold text-ink-2">{grouped(share.num)} " of " {grouped(share.den)}</b>
                                            </span>
                                        }
                                    })
                                    .collect_view()}
                            </p>
                        }
                    })}
                {no_signal
                    .then(|| {
                        view! {
                            <p class="mt-2">
                                <Marked
                                    mark=Mark::NeedsALook
                                    text=format!("Judged by the {} judge: not a quality signal", page.judge.provider)
                                    class="whitespace-normal"
                                />
                            </p>
                        }
                    })}
                {(graded && recorded)
                    .then(|| view! { <p class="meta mt-2">"Recorded judge: these verdicts were read from a file, not given by a model."</p> })}
                {page
                    .addresses_grader
                    .then(|| {
                        view! {
                            <p class="mt-2">
                                <Marked
                                    mark=Mark::NeedsALook
                                    text="The answer addresses its grader. It changed no verdict; read it with care."
                                    class="whitespace-normal"
                                />
                            </p>
                        }
                    })}
            </div>
            {page.previous.map(|previous| view! { <Since previous workspace=page.workspace case_id=page.case.id version=page.version colour=page.colour/> })}
        </section>
    }
}

/// What changed since the previous run against this agent.
#[component]
fn Since(
    /// Then.
    previous: PreviousResult,
    /// For the link.
    workspace: String,
    /// For the link.
    case_id: String,
    /// Of the case, now.
    version: u32,
    /// Now.
    colour: Colour,
) -> impl IntoView {
    let cell = previous.cell;
    let href = format!("/w/{workspace}/runs/{}/c/{case_id}", cell.run);
    let count = if cell.of > 0 {
        format!(
            "{}, {} of {}",
            Mark::from(cell.colour).word(),
            cell.satisfied,
            cell.of
        )
    } else {
        Mark::from(cell.colour).word().to_owned()
    };
    let unchanged = previous.changes.is_empty();
    let ruler = previous.ruler_moved;
    // Rubrics of another version are other rubrics, also where they bear the same number.
    let other_case = previous.version != version;
    let same = if colour == cell.colour {
        "No verdict changed.".to_owned()
    } else {
        format!(
            "It was {} and is {} now. No verdict on a rubric changed.",
            Mark::from(cell.colour).word().to_lowercase(),
            Mark::from(colour).word().to_lowercase()
        )
    };
    view! {
        <div class="md:col-span-2 xl:col-span-1 min-w-0">
            <h2 class="text-sm font-semibold">
                "Since " <a href=href>"run " {cell.run}</a> ", " <Time at=cell.at/> " "
                <span class="text-ink-3 font-normal">"(" {count} ")"</span>
            </h2>
            {if ruler {
                view! {
                    <p class="mt-1">
                        <Marked mark=Mark::RulerMoved/>
                        <span class="text-sm text-ink-2 ml-2">"The judge or its template differs, so the verdicts are not compared."</span>
                    </p>
                }
                    .into_any()
            } else if other_case {
                view! {
                    <p class="text-sm text-ink-2 mt-1">
                        "The case changed from v" {previous.version} " to v" {version} " in between, so the verdicts are not compared."
                    </p>
                }
                    .into_any()
            } else if unchanged {
                view! { <p class="text-sm text-ink-2 mt-1">{same}</p> }.into_any()
            } else {
                view! {
                    <ul class="text-sm mt-1 space-y-0.5">
                        {previous
                            .changes
                            .into_iter()
                            .map(|(label, before, now)| {
                                view! {
                                    <li class="flex flex-wrap gap-x-2 items-baseline">
                                        <a class="quiet font-semibold min-w-8" href=format!("#{label}") data-noscroll="">{label.clone()}</a>
                                        <Spelled word=before/>
                                        <span class="text-ink-3"><span aria-hidden="true">"→"</span><span class="sr-only">"became"</span></span>
                                        <Spelled word=now/>
                                    </li>
                                }
                            })
                            .collect_view()}
                    </ul>
                }
                    .into_any()
            }}
            <p class="meta mt-1">
                {if previous.version == version {
                    format!("Same case version, v{version}.")
                } else {
                    format!("The case was v{} then, v{version} now.", previous.version)
                }}
                {(!ruler).then_some(" Same judge and template.")}
            </p>
        </div>
    }
}

/// A verdict as formats spell it, with its mark.
#[component]
fn Spelled(
    /// `satisfied`, `incorrect`, ….
    word: String,
) -> impl IntoView {
    let mark = match word.as_str() {
        "satisfied" => Mark::Satisfied,
        "incorrect" => Mark::Incorrect,
        "absent" => Mark::Absent,
        "unsatisfied" => Mark::Unsatisfied,
        "credited" => Mark::Credited,
        "misattributed" => Mark::Misattributed,
        "uncited" => Mark::Uncited,
        "skipped" => Mark::Skipped,
        "error" => Mark::Error,
        _ => Mark::Unscored,
    };
    view! { <Marked mark text=word.replace('_', " ")/> }
}
