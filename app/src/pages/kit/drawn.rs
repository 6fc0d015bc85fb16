//! What the server draws of the component sheet: every section in which nothing is pressed or typed.

use evalkit_core::error::{Code as FaultCode, Fault};
use evalkit_core::experiment::TrialCounts;
use evalkit_core::grade::Colour;
use evalkit_core::view::workspace::AgentColours;
use leptos::prelude::*;

use super::Section;
use crate::ui::{
    Avatar, Changed, Chip, ChipTone, Code, ColourBar, Empty, ErrorPanel, EvidenceKind, Highlight,
    Icon, IntervalPlot, LinePlot, Mark, MarkShape, Marked, Pager, PlotSeries, Progress, Prose,
    ScoreAxis, ScrollTable, Share, Skeleton, Sparkline, StripCell, Syntax, Tab, Tabs, Tag, Time,
    TrialProgress, VerdictStrip, markdown,
};

/// An answer with its evidence.
#[component]
pub fn Evidence() -> impl IntoView {
    let mark = |quote: &str, kind, rubric: &str, label: &str| Highlight {
        quote: quote.to_owned(),
        kind,
        rubric: rubric.to_owned(),
        label: label.to_owned(),
        lit: false,
    };
    let answer = markdown::render(
        "Covenant leverage fell by **about 0.6 turns** in FY2024, from 3.00x to *2.39x*.\n\n- Net debt came down to £412.6m (annual report, note 21).\n- Adjusted EBITDA rose to £172.9m.\n\n| Year | Net debt |\n|---|--:|\n| 2023 | 468.0 |\n| 2024 | 412.6 |\n\n<b>Raw HTML stays text</b>, [a link](https://example.org/report) opens with care, ![an image](https://example.org/a.png) is not loaded.",
        &[
            mark(
                "fell by about 0.6 turns",
                EvidenceKind::Satisfied,
                "R7",
                "7",
            ),
            mark("to 2.39x", EvidenceKind::NeedsALook, "R5", "5"),
            mark("to £412.6m", EvidenceKind::Satisfied, "R1", "1"),
            mark("to £172.9m", EvidenceKind::Incorrect, "R2", "2"),
        ],
    );
    view! {
        <Section title="Answer and evidence" note="Solid: satisfied. Wavy: incorrect. Dashed: needs a look. The number is the rubric's.">
            <Prose html=answer/>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Colours() -> impl IntoView {
    const SWATCHES: [(&str, &str, &str); 20] = [
        ("bg-paper", "paper", "read on"),
        ("bg-ground", "ground", "beside"),
        ("bg-raised", "raised", "above"),
        ("bg-ink", "ink", "text"),
        ("bg-ink-2", "ink-2", "second"),
        ("bg-ink-3", "ink-3", "meta"),
        ("bg-rule", "rule", "hairline"),
        ("bg-edge", "edge", "controls"),
        ("bg-accent", "accent", "act, focus"),
        ("bg-accent-wash", "accent-wash", "selected"),
        ("bg-sat", "sat", "met"),
        ("bg-inc", "inc", "not met"),
        ("bg-abs", "abs", "absent"),
        ("bg-look", "look", "a person"),
        ("bg-seal", "seal", "approved"),
        ("bg-sat-wash", "sat-wash", "inserted"),
        ("bg-inc-wash", "inc-wash", "deleted"),
        ("bg-look-wash", "look-wash", "a banner"),
        ("bg-seal-wash", "seal-wash", "a chip"),
        ("bg-lit", "lit", "linked pair"),
    ];
    view! {
        <Section title="Colour" note="Roles, not hues. Green says met, red says not met; review states use neither.">
            <div class="grid grid-cols-3 sm:grid-cols-5 xl:grid-cols-10 gap-3">
                {SWATCHES
                    .into_iter()
                    .map(|(class, name, use_for)| {
                        view! {
                            <div>
                                <div class=format!("h-9 rounded-md border border-rule {class}")></div>
                                <p class="id text-xs mt-1">{name}</p>
                                <p class="eyebrow">{use_for}</p>
                            </div>
                        }
                    })
                    .collect_view()}
            </div>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Type() -> impl IntoView {
    view! {
        <Section title="Type" note="Serif: what people and agents wrote. Sans: what Evalkit says. Mono: names of machines.">
            <div class="space-y-3">
                <p class="text-figure font-semibold">"71.4% " <span class="meta">"figure 34/38"</span></p>
                <p class="text-title font-semibold">"Run 482 " <span class="meta font-normal">"title 26/32"</span></p>
                <p class="said text-lead">"How did net debt to EBITDA move? " <span class="meta font-sans">"lead 22/31, serif"</span></p>
                <p class="said text-read">"Calculates the reduction as 0.60x. " <span class="meta font-sans">"read 17/26, serif"</span></p>
                <p class="text-base">"241 done, 16 running. You can leave this page. " <span class="meta">"base 15/23"</span></p>
                <p class="text-sm">"Tables and controls " <span class="meta">"sm 14/20"</span></p>
                <p class="eyebrow">"Column heads, times " <span class="meta">"xs 12.5/18, the smallest"</span></p>
                <p class="id">"main:312 get_financials " <span class="meta font-sans">"mono, 0.9 of its line"</span></p>
            </div>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Marks() -> impl IntoView {
    view! {
        <Section title="Marks" note="Shape, then word, then colour. Take the colour away and nothing is lost.">
            <div class="grid min-[400px]:grid-cols-2 md:grid-cols-3 xl:grid-cols-4 gap-x-10">
                {Mark::ALL.iter().map(|mark| view! { <p class="rule-t py-2"><Marked mark=*mark/></p> }).collect_view()}
            </div>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Badges() -> impl IntoView {
    view! {
        <Section title="Badges and tags" note="Tags are the author's words, so mono. Badges are ours.">
            <div class="flex flex-wrap items-center gap-3">
                <Tag name="q4-review"/>
                <Tag name="needs-ground-truth"/>
                <Chip>"v4"</Chip>
                <Chip tone=ChipTone::Look><MarkShape mark=Mark::NeedsALook/>"needs a look"</Chip>
                <Chip tone=ChipTone::Sat><MarkShape mark=Mark::Green/>"green 9 of 9"</Chip>
                <Chip tone=ChipTone::Inc><MarkShape mark=Mark::Red/>"red 5 of 9"</Chip>
                <Chip tone=ChipTone::Accent><MarkShape mark=Mark::ReviewRequested/>"Review requested"</Chip>
                <Chip tone=ChipTone::Seal><MarkShape mark=Mark::Approved/>"Approved"</Chip>
                <Avatar name="Ines Okafor"/>
                <Avatar name="Tomasz Wren"/>
            </div>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Navigation() -> impl IntoView {
    let tab = |name: &str, count, current| Tab {
        name: name.to_owned(),
        count: Some(count),
        href: "#tabs".to_owned(),
        current,
    };
    view! {
        <Section title="Tabs and pages" note="Links; which one is open lives in the address.">
            <Tabs label="Example" tabs=vec![tab("All", 9, true), tab("Not satisfied", 4, false), tab("Changed", 3, false)]/>
            <Pager page=2 per_page=50 found=1_214 href=|page| format!("#page-{page}")/>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Tables() -> impl IntoView {
    view! {
        <Section title="Table" note="Hairlines only; figures right; the head is quiet. J and K move through rows.">
            <ScrollTable label="Example">
                <table class="tbl min-w-[560px]">
                    <thead>
                        <tr>
                            <th scope="col">"Agent"</th>
                            <th scope="col">"Result"</th>
                            <th scope="col" class="num">"Rubrics"</th>
                            <th scope="col" class="num">"Latency"</th>
                            <th scope="col">"History"</th>
                        </tr>
                    </thead>
                    <tbody>
                        <tr data-row tabindex="0">
                            <td class="id">"ledger-bot"</td>
                            <td><Marked mark=Mark::Red/></td>
                            <td class="num"><Share num=5 den=9/></td>
                            <td class="num">"31.4 s"</td>
                            <td><Strip/></td>
                        </tr>
                        <tr data-row tabindex="-1" aria-selected="true">
                            <td class="id">"atlas-research"</td>
                            <td><Marked mark=Mark::Green/></td>
                            <td class="num"><Share num=9 den=9/></td>
                            <td class="num">"48.0 s"</td>
                            <td></td>
                        </tr>
                        <tr data-row tabindex="-1">
                            <td class="id">"desk-copilot"</td>
                            <td><Marked mark=Mark::Flaky text="flaky, 2 of 3"/></td>
                            <td class="num"><Share num=25 den=27/></td>
                            <td class="num">"9.2 s"</td>
                            <td></td>
                        </tr>
                    </tbody>
                </table>
            </ScrollTable>
        </Section>
    }
}

#[component]
fn Strip() -> impl IntoView {
    let cell = |run: u32, colour, new_version| StripCell {
        colour,
        title: format!("run {run}"),
        href: "#strip".to_owned(),
        new_version,
    };
    view! {
        <VerdictStrip
            label="ledger-bot, oldest first"
            cells=vec![
                cell(441, Colour::Red, false),
                cell(447, Colour::Green, false),
                cell(451, Colour::Flaky, true),
                cell(458, Colour::Unscored, false),
                cell(466, Colour::Red, false),
            ]
        />
    }
}

/// A section of the sheet.
#[component]
pub fn Plots() -> impl IntoView {
    let counts = TrialCounts {
        done: 67,
        running: 8,
        queued: 23,
        error: 2,
        ..TrialCounts::default()
    };
    let day = 86_400_000_000_i64;
    view! {
        <Section title="Plots" note="Mark: the rate. Band: 95%. Upright line: the bar to reach. Dashed: the run before.">
            <div class="grid gap-6 max-w-[620px]">
                <div>
                    <p class="text-figure font-semibold">"71.4%"</p>
                    <span class="eyebrow"><ScoreAxis/></span>
                    <IntervalPlot value=0.714 low=Some(0.682) high=Some(0.745) previous=Some(0.66) bar=Some(0.7)/>
                    <p class="meta">"1,206 of 1,689 rubrics, 68.2 to 74.5. The bar of 70 lies inside the interval."</p>
                </div>
                <TrialProgress counts=Signal::stored(counts)/>
                <Progress done=241 of=360 label="regraded"/>
                <div class="flex flex-wrap gap-10 items-center">
                    <Sparkline values=vec![0.61, 0.64, 0.63, 0.68, 0.7, 0.69, 0.74, 0.76]/>
                    <ColourBar colours=AgentColours { green: 121, red: 39, flaky: 13, neither: 7 }/>
                </div>
                <LinePlot
                    title="Pooled score per agent"
                    series=vec![
                        PlotSeries { name: "ledger-bot".to_owned(), points: vec![(0, 0.66), (9 * day, 0.7), (30 * day, 0.71)] },
                        PlotSeries { name: "atlas-research".to_owned(), points: vec![(2 * day, 0.58), (14 * day, 0.61), (28 * day, 0.64)] },
                    ]
                />
            </div>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn Text() -> impl IntoView {
    view! {
        <Section title="Diff, code, time" note="By meaning. Strike or underline as well as colour.">
            <p class="said text-read">"Calculates the charge for days 6 to 12 as " <Changed from="€1,260" to="€1,470"/> "."</p>
            <div class="grid lg:grid-cols-2 gap-4 mt-4">
                <Code
                    syntax=Syntax::Yaml
                    label="A rubric"
                    text="- rubric: \"States net debt of £412.6m.\"\n  type: factual_retrieval\n  # where it stands\n  source: \"Annual report 2024, note 21\"\n  weight: 1"
                />
                <Code label="A result" text="{\n  \"net_debt\": 412.6,\n  \"unit\": \"GBP m\",\n  \"audited\": true\n}"/>
            </div>
            <p class="meta mt-4">"This page was made " <Time at=crate::ui::Clock::now()/> "."</p>
        </Section>
    }
}

/// A section of the sheet.
#[component]
pub fn States() -> impl IntoView {
    let mut fault = Fault::new(
        FaultCode::Busy,
        "The database is busy with a long write.",
        "Try again in a few seconds; nothing you did is lost.",
    );
    fault.request_id = Some("7f3a".to_owned());
    view! {
        <Section title="Empty, loading, error, no permission" note="Each says what is so and what to do.">
            <div class="grid sm:grid-cols-2 gap-4 items-start">
                <Empty title="No runs in research yet" text="A run asks an agent every question and grades what comes back.">
                    <a class="btn sm" href="#run"><Icon name="play"/>"Run the demo agent"</a>
                </Empty>
                <div class="card px-5 pb-2 pt-2"><Skeleton label="Loading cases" rows=2/></div>
                <ErrorPanel fault/>
                <ErrorPanel fault=Fault::not_found()/>
            </div>
        </Section>
    }
}
