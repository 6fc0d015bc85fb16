//! YAML into spanned trees, on the events of `granit-parser`.
//!
//! A file is cut at its document markers first (a line that starts with `---` or `...` ends a document wherever it
//! stands), so a fault in one document never reaches another. A document that does not parse is taken apart by its
//! indentation in `recover`, and read again piece by piece.

mod build;
mod message;
mod recover;

use std::collections::HashMap;

use build::Anchored;
pub(crate) use build::duplicate_key;
pub(crate) use message::token;

use crate::limits::{self, Budget};
use crate::node::Node;
use crate::source::{Source, Span};
use crate::syntax::{Comment, Document, Parsed, SyntaxError};

/// Reads a YAML file. Never fails: what was understood comes back with every error.
pub(crate) fn parse(source: &Source<'_>) -> Parsed {
    let mut reader = Reader {
        source,
        budget: Budget::new(source.text.len()),
        errors: Vec::new(),
        comments: Vec::new(),
        anchors: HashMap::new(),
    };
    let mut documents = Vec::new();
    for (i, span) in split(source).into_iter().enumerate() {
        if i == limits::DOCUMENTS {
            let first = source.first_line(span);
            reader.errors.push(limits::exceeded(
                first,
                "1,000 documents a file",
                "Split the file.",
            ));
            break;
        }
        reader.anchors.clear();
        match reader.document(span) {
            Ok(document) => documents.push(document),
            Err(bound) => {
                reader.errors.push(bound);
                documents.push(Document {
                    root: Node::null(Span {
                        start: span.start,
                        end: span.start,
                    }),
                    span,
                    damaged: true,
                });
                break;
            }
        }
    }
    reader.comments.sort_unstable_by_key(|c| c.span);
    Parsed {
        documents,
        errors: reader.errors,
        comments: reader.comments,
    }
}

/// The documents of a file. Comments and directives before a `---` belong to the document that it starts.
fn split(source: &Source<'_>) -> Vec<Span> {
    let mut documents = Vec::new();
    let mut start = 0usize;
    let mut content = false;
    for line in 0..source.line_count() {
        let span = source.line(line);
        let text = source.slice(span);
        let text = if line == 0 {
            text.strip_prefix('\u{feff}').unwrap_or(text)
        } else {
            text
        };
        if is_marker(text, "---") {
            if content {
                documents.push(Span::new(start, span.start as usize));
                start = span.start as usize;
            }
            content = true;
        } else if is_marker(text, "...") {
            let next = source.next_line_start(line);
            if content {
                documents.push(Span::new(start, next));
                start = next;
                content = false;
            }
        } else if !content {
            let text = text.trim_start();
            content = !(text.is_empty() || text.starts_with('#') || text.starts_with('%'));
        }
    }
    if content || documents.is_empty() {
        documents.push(Span::new(start, source.text.len()));
    }
    documents
}

fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Why a piece of YAML was not read.
#[derive(Debug)]
enum Stop {
    /// It is not valid; what stands around it may be.
    Syntax(SyntaxError),
    /// A bound of the file is exceeded; nothing more is read.
    Bound(SyntaxError),
}

/// The state of reading one file.
struct Reader<'s> {
    source: &'s Source<'s>,
    budget: Budget,
    errors: Vec<SyntaxError>,
    comments: Vec<Comment>,
    /// By name, of the document at hand; only filled between the pieces of a broken document.
    anchors: HashMap<String, Anchored>,
}

impl Reader<'_> {
    fn document(&mut self, span: Span) -> Result<Document, SyntaxError> {
        let whole = build::Piece::whole(span);
        match self.read(&whole, 0) {
            Ok(built) => Ok(Document {
                root: built.root,
                span,
                damaged: built.damaged,
            }),
            Err(Stop::Bound(error)) => Err(error),
            Err(Stop::Syntax(error)) => {
                let recovered = self.recover_document(span, error)?;
                Ok(Document {
                    root: recovered.node,
                    span,
                    damaged: recovered.broken,
                })
            }
        }
    }
}
