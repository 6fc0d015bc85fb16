//! Source text and positions in it. Spans are byte ranges; lines and columns are worked out when a diagnostic is made.

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::{Deserialize, Serialize};

/// A file as it was read, named as the user named it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as given on the command line or in the sync; `/` between folders.
    pub path: String,
    /// Its bytes, which may be anything.
    pub bytes: Vec<u8>,
}

impl SourceFile {
    /// A file from its path and its bytes or text.
    pub fn new(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            bytes: bytes.into(),
        }
    }

    /// The last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit(['/', '\\']).next().unwrap_or(&self.path)
    }

    /// Whether the file is JSON by its name.
    pub fn is_json(&self) -> bool {
        self.path.to_ascii_lowercase().ends_with(".json")
    }
}

/// A byte range in a file; `end` is exclusive. Files are bounded to 8 MiB, so 32 bits are ample.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span from offsets; offsets past 4 GiB cannot occur in bounded files and are capped.
    pub fn new(start: usize, end: usize) -> Self {
        let cap = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        Self {
            start: cap(start),
            end: cap(end.max(start)),
        }
    }

    /// Whether `offset` lies inside, or at the start of an empty span.
    pub fn contains(self, offset: u32) -> bool {
        self.start <= offset && (offset < self.end || self.start == self.end)
    }

    /// Whether `other` lies wholly inside.
    pub fn encloses(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// As a range of `usize`.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A file's text with its line starts. A line ends with LF, CR LF or CR, as in YAML.
#[derive(Debug, Clone)]
pub(crate) struct Source<'a> {
    /// The path as given.
    pub path: &'a str,
    /// The text; bytes that are not UTF-8 are replaced, and reported before anything reads it.
    pub text: Cow<'a, str>,
    line_starts: Vec<u32>,
    /// Characters before each [`BLOCK`] bytes; counted when a position is first asked for.
    characters: OnceCell<Vec<u32>>,
}

/// Bytes between two counts, so that a column on a line of megabytes is found at once.
const BLOCK: usize = 256;

impl<'a> Source<'a> {
    /// Takes a file's text and finds its lines.
    pub(crate) fn new(path: &'a str, text: Cow<'a, str>) -> Self {
        let mut line_starts = vec![0];
        let bytes = text.as_bytes();
        for (i, byte) in bytes.iter().enumerate() {
            let ends = match byte {
                b'\n' => true,
                b'\r' => bytes.get(i + 1) != Some(&b'\n'),
                _ => false,
            };
            if ends {
                line_starts.push(Span::new(i + 1, i + 1).start);
            }
        }
        Self {
            path,
            text,
            line_starts,
            characters: OnceCell::new(),
        }
    }

    /// The text of a span; empty when the span does not fit the text.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The 0-based index of the line that holds `offset`.
    pub(crate) fn line_of(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }

    /// The byte range of a 0-based line, without its line break.
    pub(crate) fn line(&self, line: usize) -> Span {
        let start = self.line_starts.get(line).copied().unwrap_or(0) as usize;
        let next = self
            .line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| *next as usize);
        let content = self.text.get(start..next).unwrap_or("");
        Span::new(start, start + content.trim_end_matches(['\n', '\r']).len())
    }

    /// Where the line after `line` starts, or the end of the text.
    pub(crate) fn next_line_start(&self, line: usize) -> usize {
        self.line_starts
            .get(line + 1)
            .map_or(self.text.len(), |next| *next as usize)
    }

    /// How many lines there are; at least one.
    pub(crate) fn line_count(&self) -> usize {
        self.line_starts.len()
    }

    /// 1-based line and column of an offset, columns in Unicode scalar values. A byte order mark takes no column.
    pub(crate) fn position(&self, offset: u32) -> (u32, u32) {
        let line = self.line_of(offset);
        let start = self.line_starts[line] as usize;
        let mark = usize::from(start == 0 && offset >= 3 && self.text.starts_with('\u{feff}'));
        let before = self.characters_before(offset as usize) - self.characters_before(start);
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        (count(line + 1), count(before - mark + 1))
    }

    /// How many characters begin before a byte offset.
    fn characters_before(&self, offset: usize) -> usize {
        let bytes = self.text.as_bytes();
        let begins = |byte: &&u8| (**byte & 0xC0) != 0x80;
        let counts = self.characters.get_or_init(|| {
            let mut total = 0u32;
            let mut counts = vec![0];
            for block in bytes.chunks(BLOCK) {
                total += u32::try_from(block.iter().filter(begins).count()).unwrap_or(0);
                counts.push(total);
            }
            counts
        });
        let offset = offset.min(bytes.len());
        let block = offset / BLOCK;
        let counted = counts.get(block).copied().unwrap_or(0) as usize;
        counted + bytes[block * BLOCK..offset].iter().filter(begins).count()
    }

    /// The part of `span` that lies on its first line.
    pub(crate) fn first_line(&self, span: Span) -> Span {
        let line = self.line(self.line_of(span.start));
        Span {
            start: span.start,
            end: span.end.min(line.end).max(span.start),
        }
    }

    /// Moves an offset down to the nearest character boundary inside the text.
    pub(crate) fn floor(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_scalar_values_and_skip_the_byte_order_mark() {
        let source = Source::new("a", Cow::Borrowed("\u{feff}a😀b\r\nc\rd"));
        assert_eq!(source.position(3), (1, 1));
        assert_eq!(source.position(8), (1, 3));
        assert_eq!(source.position(11), (2, 1));
        assert_eq!(source.position(13), (3, 1));
        assert_eq!(source.line(0), Span::new(0, 9));
        assert_eq!(source.slice(source.line(2)), "d");
    }
}
