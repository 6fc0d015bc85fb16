//! What the server makes of a result: the page's data, and the parts that it draws.

use std::collections::BTreeSet;

use evalkit_core::explanation::{find, rubric_verdicts};
use evalkit_core::grade::{Colour, Outcome};
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;

use super::explained::rubric_list;
use super::query::ResultQuery;
use super::words::{self, unscored_words};
use super::{ResultData, answered, band, checks, evidence, failure, head, raw, steps, tools};
use crate::ui::draw;

/// The data of the page at `query`, and its parts: head and verdict, the answer or what stands in its place, tool checks, checkpoints,
/// and what comes below the steps.
pub fn parts_of(now: i64, page: ResultPage, query: ResultQuery) -> (ResultData, Vec<String>) {
    let owner = Owner::current().map_or_else(Owner::new, |around| around.child());
    owner.with(|| {
        let selected = query.rubric.clone();
        let query = Memo::new(move |_| query.clone());
        let verdicts = rubric_verdicts(&page.grades);
        let highlights = evidence::highlights(&verdicts, selected.as_deref());
        let answer = page.answer.as_deref().unwrap_or_default();
        let (html, found) = crate::ui::markdown::render_located(answer, &highlights);
        let loose: Vec<(String, String)> = highlights
            .into_iter()
            .zip(found)
            .filter(|(highlight, found)| !found && !highlight.label.ends_with("source"))
            .map(|(highlight, _)| (highlight.rubric, highlight.quote))
            .collect();
        let has_answer = page.answer.is_some() || page.output.is_some();
        let (trajectory, checkpoints) = steps::trajectory_data(&page, query, now).unzip();
        let data = ResultData {
            title: format!(
                "{}: {}, run {}",
                words::colour_word(page.colour),
                page.case.id,
                page.run
            ),
            answered: has_answer,
            rubrics: rubric_list(
                &page,
                &verdicts,
                &changed(&page),
                &loose,
                why_none(&page),
                now,
            ),
            trajectory,
        };
        let (shown, checked) = (page.clone(), page.clone());
        let band = draw(now, move || {
            view! {
                <head::Head page=shown.clone() query/>
                <band::VerdictBand page=shown query/>
            }
        });
        let tools = draw(
            now,
            move || view! { <tools::ToolChecks page=checked query/> },
        );
        let answer = {
            let (page, judged) = (page.clone(), !verdicts.is_empty());
            draw(now, move || {
                if has_answer {
                    view! { <answered::Answered page html judged/> }.into_any()
                } else {
                    view! { <failure::NoAnswer page/> }.into_any()
                }
            })
        };
        let below = draw(now, move || {
            view! {
                <checks::PresentationEntries page=page.clone()/>
                <checks::OtherChecks page=page.clone()/>
                <raw::Raw page/>
            }
        });
        let parts = vec![band, answer, tools, checkpoints.unwrap_or_default(), below];
        (data, parts)
    })
}

/// Labels whose verdict is another than in the previous run.
fn changed(page: &ResultPage) -> BTreeSet<String> {
    page.previous
        .as_ref()
        .filter(|previous| !previous.ruler_moved)
        .map(|previous| {
            previous
                .changes
                .iter()
                .map(|(label, ..)| label.clone())
                .collect()
        })
        .unwrap_or_default()
}

/// Why the rubrics have no verdict.
fn why_none(page: &ResultPage) -> Option<String> {
    if page.error.is_some() {
        return Some("Nothing was judged, because there is no answer.".to_owned());
    }
    match find(&page.grades, "answer_rubrics").map(|grade| &grade.outcome) {
        None if page.colour == Colour::Open => Some("Not judged yet.".to_owned()),
        None => Some("Not judged.".to_owned()),
        Some(Outcome::Skipped { reason }) => Some(format!("Skipped: {reason}")),
        Some(Outcome::Error { message }) => Some(format!("The judge could not run: {message}")),
        Some(Outcome::Unscored { reason, .. }) => {
            Some(format!("No verdict: {}.", unscored_words(*reason)))
        }
        Some(Outcome::Scored { .. }) => None,
    }
}
