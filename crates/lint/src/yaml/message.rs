//! The parser's errors in an author's words: what stands there, what was expected, what to do.

use granit_parser::ErrorKind;

use crate::diagnostic::{Edit, Fix};
use crate::limits;
use crate::source::{Source, Span};
use crate::syntax::SyntaxError;

/// The error at a byte offset.
pub(super) fn of(source: &Source<'_>, at: usize, kind: &ErrorKind) -> SyntaxError {
    if let Some(tabs) = tabs_near(source, at) {
        return tabs_in_indentation(tabs);
    }
    if matches!(kind, ErrorKind::RecursionLimitExceeded) {
        return limits::too_deep(token(source, at));
    }
    let span = match kind {
        ErrorKind::UnclosedQuotedScalar => rest_of_line(source, at),
        _ => token(source, at),
    };
    let (message, help) = words(source, at, kind);
    SyntaxError::new(span, message, help)
}

fn words(source: &Source<'_>, at: usize, kind: &ErrorKind) -> (String, String) {
    use ErrorKind as E;
    let said = |message: &str, help: &str| (message.to_owned(), help.to_owned());
    match kind {
        E::UnclosedQuotedScalar => said(
            "This quote is never closed.",
            "Close it with the same quote sign at the end of the text.",
        ),
        E::InvalidTrailingDoubleQuotedScalar => said(
            "Text follows the closing quote.",
            "Put the whole text inside the quotes; a quote inside is written `\\\"`.",
        ),
        E::InvalidTrailingSingleQuotedScalar => said(
            "Text follows the closing quote.",
            "Put the whole text inside the quotes; a quote inside is written `''`.",
        ),
        E::MappingValueNotAllowed if colon_before(source, at) => said(
            "A second `: ` in plain text. YAML reads it as another key.",
            "Put the text in double quotes.",
        ),
        E::MappingValueNotAllowed => said(
            "This key is indented further than the keys above it.",
            "Give it the same indentation as the keys above, or put it under a key that has no value yet.",
        ),
        E::ExpectedBlockMappingKey => said(
            "Expected a key at the indentation of the keys above.",
            "Align this line with the keys above it.",
        ),
        E::ExpectedBlockSequenceEntry => said(
            "Expected `- ` at the indentation of the list items above.",
            "Align this line with the items above it.",
        ),
        E::BlockSequenceEntryNotAllowed | E::BlockEntryInFlowCollection => said(
            "A list item has no place here.",
            "Start the list on a line of its own, below its key.",
        ),
        E::InvalidBlockEntryWhitespace => {
            said("Expected a blank after `-`.", "Write `- ` before the item.")
        }
        E::SimpleKeyExpected | E::InvalidSimpleKey => said(
            "Expected `: ` after this key.",
            "Write `key: value`, or indent the line if it continues the text above.",
        ),
        E::ExpectedFlowMappingSeparator | E::UnexpectedEofFlowMapping => said(
            "Expected `,` or `}`.",
            "Close the mapping with `}` or part its entries with commas.",
        ),
        E::ExpectedFlowSequenceSeparator | E::UnexpectedEofFlowSequence => said(
            "Expected `,` or `]`.",
            "Close the list with `]` or part its items with commas.",
        ),
        E::UnclosedFlowCollection { open } => (
            format!("This `{open}` is never closed."),
            "Close it with the bracket that belongs to it.".to_owned(),
        ),
        E::MismatchedFlowCollectionEnd { open, close } => (
            format!("`{close}` does not close `{open}`."),
            "Close each bracket with the one that belongs to it.".to_owned(),
        ),
        E::MisplacedFlowCollectionEnd => said(
            "This bracket closes nothing.",
            "Remove it, or put the text in quotes.",
        ),
        E::InvalidColonPlacement | E::FlowMappingValueAdjacentCollection => said(
            "A `:` has no place here.",
            "Close the bracket before it, or put the text in quotes.",
        ),
        E::InvalidMappingValueWhitespace => {
            said("Expected a blank after `:`.", "Write `key: value`.")
        }
        E::UnexpectedCharacter { character } if character.is_control() => (
            format!(
                "The character U+{:04X} is not allowed.",
                u32::from(*character)
            ),
            "Remove it.".to_owned(),
        ),
        E::UnexpectedCharacter { character } => (
            format!("Plain text cannot start with `{character}`."),
            "Put the text in double quotes.".to_owned(),
        ),
        E::UnknownQuotedScalarEscape => said(
            "This escape is not known.",
            "Write `\\\\` for a backslash, or use single quotes, where a backslash is only a backslash.",
        ),
        E::InvalidQuotedScalarHexEscape | E::InvalidUnicodeEscape => said(
            "This escape names no character.",
            "Write the character itself, or `\\u` with four hex digits.",
        ),
        E::MissingLowSurrogate
        | E::UnpairedLowSurrogate
        | E::InvalidLowSurrogate
        | E::InvalidLowSurrogateHexEscape => said(
            "Half of a surrogate pair is no character.",
            "Write the character itself, or both halves.",
        ),
        E::InvalidIndentation
        | E::InvalidBlockScalarIndent
        | E::InvalidQuotedScalarIndent
        | E::InvalidFlowScalarIndent => said(
            "This line is indented too little to belong to the text above.",
            "Indent it further than the key.",
        ),
        E::InvalidBlockScalarHeader | E::ZeroBlockScalarIndent => said(
            "Nothing but `+`, `-` or a digit may follow `|` or `>` on its line.",
            "Start the text on the next line.",
        ),
        E::BomInsideDocument => said(
            "A byte order mark stands inside the file.",
            "Remove the character U+FEFF.",
        ),
        E::CommentInterceptedScalar => said(
            "A comment interrupts text that goes on below it.",
            "Move the comment above the text, or put the text in quotes.",
        ),
        E::CommentNotSeparated => said("Expected a blank before `#`.", "Write ` # comment`."),
        E::ExpectedDocumentStart => said(
            "This line does not belong to the value above it.",
            "Align it with the keys above, or start a new document with `---`.",
        ),
        E::InvalidDocumentEnd => said(
            "Text follows the end of the document.",
            "Start a new document with `---`.",
        ),
        E::MissingAnchorOrAliasName => said(
            "Expected a name after `&` or `*`.",
            "Put the text in double quotes if it is no anchor and no alias.",
        ),
        E::PlainScalarStartsWithDashFlowIndicator => said(
            "Plain text cannot start like this.",
            "Put the text in double quotes.",
        ),
        E::DocumentIndicatorInQuotedScalar => said(
            "A `---` line ends the document inside a quote.",
            "Close the quote before it.",
        ),
        other => {
            let text = other.to_string();
            let mut chars = text.chars();
            let first = chars.next().map(|c| c.to_uppercase().to_string());
            (
                format!("{}{}.", first.unwrap_or_default(), chars.as_str()),
                "Check the quotes, brackets and indentation around this place.".to_owned(),
            )
        }
    }
}

/// The run of text at `at`, at least one character where the file has one; at the end of a line, its last character.
pub(crate) fn token(source: &Source<'_>, at: usize) -> Span {
    let at = source.floor(at);
    let rest = &source.text[at..];
    let run: usize = rest
        .chars()
        .take_while(|c| !c.is_whitespace())
        .map(char::len_utf8)
        .sum();
    if run > 0 {
        return Span::new(at, at + run);
    }
    let before = source.text[..at].trim_end();
    match before.chars().next_back() {
        Some(last) => Span::new(before.len() - last.len_utf8(), before.len()),
        None => Span::new(at, at),
    }
}

fn rest_of_line(source: &Source<'_>, at: usize) -> Span {
    let at = source.floor(at);
    let line = source.line(source.line_of(Span::new(at, at).start));
    let text = source.slice(Span::new(at, line.end as usize)).trim_end();
    Span::new(at, at + text.len())
}

/// Whether the line of `at` holds another `: ` before it.
fn colon_before(source: &Source<'_>, at: usize) -> bool {
    let at = source.floor(at);
    let line = source.line(source.line_of(Span::new(at, at).start));
    source
        .slice(Span::new(line.start as usize, at))
        .contains(": ")
}

/// Tabs in the indentation of the line at `at` or of the next one that holds something.
fn tabs_near(source: &Source<'_>, at: usize) -> Option<Span> {
    let at = Span::new(source.floor(at), source.floor(at)).start;
    let first = source.line_of(at);
    for line in first..source.line_count().min(first + 3) {
        let span = source.line(line);
        let text = source.slice(span);
        let indent = text.len() - text.trim_start_matches([' ', '\t']).len();
        if let Some(tab) = text[..indent].find('\t') {
            let start = span.start as usize;
            return Some(Span::new(start + tab, start + indent));
        }
        let started = line > first || text.len() > (at - span.start) as usize;
        if started && !text.trim().is_empty() {
            return None;
        }
    }
    None
}

fn tabs_in_indentation(span: Span) -> SyntaxError {
    let width = (span.end - span.start) as usize;
    SyntaxError {
        fix: Some(Box::new(Fix {
            title: "Replace each tab by two spaces".to_owned(),
            safe: false,
            edits: vec![Edit::new(span, "  ".repeat(width))],
        })),
        ..SyntaxError::new(
            span,
            "A tab in the indentation. YAML indents with spaces only.",
            "Replace the tab by spaces, and let your editor insert spaces.",
        )
    }
}
