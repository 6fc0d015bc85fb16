//! What both readers, YAML and JSON, hand on: documents as trees, syntax errors, comments.

use crate::diagnostic::Fix;
use crate::node::Node;
use crate::source::Span;

/// One `E-YAML` to be.
#[derive(Debug, Clone)]
pub(crate) struct SyntaxError {
    /// What to underline.
    pub span: Span,
    /// What is wrong, in the author's words.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Another place that matters, and why.
    pub related: Option<Box<(Span, String)>>,
    /// A text edit that would help.
    pub fix: Option<Box<Fix>>,
}

impl SyntaxError {
    /// An error without a related place.
    pub(crate) fn new(span: Span, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            help: help.into(),
            related: None,
            fix: None,
        }
    }
}

/// One document of a file.
#[derive(Debug)]
pub(crate) struct Document {
    /// Its tree. List items that a syntax error broke are [`crate::node::Kind::Broken`].
    pub root: Node,
    /// The whole document in the file, markers and comments included.
    pub span: Span,
    /// A syntax error lies outside every list, so the mapping at the root is not whole.
    pub damaged: bool,
}

/// A comment; used to silence warnings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comment {
    /// From `#` to the end of the line.
    pub span: Span,
}

/// A file as read.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    /// In file order.
    pub documents: Vec<Document>,
    /// In the order found.
    pub errors: Vec<SyntaxError>,
    /// In file order, as far as they were understood.
    pub comments: Vec<Comment>,
}
