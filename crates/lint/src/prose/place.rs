//! Where a part of a text stands in the file. A scalar's text differs from what is written: quotes, escapes, folded
//! lines, indentation. The two are walked side by side.

use std::ops::Range;

use crate::node::Node;
use crate::source::{Source, Span};

/// The span of `text[range]` of a text node; the whole node where the two cannot be walked side by side (an alias, a
/// tag of an odd kind), so that a finding always stands on something true.
pub(crate) fn place(source: &Source<'_>, node: &Node, text: &str, range: Range<usize>) -> Span {
    walk(source.slice(node.span), text, &range)
        .filter(|found| found.start < found.end)
        .map_or(node.span, |found| {
            let base = node.span.start as usize;
            Span::new(base + found.start, base + found.end)
        })
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    Plain,
    Single,
    Double,
    Block,
}

fn walk(written: &str, text: &str, range: &Range<usize>) -> Option<Range<usize>> {
    let (style, mut at) = match written.as_bytes().first()? {
        b'*' => return None,
        b'"' => (Style::Double, 1),
        b'\'' => (Style::Single, 1),
        b'|' | b'>' => (
            Style::Block,
            written.find('\n').map_or(written.len(), |i| i + 1),
        ),
        _ => (Style::Plain, 0),
    };
    let mut start = None;
    let mut chars = text.char_indices().peekable();
    while let Some((offset, c)) = chars.next() {
        // A line break that is escaped is no character at all.
        while style == Style::Double && written.get(at..)?.starts_with('\\') {
            let rest = &written[at + 1..];
            if !rest.starts_with(['\n', '\r']) {
                break;
            }
            at += 1 + blanks(written, at + 1);
        }
        // The blanks of a text and those of its writing differ in number and kind where lines are folded.
        if c.is_whitespace() && blank(written, at) {
            if offset >= range.end {
                break;
            }
            at += blanks(written, at);
            while chars.peek().is_some_and(|(_, c)| c.is_whitespace()) {
                chars.next();
            }
            continue;
        }
        if style != Style::Double || !written[at..].starts_with('\\') {
            // Blanks of the writing that the text has not: the indentation of a block's first line, a fold at its end.
            if !c.is_whitespace() {
                at += blanks(written, at);
            }
        }
        if offset == range.end {
            break;
        }
        let (end, same) = one(written, at, c, style)?;
        if !same {
            return None;
        }
        if offset >= range.start && start.is_none() {
            start = Some(at);
        }
        at = end;
        if offset + c.len_utf8() >= range.end {
            return Some(start?..at);
        }
    }
    Some(start?..at)
}

fn blank(written: &str, at: usize) -> bool {
    written[at..].starts_with(char::is_whitespace)
}

fn blanks(written: &str, at: usize) -> usize {
    let rest = &written[at..];
    rest.len() - rest.trim_start().len()
}

/// One character as it is written at `at`: where it ends, and whether it is `c`.
fn one(written: &str, at: usize, c: char, style: Style) -> Option<(usize, bool)> {
    let rest = written.get(at..)?;
    let first = rest.chars().next()?;
    if style == Style::Single && first == '\'' {
        return rest.starts_with("''").then_some((at + 2, c == '\''));
    }
    if style != Style::Double || first != '\\' {
        return Some((at + first.len_utf8(), first == c));
    }
    let kind = rest[1..].chars().next()?;
    let hex = |from: usize, digits: usize| {
        let value = u32::from_str_radix(rest.get(from..from + digits)?, 16).ok()?;
        Some((from + digits, value))
    };
    let (length, value) = match kind {
        'x' => hex(2, 2)?,
        'u' => {
            let (end, high) = hex(2, 4)?;
            // JSON writes characters beyond the basic plane as a pair.
            if (0xD800..0xDC00).contains(&high) && rest[end..].starts_with("\\u") {
                let (last, low) = hex(end + 2, 4)?;
                (
                    last,
                    0x10000 + ((high - 0xD800) << 10) + low.checked_sub(0xDC00)?,
                )
            } else {
                (end, high)
            }
        }
        'U' => hex(2, 8)?,
        _ => {
            let value = match kind {
                '0' => '\0',
                'a' => '\u{7}',
                'b' => '\u{8}',
                't' | '\t' => '\t',
                'n' => '\n',
                'v' => '\u{b}',
                'f' => '\u{c}',
                'r' => '\r',
                'e' => '\u{1b}',
                'N' => '\u{85}',
                '_' => '\u{a0}',
                'L' => '\u{2028}',
                'P' => '\u{2029}',
                other => other,
            };
            return Some((at + 1 + kind.len_utf8(), value == c));
        }
    };
    Some((at + length, char::from_u32(value) == Some(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(written: &'a str, text: &str, part: &str) -> Option<&'a str> {
        let start = text.find(part)?;
        walk(written, text, &(start..start + part.len())).map(|range| &written[range])
    }

    #[test]
    fn a_part_is_found_however_it_is_written() {
        for (written, text, part, expected) in [
            ("one two three", "one two three", "two", "two"),
            (
                "\"one \\\"two\\\" three\"",
                "one \"two\" three",
                "three",
                "three",
            ),
            ("'it''s late'", "it's late", "late", "late"),
            ("'it''s late'", "it's late", "it's", "it''s"),
            (
                "\"a\\u00e9 \\ud83d\\ude00b c\"",
                "aé 😀b c",
                "😀b",
                "\\ud83d\\ude00b",
            ),
            (
                ">-\n  one two\n  three\n",
                "one two three",
                "two three",
                "two\n  three",
            ),
            ("|\n  one\n  two\n", "one\ntwo\n", "two", "two"),
            ("one\r\n    two", "one two", "two", "two"),
            ("\"one\\\n   two\"", "onetwo", "two", "two"),
            ("😀 latest", "😀 latest", "latest", "latest"),
        ] {
            assert_eq!(found(written, text, part), Some(expected), "{written}");
        }
        assert_eq!(found("*alias", "text", "text"), None);
    }
}
