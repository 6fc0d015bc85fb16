//! The component sheet: everything a page is made of, in the theme one is in.

#[cfg(feature = "ssr")]
mod drawn;

use leptos::prelude::*;
use leptos_meta::Title;

use crate::load::{self, Answer};
use crate::ui::{
    Banner, BannerTone, Button, ButtonKind, ButtonSize, CopyButton, Dialog, DialogOpener,
    FieldText, Kbd, Mark, Select, StillPart, Textarea, Toaster,
};

/// Draws the sections in which nothing is pressed or typed.
///
/// # Errors
/// None in practice.
#[server(prefix = "/fn", endpoint = "kit-page")]
pub async fn kit_page() -> Answer<()> {
    use crate::ui::draw;
    use drawn::{Badges, Colours, Evidence, Marks, Navigation, Plots, States, Tables, Text, Type};
    let now =
        use_context::<evalkit_core::view::session::Session>().map_or(0, |session| session.now);
    let parts = vec![
        draw(now, || view! { <Colours/> <Type/> <Marks/> }),
        draw(now, || view! { <Badges/> <Navigation/> }),
        draw(now, || view! { <Tables/> <Plots/> <Evidence/> <Text/> }),
        draw(now, || view! { <States/> }),
    ];
    load::Loaded::new(now, &(), parts)
}

/// The page.
#[component]
pub fn KitPage() -> impl IntoView {
    let kit = load::resource(|| (), |()| KitPage {});
    load::page(kit, "The component sheet", |(), parts| {
        view! {
            <Title text="Component sheet"/>
            <div class="wrap pb-24">
                <h1 class="text-title font-semibold pt-8">"Component sheet"</h1>
                <p class="meta mt-1">"Everything a page is made of, in the theme you are in."</p>
                <StillPart part=parts.part(0)/>
                <Buttons/>
                <StillPart part=parts.part(1)/>
                <Fields/>
                <StillPart part=parts.part(2)/>
                <Floats/>
                <StillPart part=parts.part(3)/>
            </div>
        }
    })
}

#[component]
fn Section(title: &'static str, note: &'static str, children: Children) -> impl IntoView {
    view! {
        <section class="rule-t pt-5 mt-9">
            <div class="grid lg:grid-cols-[200px_minmax(0,1fr)] gap-x-10 gap-y-3">
                <div>
                    <h2 class="h2">{title}</h2>
                    <p class="meta mt-1">{note}</p>
                </div>
                <div class="min-w-0">{children()}</div>
            </div>
        </section>
    }
}

#[component]
fn Buttons() -> impl IntoView {
    view! {
        <Section title="Buttons" note="One primary on a page. Keys are shown where they work.">
            <div class="flex flex-wrap items-center gap-3">
                <Button kind_of="button" kind=ButtonKind::Primary>"Run 28 cases"</Button>
                <Button kind_of="button">"Check"<Kbd keys="C"/></Button>
                <Button kind_of="button" kind=ButtonKind::Plain>"Comment"</Button>
                <Button kind_of="button" kind=ButtonKind::Danger>"Cancel run"</Button>
                <Button kind_of="button" disabled=true described_by="kit-why">"Save"</Button>
                <span class="hint" id="kit-why">"Nothing has changed."</span>
                <Button kind_of="button" size=ButtonSize::Small>"Small"</Button>
                <CopyButton text="evalkit run world-facts" what="the command"/>
            </div>
        </Section>
    }
}

#[component]
fn Fields() -> impl IntoView {
    view! {
        <Section title="Fields" note="Label above, hint below, error in words.">
            <div class="grid sm:grid-cols-2 xl:grid-cols-4 gap-4">
                <FieldText name="kit-name" label="Name" value="ledger-bot" hint="Letters, digits, dashes."/>
                <FieldText
                    name="kit-seconds"
                    label="Answer within, seconds"
                    value="-5"
                    error=Signal::stored(Some("Must be more than 0.".to_owned()))
                />
                <Select
                    name="kit-type"
                    label="Type"
                    options=vec![
                        ("factual_retrieval".to_owned(), "a fact to find".to_owned()),
                        ("derived_computation".to_owned(), "worked out from them".to_owned()),
                    ]
                />
                <Textarea name="kit-text" label="What should change" value="R3 holds two facts, please split."/>
            </div>
        </Section>
    }
}

#[component]
fn Floats() -> impl IntoView {
    let opener = DialogOpener::new();
    let toaster = use_context::<Toaster>();
    view! {
        <Section title="Dialog, toast, banner" note="The question first, then what happens, then the verbs.">
            <div class="flex flex-wrap gap-3">
                <Button kind_of="button" on:click=move |_| opener.open()>"Open a dialog"</Button>
                <Button
                    kind_of="button"
                    on:click=move |_| {
                        if let Some(toaster) = toaster {
                            toaster.say(Mark::Done, "Run 483 is queued: 28 cases");
                        }
                    }
                >
                    "Show a toast"
                </Button>
            </div>
            <Dialog opener id="kit-dialog" title="Cancel run 482?">
                <p class="text-base text-ink-2 mt-1">"What is done stays. 23 cases are not asked."</p>
                <div class="flex gap-2 mt-4">
                    <Button kind_of="button" kind=ButtonKind::Danger on:click=move |_| opener.close()>"Cancel the run"</Button>
                    <Button kind_of="button" kind=ButtonKind::Plain on:click=move |_| opener.close()>"Let it go on"<Kbd keys="Esc"/></Button>
                </div>
            </Dialog>
            <div class="card overflow-hidden mt-5">
                <Banner tone=BannerTone::Look icon="pen">
                    <b class="font-semibold">"3 cases were edited here and are not yet in the files. "</b>
                    "The next sync stops at them."
                </Banner>
                <Banner tone=BannerTone::Ground icon="off">"You are offline. This page is from 14:07."</Banner>
            </div>
        </Section>
    }
}
