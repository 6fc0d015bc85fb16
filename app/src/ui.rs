//! The component kit: what every page is made of (`design/mockups/ui.md`). The page `/kit` shows all of it.
//!
//! Three voices: what people and agents wrote is serif (`said`), what Evalkit says is sans, names of machines are mono
//! (`id`). A mark is shape, then word, then colour. No component writes a `style` attribute: the policy forbids it.

mod badge;
mod button;
mod code;
mod dialog;
mod diff;
mod field;
mod figure;
mod icon;
mod mark;
pub mod markdown;
mod panel;
mod plot;
mod progress;
mod still;
mod table;
mod tabs;
mod time;
mod toast;

pub use badge::initials;
pub use badge::{Avatar, Chip, ChipTone, Kbd, Tag};
pub use button::{Button, ButtonKind, ButtonSize, CopyButton, LinkButton};
pub use code::{Code, Syntax};
pub use dialog::{Dialog, DialogOpener};
pub use diff::{Changed, Del, Ins};
pub use field::{Field, FieldText, Label, Select, Textarea};
pub use figure::{Num, Share, grouped, percent, seconds};
pub use icon::{Icon, Logo};
pub use mark::{Mark, MarkShape, Marked, Tone};
pub use markdown::{EvidenceKind, Highlight, Prose, SafeHtml};
pub use panel::{Banner, BannerTone, Card, Empty, ErrorPanel, FormFault, Note, Skeleton, Well};
pub use plot::{
    ColourBar, IntervalPlot, LinePlot, PlotSeries, ScoreAxis, Sparkline, StripCell, VerdictStrip,
};
pub use progress::{Progress, TrialProgress};
#[cfg(feature = "ssr")]
pub use still::draw;
pub use still::{Still, StillPart};
pub use table::{Pager, ScrollTable, SortHead};
pub use tabs::{Tab, Tabs};
pub use time::{Clock, Time, ago, exact};
pub use toast::{Toaster, Toasts};
