//! Text edits for fixes: quoting a value, removing an entry. They touch nothing else, so comments and order stay.

use crate::diagnostic::Edit;
use crate::node::Entry;
use crate::source::{Source, Span};

/// Text as a double-quoted scalar, which YAML and JSON read alike.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a value is written in place: no alias, and on one line.
pub(crate) fn is_inline(source: &Source<'_>, span: Span) -> bool {
    let text = source.slice(span);
    !text.is_empty() && !text.starts_with('*') && !text.contains(['\n', '\r'])
}

/// The edit that removes an entry from its mapping, when that can be said in one splice.
pub(crate) fn remove_entry(source: &Source<'_>, entries: &[Entry], key: &str) -> Option<Edit> {
    let at = entries.iter().position(|entry| &*entry.key == key)?;
    let entry = &entries[at];
    let end = entry.value.span.end.max(entry.key_span.end);
    let line = source.line(source.line_of(entry.key_span.start));
    let before = source.slice(Span {
        start: line.start,
        end: entry.key_span.start,
    });
    let last_line = source.line(source.line_of(end));
    let after = source.slice(Span {
        start: end,
        end: last_line.end,
    });
    if before.trim().is_empty() && after.trim().is_empty() {
        // Lines of its own: they go, line break included.
        let next = source.next_line_start(source.line_of(end));
        return Some(Edit::new(Span::new(line.start as usize, next), ""));
    }
    let neighbour = |entry: &Entry| entry.key_span.start >= line.start;
    if let Some(next) = entries.get(at + 1).filter(|next| next.key_span.start > end) {
        // First on its line, or inside braces: everything up to the next key.
        let span = Span {
            start: entry.key_span.start,
            end: next.key_span.start,
        };
        let clean = !source
            .slice(Span {
                start: end,
                end: span.end,
            })
            .contains('#');
        return clean.then(|| Edit::new(span, ""));
    }
    let previous = at
        .checked_sub(1)
        .map(|i| &entries[i])
        .filter(|e| neighbour(e))?;
    let start = previous.value.span.end.max(previous.key_span.end);
    (start < entry.key_span.start).then(|| Edit::new(Span { start, end }, ""))
}
