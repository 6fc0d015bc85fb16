//! What the server draws of rubrics: each explains itself by its verdict, what was said instead, its source, the judge's reason
//! and the arithmetic.

use std::collections::BTreeSet;

use evalkit_core::case::{Rubric, RubricType};
use evalkit_core::results::ResultsJudge;
use evalkit_core::verdict::{FigureResult, RubricVerdict, Verdict};
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use super::query::Show;
use super::rubrics::{RubricGroup, RubricLine, RubricList};
use super::words::unscored_words;
use crate::ui::{Mark, Marked, Still, draw};

/// One rubric and what became of it.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    label: String,
    rubric: Rubric,
    verdict: Option<RubricVerdict>,
    changed: bool,
    /// Quotes that are not marked in the rendered answer.
    loose: Vec<String>,
}

impl Row {
    fn standing(&self) -> Option<Verdict> {
        let verdict = self.verdict.as_ref()?;
        verdict
            .overridden
            .as_ref()
            .map_or(verdict.verdict, |o| Some(o.verdict))
    }

    fn source_problem(&self) -> bool {
        self.verdict
            .as_ref()
            .and_then(|v| v.source.as_ref())
            .is_some_and(|s| matches!(s.verdict, Some(Verdict::Incorrect | Verdict::Absent)))
    }

    fn fits(&self, show: Show) -> bool {
        match show {
            Show::All => true,
            Show::NotSatisfied => self.standing() != Some(Verdict::Satisfied),
            Show::SourceProblems => self.source_problem(),
            Show::Changed => self.changed,
        }
    }

    fn line(self, now: i64) -> RubricLine {
        let label = self.label.clone();
        let shows = Show::ALL
            .into_iter()
            .filter(|show| self.fits(*show))
            .collect();
        let verdict = self.verdict.clone();
        RubricLine {
            label,
            shows,
            standing: still(now, move || {
                verdict.map(|verdict| view! { <Standing verdict/> })
            }),
            sentence: still(now, move || view! { <Sentence row=self/> }),
        }
    }
}

fn still<V: IntoView + 'static>(now: i64, view: impl FnOnce() -> V) -> Still {
    Still::new(draw(now, view))
}

/// The rubrics of a result as the page lists them, drawn at `now`; none for a case without. `loose` are the label and quote of
/// evidence that is not marked in the answer.
pub fn rubric_list(
    page: &ResultPage,
    verdicts: &[RubricVerdict],
    changed: &BTreeSet<String>,
    loose: &[(String, String)],
    why_none: Option<String>,
    now: i64,
) -> Option<RubricList> {
    let rubrics = page.case.rubrics();
    if rubrics.is_empty() {
        return None;
    }
    let rows: Vec<Row> = rubrics
        .iter()
        .enumerate()
        .map(|(index, rubric)| {
            let label = format!("R{}", index + 1);
            Row {
                verdict: verdicts.get(index).cloned(),
                changed: changed.contains(&label),
                loose: loose
                    .iter()
                    .filter(|(l, _)| *l == label)
                    .map(|(_, quote)| quote.clone())
                    .collect(),
                label,
                rubric: rubric.clone(),
            }
        })
        .collect();
    let judged = !verdicts.is_empty();
    let tally = tally(&rows);
    let judge = page.judge.clone();
    let groups = RubricType::ALL
        .into_iter()
        .map(|kind| {
            let of_kind: Vec<Row> = rows
                .iter()
                .filter(|row| row.rubric.kind == kind)
                .cloned()
                .collect();
            RubricGroup {
                title: kind.title().to_owned(),
                name: kind.as_str().to_owned(),
                satisfied: of_kind
                    .iter()
                    .filter(|row| row.standing() == Some(Verdict::Satisfied))
                    .count(),
                lines: of_kind.into_iter().map(|row| row.line(now)).collect(),
            }
        })
        .filter(|group| !group.lines.is_empty())
        .collect();
    Some(RubricList {
        tally: still(now, move || {
            tally
                .into_iter()
                .map(|(mark, n)| view! { <Marked mark text=format!("{n} {}", mark.word())/> })
                .collect_view()
        }),
        why_none: why_none.filter(|_| !judged),
        judged,
        groups,
        judge: still(now, move || view! { <JudgeLine judge/> }),
    })
}

fn tally(rows: &[Row]) -> Vec<(Mark, usize)> {
    let count = |keep: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| keep(row)).count();
    let stands = |verdict| count(&|r| r.standing() == Some(verdict));
    [
        (Mark::Satisfied, stands(Verdict::Satisfied)),
        (Mark::Incorrect, stands(Verdict::Incorrect)),
        (Mark::Absent, stands(Verdict::Absent)),
        (
            Mark::Unscored,
            count(&|r| r.verdict.is_some() && r.standing().is_none()),
        ),
        (
            Mark::NeedsALook,
            count(&|r| {
                r.verdict
                    .as_ref()
                    .is_some_and(|v| v.needs_a_look && v.overridden.is_none())
            }),
        ),
    ]
    .into_iter()
    .filter(|(_, n)| *n > 0)
    .collect()
}

#[component]
fn JudgeLine(judge: ResultsJudge) -> impl IntoView {
    let template = judge.templates.get("answer_rubrics").cloned();
    view! {
        {judge_line(&judge)}
        {template.map(|version| view! { ", template " <span class="id">"answer_rubrics@" {version}</span> })}
        "."
    }
}

/// "Judge gpt-x", "Recorded judge", "The offline judge".
fn judge_line(judge: &ResultsJudge) -> String {
    match (judge.provider.as_str(), &judge.model) {
        ("replay", _) => "Recorded judge".to_owned(),
        ("offline", _) => "The offline judge, not a quality signal".to_owned(),
        ("fake", _) => "The fake judge, not a quality signal".to_owned(),
        (_, Some(model)) => format!("Judge {model}"),
        (provider, None) => format!("Judge {provider}"),
    }
}

/// The sentence and everything below it.
#[component]
fn Sentence(row: Row) -> impl IntoView {
    let Row {
        rubric,
        verdict,
        loose,
        ..
    } = row;
    view! {
        <p class="said text-base leading-6 break-words">{rubric.rubric}</p>
        {match verdict {
            Some(verdict) => view! { <Explained verdict loose/> }.into_any(),
            None => {
                rubric
                    .source
                    .map(|source| view! { <p class="meta mt-1">"credited to " <span class="said text-ink-2">{source}</span></p> })
                    .into_any()
            }
        }}
    }
}

/// The verdict with its mark; an override first, the judge's struck beside it.
#[component]
fn Standing(verdict: RubricVerdict) -> impl IntoView {
    let judged = verdict.verdict.map_or(Mark::Unscored, Mark::from);
    let opinion = verdict.second_opinion;
    view! {
        {match verdict.overridden {
            Some(person) => {
                view! {
                    <Marked mark=Mark::from(person.verdict)/>
                    <s class="eyebrow"><span class="sr-only">"instead of the judge’s "</span>{judged.word()}</s>
                }
                    .into_any()
            }
            None => view! { <Marked mark=judged/> }.into_any(),
        }}
        {opinion
            .map(|opinion| {
                view! {
                    <span class="eyebrow" title="Second opinion by arithmetic on the figures">
                        "arithmetic: " {opinion.as_str()}
                    </span>
                }
            })}
    }
}

/// Everything below the sentence.
#[component]
fn Explained(verdict: RubricVerdict, loose: Vec<String>) -> impl IntoView {
    let said = verdict.said.clone().or_else(|| {
        (verdict.verdict == Some(Verdict::Incorrect))
            .then(|| verdict.evidence.first().cloned())
            .flatten()
    });
    let no_evidence = verdict.evidence.is_empty()
        && matches!(
            verdict.verdict,
            Some(Verdict::Satisfied | Verdict::Incorrect)
        );
    let look = verdict.needs_a_look.then_some(match (verdict.second_opinion, verdict.verdict) {
        (Some(FigureResult::Matches), _) => "By arithmetic the answer’s figures match this rubric. The judge’s verdict counts until a person decides.",
        (Some(FigureResult::Contradicts), _) => "By arithmetic the answer gives another figure. The judge’s verdict counts until a person decides.",
        (Some(FigureResult::NotFound), _) => "Arithmetic finds no such figure in the answer. The judge’s verdict counts until a person decides.",
        _ => "Judge and arithmetic disagree. The judge’s verdict counts until a person decides.",
    });
    view! {
        {said
            .map(|said| {
                view! {
                    <p class="text-sm leading-5 mt-1 break-words">
                        <span class="text-ink-3">"Said instead: "</span>
                        <span class="said text-inc">"“" {said.trim_matches(['“', '”', '"']).to_owned()} "”"</span>
                    </p>
                }
            })}
        {verdict.source.map(|source| view! { <Source source/> })}
        {verdict
            .unscored
            .map(|reason| {
                view! { <p class="text-sm leading-5 mt-1 text-ink-2"><span class="text-ink-3">"No verdict: "</span>{unscored_words(reason)} "."</p> }
            })}
        {verdict
            .reason
            .map(|reason| {
                view! { <p class="text-sm leading-5 mt-1 text-ink-2 break-words"><span class="text-ink-3">"Judge: "</span>{reason}</p> }
            })}
        {(!loose.is_empty())
            .then(|| {
                view! {
                    <p class="text-sm leading-5 mt-1 text-ink-2 break-words">
                        <span class="text-ink-3">"Quote: "</span>
                        <span class="said">{loose.iter().map(|quote| format!("“{quote}”")).collect::<Vec<_>>().join(" … ")}</span>
                    </p>
                }
            })}
        {no_evidence.then(|| view! { <p class="text-sm leading-5 mt-1 text-ink-3">"No evidence recorded."</p> })}
        {look
            .filter(|_| verdict.overridden.is_none())
            .map(|look| {
                view! {
                    <div class="note look mt-2.5 py-0.5">
                        <p class="text-sm leading-5"><Marked mark=Mark::NeedsALook/> <span class="text-ink-2 ml-2">{look}</span></p>
                    </div>
                }
            })}
        {verdict
            .overridden
            .map(|person| {
                view! {
                    <p class="text-sm leading-5 mt-1 text-ink-2 break-words">
                        <span class="text-ink-3">{person.by} " overrode it: "</span>
                        <span class="said">{person.reason}</span>
                    </p>
                }
            })}
    }
}

#[component]
fn Source(source: evalkit_core::verdict::SourceVerdict) -> impl IntoView {
    let expected = source.expected;
    match source.verdict {
        None => view! { <p class="text-sm leading-5 mt-1 text-ink-3">"expected source: " {expected}</p> }.into_any(),
        Some(verdict) => {
            let words = match (verdict, source.cited) {
                (Verdict::Satisfied, Some(cited)) => cited,
                (Verdict::Satisfied, None) => expected,
                (Verdict::Incorrect, Some(cited)) => format!("to “{cited}”; expected: {expected}"),
                (Verdict::Incorrect, None) | (Verdict::Absent, _) => format!("expected: {expected}"),
            };
            view! {
                <p class="text-sm leading-5 mt-1 flex flex-wrap gap-x-2 items-baseline">
                    <Marked mark=Mark::source(verdict)/>
                    <span class="text-ink-3 min-w-0 break-words">{words}</span>
                </p>
            }
                .into_any()
        }
    }
}
