//! Diagnostics in print: for people, for machines, for a GitHub workflow.

use std::collections::HashMap;
use std::fmt::Write as _;

use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use evalkit_lint::{Diagnostic, LintDocument, Severity, SourceFile};

use crate::console::visible;

/// Lines shown around what is underlined.
const AROUND: usize = 1;

/// A line longer than this is not shown, only its place.
const LONGEST_LINE: usize = 4_000;

/// For people: each finding with its lines underlined, then the counts.
pub(crate) fn text(document: &LintDocument, files: &[SourceFile], colour: bool) -> String {
    let mut out = String::new();
    let renderer = if colour {
        Renderer::styled()
    } else {
        Renderer::plain()
    };
    let texts: HashMap<&str, &str> = files
        .iter()
        .filter_map(|file| Some((file.path.as_str(), std::str::from_utf8(&file.bytes).ok()?)))
        .collect();
    for diagnostic in &document.diagnostics {
        let source = texts.get(diagnostic.file.as_str()).copied().unwrap_or("");
        out.push_str(&one(&renderer, diagnostic, source));
        out.push_str("\n\n");
    }
    out.push_str(&summary(document));
    out.push('\n');
    out
}

/// "3 files: 1 error, 2 warnings".
pub(crate) fn summary(document: &LintDocument) -> String {
    let mut parts = Vec::new();
    for (n, word) in [
        (document.errors, "error"),
        (document.warnings, "warning"),
        (document.hints, "hint"),
    ] {
        if n > 0 {
            parts.push(count(n, word));
        }
    }
    let files = count(document.files, "file");
    if parts.is_empty() {
        format!("{files}: clean")
    } else {
        format!("{files}: {}", parts.join(", "))
    }
}

/// "1 error", "2 errors".
pub(crate) fn count(n: usize, word: &str) -> String {
    if n == 1 {
        format!("1 {word}")
    } else {
        format!("{n} {word}s")
    }
}

fn one(renderer: &Renderer, diagnostic: &Diagnostic, source: &str) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Hint => Level::NOTE.with_name("hint"),
    };
    let message = visible(&diagnostic.message);
    let file = visible(&diagnostic.file);
    let help = visible(&diagnostic.help);
    let title = level.primary_title(&*message).id(&*diagnostic.code);
    let window = window(source, diagnostic);
    let mut group = match &window {
        Some(window) => title.element(
            Snippet::source(&*window.text)
                .line_start(window.first_line)
                .path(&*file)
                .annotation(AnnotationKind::Primary.span(window.underlined.clone())),
        ),
        None => title.element(
            annotate_snippets::Origin::path(&*file)
                .line(diagnostic.place.line as usize)
                .char_column(diagnostic.place.column as usize),
        ),
    };
    group = group.element(Level::HELP.message(&*help));
    for related in &diagnostic.related {
        let text = format!(
            "{}:{}:{}: {}",
            visible(&related.file),
            related.place.line,
            related.place.column,
            visible(&related.message)
        );
        group = group.element(Level::NOTE.message(text));
    }
    renderer.render(&[group])
}

struct Window {
    text: String,
    first_line: usize,
    underlined: std::ops::Range<usize>,
}

/// The lines of a finding with one around each side. What is underlined is cut to its first line.
fn window(source: &str, diagnostic: &Diagnostic) -> Option<Window> {
    let place = &diagnostic.place;
    let start = place.byte_start as usize;
    source.get(..start)?;
    let line_start = |at: usize| source[..at].rfind(['\n', '\r']).map_or(0, |i| i + 1);
    let line_end = |at: usize| {
        source[at..]
            .find(['\n', '\r'])
            .map_or(source.len(), |i| at + i)
    };
    let mut from = line_start(start);
    let mut first_line = place.line as usize;
    for _ in 0..AROUND {
        if from == 0 || first_line == 1 {
            break;
        }
        let before = if source[..from].ends_with("\r\n") {
            from - 2
        } else {
            from - 1
        };
        from = line_start(before);
        first_line -= 1;
    }
    let end = line_end(start);
    let mut to = end;
    for _ in 0..AROUND {
        if to == source.len() {
            break;
        }
        let next = if source[to..].starts_with("\r\n") {
            to + 2
        } else {
            to + 1
        };
        to = line_end(next);
    }
    if to - from > LONGEST_LINE {
        return None;
    }
    let stop = (place.byte_end as usize).min(end).max(start);
    let text = visible(source.get(from..to)?).replace('\u{feff}', "   ");
    Some(Window {
        text,
        first_line,
        underlined: start - from..stop - from,
    })
}

/// Annotations of a GitHub workflow (`::error file=…`).
pub(crate) fn github(document: &LintDocument) -> String {
    let mut out = String::new();
    for diagnostic in &document.diagnostics {
        let level = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Hint => "notice",
        };
        let place = &diagnostic.place;
        // Writing into a string cannot fail.
        let _ = writeln!(
            out,
            "::{level} file={},line={},endLine={},col={},endColumn={},title={}::{}",
            property(&diagnostic.file),
            place.line,
            place.end_line,
            place.column,
            place.end_column,
            property(&diagnostic.code),
            data(&format!("{}\n{}", diagnostic.message, diagnostic.help)),
        );
    }
    out
}

fn data(text: &str) -> String {
    visible(text)
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
