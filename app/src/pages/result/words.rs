//! Words and marks of a result, as every part of the page says them.

use evalkit_core::grade::Colour;
use evalkit_core::next_act::Part;
use evalkit_core::verdict::Unscored;
use leptos::prelude::*;

use super::query::{ResultQuery, is_label};

/// The colour as the first word of a conclusion.
pub const fn colour_word(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "Green",
        Colour::Red => "Red",
        Colour::Flaky => "Flaky",
        Colour::Unscored => "Unscored",
        Colour::Error => "Error",
        Colour::Cancelled => "Cancelled",
        Colour::Skipped => "Skipped",
        Colour::Open => "Open",
    }
}

/// Why there is no verdict, as a person reads it.
pub const fn unscored_words(reason: Unscored) -> &'static str {
    match reason {
        Unscored::ParseFailure => "the judge’s reply could not be read, after every retry",
        Unscored::Refusal => "the judge refused",
        Unscored::Timeout => "the judge did not answer in time",
        Unscored::TruncatedReply => "the judge’s reply was cut off",
        Unscored::ProviderError => "the judge’s endpoint failed",
        Unscored::TooLarge => "the text does not fit the judge’s context",
        Unscored::MissingIds => "the judge left it out, also when asked again",
        Unscored::Contradiction => "the judge contradicted itself",
        Unscored::OfflineUndecided => {
            "the offline judge may not decide this; it takes a judge that reads language"
        }
    }
}

/// A sentence of the core: labels become links to what they name.
#[component]
pub fn Sentence(
    /// From `next_act`.
    parts: Vec<Part>,
    /// The address, for the links.
    query: Memo<ResultQuery>,
) -> impl IntoView {
    parts
        .into_iter()
        .map(|part| match part {
            Part::Text(text) => text.into_any(),
            Part::Label(label) => {
                let rubric = is_label(&label).then(|| label.clone());
                let href = query.with_untracked(|q| match &rubric {
                    Some(label) => q.at_rubric(label),
                    None => format!("{}#{label}", q.href()),
                });
                view! { <a href=href data-rubric=rubric data-noscroll="">{label}</a> }.into_any()
            }
        })
        .collect_view()
}
