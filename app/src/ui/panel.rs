//! Boxes that float, take input or quote; and what stands where there is nothing, not yet, or not for you.

use evalkit_core::error::{Code, Fault};
use leptos::prelude::*;

use super::{Icon, Mark, MarkShape};

/// A box.
#[component]
pub fn Card(
    /// Further classes.
    #[prop(optional, into)]
    class: String,
    /// Its content.
    children: Children,
) -> impl IntoView {
    view! { <div class=format!("card {class}")>{children()}</div> }
}

/// A quiet ground for what stands beside.
#[component]
pub fn Well(
    /// Further classes.
    #[prop(optional, into)]
    class: String,
    /// Its content.
    children: Children,
) -> impl IntoView {
    view! { <div class=format!("well {class}")>{children()}</div> }
}

/// A remark with a line at its left.
#[component]
pub fn Note(
    /// `look`, `inc`, `acc`, `sat`, or nothing.
    #[prop(optional)]
    tone: &'static str,
    /// What it says.
    children: Children,
) -> impl IntoView {
    view! { <div class=format!("note {tone}")>{children()}</div> }
}

/// What will appear here, and the one way to make it so.
#[component]
pub fn Empty(
    /// What is so: "No runs in research yet".
    #[prop(into)]
    title: String,
    /// What it means, and what to do.
    #[prop(into)]
    text: String,
    /// The way: a link, a button, a command line.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <div class="card p-5">
            <p class="text-base font-semibold">{title}</p>
            <p class="text-sm text-ink-2 mt-1 max-w-[60ch]">{text}</p>
            {children.map(|children| view! { <div class="mt-3.5 flex flex-wrap items-center gap-2">{children()}</div> })}
        </div>
    }
}

/// An error: what failed, what to do next, then code and request for whoever runs the server.
#[component]
pub fn ErrorPanel(
    /// What happened.
    fault: Fault,
    /// Further ways out.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    let quiet = matches!(fault.code, Code::NotFound | Code::SignIn);
    view! {
        <div class="card p-5" role="alert">
            {if quiet {
                view! { <p class="text-base font-semibold">{fault.message}</p> }.into_any()
            } else {
                view! {
                    <p class="v v-inc text-base whitespace-normal">
                        <MarkShape mark=Mark::Error/>
                        <span>{fault.message}</span>
                    </p>
                }
                    .into_any()
            }}
            <p class="text-sm text-ink-2 mt-1 max-w-[70ch]">{fault.next}</p>
            {(!fault.details.is_empty())
                .then(|| {
                    view! {
                        <ul class="text-sm text-ink-2 mt-2 list-disc pl-5">
                            {fault.details.into_iter().map(|line| view! { <li>{line}</li> }).collect_view()}
                        </ul>
                    }
                })}
            <p class="eyebrow mt-2">
                <span class="id">{fault.code.as_str()}</span>
                {fault.request_id.map(|id| view! { ", request " <span class="id">{id}</span> })}
            </p>
            {children.map(|children| view! { <div class="mt-3 flex flex-wrap items-center gap-2">{children()}</div> })}
        </div>
    }
}

/// Why a form was refused: the sentence, what to do, further lines. Nothing while there is no fault.
#[component]
pub fn FormFault(
    /// From the form's action.
    #[prop(into)]
    fault: Signal<Option<Fault>>,
) -> impl IntoView {
    view! {
        <div class="text-sm text-inc mt-3 empty:hidden max-w-[70ch]" role="alert">
            {move || {
                fault
                    .get()
                    .map(|fault| {
                        view! {
                            <p class="whitespace-pre-line">{fault.message} " " {fault.next}</p>
                            {(!fault.details.is_empty())
                                .then(|| {
                                    view! {
                                        <pre class="code px-3 py-2 mt-2 text-ink" tabindex="0">{fault.details.join("\n")}</pre>
                                    }
                                })}
                        }
                    })
            }}
        </div>
    }
}

/// Bones of the true height, for what comes later than the page.
#[component]
pub fn Skeleton(
    /// What is loading, for assistive technology.
    #[prop(into)]
    label: String,
    /// Rows of 51 px.
    #[prop(default = 6)]
    rows: usize,
) -> impl IntoView {
    const WIDTHS: [(&str, &str); 3] = [
        ("w-5/12", "w-10/12"),
        ("w-4/12", "w-9/12"),
        ("w-6/12", "w-11/12"),
    ];
    view! {
        <div aria-busy="true">
            <p class="sr-only">{label}</p>
            {(0..rows)
                .map(|row| {
                    let (first, second) = WIDTHS[row % WIDTHS.len()];
                    view! {
                        <div class="rule-t h-[51px] py-3 space-y-2">
                            <div class=format!("bones h-3 {first}")></div>
                            <div class=format!("bones h-[11px] {second}")></div>
                        </div>
                    }
                })
                .collect_view()}
        </div>
    }
}

/// The ground of a banner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BannerTone {
    /// Offline, stalled updates.
    Ground,
    /// Demo.
    Accent,
    /// A person must act.
    Look,
}

/// A state of the whole page: one line under the bar.
#[component]
pub fn Banner(
    /// Its ground.
    tone: BannerTone,
    /// An icon's name.
    icon: &'static str,
    /// What is so, and what it means.
    children: Children,
) -> impl IntoView {
    let (class, colour) = match tone {
        BannerTone::Ground => ("banner", "v v-mute"),
        BannerTone::Accent => ("banner acc", "v v-acc"),
        BannerTone::Look => ("banner look", "v v-look"),
    };
    view! {
        <div class=class>
            <div class="wrap">
                <span class=colour><Icon name=icon/></span>
                <p class="min-w-0">{children()}</p>
            </div>
        </div>
    }
}
