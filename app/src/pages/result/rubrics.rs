//! Rubrics by type. Which are listed, which is selected and which is lit lives here; what each says of itself is drawn by the
//! server (`explained.rs`).

use leptos::prelude::*;
use leptos_router::hooks::use_navigate;
use serde::{Deserialize, Serialize};

use super::answer::scroll_to_evidence;
use super::linking::{Linking, is_plain_click};
use super::query::{ResultQuery, Show};
use crate::ui::{Empty, Still, StillPart, Tab, Tabs};

/// The rubrics of a result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricList {
    /// How many have which verdict.
    pub tally: Still,
    /// Why there are no verdicts, when there are none.
    pub why_none: Option<String>,
    /// There are verdicts.
    pub judged: bool,
    /// By type.
    pub groups: Vec<RubricGroup>,
    /// Who judged.
    pub judge: Still,
}

/// The rubrics of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricGroup {
    /// In words.
    pub title: String,
    /// As formats spell it.
    pub name: String,
    /// How many are satisfied.
    pub satisfied: usize,
    /// In case order.
    pub lines: Vec<RubricLine>,
}

/// One rubric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RubricLine {
    /// `R1`, in case order.
    pub label: String,
    /// The filters that list it.
    pub shows: Vec<Show>,
    /// Its sentence, and what became of it.
    pub sentence: Still,
    /// Its verdict.
    pub standing: Still,
}

impl RubricList {
    fn fitting(&self, show: Show) -> usize {
        self.groups.iter().map(|group| group.fitting(show)).sum()
    }
}

impl RubricGroup {
    fn fitting(&self, show: Show) -> usize {
        self.lines
            .iter()
            .filter(|line| line.shows.contains(&show))
            .count()
    }
}

/// The rubrics' half of the page.
#[component]
pub fn Rubrics(
    /// What it lists.
    list: RubricList,
    /// Shared with the answer.
    linking: Linking,
    /// The address.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    let shown = Memo::new(move |_| query.with(|q| q.show));
    let fitting = Show::ALL.map(|show| (show, list.fitting(show)));
    let fits = move |wanted: Show| fitting.iter().any(|(show, n)| *show == wanted && *n > 0);
    let tabs = move || {
        let (now, query) = query.with(|q| (q.show, q.clone()));
        fitting
            .into_iter()
            .filter(|(show, n)| *show == Show::All || *show == now || *n > 0)
            .map(|(show, n)| Tab {
                name: show.word().to_owned(),
                count: Some(n as u64),
                href: query.showing(show),
                current: show == now,
            })
            .collect::<Vec<_>>()
    };
    let RubricList {
        tally,
        why_none,
        judged,
        groups,
        judge,
    } = list;
    view! {
        <section class="min-w-0 scroll-mt-16" id="rubrics" aria-labelledby="rubrics-title">
            <div class="flex flex-wrap items-baseline gap-x-4 gap-y-1 mb-1">
                <h2 class="h2" id="rubrics-title">"What a correct answer contains"</h2>
                <StillPart part=tally class="flex gap-x-4 gap-y-1 flex-wrap"/>
            </div>
            {why_none.map(|why| view! { <p class="text-sm text-ink-2 mb-2">{why}</p> })}
            {judged.then(|| view! { {move || view! { <Tabs label="Filter rubrics" tabs=tabs()/> }} })}
            {groups.into_iter().map(|group| view! { <Group group judged linking query shown/> }).collect_view()}
            {move || {
                (!fits(shown.get()))
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
            {judged.then(|| view! { <StillPart part=judge class="meta mt-3"/> })}
        </section>
    }
}

#[component]
fn Group(
    group: RubricGroup,
    judged: bool,
    linking: Linking,
    query: Memo<ResultQuery>,
    shown: Memo<Show>,
) -> impl IntoView {
    let fitting = Show::ALL.map(|show| (show, group.fitting(show)));
    let hidden = move || {
        let wanted = shown.get();
        fitting.iter().any(|(show, n)| *show == wanted && *n == 0)
    };
    let RubricGroup {
        title,
        name,
        satisfied,
        lines,
    } = group;
    let of = lines.len();
    view! {
        <div class="mt-5" class:hidden=hidden>
            <div class="flex flex-wrap items-baseline gap-x-3 pb-1.5">
                <h3 class="text-base font-semibold">{title}</h3>
                <span class="id text-ink-3 text-xs">{name}</span>
                {judged.then(|| view! { <span class="meta ml-auto">{satisfied} " of " {of} " satisfied"</span> })}
            </div>
            <ol>
                {lines.into_iter().map(|line| view! { <Line line linking query shown/> }).collect_view()}
            </ol>
        </div>
    }
}

#[component]
fn Line(
    line: RubricLine,
    linking: Linking,
    query: Memo<ResultQuery>,
    shown: Memo<Show>,
) -> impl IntoView {
    let RubricLine {
        label,
        shows,
        sentence,
        standing,
    } = line;
    let (id, row) = (label.clone(), label.clone());
    let label = StoredValue::new(label);
    let lit = move || label.with_value(|label| linking.is_lit(label));
    let current = move || {
        linking
            .selected
            .with(|s| label.with_value(|label| s.as_ref() == Some(label)))
            .then_some("true")
    };
    let href = move || query.with(|q| label.with_value(|label| q.at_rubric(label)));
    let hidden = move || !shows.contains(&shown.get());
    let navigate = use_navigate();
    let title = format!("Select {id} and show its evidence");
    view! {
        <li
            class="rub rule-t py-3 grid grid-cols-[30px_minmax(0,1fr)] sm:grid-cols-[30px_minmax(0,1fr)_140px] gap-x-3 scroll-mt-16"
            class:on=lit
            class:hidden=hidden
            id=row
            on:pointerenter=move |_| linking.pointed.set(Some(label.get_value()))
            on:pointerleave=move |_| linking.pointed.set(None)
            on:focusin=move |_| linking.pointed.set(Some(label.get_value()))
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
                        label
                            .with_value(|label| {
                                linking.select(label, &navigate);
                                scroll_to_evidence(label);
                            });
                    }
                }
            >
                {id}
            </a>
            <StillPart part=sentence class="order-3 sm:order-2 col-start-2 min-w-0"/>
            <StillPart
                part=standing
                class="order-2 sm:order-3 col-start-2 sm:col-start-auto flex flex-wrap sm:flex-col items-baseline sm:items-start gap-x-3 gap-y-1 pt-0.5"
            />
        </li>
    }
}
