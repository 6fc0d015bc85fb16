//! The text of one case as a document of its own, comments kept (`cases.md`, Canonical content: "the original YAML text
//! of a case is kept beside the canonical form, and the browser editor edits that text").
//!
//! Reading the excerpt gives the same canonical content as the file does. What a case takes from elsewhere goes along:
//! a time limit from `defaults` is added as a line. A case that uses anchors of other places is printed anew, since its
//! text alone would not be whole.

use crate::node::Node;
use crate::print;
use crate::project::Unit;
use crate::source::{Source, Span};

/// The text of a case or overlay; `adopted` are the fields that it takes from the file's defaults.
pub(crate) fn of(unit: &Unit<'_>, adopted: &[&str]) -> String {
    let added: Vec<(&str, &Node)> = adopted
        .iter()
        .filter(|field| unit.node.get(field).is_none())
        .filter_map(|field| Some((*field, unit.defaults?.get(field)?)))
        .collect();
    let text = cut(unit, &added);
    text.unwrap_or_else(|| printed(unit, &added))
}

fn printed(unit: &Unit<'_>, added: &[(&str, &Node)]) -> String {
    let mut value = unit.node.to_json().unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        for (field, node) in added {
            map.insert((*field).to_owned(), node.to_json().unwrap_or_default());
        }
    }
    print::yaml(&value)
}

/// The author's own text, moved to the left margin. `None` when it cannot stand alone.
fn cut(unit: &Unit<'_>, added: &[(&str, &Node)]) -> Option<String> {
    let source = unit.source;
    let node = unit.node;
    let whole = written(source, node);
    if node.borrows(whole) || source.slice(node.span).starts_with('*') {
        return None;
    }
    // Text that keeps its trailing blank lines reaches beyond what is cut.
    if keeps_blanks(source.slice(node.span)) {
        return None;
    }
    let flow = source.slice(node.span).starts_with('{');
    let body = if flow {
        let inner = source.slice(node.span);
        if added.is_empty() {
            format!("{inner}\n")
        } else {
            // A flow mapping has no line to add, so the field goes in before the closing brace.
            let open = inner.strip_suffix('}')?.trim_end();
            let comma = if open.ends_with(['{', ',']) { "" } else { "," };
            let fields: Vec<String> = added
                .iter()
                .map(|(field, node)| {
                    Some(format!(" {}: {}", print_key(field, source), inline(node)?))
                })
                .collect::<Option<_>>()?;
            format!("{open}{comma}{}}}\n", fields.join(","))
        }
    } else {
        let mut body = dedented(source, node)?;
        for (field, node) in added {
            body.push_str(&format!(
                "{field}: {}  # from the defaults of the file\n",
                inline(node)?
            ));
        }
        body
    };
    Some(format!("{}{body}", comments_above(unit)))
}

/// Whether a block scalar header may ask to keep trailing blank lines (`|+`, `>2+`, `|+2`).
fn keeps_blanks(text: &str) -> bool {
    text.match_indices('+').any(|(at, _)| {
        let before = text[..at].trim_end_matches(|c: char| c.is_ascii_digit());
        before.ends_with(['|', '>'])
    })
}

fn print_key(field: &str, source: &Source<'_>) -> String {
    if source.path.ends_with(".json") {
        format!("\"{field}\"")
    } else {
        field.to_owned()
    }
}

fn inline(node: &Node) -> Option<String> {
    Some(node.to_json()?.to_string())
}

/// The node's lines in full, so that anchors and tags before a value count as its own.
fn written(source: &Source<'_>, node: &Node) -> Span {
    let last = source.line(source.line_of(node.span.end));
    Span {
        start: node.span.start,
        end: last.end.max(node.span.end),
    }
}

/// The lines of a block mapping, each with the mapping's own indentation removed.
fn dedented(source: &Source<'_>, node: &Node) -> Option<String> {
    let first = source.line_of(node.span.start);
    let last = last_line(source, node);
    let column = (node.span.start - source.line(first).start) as usize;
    let column = if first == 0 && source.text.starts_with('\u{feff}') {
        column.checked_sub(3)?
    } else {
        column
    };
    let mut out = String::new();
    for line in first..=last {
        let span = source.line(line);
        let text = if line == first {
            source.slice(Span {
                start: node.span.start,
                end: span.end,
            })
        } else {
            let text = source.slice(span);
            let blanks = text.len() - text.trim_start_matches(' ').len();
            let content = &text[blanks..];
            if blanks < column && !content.is_empty() && !content.starts_with('#') {
                return None;
            }
            &text[blanks.min(column)..]
        };
        out.push_str(text);
        out.push('\n');
    }
    Some(out)
}

/// The last line of a block mapping: comments below it that are indented like it belong to it.
fn last_line(source: &Source<'_>, node: &Node) -> usize {
    let first = source.line_of(node.span.start);
    let column = (node.span.start - source.line(first).start) as usize;
    let mut last = source.line_of(node.span.end.saturating_sub(1).max(node.span.start));
    for line in last + 1..source.line_count() {
        let text = source.slice(source.line(line));
        let content = text.trim_start_matches(' ');
        if content.is_empty() {
            continue;
        }
        if !content.starts_with('#') || text.len() - content.len() < column || column == 0 {
            break;
        }
        last = line;
    }
    last
}

/// The block of comment lines right above a case, at the left margin.
fn comments_above(unit: &Unit<'_>) -> String {
    let source = unit.source;
    let first = source.line_of(unit.node.span.start);
    let before = source.slice(Span {
        start: source.line(first).start,
        end: unit.node.span.start,
    });
    if !before.trim_start_matches(['-', ' ', '\u{feff}']).is_empty() {
        return String::new();
    }
    let indent = before.len() - before.trim_start_matches(['\u{feff}', ' ']).len();
    let floor = source.line_of(Span::new(unit.after, unit.after).start);
    // The first line of a document may be a comment of the case; the line on which the item before ends may not.
    let lowest = if unit.pointer.is_empty() {
        floor
    } else {
        floor + 1
    };
    let mut start = first;
    while start > lowest {
        let text = source.slice(source.line(start - 1));
        let content = text.trim_start_matches(['\u{feff}', ' ']);
        // A comment that is indented further belongs to the item before.
        if !content.starts_with('#') || text.len() - content.len() > indent {
            break;
        }
        start -= 1;
    }
    (start..first)
        .map(|line| {
            let text = source.slice(source.line(line));
            format!("{}\n", text.trim_start_matches(['\u{feff}', ' ']))
        })
        .collect()
}
