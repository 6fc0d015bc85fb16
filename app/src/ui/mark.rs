//! Marks: shape carries the meaning, colour repeats it, the word says it (`ui.md`, Semantics).

use evalkit_core::experiment::{ExperimentState, TrialState};
use evalkit_core::grade::Colour;
use evalkit_core::verdict::{CheckVerdict, Verdict};
use leptos::prelude::*;

/// The role a mark is coloured by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Met.
    Sat,
    /// Not met, or an error.
    Inc,
    /// Nothing there.
    Abs,
    /// A person must act.
    Look,
    /// Approved, released.
    Seal,
    /// Open, running, selected.
    Accent,
    /// Meta.
    Mute,
}

impl Tone {
    /// The class that colours a word and its mark.
    pub const fn class(self) -> &'static str {
        match self {
            Self::Sat => "v-sat",
            Self::Inc => "v-inc",
            Self::Abs => "v-abs",
            Self::Look => "v-look",
            Self::Seal => "v-seal",
            Self::Accent => "v-acc",
            Self::Mute => "v-mute",
        }
    }
}

/// Every symbol with a meaning: one row of `ui.md`, Semantics, each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is named by the word it prints")]
pub enum Mark {
    Satisfied,
    Incorrect,
    Absent,
    Unsatisfied,
    Unscored,
    Skipped,
    Error,
    NeedsALook,
    Flaky,
    Credited,
    Misattributed,
    Uncited,
    Queued,
    Running,
    Recorded,
    Grading,
    Green,
    Red,
    Cancelled,
    NotRun,
    Done,
    Incomplete,
    Paused,
    Unreviewed,
    ReviewRequested,
    ChangesRequested,
    Approved,
    Better,
    Worse,
    NoEvidence,
    TooFew,
    RulerMoved,
    Met,
    NotMet,
    ConfigurationError,
    BelowThreshold,
    Matched,
    Mismatch,
    FromOverlay,
    FromCase,
}

impl Mark {
    /// Every mark, in the order of `ui.md`.
    pub const ALL: &'static [Self] = &[
        Self::Satisfied,
        Self::Incorrect,
        Self::Absent,
        Self::Unsatisfied,
        Self::Unscored,
        Self::Skipped,
        Self::Error,
        Self::NeedsALook,
        Self::Flaky,
        Self::Credited,
        Self::Misattributed,
        Self::Uncited,
        Self::Queued,
        Self::Running,
        Self::Recorded,
        Self::Grading,
        Self::Green,
        Self::Red,
        Self::Cancelled,
        Self::NotRun,
        Self::Done,
        Self::Incomplete,
        Self::Paused,
        Self::Unreviewed,
        Self::ReviewRequested,
        Self::ChangesRequested,
        Self::Approved,
        Self::Better,
        Self::Worse,
        Self::NoEvidence,
        Self::TooFew,
        Self::RulerMoved,
        Self::Met,
        Self::NotMet,
        Self::ConfigurationError,
        Self::BelowThreshold,
        Self::Matched,
        Self::Mismatch,
        Self::FromOverlay,
        Self::FromCase,
    ];

    /// The symbol's address in the sprite.
    pub const fn href(self) -> &'static str {
        match self {
            Self::Satisfied | Self::Green | Self::Done | Self::Met | Self::Matched => "#m-sat",
            Self::Incorrect | Self::Red | Self::NotMet | Self::Mismatch => "#m-inc",
            Self::Absent => "#m-abs",
            Self::Unsatisfied | Self::BelowThreshold => "#m-uns",
            Self::Unscored | Self::Incomplete => "#m-unscored",
            Self::Skipped | Self::NotRun | Self::Cancelled => "#m-skip",
            Self::Error | Self::ConfigurationError => "#m-err",
            Self::NeedsALook => "#m-look",
            Self::Flaky => "#m-flaky",
            Self::Credited => "#m-cred",
            Self::Misattributed => "#m-mis",
            Self::Uncited => "#m-uncited",
            Self::Queued => "#m-queued",
            Self::Running | Self::Recorded | Self::Grading => "#m-run",
            Self::Paused => "#i-pause",
            Self::Unreviewed => "#s-un",
            Self::ReviewRequested => "#s-req",
            Self::ChangesRequested => "#s-chg",
            Self::Approved => "#s-app",
            Self::Better => "#d-up",
            Self::Worse => "#d-down",
            Self::NoEvidence => "#d-none",
            Self::TooFew => "#d-few",
            Self::RulerMoved => "#d-ruler",
            Self::FromOverlay => "#i-fork",
            Self::FromCase => "#i-file",
        }
    }

    /// The word beside the shape.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Satisfied => "satisfied",
            Self::Incorrect => "incorrect",
            Self::Absent => "absent",
            Self::Unsatisfied => "unsatisfied",
            Self::Unscored => "unscored",
            Self::Skipped => "skipped",
            Self::Error => "error",
            Self::NeedsALook => "needs a look",
            Self::Flaky => "flaky",
            Self::Credited => "credited",
            Self::Misattributed => "misattributed",
            Self::Uncited => "uncited",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Recorded => "recorded",
            Self::Grading => "grading",
            Self::Green => "green",
            Self::Red => "red",
            Self::Cancelled => "cancelled",
            Self::NotRun => "not run",
            Self::Done => "done",
            Self::Incomplete => "incomplete",
            Self::Paused => "paused",
            Self::Unreviewed => "Unreviewed",
            Self::ReviewRequested => "Review requested",
            Self::ChangesRequested => "Changes requested",
            Self::Approved => "Approved",
            Self::Better => "real, better",
            Self::Worse => "real, worse",
            Self::NoEvidence => "no evidence of a difference",
            Self::TooFew => "too few cases",
            Self::RulerMoved => "ruler moved",
            Self::Met => "met",
            Self::NotMet => "not met",
            Self::ConfigurationError => "configuration error",
            Self::BelowThreshold => "below threshold",
            Self::Matched => "matched",
            Self::Mismatch => "args mismatch",
            Self::FromOverlay => "from an overlay",
            Self::FromCase => "from the case",
        }
    }

    /// The role that colours it.
    pub const fn tone(self) -> Tone {
        match self {
            Self::Satisfied
            | Self::Credited
            | Self::Green
            | Self::Better
            | Self::Met
            | Self::Matched => Tone::Sat,
            Self::Incorrect
            | Self::Unsatisfied
            | Self::Error
            | Self::Misattributed
            | Self::Red
            | Self::Worse
            | Self::NotMet
            | Self::ConfigurationError
            | Self::Mismatch => Tone::Inc,
            Self::Absent | Self::Uncited | Self::Unreviewed | Self::TooFew => Tone::Abs,
            Self::Unscored
            | Self::NeedsALook
            | Self::Flaky
            | Self::ChangesRequested
            | Self::RulerMoved
            | Self::Incomplete
            | Self::BelowThreshold => Tone::Look,
            Self::Running
            | Self::Recorded
            | Self::Grading
            | Self::ReviewRequested
            | Self::FromOverlay => Tone::Accent,
            Self::Approved => Tone::Seal,
            Self::Skipped
            | Self::Queued
            | Self::Cancelled
            | Self::NotRun
            | Self::Done
            | Self::Paused
            | Self::NoEvidence
            | Self::FromCase => Tone::Mute,
        }
    }

    const fn is_icon(self) -> bool {
        matches!(self, Self::Paused | Self::FromOverlay | Self::FromCase)
    }

    const fn breathes(self) -> bool {
        matches!(self, Self::Running | Self::Recorded | Self::Grading)
    }
}

impl Mark {
    /// The mark of a source verdict, which has words of its own.
    pub const fn source(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Satisfied => Self::Credited,
            Verdict::Incorrect => Self::Misattributed,
            Verdict::Absent => Self::Uncited,
        }
    }
}

impl From<Verdict> for Mark {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Satisfied => Self::Satisfied,
            Verdict::Incorrect => Self::Incorrect,
            Verdict::Absent => Self::Absent,
        }
    }
}

impl From<CheckVerdict> for Mark {
    fn from(verdict: CheckVerdict) -> Self {
        match verdict {
            CheckVerdict::Satisfied => Self::Satisfied,
            CheckVerdict::Unsatisfied => Self::Unsatisfied,
        }
    }
}

impl From<Colour> for Mark {
    fn from(colour: Colour) -> Self {
        match colour {
            Colour::Green => Self::Green,
            Colour::Red => Self::Red,
            Colour::Flaky => Self::Flaky,
            Colour::Unscored => Self::Unscored,
            Colour::Error => Self::Error,
            Colour::Cancelled => Self::Cancelled,
            Colour::Skipped => Self::Skipped,
            Colour::Open => Self::Running,
        }
    }
}

impl From<TrialState> for Mark {
    fn from(state: TrialState) -> Self {
        match state {
            TrialState::Queued => Self::Queued,
            TrialState::Running => Self::Running,
            TrialState::Recorded => Self::Recorded,
            TrialState::Grading => Self::Grading,
            TrialState::Done => Self::Done,
            TrialState::Error => Self::Error,
            TrialState::Cancelled | TrialState::Budget => Self::Cancelled,
        }
    }
}

impl From<ExperimentState> for Mark {
    fn from(state: ExperimentState) -> Self {
        match state {
            ExperimentState::Running => Self::Running,
            ExperimentState::Paused => Self::Paused,
            ExperimentState::Finished => Self::Done,
            ExperimentState::Cancelled => Self::Cancelled,
        }
    }
}

/// The shape alone, hidden from assistive technology: a word must stand beside it, or use [`Marked`] with `only_shape`.
#[component]
pub fn MarkShape(
    /// Which.
    mark: Mark,
    /// `sm` (12 px), `lg` (22 px), or nothing (15 px).
    #[prop(optional)]
    size: &'static str,
) -> impl IntoView {
    let class = format!(
        "{} {size}{}",
        if mark.is_icon() { "ic" } else { "mk" },
        if mark.breathes() { " live" } else { "" }
    );
    view! {
        <svg class=class aria-hidden="true">
            <use_ href=mark.href()/>
        </svg>
    }
}

/// Shape and word, coloured by role: `◉ satisfied`.
#[component]
pub fn Marked(
    /// Which.
    mark: Mark,
    /// Text instead of the mark's own word, e.g. "flaky, 2 of 3".
    #[prop(optional, into)]
    text: Option<String>,
    /// Keep the word for assistive technology and the hover title alone (grids).
    #[prop(optional)]
    only_shape: bool,
    /// `sm`, `lg`, or nothing.
    #[prop(optional)]
    size: &'static str,
    /// Further classes.
    #[prop(optional, into)]
    class: String,
) -> impl IntoView {
    let word = text.unwrap_or_else(|| mark.word().to_owned());
    let title = only_shape.then(|| word.clone());
    view! {
        <span class=format!("v {} {class}", mark.tone().class()) title=title>
            <MarkShape mark size/>
            <span class:sr-only=only_shape>{word}</span>
        </span>
    }
}
