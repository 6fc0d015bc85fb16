//! Finds quotes in a text, white space and case folded.

use std::ops::Range;

/// A text folded for search, with the way back to its bytes.
pub(super) struct Folded {
    text: String,
    /// For each byte of `text`: the byte range of the original character it came from.
    origin: Vec<Range<usize>>,
}

impl Folded {
    /// Folds runs of white space to one blank, and letters to lower case.
    pub(super) fn new(original: &str) -> Self {
        let mut folded = Self {
            text: String::with_capacity(original.len()),
            origin: Vec::with_capacity(original.len()),
        };
        let mut blank = true;
        for (start, c) in original.char_indices() {
            let range = start..start + c.len_utf8();
            if c.is_whitespace() {
                if !blank {
                    folded.push(' ', &range);
                }
                blank = true;
            } else {
                blank = false;
                for lower in c.to_lowercase() {
                    folded.push(lower, &range);
                }
            }
        }
        folded
    }

    fn push(&mut self, c: char, range: &Range<usize>) {
        self.text.push(c);
        for _ in 0..c.len_utf8() {
            self.origin.push(range.clone());
        }
    }

    /// The bytes of the original where `quote` first stands; whole words are preferred over a match within one.
    pub(super) fn find(&self, quote: &str) -> Option<Range<usize>> {
        let needle = Self::new(quote);
        let needle = needle.text.trim();
        if needle.is_empty() {
            return None;
        }
        let mut first = None;
        for (at, _) in self.text.match_indices(needle) {
            let end = at + needle.len();
            if self.whole(at, end) {
                return self.back(at, end);
            }
            first = first.or_else(|| self.back(at, end));
        }
        first
    }

    /// Whether no letter or digit is cut in two: "5" is not the quote of "15".
    fn whole(&self, at: usize, end: usize) -> bool {
        let cut = |left: Option<char>, right: Option<char>| {
            left.is_some_and(char::is_alphanumeric) && right.is_some_and(char::is_alphanumeric)
        };
        let inside = &self.text[at..end];
        !cut(self.text[..at].chars().next_back(), inside.chars().next())
            && !cut(inside.chars().next_back(), self.text[end..].chars().next())
    }

    fn back(&self, at: usize, end: usize) -> Option<Range<usize>> {
        let first = self.origin.get(at)?;
        let last = self.origin.get(end.checked_sub(1)?)?;
        Some(first.start..last.end)
    }
}
