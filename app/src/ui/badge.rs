//! Badges are ours (chips), tags are the author's words (mono).

use leptos::prelude::*;

/// The wash under a chip.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ChipTone {
    /// Neutral.
    #[default]
    Plain,
    /// Met.
    Sat,
    /// Not met.
    Inc,
    /// A person must act.
    Look,
    /// Asked for, running.
    Accent,
    /// Approved.
    Seal,
}

impl ChipTone {
    const fn class(self) -> &'static str {
        match self {
            Self::Plain => "chip",
            Self::Sat => "chip sat",
            Self::Inc => "chip inc",
            Self::Look => "chip look",
            Self::Accent => "chip req",
            Self::Seal => "chip app",
        }
    }
}

/// A badge. Put a [`super::MarkShape`] first when it has a meaning.
#[component]
pub fn Chip(
    /// Its wash.
    #[prop(optional)]
    tone: ChipTone,
    /// What it says.
    children: Children,
) -> impl IntoView {
    view! { <span class=tone.class()>{children()}</span> }
}

/// A tag of a case.
#[component]
pub fn Tag(
    /// The author's word.
    #[prop(into)]
    name: String,
) -> impl IntoView {
    view! { <span class="tag">{name}</span> }
}

/// The hint of a key, hidden on touch and on narrow pages.
#[component]
pub fn Kbd(
    /// As printed on the key.
    #[prop(into)]
    keys: String,
) -> impl IntoView {
    view! { <kbd class="kbd">{keys}</kbd> }
}

/// A person by initials; the full name is the hover title.
#[component]
pub fn Avatar(
    /// As they write it.
    #[prop(into)]
    name: String,
) -> impl IntoView {
    view! { <span class="avatar" title=name.clone() aria-hidden="true">{initials(&name)}</span> }
}

/// The first letters of the first and the last word, in capitals.
pub fn initials(name: &str) -> String {
    let mut words = name
        .split(|c: char| c.is_whitespace() || c == '-' || c == '.')
        .filter(|word| !word.is_empty());
    let first = words.next().and_then(|word| word.chars().next());
    let last = words.next_back().and_then(|word| word.chars().next());
    first
        .into_iter()
        .chain(last)
        .flat_map(char::to_uppercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::initials;

    #[test]
    fn initials_of_names() {
        assert_eq!(initials("Ines Okafor"), "IO");
        assert_eq!(initials("mara"), "M");
        assert_eq!(initials("Jean-Luc de Witt"), "JW");
        assert_eq!(initials(""), "");
        assert_eq!(initials("  "), "");
    }
}
