//! JSON into the same spanned tree (`cases.md`, Files: `*.json`). Strict JSON with our rules on top: a key twice is an
//! error, NUL and lone surrogates are refused, the bounds of YAML hold. After an error inside a list, reading resumes at
//! the list's next item.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Number;

use crate::limits::{self, Budget};
use crate::node::{Entry, Kind, Node};
use crate::source::{Source, Span};
use crate::syntax::{Document, Parsed, SyntaxError};
use crate::yaml;

/// Reads a JSON file. Never fails: what was understood comes back with every error.
pub(crate) fn parse(source: &Source<'_>) -> Parsed {
    let mut reader = Reader {
        source,
        bytes: source.text.as_bytes(),
        at: if source.text.starts_with('\u{feff}') {
            3
        } else {
            0
        },
        open: Vec::new(),
        budget: Budget::new(source.text.len()),
        errors: Vec::new(),
    };
    let span = Span::new(0, source.text.len());
    reader.blanks();
    if reader.at == reader.bytes.len() {
        return Parsed {
            documents: vec![Document {
                root: Node::null(Span::new(reader.at, reader.at)),
                span,
                damaged: false,
            }],
            ..Parsed::default()
        };
    }
    let start = reader.at;
    let read = reader.value();
    let mut damaged = false;
    let root = match read {
        Ok(node) => {
            reader.blanks();
            if reader.at < reader.bytes.len() {
                let error = reader.error("Text follows the end of the JSON value.", "Remove it.");
                reader.errors.push(error);
                damaged = true;
            }
            node
        }
        Err(Stop::Syntax(error) | Stop::Bound(error)) => {
            reader.errors.push(error);
            damaged = true;
            Node {
                span: Span::new(start, source.text.trim_end().len()),
                kind: Kind::Broken,
            }
        }
    };
    Parsed {
        documents: vec![Document {
            root,
            span,
            damaged,
        }],
        errors: reader.errors,
        comments: Vec::new(),
    }
}

enum Stop {
    Syntax(SyntaxError),
    Bound(SyntaxError),
}

struct Reader<'s> {
    source: &'s Source<'s>,
    bytes: &'s [u8],
    at: usize,
    /// Brackets that are open, for resuming.
    open: Vec<u8>,
    budget: Budget,
    errors: Vec<SyntaxError>,
}

impl Reader<'_> {
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn error(&self, message: &str, help: &str) -> SyntaxError {
        SyntaxError::new(yaml::token(self.source, self.at), message, help)
    }

    fn fail<T>(&self, message: &str, help: &str) -> Result<T, Stop> {
        Err(Stop::Syntax(self.error(message, help)))
    }

    fn charge(&mut self, scalar_bytes: usize, at: Span) -> Result<(), Stop> {
        self.budget
            .charge(1, scalar_bytes as u64, at)
            .map_err(Stop::Bound)
    }

    fn value(&mut self) -> Result<Node, Stop> {
        let start = self.at;
        let kind = match self.peek() {
            Some(b'{') => self.object()?,
            Some(b'[') => self.array()?,
            Some(b'"') => Kind::Text(self.string()?.into()),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => self.word()?,
        };
        let span = Span::new(start, self.at);
        let bytes = match kind {
            Kind::List(_) | Kind::Mapping(_) => 0,
            _ => self.at - start,
        };
        self.charge(bytes, span)?;
        Ok(Node { span, kind })
    }

    fn enter(&mut self, bracket: u8) -> Result<(), Stop> {
        if self.open.len() >= limits::DEPTH {
            return Err(Stop::Syntax(limits::too_deep(Span::new(
                self.at,
                self.at + 1,
            ))));
        }
        self.open.push(bracket);
        self.at += 1;
        Ok(())
    }

    fn object(&mut self) -> Result<Kind, Stop> {
        self.enter(b'{')?;
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen: HashMap<Box<str>, Span> = HashMap::new();
        self.blanks();
        if self.peek() == Some(b'}') {
            self.at += 1;
            self.open.pop();
            return Ok(Kind::Mapping(Rc::new(entries)));
        }
        loop {
            self.blanks();
            let start = self.at;
            if self.peek() != Some(b'"') {
                return self.fail(
                    "Expected a key in double quotes.",
                    "Write `\"key\": value`.",
                );
            }
            let key: Box<str> = self.string()?.into();
            let key_span = Span::new(start, self.at);
            self.charge(key.len(), key_span)?;
            self.blanks();
            if self.peek() != Some(b':') {
                return self.fail("Expected `:` after the key.", "Write `\"key\": value`.");
            }
            self.at += 1;
            self.blanks();
            let value = self.value()?;
            if let Some(first) = seen.insert(key.clone(), key_span) {
                return Err(Stop::Syntax(yaml::duplicate_key(&key, key_span, first)));
            }
            entries.push(Entry {
                key,
                key_span,
                value,
            });
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    self.open.pop();
                    return Ok(Kind::Mapping(Rc::new(entries)));
                }
                _ => {
                    return self.fail(
                        "Expected `,` or `}`.",
                        "Part entries with commas, and close the object with `}`.",
                    );
                }
            }
        }
    }

    fn array(&mut self) -> Result<Kind, Stop> {
        self.enter(b'[')?;
        let own = self.open.len();
        let mut items = Vec::new();
        self.blanks();
        if self.peek() == Some(b']') {
            self.at += 1;
            self.open.pop();
            return Ok(Kind::List(Rc::new(items)));
        }
        loop {
            self.blanks();
            let start = self.at;
            match self.value() {
                Ok(node) => items.push(node),
                Err(Stop::Bound(error)) => return Err(Stop::Bound(error)),
                Err(Stop::Syntax(error)) if self.errors.len() > limits::ERRORS => {
                    return Err(Stop::Bound(limits::too_many_errors(error.span)));
                }
                Err(Stop::Syntax(error)) => {
                    self.errors.push(error);
                    self.skip_item(own);
                    items.push(Node {
                        span: Span::new(start, self.at.max(start)),
                        kind: Kind::Broken,
                    });
                }
            }
            self.blanks();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    self.open.truncate(own - 1);
                    return Ok(Kind::List(Rc::new(items)));
                }
                None if matches!(items.last().map(|item| &item.kind), Some(Kind::Broken)) => {
                    // The broken item swallowed the rest, and its error says so.
                    self.open.truncate(own - 1);
                    return Ok(Kind::List(Rc::new(items)));
                }
                _ => {
                    return self.fail(
                        "Expected `,` or `]`.",
                        "Part items with commas, and close the list with `]`.",
                    );
                }
            }
        }
    }

    /// Moves to the `,` or `]` that ends the broken item of the list that has `own` brackets open.
    fn skip_item(&mut self, own: usize) {
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.at += 1;
                    while let Some(byte) = self.peek() {
                        match byte {
                            b'\\' => self.at += 1,
                            b'"' | b'\n' | b'\r' => break,
                            _ => {}
                        }
                        self.at += 1;
                    }
                    self.at = (self.at + 1).min(self.bytes.len());
                    continue;
                }
                b'{' | b'[' => self.open.push(byte),
                b',' if self.open.len() <= own => return,
                b'}' | b']' => {
                    let opens = if byte == b'}' { b'{' } else { b'[' };
                    match self.open.iter().rposition(|open| *open == opens) {
                        Some(i) if i + 1 > own => self.open.truncate(i),
                        Some(i) if i + 1 == own => {
                            self.open.truncate(own);
                            return;
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        self.open.truncate(own);
    }

    fn string(&mut self) -> Result<String, Stop> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        let mut run = self.at;
        loop {
            match self.peek() {
                None | Some(b'\n' | b'\r') => {
                    let line = Span::new(start, self.at);
                    // What was meant to be the string may hold the brackets that end it, so it is skipped as structure.
                    self.at = start + 1;
                    return Err(Stop::Syntax(SyntaxError::new(
                        line,
                        "This quote is never closed on its line.",
                        "Close it with `\"`; a line break inside is written `\\n`.",
                    )));
                }
                Some(b'"') => {
                    text.push_str(&self.source.text[run..self.at]);
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => {
                    text.push_str(&self.source.text[run..self.at]);
                    text.push(self.escape()?);
                    run = self.at;
                }
                Some(byte) if byte < 0x20 => {
                    return self.fail(
                        "A control character stands inside a string.",
                        "Write it as an escape, such as `\\t`.",
                    );
                }
                Some(_) => self.at += 1,
            }
        }
    }

    /// Reads an escape; `at` stands on the backslash and ends after the escape.
    fn escape(&mut self) -> Result<char, Stop> {
        let simple = match self.bytes.get(self.at + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode_escape(),
            _ => {
                return self.fail("This escape is not known.", "Write `\\\\` for a backslash.");
            }
        };
        self.at += 2;
        Ok(simple)
    }

    fn unicode_escape(&mut self) -> Result<char, Stop> {
        let unit = |at: usize| -> Option<u32> {
            let digits = self.source.text.get(at..at + 4)?;
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            u32::from_str_radix(digits, 16).ok()
        };
        let Some(first) = unit(self.at + 2) else {
            return self.fail(
                "Expected four hex digits after `\\u`.",
                "Write the character itself, or `\\u` with four hex digits.",
            );
        };
        let (code, length) = match first {
            0 => {
                return self.fail(
                    "The character U+0000 is not allowed in a case.",
                    "Remove it.",
                );
            }
            0xD800..=0xDBFF => {
                let second = (self.bytes.get(self.at + 6..self.at + 8) == Some(b"\\u"))
                    .then(|| unit(self.at + 8))
                    .flatten()
                    .filter(|unit| (0xDC00..=0xDFFF).contains(unit));
                match second {
                    Some(second) => (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12),
                    None => (first, 6),
                }
            }
            _ => (first, 6),
        };
        match char::from_u32(code) {
            Some(character) => {
                self.at += length;
                Ok(character)
            }
            None => self.fail(
                "Half of a surrogate pair is no character.",
                "Write the character itself, or both halves.",
            ),
        }
    }

    fn number(&mut self) -> Result<Kind, Stop> {
        let start = self.at;
        while matches!(
            self.peek(),
            Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')
        ) {
            self.at += 1;
        }
        let text = &self.source.text[start..self.at];
        match serde_json::from_str::<Number>(text) {
            Ok(number) => Ok(Kind::Number(number)),
            Err(_) => {
                self.at = start;
                self.fail(
                    "This is not a number that JSON can hold.",
                    "Write digits with a point, such as `0.5`, or put it in quotes.",
                )
            }
        }
    }

    fn word(&mut self) -> Result<Kind, Stop> {
        let rest = &self.bytes[self.at..];
        for (word, kind) in [
            (&b"true"[..], Kind::Bool(true)),
            (b"false", Kind::Bool(false)),
            (b"null", Kind::Null),
        ] {
            let ends = rest
                .get(word.len())
                .is_none_or(|byte| !byte.is_ascii_alphanumeric());
            if rest.starts_with(word) && ends {
                self.at += word.len();
                return Ok(kind);
            }
        }
        self.fail(
            "Expected a value.",
            "Write text in double quotes, a number, `true`, `false`, `null`, a list or an object.",
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn read(text: &str) -> (Parsed, Option<serde_json::Value>) {
        let source = Source::new("a.json", Cow::Borrowed(text));
        let parsed = parse(&source);
        let value = parsed.documents[0].root.to_json();
        (parsed, value)
    }

    #[test]
    fn agrees_with_serde_json_on_what_is_valid() {
        for text in [
            r#"{"a": [1, -2.5e3, true, false, null, "x\n\u00e9\ud83d\ude00\/"], "b": {}}"#,
            "[]",
            "\t[\t1 ,\r\n2 ]\n",
            r#""""#,
            "18446744073709551615",
        ] {
            let (parsed, value) = read(text);
            assert!(parsed.errors.is_empty(), "{text}: {:?}", parsed.errors);
            assert_eq!(value, serde_json::from_str(text).ok(), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not() {
        for text in [
            "{",
            "[1,]",
            "{\"a\":1,}",
            "[1 2]",
            "01",
            "1e400",
            "\"\\ud800\"",
            "\"\\u0000\"",
            "\"a\tb\"",
            "'a'",
            "nul",
            "truex",
            "{a: 1}",
            "[] x",
            "\"abc",
            "{\"a\":1,\"a\":2}",
            "\"\\x\"",
            "-",
            "+1",
            ".5",
            "NaN",
        ] {
            let (parsed, _) = read(text);
            assert!(!parsed.errors.is_empty(), "{text}");
        }
    }

    #[test]
    fn resumes_at_the_next_item() {
        let text = "[{\"id\": \"a}\n, {\"id\": \"b\"}, {\"id\": [1, {\"x\": }]}, {\"id\": \"d\"}]";
        let (parsed, _) = read(text);
        assert_eq!(parsed.errors.len(), 2, "{:?}", parsed.errors);
        let items = parsed.documents[0].root.list().unwrap();
        let ids: Vec<_> = items
            .iter()
            .map(|i| i.get("id").and_then(Node::text))
            .collect();
        assert_eq!(ids, [None, Some("b"), None, Some("d")]);
    }

    #[test]
    fn depth_is_bounded() {
        let (parsed, _) = read(&"[".repeat(100_000));
        assert!(parsed.errors[0].message.contains("depth 64"));
    }
}
