//! Reading on after a syntax error (`cases.md`, Files: "parsing resumes at the next item of the list it broke").
//!
//! A part that does not parse is taken apart by its indentation, as a person would: a line with `- ` starts a list
//! item, a line with `key:` an entry, and deeper lines belong to the line above. Inside block structure this never
//! cuts a text in two, since text of several lines is indented deeper than its key. Each item is read on its own; the
//! smallest part that still fails carries the error.

use std::rc::Rc;

use super::build::{Piece, duplicate_key};
use super::{Reader, Stop};
use crate::limits;
use crate::node::{Entry, Kind, Node};
use crate::source::Span;
use crate::syntax::SyntaxError;

/// What could be read of a broken part.
pub(super) struct Recovered {
    /// Its tree, as far as it goes.
    pub node: Node,
    /// An error lies in it outside every list of its own: the item around it is broken.
    pub broken: bool,
}

/// Inside this many levels a broken part is taken apart; deeper ones fail as a whole.
const LEVELS: usize = 24;

/// A line that holds something, cut to the part at hand.
#[derive(Clone, Copy)]
struct Line {
    /// Where the line starts.
    start: usize,
    /// The first byte that is no blank.
    content: usize,
    /// Where the next line starts.
    next: usize,
    /// The column of `content`; a line with a tab in its indentation belongs to whatever is above it.
    column: usize,
}

impl Reader<'_> {
    /// Takes a broken document apart. `error` is what the parser said of the whole.
    pub(super) fn recover_document(
        &mut self,
        span: Span,
        error: SyntaxError,
    ) -> Result<Recovered, SyntaxError> {
        let body = self.body(span);
        let errors = self.errors.len();
        let mut recovered = self.recover(body, error.clone(), 0)?;
        if self.errors.len() == errors {
            // Each part alone is sound, so the fault lies between them.
            self.errors.push(error);
            recovered.broken = true;
        }
        Ok(recovered)
    }

    /// The document without its `---` line, directives and `...` line.
    fn body(&self, span: Span) -> Span {
        let source = self.source;
        let mut start = span.start as usize;
        for line in source.line_of(span.start)..source.line_count() {
            let line_span = source.line(line);
            if line_span.start >= span.end {
                break;
            }
            let text = source.slice(line_span);
            let text = text.trim_start_matches('\u{feff}');
            let mark = line_span.end as usize - text.len();
            if let Some(rest) = text.strip_prefix("---") {
                let rest = rest.trim_start();
                start = if rest.is_empty() || rest.starts_with('#') {
                    source.next_line_start(line)
                } else {
                    mark + 3
                };
                break;
            }
            if text.starts_with('%') || text.trim_start().starts_with('#') || text.trim().is_empty()
            {
                continue;
            }
            start = mark;
            break;
        }
        let text = source.slice(span);
        let mut end = span.end as usize;
        if let Some(last) = text.trim_end().rfind("\n...") {
            let tail = &text.trim_end()[last + 4..];
            if !tail.contains('\n')
                && tail.trim_start().is_empty() | tail.trim_start().starts_with('#')
            {
                end = span.start as usize + last + 1;
            }
        }
        Span::new(start.min(end), end)
    }

    fn recover(
        &mut self,
        span: Span,
        error: SyntaxError,
        depth: usize,
    ) -> Result<Recovered, SyntaxError> {
        let cost = u64::from(span.end - span.start);
        if depth >= LEVELS || self.budget.recovery_bytes < cost {
            return Ok(self.leaf(span, error));
        }
        self.budget.recovery_bytes -= cost;
        let lines = self.lines(span);
        let Some(first) = lines.first().copied() else {
            return Ok(self.leaf(span, error));
        };
        if first.column == usize::MAX {
            Ok(self.leaf(span, error))
        } else if self.is_item(first.content) {
            self.recover_list(&lines, span, depth)
        } else if self.key(first).is_some() {
            self.recover_mapping(&lines, span, depth)
        } else {
            Ok(self.leaf(span, error))
        }
    }

    fn leaf(&mut self, span: Span, error: SyntaxError) -> Recovered {
        self.errors.push(error);
        Recovered {
            node: Node {
                span,
                kind: Kind::Broken,
            },
            broken: true,
        }
    }

    fn recover_list(
        &mut self,
        lines: &[Line],
        span: Span,
        depth: usize,
    ) -> Result<Recovered, SyntaxError> {
        let column = lines[0].column;
        let mut items = Vec::new();
        let mut broken = false;
        let mut at = 0;
        while at < lines.len() {
            let first = lines[at];
            if self.errors.len() > limits::ERRORS {
                return Err(limits::too_many_errors(self.visible_line(first)));
            }
            let end = part_end(lines, at, span, |line| line.column > column);
            at = end.next;
            if !self.is_item(first.content) || first.column != column {
                // A line that belongs to no item: it breaks the item before it.
                let error = SyntaxError::new(
                    self.visible_line(first),
                    "This line belongs to no list item.",
                    "Indent it like the text of the item above, or start an item with `- `.",
                );
                self.errors.push(error);
                match items.last_mut() {
                    Some(last) => {
                        let last: &mut Node = last;
                        last.kind = Kind::Broken;
                    }
                    None => broken = true,
                }
                continue;
            }
            let content = Span::new(first.content + 1, end.byte);
            let piece = Piece::indented(content, first.column + 1);
            let written = Span::new(
                self.first_byte(content),
                content.start as usize + self.source.slice(content).trim_end().len(),
            );
            let item = match self.read(&piece, depth + 1) {
                Ok(built) if built.damaged => Node {
                    span: written,
                    kind: Kind::Broken,
                },
                Ok(built) => built.root,
                Err(Stop::Bound(error)) => return Err(error),
                Err(Stop::Syntax(error)) => {
                    let recovered = self.recover(content, error, depth + 1)?;
                    if recovered.broken {
                        Node {
                            span: written,
                            kind: Kind::Broken,
                        }
                    } else {
                        recovered.node
                    }
                }
            };
            items.push(item);
        }
        self.budget.charge(1, 0, span)?;
        Ok(Recovered {
            node: Node {
                span: self.written(span),
                kind: Kind::List(Rc::new(items)),
            },
            broken,
        })
    }

    fn recover_mapping(
        &mut self,
        lines: &[Line],
        span: Span,
        depth: usize,
    ) -> Result<Recovered, SyntaxError> {
        let column = lines[0].column;
        let mut entries: Vec<Entry> = Vec::new();
        let mut merged: Vec<Entry> = Vec::new();
        let mut broken = false;
        let mut at = 0;
        while at < lines.len() {
            let first = lines[at];
            if self.errors.len() > limits::ERRORS {
                return Err(limits::too_many_errors(self.visible_line(first)));
            }
            let end = part_end(lines, at, span, |line| {
                line.column > column || (line.column == column && self.is_item(line.content))
            });
            at = end.next;
            let part = Span::new(first.content, end.byte);
            let piece = Piece::indented(part, first.column);
            let aligned = first.column == column;
            match self.read(&piece, depth) {
                Ok(built) if aligned => {
                    broken |= built.damaged;
                    let merge = self.source.slice(part).starts_with("<<");
                    match built.root.kind {
                        Kind::Mapping(found) if merge => merged.extend(found.iter().cloned()),
                        Kind::Mapping(found) => {
                            for entry in found.iter() {
                                broken |= !self.push(&mut entries, entry.clone());
                            }
                        }
                        _ => {
                            let error = SyntaxError::new(
                                self.visible_line(first),
                                "Expected `key: value` here.",
                                "Align this line with the keys above, or indent it if it continues the text above.",
                            );
                            self.errors.push(error);
                            broken = true;
                        }
                    }
                }
                Ok(_) => {
                    let error = SyntaxError::new(
                        self.visible_line(first),
                        "Expected a key at the indentation of the keys above.",
                        "Align this line with the keys above it.",
                    );
                    self.errors.push(error);
                    broken = true;
                }
                Err(Stop::Bound(error)) => return Err(error),
                Err(Stop::Syntax(error)) => {
                    let Some((key, key_span, value)) =
                        self.key(first).filter(|_| aligned).and_then(|key| {
                            let value = self.block_value(first, key.1, end.byte)?;
                            Some((key.0, key.1, value))
                        })
                    else {
                        self.errors.push(error);
                        broken = true;
                        continue;
                    };
                    let recovered = self.recover(value, error, depth + 1)?;
                    broken |= recovered.broken;
                    let entry = Entry {
                        key: key.into(),
                        key_span,
                        value: recovered.node,
                    };
                    broken |= !self.push(&mut entries, entry);
                }
            }
        }
        for entry in merged {
            if !entries.iter().any(|own| own.key == entry.key) {
                entries.push(entry);
            }
        }
        self.budget.charge(1, 0, span)?;
        Ok(Recovered {
            node: Node {
                span: self.written(span),
                kind: Kind::Mapping(Rc::new(entries)),
            },
            broken,
        })
    }

    /// Adds an entry; false when its key was there before.
    fn push(&mut self, entries: &mut Vec<Entry>, entry: Entry) -> bool {
        if let Some(first) = entries.iter().find(|first| first.key == entry.key) {
            let error = duplicate_key(&entry.key, entry.key_span, first.key_span);
            self.errors.push(error);
            return false;
        }
        entries.push(entry);
        true
    }

    /// The lines of a part that hold something other than a comment.
    fn lines(&self, span: Span) -> Vec<Line> {
        let source = self.source;
        let mut lines = Vec::new();
        let first = source.line_of(span.start);
        for line in first..source.line_count() {
            let whole = source.line(line);
            if whole.start >= span.end {
                break;
            }
            let mark = usize::from(line == 0 && source.text.starts_with('\u{feff}')) * 3;
            let origin = whole.start as usize + mark;
            let start = origin.max(span.start as usize);
            let text = source.slice(Span::new(start, whole.end.min(span.end) as usize));
            let blanks = text.len() - text.trim_start_matches([' ', '\t']).len();
            let content = &text[blanks..];
            let tab = text[..blanks].contains('\t');
            if content.trim().is_empty() || content.starts_with('#') {
                continue;
            }
            lines.push(Line {
                start: origin,
                content: start + blanks,
                next: source.next_line_start(line).min(span.end as usize),
                column: if tab {
                    usize::MAX
                } else {
                    start + blanks - origin
                },
            });
        }
        lines
    }

    fn is_item(&self, at: usize) -> bool {
        self.source.text[at..]
            .strip_prefix('-')
            .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\r']))
    }

    /// The key that a line starts with: its text and its place.
    fn key(&self, line: Line) -> Option<(String, Span)> {
        let text = self.source.text.get(line.content..line.next)?.trim_end();
        let first = text.chars().next()?;
        if matches!(first, '"' | '\'') {
            let close = text[1..].find(first)? + 1;
            let rest = text[close + 1..].trim_start();
            let follows = rest == ":" || rest.starts_with(": ");
            let span = Span::new(line.content, line.content + close + 1);
            return follows.then(|| (text[1..close].to_owned(), span));
        }
        if "#&*!|>%@`{}[],?".contains(first) {
            return None;
        }
        let colon = text
            .find(": ")
            .or_else(|| text.ends_with(':').then(|| text.len() - 1))?;
        let key = text[..colon].trim_end();
        if key.is_empty() || key.contains(" #") {
            return None;
        }
        Some((
            key.to_owned(),
            Span::new(line.content, line.content + key.len()),
        ))
    }

    /// The lines below a key that has nothing beside it.
    fn block_value(&self, line: Line, key: Span, end: usize) -> Option<Span> {
        let rest = self.source.text.get(key.end as usize..line.next)?;
        let rest = rest.trim_start().strip_prefix(':')?.trim();
        let bare = rest.is_empty() || rest.starts_with('#');
        (bare && line.next < end).then(|| Span::new(line.next, end))
    }

    fn visible_line(&self, line: Line) -> Span {
        let text = self.source.text.get(line.content..line.next).unwrap_or("");
        Span::new(line.content, line.content + text.trim_end().len())
    }

    fn first_byte(&self, span: Span) -> usize {
        let text = self.source.slice(span);
        span.start as usize + (text.len() - text.trim_start().len()).min(text.trim_end().len())
    }

    /// A part without blanks around it.
    fn written(&self, span: Span) -> Span {
        let text = self.source.slice(span);
        Span::new(
            self.first_byte(span),
            span.start as usize + text.trim_end().len(),
        )
    }
}

struct PartEnd {
    /// The byte after the part.
    byte: usize,
    /// The index of the line after it.
    next: usize,
}

/// Where the part that starts at line `at` ends: before the next line that does not belong to it.
fn part_end(lines: &[Line], at: usize, span: Span, belongs: impl Fn(&Line) -> bool) -> PartEnd {
    let next = lines[at + 1..]
        .iter()
        .position(|line| !belongs(line))
        .map_or(lines.len(), |i| at + 1 + i);
    let byte = lines.get(next).map_or(span.end as usize, |line| line.start);
    PartEnd { byte, next }
}

const _: () = assert!(LEVELS < limits::DEPTH);
