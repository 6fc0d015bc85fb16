//! Rubrics by type, each explaining itself: verdict, what was said instead, source, the judge's reason, arithmetic.

use std::collections::BTreeSet;

use evalkit_core::case::{Rubric, RubricType};
use evalkit_core::results::ResultsJudge;
use evalkit_core::verdict::{FigureResult, RubricVerdict, Verdict};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use super::answer::scroll_to_evidence;
use super::linking::{Linking, is_plain_click};
use super::query::{ResultQuery, Show};
use super::words::unscored_words;
use crate::ui::{Empty, Mark, Marked, Tab, Tabs};

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
}

/// The rubrics' half of the page.
#[component]
pub fn Rubrics(
    /// Of the effective case, in case order.
    rubrics: Vec<Rubric>,
    /// In the same order; shorter when none were given.
    verdicts: Vec<RubricVerdict>,
    /// Labels that changed since the previous run.
    changed: BTreeSet<String>,
    /// Quotes that are not marked in the answer, by label.
    loose: Vec<(String, String)>,
    /// Why there are no verdicts, when there are none.
    #[prop(optional_no_strip)]
    why_none: Option<String>,
    /// Who judged.
    judge: ResultsJudge,
    /// Shared with the answer.
    linking: Linking,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let rows: Vec<Row> = rubrics
        .into_iter()
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
                rubric,
            }
        })
        .collect();
    let none = verdicts.is_empty();
    let count = |keep: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| keep(row)).count() as u64;
    let tally: Vec<(Mark, u64)> = [
        (
            Mark::Satisfied,
            count(&|r| r.standing() == Some(Verdict::Satisfied)),
        ),
        (
            Mark::Incorrect,
            count(&|r| r.standing() == Some(Verdict::Incorrect)),
        ),
        (
            Mark::Absent,
            count(&|r| r.standing() == Some(Verdict::Absent)),
        ),
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
    .collect();
    let tabs_rows = rows.clone();
    let tabs = move || {
        let (show, query) = query.with(|q| (q.show, q.clone()));
        [
            ("All", Show::All),
            ("Not satisfied", Show::NotSatisfied),
            ("Changed", Show::Changed),
            ("Source problems", Show::SourceProblems),
        ]
        .into_iter()
        .filter_map(|(name, which)| {
            let n = tabs_rows.iter().filter(|row| row.fits(which)).count() as u64;
            (which == Show::All || which == show || n > 0).then(|| Tab {
                name: name.to_owned(),
                count: Some(n),
                href: query.showing(which),
                current: which == show,
            })
        })
        .collect::<Vec<_>>()
    };
    let template = judge.templates.get("answer_rubrics").cloned();
    let groups: Vec<(RubricType, Vec<Row>)> = RubricType::ALL
        .into_iter()
        .map(|kind| {
            (
                kind,
                rows.iter()
                    .filter(|row| row.rubric.kind == kind)
                    .cloned()
                    .collect::<Vec<_>>(),
            )
        })
        .filter(|(_, rows)| !rows.is_empty())
        .collect();
    let empty_rows = rows.clone();
    view! {
        <section class="min-w-0 scroll-mt-16" id="rubrics" aria-labelledby="rubrics-title">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1 mb-1">
                <h2 class="h2" id="rubrics-title">"What a correct answer contains"</h2>
                <span class="flex gap-x-4 gap-y-1 flex-wrap">
                    {tally.into_iter().map(|(mark, n)| view! { <Marked mark text=format!("{n} {}", mark.word())/> }).collect_view()}
                </span>
            </div>
            {why_none.filter(|_| none).map(|why| view! { <p class="text-sm text-ink-2 mb-2">{why}</p> })}
            {(!none).then(|| view! { {move || view! { <Tabs label="Filter rubrics" tabs=tabs()/> }} })}
            {groups
                .into_iter()
                .map(|(kind, rows)| {
                    let hidden_rows = rows.clone();
                    let hidden = move || {
                        let show = query.with(|q| q.show);
                        !hidden_rows.iter().any(|row| row.fits(show))
                    };
                    let satisfied = rows.iter().filter(|row| row.standing() == Some(Verdict::Satisfied)).count();
                    let of = rows.len();
                    view! {
                        <div class="mt-5" class:hidden=hidden>
                            <div class="flex flex-wrap items-baseline gap-x-3 pb-1.5">
                                <h3 class="text-base font-semibold">{kind.title()}</h3>
                                <span class="id text-ink-3 text-xs">{kind.as_str()}</span>
                                {(!none).then(|| view! { <span class="meta ml-auto">{satisfied} " of " {of} " satisfied"</span> })}
                            </div>
                            <ol>
                                {rows.into_iter().map(|row| view! { <RubricRow row linking query/> }).collect_view()}
                            </ol>
                        </div>
                    }
                })
                .collect_view()}
            {move || {
                let show = query.with(|q| q.show);
                (!empty_rows.iter().any(|row| row.fits(show)))
                    .then(|| {
                        view! {
                            <div class="mt-4">
                                <Empty title="No rubric fits this filter" text="Every rubric of this case is listed under All.">
                                    <a class="btn sm" href=query.with(|q| q.showing(Show::All)) data-noscroll="">"Show all"</a>
                                </Empty>
                            </div>
                        }
                    })
            }}
            {(!none)
                .then(|| {
                    view! {
                        <p class="meta mt-3">
                            {judge_line(&judge)}
                            {template.map(|version| view! { ", template " <span class="id">"answer_rubrics@" {version}</span> })}
                            "."
                        </p>
                    }
                })}
        </section>
    }
}

/// "Judge gpt-x", "Recorded judge", "The offline judge".
pub fn judge_line(judge: &ResultsJudge) -> String {
    match (judge.provider.as_str(), &judge.model) {
        ("replay", _) => "Recorded judge".to_owned(),
        ("offline", _) => "The offline judge, not a quality signal".to_owned(),
        ("fake", _) => "The fake judge, not a quality signal".to_owned(),
        (_, Some(model)) => format!("Judge {model}"),
        (provider, None) => format!("Judge {provider}"),
    }
}

#[component]
fn RubricRow(row: Row, linking: Linking, query: Memo<ResultQuery>) -> impl IntoView {
    let Row {
        label,
        rubric,
        verdict,
        loose,
        ..
    } = row.clone();
    let id = label.clone();
    let lit = {
        let label = label.clone();
        move || linking.is_lit(&label)
    };
    let current = {
        let label = label.clone();
        move || {
            linking
                .selected
                .with(|s| s.as_deref() == Some(label.as_str()))
                .then_some("true")
        }
    };
    let (enter, focus) = (label.clone(), label.clone());
    let href = {
        let label = label.clone();
        move || query.with(|q| q.at_rubric(&label))
    };
    let navigate = use_navigate();
    let select = label.clone();
    let hidden = {
        let row = row.clone();
        move || !query.with(|q| row.fits(q.show))
    };
    let title = format!("Select {label} and show its evidence");
    view! {
        <li
            class="rub rule-t py-3 grid grid-cols-[30px_minmax(0,1fr)] sm:grid-cols-[30px_minmax(0,1fr)_140px] gap-x-3 scroll-mt-16"
            class:on=lit
            class:hidden=hidden
            id=id
            on:pointerenter=move |_| linking.pointed.set(Some(enter.clone()))
            on:pointerleave=move |_| linking.pointed.set(None)
            on:focusin=move |_| linking.pointed.set(Some(focus.clone()))
            on:focusout=move |_| linking.pointed.set(None)
        >
            <a
                class="quiet eyebrow leading-6 order-1"
                href=href
                data-noscroll=""
                title=title
                aria-current=current
                on:click=move |event| {
                    if is_plain_click(&event) {
                        event.prevent_default();
                        linking.select(&select, &navigate);
                        scroll_to_evidence(&select);
                    }
                }
            >
                {label.clone()}
            </a>
            <div class="order-3 sm:order-2 col-start-2 min-w-0">
                <p class="said text-base leading-6 break-words">{rubric.rubric}</p>
                {match verdict.clone() {
                    Some(verdict) => view! { <Explained verdict loose/> }.into_any(),
                    None => {
                        rubric
                            .source
                            .map(|source| view! { <p class="meta mt-1">"credited to " <span class="said text-ink-2">{source}</span></p> })
                            .into_any()
                    }
                }}
            </div>
            <div class="order-2 sm:order-3 col-start-2 sm:col-start-auto flex flex-wrap sm:flex-col items-baseline sm:items-start gap-x-3 gap-y-1 pt-0.5">
                {verdict.map(|verdict| view! { <Standing verdict/> })}
            </div>
        </li>
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
