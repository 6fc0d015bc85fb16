//! Parser events into a tree, with anchors, aliases, merge keys, tags and bounds.

use std::collections::HashMap;
use std::rc::Rc;

use granit_parser::{Event, Parser, ScalarStyle, Tag, options};

use super::{Reader, Stop, message};
use crate::limits::{self, Weight};
use crate::node::{Entry, Kind, Node};
use crate::scalar;
use crate::source::Span;
use crate::syntax::{Comment, SyntaxError};

/// A part of a file that is read on its own, indented as it stands in the file.
pub(super) struct Piece {
    span: Span,
    /// Columns of the first line that lie before the piece.
    pad: usize,
}

impl Piece {
    /// A part that starts at the start of a line.
    pub(super) fn whole(span: Span) -> Self {
        Self { span, pad: 0 }
    }

    /// A part that starts `pad` columns into its line.
    pub(super) fn indented(span: Span, pad: usize) -> Self {
        Self { span, pad }
    }

    fn offset(&self, in_piece: usize) -> usize {
        self.span.start as usize + in_piece.saturating_sub(self.pad)
    }

    fn map(&self, span: granit_parser::Span) -> Span {
        let range = span.byte_range().unwrap_or(0..0);
        Span::new(self.offset(range.start), self.offset(range.end))
    }
}

/// What a piece came out as.
pub(super) struct Built {
    /// Its tree; null for a piece without content.
    pub root: Node,
    /// An error lies outside every list.
    pub damaged: bool,
}

/// A value that has an anchor.
#[derive(Debug, Clone)]
pub(super) struct Anchored {
    node: Node,
    weight: Weight,
}

struct Frame {
    shape: Shape,
    start: u32,
    end: u32,
    anchor: usize,
    nodes_before: u64,
    bytes_before: u64,
    height: usize,
}

enum Shape {
    List {
        items: Vec<Node>,
        broken: bool,
    },
    Mapping {
        entries: Vec<Entry>,
        seen: HashMap<Box<str>, usize>,
        key: Option<Key>,
        merges: Vec<Node>,
    },
}

struct Key {
    /// `None` for a key that cannot be used.
    text: Option<Box<str>>,
    span: Span,
    merge: bool,
}

/// Below this many keys a mapping is searched, above it they are hashed, with the index of each.
const HASHED_FROM: usize = 12;

struct Builder<'r, 's> {
    reader: &'r mut Reader<'s>,
    piece: &'r Piece,
    depth: usize,
    stack: Vec<Frame>,
    root: Option<Node>,
    damaged: bool,
    anchored: HashMap<usize, Anchored>,
    names: Vec<(String, usize)>,
}

impl Reader<'_> {
    /// Reads one piece; `depth` collections lie around it. When it fails, no trace of the attempt is left.
    pub(super) fn read(&mut self, piece: &Piece, depth: usize) -> Result<Built, Stop> {
        let (budget, errors, comments) = (self.budget, self.errors.len(), self.comments.len());
        let result = self.build(piece, depth);
        if let Err(Stop::Syntax(_)) = result {
            let recovery_bytes = self.budget.recovery_bytes;
            self.budget = budget;
            self.budget.recovery_bytes = recovery_bytes;
            self.errors.truncate(errors);
            self.comments.truncate(comments);
        }
        result
    }

    fn build(&mut self, piece: &Piece, depth: usize) -> Result<Built, Stop> {
        let source = self.source;
        let slice = source.slice(piece.span);
        let padded;
        let text = if piece.pad == 0 {
            slice
        } else {
            padded = format!("{}{slice}", " ".repeat(piece.pad));
            &padded
        };
        let options = options! {
            emit_anchor_events: true,
            emit_unresolved_aliases: true,
            max_buffered_comment_events: 1_000_000,
            flow_nesting_limit: limits::DEPTH + 1,
            block_nesting_limit: limits::DEPTH + 1,
        };
        let mut builder = Builder {
            reader: self,
            piece,
            depth,
            stack: Vec::new(),
            root: None,
            damaged: false,
            anchored: HashMap::new(),
            names: Vec::new(),
        };
        for next in Parser::new_from_str_with_options(text, options) {
            match next {
                Ok((event, span)) => builder.event(event, span)?,
                Err(error) => {
                    let offset = error.marker().byte_offset().unwrap_or(0);
                    let at = piece.offset(offset);
                    return Err(Stop::Syntax(message::of(source, at, error.kind())));
                }
            }
        }
        let Builder {
            root,
            damaged,
            mut anchored,
            names,
            ..
        } = builder;
        for (name, id) in names {
            if let Some(value) = anchored.remove(&id) {
                self.anchors.insert(name, value);
            }
        }
        let at = piece.offset(piece.pad);
        Ok(Built {
            root: root.unwrap_or_else(|| Node::null(Span::new(at, at))),
            damaged,
        })
    }
}

impl Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>, span: granit_parser::Span) -> Result<(), Stop> {
        let at = self.piece.map(span);
        if self.reader.errors.len() > limits::ERRORS {
            let error = limits::too_many_errors(self.visible(at));
            return Err(Stop::Bound(error));
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let kind = self.scalar(&text, style, tag.as_deref(), at, span);
                let bytes = text.len() as u64;
                self.charge(1, bytes, at)?;
                let at = match style {
                    ScalarStyle::Literal | ScalarStyle::Folded => {
                        let written = self.reader.source.slice(at).trim_end().len();
                        Span::new(at.start as usize, at.start as usize + written)
                    }
                    _ => at,
                };
                let node = Node { span: at, kind };
                if anchor > 0 {
                    let weight = Weight {
                        nodes: 1,
                        scalar_bytes: bytes,
                        height: 0,
                    };
                    let node = node.clone();
                    self.anchored.insert(anchor, Anchored { node, weight });
                }
                let plain = style == ScalarStyle::Plain && tag.is_none();
                self.add(node, plain && text == "<<", 0)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "seq", at, span);
                self.open(
                    Shape::List {
                        items: Vec::new(),
                        broken: false,
                    },
                    at,
                    anchor,
                )
            }
            Event::MappingStart(_, anchor, tag) => {
                self.collection_tag(tag.as_deref(), "map", at, span);
                self.open(
                    Shape::Mapping {
                        entries: Vec::new(),
                        seen: HashMap::new(),
                        key: None,
                        merges: Vec::new(),
                    },
                    at,
                    anchor,
                )
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Anchor(id, name) => {
                self.names.push((name.into_owned(), id));
                Ok(())
            }
            Event::Alias(id) => {
                let target = self.anchored.get(&id).cloned();
                self.alias(target, at)
            }
            Event::UnresolvedAlias(name) => {
                let target = self.reader.anchors.get(&*name).cloned();
                self.alias(target, at)
            }
            Event::Comment(text, _) => {
                if text.chars().any(|c| c.is_control() && c != '\t') {
                    self.fault(SyntaxError::new(
                        at,
                        "A control character stands in this comment.",
                        "Remove it.",
                    ));
                }
                self.reader.comments.push(Comment { span: at });
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn charge(&mut self, nodes: u64, bytes: u64, at: Span) -> Result<(), Stop> {
        self.reader
            .budget
            .charge(nodes, bytes, at)
            .map_err(Stop::Bound)
    }

    fn open(&mut self, shape: Shape, at: Span, anchor: usize) -> Result<(), Stop> {
        self.charge(1, 0, at)?;
        if self.depth + self.stack.len() >= limits::DEPTH {
            return Err(Stop::Syntax(limits::too_deep(self.visible(at))));
        }
        self.stack.push(Frame {
            shape,
            start: at.start,
            end: at.end,
            anchor,
            nodes_before: self.reader.budget.nodes - 1,
            bytes_before: self.reader.budget.scalar_bytes,
            height: 1,
        });
        Ok(())
    }

    fn close(&mut self, at: Span) -> Result<(), Stop> {
        let Some(frame) = self.stack.pop() else {
            return Ok(());
        };
        // The end of a block collection is reported where the next token starts; its own text ends with its last part.
        let end = if at.start < at.end { at.end } else { frame.end };
        let span = Span {
            start: frame.start,
            end,
        };
        let kind = match frame.shape {
            Shape::List { items, .. } => Kind::List(Rc::new(items)),
            Shape::Mapping {
                mut entries,
                seen,
                merges,
                ..
            } => {
                self.merge(&mut entries, seen, &merges, span)?;
                Kind::Mapping(Rc::new(entries))
            }
        };
        let node = Node { span, kind };
        if frame.anchor > 0 {
            let weight = Weight {
                nodes: self.reader.budget.nodes - frame.nodes_before,
                scalar_bytes: self.reader.budget.scalar_bytes - frame.bytes_before,
                height: frame.height,
            };
            let node = node.clone();
            self.anchored
                .insert(frame.anchor, Anchored { node, weight });
        }
        self.add(node, false, frame.height)
    }

    /// Entries that come by `<<`: what the mapping says itself wins, then the first of several.
    fn merge(
        &mut self,
        entries: &mut Vec<Entry>,
        mut seen: HashMap<Box<str>, usize>,
        merges: &[Node],
        at: Span,
    ) -> Result<(), Stop> {
        if merges.is_empty() {
            return Ok(());
        }
        seen.extend(entries.iter().map(|entry| (entry.key.clone(), 0)));
        for merged in merges.iter().filter_map(Node::mapping).flatten() {
            self.charge(1, 0, at)?;
            if seen.insert(merged.key.clone(), 0).is_none() {
                entries.push(merged.clone());
            }
        }
        Ok(())
    }

    fn alias(&mut self, target: Option<Anchored>, at: Span) -> Result<(), Stop> {
        let Some(target) = target else {
            let name = self.reader.source.slice(at).trim_start_matches('*');
            let error = SyntaxError::new(
                at,
                format!("Nothing above is anchored as `&{name}`."),
                format!(
                    "Put `&{name}` before the value that this alias repeats, or write the value out."
                ),
            );
            self.fault(error);
            return self.add(Node::null(at), false, 0);
        };
        self.reader
            .budget
            .charge_alias(target.weight, at)
            .map_err(Stop::Bound)?;
        if self.depth + self.stack.len() + target.weight.height > limits::DEPTH {
            return Err(Stop::Syntax(limits::too_deep(at)));
        }
        let node = Node {
            span: at,
            kind: target.node.kind,
        };
        self.add(node, false, target.weight.height)
    }

    /// Hands a finished value to what is open around it. `height` counts the collections inside it.
    fn add(&mut self, node: Node, merge_key: bool, height: usize) -> Result<(), Stop> {
        let Some(frame) = self.stack.last_mut() else {
            self.root = Some(node);
            return Ok(());
        };
        frame.end = frame.end.max(node.span.end);
        frame.height = frame.height.max(height + 1);
        let fault = match &mut frame.shape {
            Shape::List { items, broken } => {
                let broken = std::mem::take(broken);
                items.push(if broken {
                    Node {
                        span: node.span,
                        kind: Kind::Broken,
                    }
                } else {
                    node
                });
                None
            }
            Shape::Mapping {
                entries,
                seen,
                key,
                merges,
            } => match key.take() {
                None => {
                    let (pending, fault) =
                        read_key(self.reader.source.slice(node.span), &node, merge_key);
                    *key = Some(pending);
                    fault
                }
                Some(pending) => place(entries, seen, merges, pending, node),
            },
        };
        if let Some(error) = fault {
            self.fault(error);
        }
        Ok(())
    }

    /// Records an error that the parser itself does not see, and breaks the innermost list item around it.
    fn fault(&mut self, error: SyntaxError) {
        self.reader.errors.push(error);
        for frame in self.stack.iter_mut().rev() {
            if let Shape::List { broken, .. } = &mut frame.shape {
                *broken = true;
                return;
            }
        }
        self.damaged = true;
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
        at: Span,
        span: granit_parser::Span,
    ) -> Kind {
        if text.contains('\0') {
            self.fault(SyntaxError::new(
                at,
                "The character U+0000 is not allowed in a case.",
                "Remove it.",
            ));
            return Kind::Null;
        }
        let implicit = style == ScalarStyle::Plain && at.start == at.end;
        let Some(tag) = tag else {
            return match style {
                ScalarStyle::Plain if implicit => Kind::Null,
                ScalarStyle::Plain => scalar::resolve(text),
                _ => Kind::Text(text.into()),
            };
        };
        let text = if implicit { "" } else { text };
        if tag.handle() == "!" && tag.suffix().is_empty() || tag.original() == "!" {
            return Kind::Text(text.into());
        }
        let resolved = match tag.core_suffix() {
            Some("str") => Some(Kind::Text(text.into())),
            Some("null") => Some(scalar::resolve(text)).filter(|kind| *kind == Kind::Null),
            Some("bool") => {
                Some(scalar::resolve(text)).filter(|kind| matches!(kind, Kind::Bool(_)))
            }
            Some("int") => scalar::integer(text),
            Some("float") => scalar::float(text).or_else(|| scalar::integer(text)),
            _ => {
                self.unknown_tag(tag, at, span);
                return Kind::Null;
            }
        };
        resolved.unwrap_or_else(|| {
            let tag = tag.original();
            self.fault(SyntaxError::new(
                self.visible(at),
                format!("The tag `{tag}` does not fit this value."),
                "Remove the tag, or write a value of that type.",
            ));
            Kind::Null
        })
    }

    fn collection_tag(
        &mut self,
        tag: Option<&Tag>,
        own: &str,
        at: Span,
        span: granit_parser::Span,
    ) {
        if let Some(tag) = tag
            && tag.core_suffix() != Some(own)
            && tag.original() != "!"
        {
            self.unknown_tag(tag, at, span);
        }
    }

    fn unknown_tag(&mut self, tag: &Tag, at: Span, span: granit_parser::Span) {
        let at = span.tag_span().map_or(at, |tag| self.piece.map(tag));
        let tag = tag.original();
        self.fault(SyntaxError::new(
            at,
            format!("The tag `{tag}` is not known here."),
            "Remove the tag. Cases use plain text, numbers, lists and mappings only.",
        ));
    }

    /// A span of at least one character, for messages.
    fn visible(&self, at: Span) -> Span {
        message::token(self.reader.source, at.start as usize)
    }
}

/// A node as a mapping key. Any single value will do, as its text; a list or a mapping will not.
fn read_key(written: &str, node: &Node, merge: bool) -> (Key, Option<SyntaxError>) {
    let text: Option<Box<str>> = match &node.kind {
        Kind::Text(text) => Some(text.clone()),
        Kind::Bool(_) | Kind::Number(_) | Kind::NotFinite(_) => Some(written.into()),
        Kind::Null if !written.is_empty() && !written.starts_with('*') => Some(written.into()),
        _ => None,
    };
    let fault = text.is_none().then(|| {
        SyntaxError::new(
            node.span,
            "A key must be plain text.",
            "Write a name before the colon.",
        )
    });
    let key = Key {
        text,
        span: node.span,
        merge,
    };
    (key, fault)
}

/// Puts a value under its key: merges are kept for later, a key that was there before is an error.
fn place(
    entries: &mut Vec<Entry>,
    seen: &mut HashMap<Box<str>, usize>,
    merges: &mut Vec<Node>,
    key: Key,
    value: Node,
) -> Option<SyntaxError> {
    if key.merge {
        let sound = match &value.kind {
            Kind::Mapping(_) => {
                merges.push(value);
                return None;
            }
            Kind::List(items) => items.iter().all(|item| item.mapping().is_some()),
            _ => false,
        };
        if sound {
            merges.extend(value.list().unwrap_or_default().iter().cloned());
            return None;
        }
        return Some(SyntaxError::new(
            key.span,
            "`<<` merges a mapping or a list of mappings.",
            "Give it an alias to a mapping.",
        ));
    }
    let text = key.text?;
    let first = if entries.len() < HASHED_FROM {
        entries.iter().find(|entry| entry.key == text)
    } else {
        if seen.is_empty() {
            let known = entries.iter().enumerate();
            seen.extend(known.map(|(i, entry)| (entry.key.clone(), i)));
        }
        let first = seen.get(&text).and_then(|i| entries.get(*i));
        if first.is_none() {
            seen.insert(text.clone(), entries.len());
        }
        first
    };
    if let Some(first) = first {
        return Some(duplicate_key(&text, key.span, first.key_span));
    }
    entries.push(Entry {
        key: text,
        key_span: key.span,
        value,
    });
    None
}

/// The error of a key that a mapping has twice.
pub(crate) fn duplicate_key(key: &str, span: Span, first: Span) -> SyntaxError {
    SyntaxError {
        related: Some(Box::new((first, format!("`{key}` stands here first.")))),
        ..SyntaxError::new(
            span,
            format!("The key `{key}` stands twice in this mapping."),
            "Keep one of the two.",
        )
    }
}
