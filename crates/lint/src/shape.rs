//! The shape of documents: which fields a mapping has and what each may hold, as tables, and the walk that compares a
//! tree with them. It raises `E-FIELD-UNKNOWN`, `E-FIELD-MISSING` and `E-FIELD-TYPE`; meaning is left to the rules.

pub(crate) mod language;

use crate::node::{Entry, Kind, Node, escape_pointer};
use crate::project::{Sink, Unit};
use crate::rules::{field_missing, field_type, field_unknown};

/// What a value may be.
#[derive(Debug)]
pub(crate) enum Shape {
    /// Text.
    Text,
    /// A number.
    Number,
    /// `true` or `false`.
    Truth,
    /// Anything.
    Any,
    /// A mapping with free keys and values.
    Object,
    /// A list of one shape.
    List(&'static Shape),
    /// A mapping from free names to one shape.
    Named(&'static Shape),
    /// A mapping with known fields only.
    Closed(&'static Closed),
    /// One of several, told apart by what the value is.
    OneOf(&'static [Shape]),
    /// Nothing, or one shape.
    OrEmpty(&'static Shape),
}

/// A mapping with known fields only.
#[derive(Debug)]
pub(crate) struct Closed {
    /// What it is, for messages: "a case".
    pub name: &'static str,
    /// Its fields, in the order authors write them.
    pub fields: &'static [Field],
    /// Names that are not fields but that another rule speaks about.
    pub left_to_rules: &'static [&'static str],
}

/// A field of a [`Closed`] mapping.
#[derive(Debug)]
pub(crate) struct Field {
    /// Its name.
    pub name: &'static str,
    /// Whether it must be there.
    pub required: bool,
    /// What it holds.
    pub shape: Shape,
}

/// Where the walk stands.
#[derive(Clone, Copy)]
pub(crate) struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Root(&'a str),
    Key(&'a str),
    Item(usize),
}

impl<'a> Path<'a> {
    /// The start, with the pointer of the unit.
    pub(crate) fn root(pointer: &'a str) -> Self {
        Self {
            parent: None,
            step: Step::Root(pointer),
        }
    }

    /// One key further.
    pub(crate) fn key<'b>(&'b self, key: &'b str) -> Path<'b> {
        Path {
            parent: Some(self),
            step: Step::Key(key),
        }
    }

    /// One list item further.
    pub(crate) fn item<'b>(&'b self, index: usize) -> Path<'b> {
        Path {
            parent: Some(self),
            step: Step::Item(index),
        }
    }

    /// The JSON pointer.
    pub(crate) fn pointer(&self) -> String {
        let mut pointer = self.parent.map(Path::pointer).unwrap_or_default();
        match self.step {
            Step::Root(root) => pointer.push_str(root),
            Step::Key(key) => {
                pointer.push('/');
                pointer.push_str(&escape_pointer(key));
            }
            Step::Item(index) => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
        }
        pointer
    }

    /// The value's name for a message: "`tags`", "Item 2 of `tags`", "The document".
    pub(crate) fn name(&self) -> String {
        match self.step {
            Step::Key(key) => format!("`{key}`"),
            Step::Item(index) => match self.parent.map(|parent| parent.step) {
                Some(Step::Key(list)) => format!("Item {} of `{list}`", index + 1),
                _ => format!("Item {}", index + 1),
            },
            Step::Root("") => "The document".to_owned(),
            Step::Root(pointer) => match pointer.rsplit('/').collect::<Vec<_>>()[..] {
                [last, list, ..] => match last.parse::<usize>() {
                    Ok(index) => format!("Item {} of `{list}`", index + 1),
                    Err(_) => format!("`{last}`"),
                },
                _ => format!("`{pointer}`"),
            },
        }
    }
}

impl Shape {
    /// Whether a value is of this kind at all; what lies inside is not looked at.
    fn fits(&self, node: &Node) -> bool {
        match self {
            Self::Text => matches!(node.kind, Kind::Text(_)),
            Self::Number => matches!(node.kind, Kind::Number(_) | Kind::NotFinite(_)),
            Self::Truth => matches!(node.kind, Kind::Bool(_)),
            Self::Any => true,
            Self::Object | Self::Named(_) | Self::Closed(_) => {
                matches!(node.kind, Kind::Mapping(_))
            }
            Self::List(_) => matches!(node.kind, Kind::List(_)),
            Self::OneOf(shapes) => shapes.iter().any(|shape| shape.fits(node)),
            Self::OrEmpty(shape) => node.kind == Kind::Null || shape.fits(node),
        }
    }

    /// What it wants, for messages: "text", "a list of text", "a rubric with `rubric` and `type`".
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::Truth => "`true` or `false`".to_owned(),
            Self::Any => "a value".to_owned(),
            Self::Object | Self::Named(_) => "a mapping".to_owned(),
            Self::List(item) => match item {
                Self::Text => "a list of text".to_owned(),
                _ => "a list".to_owned(),
            },
            Self::Closed(closed) => {
                let required: Vec<String> = closed
                    .fields
                    .iter()
                    .filter(|field| field.required)
                    .map(|field| format!("`{}`", field.name))
                    .collect();
                match required.len() {
                    0 => "a mapping".to_owned(),
                    _ => format!("a mapping with {}", required.join(" and ")),
                }
            }
            Self::OneOf(shapes) => {
                let all: Vec<String> = shapes.iter().map(Self::describe).collect();
                all.join(" or ")
            }
            Self::OrEmpty(shape) => shape.describe(),
        }
    }
}

/// Compares a value with a shape and reports what differs.
pub(crate) fn check(node: &Node, shape: &Shape, path: Path<'_>, unit: &Unit<'_>, sink: &mut Sink) {
    if node.kind == Kind::Broken {
        return;
    }
    if !shape.fits(node) {
        field_type::report(node, shape, path, unit, sink);
        return;
    }
    match (shape, &node.kind) {
        (Shape::List(item), Kind::List(items)) => {
            for (i, value) in items.iter().enumerate() {
                check(value, item, path.item(i), unit, sink);
            }
        }
        (Shape::Named(value), Kind::Mapping(entries)) => {
            for entry in entries.iter() {
                check(&entry.value, value, path.key(&entry.key), unit, sink);
            }
        }
        (Shape::Closed(closed), Kind::Mapping(entries)) => {
            check_closed(node, entries, closed, path, unit, sink);
        }
        (Shape::OneOf(shapes), _) => {
            if let Some(shape) = shapes.iter().find(|shape| shape.fits(node)) {
                check(node, shape, path, unit, sink);
            }
        }
        (Shape::OrEmpty(shape), kind) if *kind != Kind::Null => {
            check(node, shape, path, unit, sink);
        }
        _ => {}
    }
}

fn check_closed(
    node: &Node,
    entries: &[Entry],
    closed: &'static Closed,
    path: Path<'_>,
    unit: &Unit<'_>,
    sink: &mut Sink,
) {
    for entry in entries {
        match closed.fields.iter().find(|field| field.name == &*entry.key) {
            Some(field) => check(&entry.value, &field.shape, path.key(&entry.key), unit, sink),
            None if closed.left_to_rules.contains(&&*entry.key) => {}
            None => field_unknown::report(entry, entries, closed, path, unit, sink),
        }
    }
    for field in closed.fields.iter().filter(|field| field.required) {
        if !entries.iter().any(|entry| &*entry.key == field.name) {
            field_missing::report(node, field.name, closed, path, unit, sink);
        }
    }
}
