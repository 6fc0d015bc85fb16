//! The question as the user would type it, and the files that go with it.

use evalkit_core::api::fixture_path;
use evalkit_core::case::Role;
use evalkit_core::view::case::{Case, FixtureFile};
use leptos::prelude::*;

use crate::pages::escape;
use crate::ui::{Icon, grouped};

/// Question, turns, files.
#[component]
pub fn Question(
    /// The page.
    case: Case,
) -> impl IntoView {
    let input = case.case.input.clone();
    let turns = input.messages.clone();
    let several = turns.len() > 1 || turns.iter().any(|turn| turn.role != Role::User);
    let headline = input.headline().to_owned();
    let files = case.files.clone();
    let sent = match (several, files.len()) {
        (true, _) => {
            "Sent in order on one thread. Lines of the system and the assistant are context for the judge and are never sent."
        }
        (false, 0) => "Sent word for word as one message.",
        (false, 1) => "Sent word for word as one message. The file’s description goes before it.",
        (false, _) => {
            "Sent word for word as one message. The files’ descriptions go before it, in this order."
        }
    };
    let workspace = case.workspace.clone();
    view! {
        <section id="q" class="pt-7 scroll-mt-12" aria-label="Question">
            <h1 class="said text-lead font-normal max-w-[46rem] plain break-words">{headline}</h1>
            {several
                .then(|| {
                    view! {
                        <ol class="mt-4 max-w-[46rem]">
                            {turns
                                .into_iter()
                                .map(|turn| {
                                    let (who, tone) = match turn.role {
                                        Role::User => ("user", ""),
                                        Role::System => ("system, not sent", "text-ink-3"),
                                        Role::Assistant => ("assistant, not sent", "text-ink-3"),
                                    };
                                    view! {
                                        <li class="rule-t py-2 grid grid-cols-[84px_minmax(0,1fr)] gap-x-3">
                                            <span class="eyebrow leading-6">{who}</span>
                                            <p class=format!("said leading-6 plain break-words {tone}")>{turn.content}</p>
                                        </li>
                                    }
                                })
                                .collect_view()}
                        </ol>
                    }
                })}
            <p class="meta mt-3">{sent}</p>
            {(!files.is_empty())
                .then(|| {
                    view! {
                        <ul class="mt-3 grid sm:grid-cols-2 gap-x-8 gap-y-3 max-w-[56rem]">
                            {files.into_iter().map(|file| view! { <File file workspace=workspace.clone()/> }).collect_view()}
                        </ul>
                    }
                })}
            {case
                .case
                .context
                .map(|context| {
                    view! {
                        <details class="mt-4 max-w-[46rem]">
                            <summary class="text-sm">"Grounding text for the groundedness metric"</summary>
                            <p class="said plain break-words mt-1.5 text-ink-2">{context}</p>
                        </details>
                    }
                })}
        </section>
    }
}

#[component]
fn File(file: FixtureFile, workspace: String) -> impl IntoView {
    let FixtureFile {
        key,
        context,
        sha256,
        bytes,
    } = file;
    let href = fixture_path(&workspace, &sha256, &escape(&key));
    view! {
        <li class="flex gap-2.5 min-w-0">
            <span class="mt-0.5 text-ink-3"><Icon name="file"/></span>
            <div class="min-w-0">
                {match bytes {
                    Some(bytes) => {
                        view! {
                            <a class="break-words" href=href rel="external" download=key.clone()>{key.clone()}</a>
                            " "
                            <span class="meta">{size(bytes)}</span>
                        }
                            .into_any()
                    }
                    None => {
                        view! {
                            <span class="break-words">{key.clone()}</span>
                            " "
                            <span class="meta">"its bytes are not on this server"</span>
                        }
                            .into_any()
                    }
                }}
                <p class="said text-sm leading-5 text-ink-2 mt-0.5 break-words">{context}</p>
            </div>
        </li>
    }
}

/// `4.1 MB`, `6 KB`, `312 bytes`.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{} bytes", grouped(bytes)),
        1_000..1_000_000 => format!("{} KB", grouped(bytes.div_ceil(1_000))),
        _ => format!(
            "{}.{} MB",
            grouped(bytes / 1_000_000),
            bytes % 1_000_000 / 100_000
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_as_people_read_them() {
        assert_eq!(size(312), "312 bytes");
        assert_eq!(size(5_001), "6 KB");
        assert_eq!(size(4_130_000), "4.1 MB");
    }
}
