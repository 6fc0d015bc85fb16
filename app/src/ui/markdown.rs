//! Markdown of answers, cases and comments: untrusted, rendered on the server alone, through one type.
//!
//! Defence D7: raw HTML becomes text, links keep only `http`, `https` and `mailto`, no image is loaded, nesting is capped
//! at 32 and input at 256 KiB (beyond either, the text is shown as it is), and every tag of the output is written by this
//! file. Evidence is located on the plain text that a reader sees, so a quote may run across emphasis, links and blocks.

#[cfg(feature = "ssr")]
mod locate;
#[cfg(feature = "ssr")]
mod render;
#[cfg(all(test, feature = "ssr"))]
mod tests;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

#[cfg(feature = "ssr")]
pub use render::{render, render_located};

/// HTML that this crate wrote from escaped text. Only the renderers of this crate make one on the server; the browser reads
/// it from the server's answer. It is never an argument of a server function.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SafeHtml(String);

impl SafeHtml {
    /// The HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Nothing to show.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// How evidence is underlined (`ui.md`, Linking).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EvidenceKind {
    /// Solid: the rubric is satisfied.
    Satisfied,
    /// Wavy: incorrect, or credited to the wrong source.
    Incorrect,
    /// Dashed: needs a look.
    NeedsALook,
}

impl EvidenceKind {
    /// The class beside `ev`.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Satisfied => "s",
            Self::Incorrect => "i",
            Self::NeedsALook => "q",
        }
    }
}

/// A passage to mark.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Highlight {
    /// Verbatim from what was judged; white space and case do not matter, Markdown signs may be there or not.
    pub quote: String,
    /// Its line.
    pub kind: EvidenceKind,
    /// `R7`: becomes `data-r`, and the anchor of the pair.
    pub rubric: String,
    /// What rides as superscript: `7`, `3 source`.
    pub label: String,
    /// Lit at first paint: its rubric is selected in the address.
    pub lit: bool,
}

/// What a person or an agent wrote, rendered.
#[component]
pub fn Prose(
    /// From [`render`].
    html: SafeHtml,
    /// Further classes.
    #[prop(optional, into)]
    class: String,
) -> impl IntoView {
    view! { <div class=format!("prose {class}") inner_html=html.0></div> }
}
