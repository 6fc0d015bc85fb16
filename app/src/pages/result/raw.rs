//! Everything, raw: what the page was made from.

use evalkit_core::api::recorded_path;
use evalkit_core::view::result::ResultPage;
use leptos::prelude::*;
use serde_json::{Map, Value};

use crate::ui::{Code, Syntax};

/// The answer and the trajectory as received, to download; every evaluator's explanation, to read.
#[component]
pub fn Raw(
    /// The result.
    page: ResultPage,
) -> impl IntoView {
    let href =
        |what: &str| recorded_path(&page.workspace, page.run, &page.case.id, page.trial, what);
    let files: Vec<(&'static str, String, &'static str)> = [
        ("answer", "answer.md", page.answer.is_some()),
        ("trajectory", "trajectory.json", page.trajectory.is_some()),
    ]
    .into_iter()
    .filter(|(.., there)| *there)
    .map(|(what, name, _)| (name, href(what), "as received, byte for byte"))
    .collect();
    let explanation = (!page.grades.is_empty()).then(|| {
        let blocks: Map<String, Value> = page
            .grades
            .iter()
            .map(|grade| (grade.evaluator.clone(), grade.explanation.clone()))
            .collect();
        serde_json::to_string_pretty(&blocks).unwrap_or_default()
    });
    (!files.is_empty() || explanation.is_some()).then(|| {
        view! {
            <section aria-labelledby="raw-title" class="min-w-0">
                <h2 class="h2" id="raw-title">"Everything, raw"</h2>
                <ul class="mt-1 text-sm">
                    {files
                        .into_iter()
                        .map(|(name, href, what)| {
                            view! {
                                <li class="rule-t py-2 flex flex-wrap justify-between gap-x-4">
                                    <a class="id" href=href rel="external" download=name>{name}</a>
                                    <span class="meta">{what}</span>
                                </li>
                            }
                        })
                        .collect_view()}
                    {explanation
                        .map(|text| {
                            view! {
                                <li class="rule-t py-2">
                                    <details>
                                        <summary><span class="id">"explanation.json"</span> <span class="meta">" every evaluator’s block"</span></summary>
                                        <div class="mt-2"><Code text syntax=Syntax::Json label="explanation.json"/></div>
                                    </details>
                                </li>
                            }
                        })}
                </ul>
            </section>
        }
    })
}
