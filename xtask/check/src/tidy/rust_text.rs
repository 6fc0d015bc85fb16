//! A Rust file as tidy sees it: code with its comments blanked out, and its string literals apart.
//!
//! Not a parser. It knows comments, strings, raw strings and characters, which is what it takes not to
//! mistake a comment for code or a string for a comment.

/// A string literal.
#[derive(Debug, PartialEq, Eq)]
pub struct Literal {
    /// Byte offset of the opening quote in the file.
    pub at: usize,
    /// Byte offset just past the closing quote (and hashes).
    pub end: usize,
    /// The text between the quotes, escapes as written, except that `\"` is `"` and a continued line is joined.
    pub text: String,
}

/// A file without its comments.
#[derive(Debug)]
pub struct RustText {
    /// The file, same length, with comments as blanks and string contents as blanks.
    pub code: String,
    /// All string literals in order.
    pub literals: Vec<Literal>,
    lines: Vec<usize>,
}

impl RustText {
    /// Reads a file.
    pub fn of(source: &str) -> Self {
        let bytes = source.as_bytes();
        let mut code = bytes.to_vec();
        let mut literals = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            if rest.starts_with(b"//") {
                let end = line_end(bytes, at);
                blank(&mut code, at, end);
                at = end;
            } else if rest.starts_with(b"/*") {
                let end = block_end(bytes, at);
                blank(&mut code, at, end);
                at = end;
            } else if let Some(hashes) = raw_start(bytes, at) {
                let open = at + 1 + hashes + 1;
                let close = [b"\"".to_vec(), vec![b'#'; hashes]].concat();
                let inner = find(bytes, open, &close).unwrap_or(bytes.len());
                let end = (inner + close.len()).min(bytes.len());
                literals.push(Literal {
                    at,
                    end,
                    text: lossy(&bytes[open.min(inner)..inner]),
                });
                blank(&mut code, open.min(inner), inner);
                at = end;
            } else if bytes[at] == b'"' {
                let inner = string_end(bytes, at + 1);
                let end = (inner + 1).min(bytes.len());
                literals.push(Literal {
                    at,
                    end,
                    text: unescaped(&lossy(&bytes[at + 1..inner])),
                });
                blank(&mut code, at + 1, inner);
                at = end;
            } else if bytes[at] == b'\'' {
                let end = character_end(bytes, at);
                // A brace as a character is no brace.
                if end > at + 1 {
                    blank(&mut code, at, end);
                }
                at = end;
            } else {
                at += 1;
            }
        }
        let lines = std::iter::once(0)
            .chain(
                bytes
                    .iter()
                    .enumerate()
                    .filter(|(_, b)| **b == b'\n')
                    .map(|(i, _)| i + 1),
            )
            .collect();
        Self {
            code: lossy(&code),
            literals,
            lines,
        }
    }

    /// The line of a byte offset, from 1.
    pub fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The code without what only tests compile: every item under `#[cfg(test)]` as blanks.
    pub fn product(&self) -> String {
        let mut code = self.code.clone().into_bytes();
        let mut at = 0;
        while let Some(start) = find(&code, at, TEST.as_bytes()) {
            let end = item_end(&code, start + TEST.len());
            blank(&mut code, start, end);
            at = end;
        }
        lossy(&code)
    }

    /// The number of lines before the first item under `#[cfg(test)]`.
    pub fn lines_before_tests(&self) -> usize {
        self.line(self.code.find(TEST).unwrap_or(self.code.len())) - 1
    }
}

/// What marks an item that only tests compile.
const TEST: &str = "#[cfg(test)]";

/// The end of the item that starts at `from`: its `;`, or its closing brace.
fn item_end(code: &[u8], from: usize) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in code.iter().enumerate().skip(from) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at + 1,
            b'}' => depth -= 1,
            b';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn blank(code: &mut [u8], from: usize, to: usize) {
    for byte in &mut code[from..to] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

fn find(bytes: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let at = rest.windows(what.len()).position(|window| window == what)?;
    Some(from + at)
}

fn line_end(bytes: &[u8], at: usize) -> usize {
    find(bytes, at, b"\n").unwrap_or(bytes.len())
}

/// Block comments nest.
fn block_end(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0;
    while at < bytes.len() {
        if bytes[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if bytes[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    bytes.len()
}

/// `r"`, `r#"` and so on; the number of hashes.
fn raw_start(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes[at] != b'r' {
        return None;
    }
    // `br"…"` is raw as well; an identifier that ends in r is not.
    let before = at.checked_sub(1).map(|i| bytes[i]);
    if before.is_some_and(|b| b != b'b' && (b.is_ascii_alphanumeric() || b == b'_')) {
        return None;
    }
    let hashes = bytes[at + 1..].iter().take_while(|b| **b == b'#').count();
    (bytes.get(at + 1 + hashes) == Some(&b'"')).then_some(hashes)
}

fn string_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && bytes[at] != b'"' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at.min(bytes.len())
}

/// Past a character literal; a lifetime is stepped over by its quote alone.
fn character_end(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1) {
        Some(b'\\') => find(bytes, at + 3, b"'").map_or(bytes.len(), |end| end + 1),
        Some(_) => {
            // A character has up to four bytes; a lifetime has no closing quote so near.
            let close = (at + 2..(at + 6).min(bytes.len())).find(|i| bytes[*i] == b'\'');
            let text = close.map(|close| &bytes[at + 1..close]);
            match (close, text.map(std::str::from_utf8)) {
                (Some(close), Some(Ok(text))) if text.chars().count() == 1 => close + 1,
                _ => at + 1,
            }
        }
        None => at + 1,
    }
}

fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('\\', Some('"')) => {
                out.push('"');
                rest.next();
            }
            ('\\', Some('\n')) => {
                while rest.peek().is_some_and(|c| c.is_whitespace()) {
                    rest.next();
                }
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<String> {
        RustText::of(source)
            .literals
            .into_iter()
            .map(|literal| literal.text)
            .collect()
    }

    #[test]
    fn comments_are_not_code_and_strings_are_not_comments() {
        let text = RustText::of("a(); // \"no\"\n/* b(); /* c */ */ d(\"x // y\"); e");
        assert_eq!(text.code.replace(' ', ""), "a();\nd(\"\");e");
        assert_eq!(text.literals.len(), 1);
        assert_eq!(text.literals[0].text, "x // y");
        assert_eq!(text.line(text.literals[0].at), 2);
    }

    #[test]
    fn every_kind_of_string_is_read() {
        assert_eq!(
            texts(r##"(r"a\", r#"b"c"#, "d\"e", b"f", br"g")"##),
            ["a\\", "b\"c", "d\"e", "f", "g"]
        );
        assert_eq!(texts("\"two \\\n     words\""), ["two words"]);
    }

    #[test]
    fn characters_and_lifetimes_do_not_open_strings() {
        assert_eq!(texts("f::<'a>('\"', '\\'', \"x\", 'é', '\\u{41}')"), ["x"]);
        assert_eq!(texts("fn f<'a>(x: &'a str) -> &'a str { \"y\" }"), ["y"]);
    }

    #[test]
    fn only_what_tests_compile_is_left_out() {
        let text = RustText::of(
            "a();\n#[cfg(test)]\nmod tests { f('}', \"}\"); { } }\nb();\n#[cfg(test)]\nuse x;\nc();",
        );
        assert_eq!(
            text.product().split_whitespace().collect::<Vec<_>>(),
            ["a();", "b();", "c();"]
        );
        assert_eq!(text.product().len(), text.code.len());
        assert_eq!(text.lines_before_tests(), 1);
    }

    #[test]
    fn an_unclosed_string_ends_with_the_file() {
        assert_eq!(texts("\"abc"), ["abc"]);
        assert_eq!(texts("r#\"abc"), ["abc"]);
    }
}
