//! The spanned tree: what a document says, with the byte range of every key and value.

use std::rc::Rc;

use serde_json::{Map, Number, Value};

use crate::source::Span;

/// A value with its place in the source.
///
/// An alias stands at the place of the alias itself; what lies inside it keeps the place of its definition.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The value's own text, without the key, the anchor or the tag.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a node is. Lists and mappings are shared, so that an alias costs no copy.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`, `~` or nothing at all.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that JSON can hold.
    Number(Number),
    /// `.inf`, `-.inf` or `.nan`, which JSON cannot hold.
    NotFinite(f64),
    /// Text.
    Text(Box<str>),
    /// A list.
    List(Rc<Vec<Node>>),
    /// A mapping, in the author's order.
    Mapping(Rc<Vec<Entry>>),
    /// A list item that a syntax error broke. Nothing is claimed about it.
    Broken,
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key's text.
    pub key: Box<str>,
    /// The key's place.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// An empty value at a place.
    pub fn null(span: Span) -> Self {
        Self {
            span,
            kind: Kind::Null,
        }
    }

    /// The text, when it is text.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, when it is a list.
    pub fn list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    /// The entries, when it is a mapping.
    pub fn mapping(&self) -> Option<&[Entry]> {
        match &self.kind {
            Kind::Mapping(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry of a key, when it is a mapping that has it.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.mapping()?.iter().find(|entry| &*entry.key == key)
    }

    /// The value of a key, when it is a mapping that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The value at the end of a chain of keys.
    pub fn at(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The number, when it is one.
    pub fn number(&self) -> Option<f64> {
        match &self.kind {
            Kind::Number(number) => number.as_f64(),
            Kind::NotFinite(number) => Some(*number),
            _ => None,
        }
    }

    /// What it is, for messages: "a number", "a list", ….
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "empty",
            Kind::Bool(_) => "a truth value",
            Kind::Number(_) | Kind::NotFinite(_) => "a number",
            Kind::Text(_) => "text",
            Kind::List(_) => "a list",
            Kind::Mapping(_) => "a mapping",
            Kind::Broken => "not readable",
        }
    }

    /// Whether it is a single value: neither a list nor a mapping.
    pub fn is_scalar(&self) -> bool {
        matches!(
            self.kind,
            Kind::Null | Kind::Bool(_) | Kind::Number(_) | Kind::NotFinite(_) | Kind::Text(_)
        )
    }

    /// The same value as JSON. `None` when a part is broken; a number that JSON cannot hold becomes null (and is
    /// refused by `E-VALUE` before anybody relies on it).
    pub fn to_json(&self) -> Option<Value> {
        Some(match &self.kind {
            Kind::Null | Kind::NotFinite(_) => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.to_string()),
            Kind::List(items) => {
                Value::Array(items.iter().map(Self::to_json).collect::<Option<_>>()?)
            }
            Kind::Mapping(entries) => {
                let mut map = Map::with_capacity(entries.len());
                for entry in entries.iter() {
                    map.insert(entry.key.to_string(), entry.value.to_json()?);
                }
                Value::Object(map)
            }
            Kind::Broken => return None,
        })
    }

    /// Whether a part of it was written elsewhere and came by an alias or a merge key.
    pub(crate) fn borrows(&self, within: Span) -> bool {
        if !within.encloses(self.span) {
            return true;
        }
        match &self.kind {
            Kind::List(items) => items.iter().any(|item| item.borrows(within)),
            Kind::Mapping(entries) => entries
                .iter()
                .any(|entry| !within.encloses(entry.key_span) || entry.value.borrows(within)),
            _ => false,
        }
    }

    /// The JSON pointer of the innermost value written at `offset`. Items and entries stand in the order of the text, so
    /// each level is searched by halves; what a merge key brought in is not looked at.
    pub(crate) fn pointer_at(&self, offset: u32) -> String {
        let mut pointer = String::new();
        let mut node = self;
        loop {
            let next = match &node.kind {
                Kind::List(items) => items
                    .partition_point(|item| item.span.start <= offset)
                    .checked_sub(1)
                    .filter(|i| items[*i].span.contains(offset))
                    .map(|i| (i.to_string(), &items[i])),
                Kind::Mapping(entries) => entries
                    .partition_point(|entry| entry.key_span.start <= offset)
                    .checked_sub(1)
                    .map(|i| &entries[i])
                    .filter(|entry| {
                        Span {
                            start: entry.key_span.start,
                            end: entry.value.span.end.max(entry.key_span.end),
                        }
                        .contains(offset)
                    })
                    .map(|entry| (escape_pointer(&entry.key), &entry.value)),
                _ => None,
            };
            let Some((step, value)) = next else {
                return pointer;
            };
            pointer.push('/');
            pointer.push_str(&step);
            node = value;
        }
    }
}

/// A key as a step of a JSON pointer (RFC 6901).
pub(crate) fn escape_pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
