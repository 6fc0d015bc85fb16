//! Diagnostics as data (`formats.md`, Lint). How they look on a terminal or in a page is for others.

use serde::{Deserialize, Serialize};

use crate::source::{Source, Span};

/// How much a diagnostic weighs (`cases.md`, Lint).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Refuses a sync.
    Error,
    /// Never fails a command unless it is asked to.
    Warning,
    /// For the editor and `--hints`.
    Hint,
}

impl Severity {
    /// As formats spell it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
}

/// A place in a file. Lines and columns are 1-based, columns in Unicode scalar values, bytes 0-based, ends exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are the format's own")]
pub struct Place {
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
    pub byte_start: u32,
    pub byte_end: u32,
}

impl Place {
    /// Works out lines and columns of a span.
    pub(crate) fn of(source: &Source<'_>, span: Span) -> Self {
        let (line, column) = source.position(span.start);
        let (end_line, end_column) = source.position(span.end);
        Self {
            line,
            column,
            end_line,
            end_column,
            byte_start: span.start,
            byte_end: span.end,
        }
    }

    /// The byte range.
    pub fn span(&self) -> Span {
        Span {
            start: self.byte_start,
            end: self.byte_end,
        }
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The code, e.g. `E-RUBRIC-SOURCE`.
    pub code: String,
    /// How much it weighs.
    pub severity: Severity,
    /// What is wrong, in the author's words.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The file as given.
    pub file: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
    /// The case it concerns, when it concerns one and its id can be read.
    pub case_id: Option<String>,
    /// The index of the document in its file.
    pub document: u32,
    /// JSON pointer of the value in its document.
    pub path: String,
    /// Other places that matter.
    pub related: Vec<Related>,
    /// A way to mend it.
    pub fix: Option<Fix>,
}

/// Another place that a finding speaks of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Related {
    /// Why it matters.
    pub message: String,
    /// The file as given.
    pub file: String,
    /// Where.
    #[serde(flatten)]
    pub place: Place,
}

/// Text edits that mend a finding, comments and order kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What the edits do.
    pub title: String,
    /// Whether they may be applied without asking.
    pub safe: bool,
    /// The edits, in file order, never overlapping.
    pub edits: Vec<Edit>,
}

/// One splice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// First byte replaced.
    pub byte_start: u32,
    /// One past the last byte replaced.
    pub byte_end: u32,
    /// What stands there instead.
    pub text: String,
}

impl Edit {
    /// Replaces a span.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self {
            byte_start: span.start,
            byte_end: span.end,
            text: text.into(),
        }
    }
}
