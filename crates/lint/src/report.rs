//! The whole run: files in, diagnostics and what is sound out.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use evalkit_core::case::Case;
use evalkit_core::overlay::Overlay;
use serde::{Deserialize, Serialize};

use crate::allow::Allowed;
use crate::diagnostic::{Diagnostic, Severity};
use crate::document::{self, File};
use crate::facts::LintFacts;
use crate::lower::{self, FixtureEntry};
use crate::project::Sink;
use crate::source::{Source, SourceFile, Span};
use crate::syntax::{Parsed, SyntaxError};
use crate::{excerpt, json, limits, rules, yaml};

/// The schema of the JSON output.
pub const LINT_SCHEMA: &str = "evalkit.lint/1";

/// What lint found and understood.
#[derive(Debug, Clone, PartialEq)]
pub struct LintReport {
    /// Sorted by file, position, code. Hints are among them; callers leave them out where nobody asked.
    pub diagnostics: Vec<Diagnostic>,
    /// What no error was reported about.
    pub dataset: ParsedDataset,
}

impl LintReport {
    /// Whether there is an error, which refuses a sync.
    pub fn has_errors(&self) -> bool {
        self.count(Severity::Error) > 0
    }

    /// How many diagnostics weigh this much.
    pub fn count(&self, severity: Severity) -> usize {
        self.diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == severity)
            .count()
    }

    /// The JSON output (`formats.md`, Lint); `hints` says whether hints are shown.
    pub fn document(&self, files: usize, hints: bool) -> LintDocument {
        let shown = |d: &&Diagnostic| hints || d.severity != Severity::Hint;
        LintDocument {
            schema: LINT_SCHEMA.to_owned(),
            files,
            errors: self.count(Severity::Error),
            warnings: self.count(Severity::Warning),
            hints: if hints { self.count(Severity::Hint) } else { 0 },
            diagnostics: self.diagnostics.iter().filter(shown).cloned().collect(),
        }
    }
}

/// The cases, overlays and fixtures of a dataset, as far as they are sound.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedDataset {
    /// In file order; of two with one id, the first.
    pub cases: Vec<ParsedCase>,
    /// In file order.
    pub overlays: Vec<ParsedOverlay>,
    /// By key.
    pub registry: BTreeMap<String, FixtureEntry>,
}

/// A case with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedCase {
    /// Defaults folded in, fixture keys resolved.
    pub case: Case,
    /// The author's text as a document of its own, comments kept. Reading it gives the same content.
    pub yaml: String,
    /// The file it stands in.
    pub file: String,
    /// Where in the file.
    pub span: Span,
}

/// An overlay with its text.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedOverlay {
    /// Defaults folded in.
    pub overlay: Overlay,
    /// The author's text, comments kept, as an item of an `overlays` list would stand at the left margin.
    pub yaml: String,
    /// The file it stands in.
    pub file: String,
    /// Where in the file.
    pub span: Span,
}

/// `evalkit lint --format json` (`formats.md`, Lint).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LintDocument {
    /// [`LINT_SCHEMA`].
    pub schema: String,
    /// How many files were read.
    pub files: usize,
    /// How many errors.
    pub errors: usize,
    /// How many warnings.
    pub warnings: usize,
    /// How many hints; zero when they are not shown.
    pub hints: usize,
    /// Sorted by file, position, code.
    pub diagnostics: Vec<Diagnostic>,
}

/// Lints files together, as one dataset. Files come in path order; `facts` say what is known beside them.
pub fn lint(files: &[SourceFile], facts: &LintFacts) -> LintReport {
    let mut total = 0usize;
    let files: Vec<File<'_>> = files
        .iter()
        .map(|file| {
            let before = total;
            total = total.saturating_add(file.bytes.len());
            read(file, before)
        })
        .collect();
    let mut sink = Sink::default();
    let project = document::collect(&files, facts, &mut sink);
    rules::run(&project, &mut sink);

    let registry = lower::registry(&project, &sink);
    let mut cases = Vec::new();
    for unit in project.cases.iter().filter(|unit| sink.is_sound(unit)) {
        if let Some(case) = lower::case(unit, &registry) {
            cases.push(ParsedCase {
                case,
                yaml: excerpt::of(unit, &["max_response_time"]),
                file: unit.source.path.to_owned(),
                span: unit.node.span,
            });
        }
    }
    let mut overlays = Vec::new();
    for unit in project.overlays.iter().filter(|unit| sink.is_sound(unit)) {
        if let Some(overlay) = lower::overlay(unit) {
            overlays.push(ParsedOverlay {
                overlay,
                yaml: excerpt::of(unit, &["agents"]),
                file: unit.source.path.to_owned(),
                span: unit.node.span,
            });
        }
    }
    LintReport {
        diagnostics: finish(sink.into_found(), &files),
        dataset: ParsedDataset {
            cases,
            overlays,
            registry,
        },
    }
}

/// What a file says, as JSON: one value a document. `None` when a part cannot be read.
pub fn documents(file: &SourceFile) -> Option<Vec<serde_json::Value>> {
    let file = read(file, 0);
    if !file.parsed.errors.is_empty() {
        return None;
    }
    let documents = file.parsed.documents.iter();
    documents.map(|document| document.root.to_json()).collect()
}

/// Drops what is silenced or said twice (an alias repeats its value), and sorts.
fn finish(mut found: Vec<Diagnostic>, files: &[File<'_>]) -> Vec<Diagnostic> {
    let mut allowed: HashMap<&str, Allowed> = HashMap::new();
    if found.iter().any(|d| d.severity != Severity::Error) {
        for file in files {
            let read = Allowed::read(&file.source, &file.parsed.comments);
            allowed.insert(file.source.path, read);
        }
    }
    found.retain(|diagnostic| {
        !allowed
            .get(diagnostic.file.as_str())
            .is_some_and(|allowed| allowed.silences(diagnostic))
    });
    found.sort_by(|a, b| {
        let key = |d: &Diagnostic| (d.place.byte_start, d.place.byte_end);
        a.file
            .cmp(&b.file)
            .then_with(|| key(a).cmp(&key(b)))
            .then_with(|| a.code.cmp(&b.code))
            .then_with(|| a.message.cmp(&b.message))
            .then_with(|| a.path.cmp(&b.path))
    });
    found.dedup_by(|a, b| {
        a.file == b.file && a.place == b.place && a.code == b.code && a.message == b.message
    });
    found
}

/// Reads one file; `before` bytes were read of other files.
fn read(file: &SourceFile, before: usize) -> File<'_> {
    let json = file.is_json();
    let registry = file.name() == "fixtures.yaml";
    let refused = |error: SyntaxError| Parsed {
        errors: vec![error],
        ..Parsed::default()
    };
    let path = file.path.as_str();
    let empty = || Source::new(path, Cow::Borrowed(""));
    let nowhere = Span::default();
    let (source, parsed) = if file.bytes.len() > limits::FILE_BYTES {
        let error = limits::exceeded(nowhere, "8 MiB a file", "Split the file.");
        (empty(), refused(error))
    } else if before.saturating_add(file.bytes.len()) > limits::SYNC_BYTES {
        let error = limits::exceeded(
            nowhere,
            "64 MiB for all files of a sync",
            "Split the dataset.",
        );
        (empty(), refused(error))
    } else {
        match std::str::from_utf8(&file.bytes) {
            Ok(text) => {
                let source = Source::new(path, Cow::Borrowed(text));
                let parsed = if json {
                    json::parse(&source)
                } else {
                    yaml::parse(&source)
                };
                (source, parsed)
            }
            Err(error) => {
                let valid = file.bytes.get(..error.valid_up_to()).unwrap_or_default();
                let source = Source::new(path, String::from_utf8_lossy(valid));
                let end = source.text.len();
                let utf16 =
                    file.bytes.starts_with(&[0xFF, 0xFE]) || file.bytes.starts_with(&[0xFE, 0xFF]);
                let message = if utf16 {
                    "The file is UTF-16, and cases are UTF-8."
                } else {
                    "Here stands a byte that is not UTF-8."
                };
                let help = "Save the file as UTF-8.";
                let error = SyntaxError::new(Span::new(end, end), message, help);
                (source, refused(error))
            }
        }
    };
    File {
        source,
        parsed,
        json,
        registry,
    }
}
