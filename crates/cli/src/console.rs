//! What a command says: results on standard output, everything else on standard error. Colour only on a terminal
//! (`NO_COLOR` is honoured), and never a control character from somebody else's text.

use std::borrow::Cow;
use std::io::{IsTerminal as _, Write};

use crate::exit::Failure;

/// Where a command writes.
pub(crate) struct Console {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    /// Colour may be used on standard output.
    pub colour: bool,
    /// The same on standard error.
    pub colour_beside: bool,
    /// Progress may be drawn on standard error.
    pub progress: bool,
    quiet: bool,
    /// Why the result did not reach its reader.
    lost: Option<std::io::Error>,
}

impl Console {
    /// The process's own streams.
    pub(crate) fn of_the_terminal(quiet: bool, ci: bool) -> Self {
        Self {
            out: Box::new(std::io::stdout()),
            err: Box::new(std::io::stderr()),
            colour: colour(&std::io::stdout()),
            colour_beside: colour(&std::io::stderr()),
            progress: !quiet && !ci && std::io::stderr().is_terminal(),
            quiet,
            lost: None,
        }
    }

    /// Streams of a test, without colour.
    #[cfg(test)]
    pub(crate) fn into(out: impl Write + Send + 'static, err: impl Write + Send + 'static) -> Self {
        Self {
            out: Box::new(out),
            err: Box::new(err),
            colour: false,
            colour_beside: false,
            progress: false,
            quiet: false,
            lost: None,
        }
    }

    /// A line of the result.
    pub(crate) fn say(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref().as_bytes();
        let written = self
            .out
            .write_all(line)
            .and_then(|()| self.out.write_all(b"\n"));
        self.keep(written);
    }

    /// Remembers the first failure to write the result. A reader that went away (`| head`) is none.
    fn keep(&mut self, written: std::io::Result<()>) {
        if let Err(error) = written
            && error.kind() != std::io::ErrorKind::BrokenPipe
        {
            self.lost.get_or_insert(error);
        }
    }

    /// Why the result did not reach its reader whole: a full disk, say.
    pub(crate) fn lost(&mut self) -> Option<std::io::Error> {
        let flushed = self.out.flush();
        self.keep(flushed);
        self.lost.take()
    }

    /// Bytes of the result as they come; what a terminal would obey is not passed on.
    pub(crate) fn pass(&mut self, bytes: &[u8]) {
        // JSON has no bare control characters but line breaks, so replacing them changes no valid line.
        let plain: Vec<u8> = bytes
            .iter()
            .map(|byte| match byte {
                b'\n' => b'\n',
                0..=31 | 127 => b' ',
                other => *other,
            })
            .collect();
        let written = self.out.write_all(&plain);
        self.keep(written);
    }

    /// A line beside the result; `--quiet` leaves it out.
    pub(crate) fn note(&mut self, line: impl AsRef<str>) {
        if !self.quiet {
            let _ = writeln!(self.err, "{}", line.as_ref());
        }
    }

    /// A line that `--quiet` does not leave out.
    pub(crate) fn warn(&mut self, line: impl AsRef<str>) {
        let _ = writeln!(self.err, "{}", line.as_ref());
    }

    /// A failure: what happened, where, what to do next.
    pub(crate) fn fail(&mut self, failure: &Failure) {
        let code = failure
            .code
            .as_ref()
            .map(|code| format!("[{code}]"))
            .unwrap_or_default();
        let _ = writeln!(self.err, "error{code}: {}", visible(&failure.message));
        for detail in &failure.details {
            let _ = writeln!(self.err, "  {}", visible(detail));
        }
        if !failure.next.is_empty() {
            let _ = writeln!(self.err, "  next: {}", visible(&failure.next));
        }
    }

    /// Everything written so far reaches its stream.
    pub(crate) fn flush(&mut self) {
        let _ = self.out.flush();
        let _ = self.err.flush();
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.flush();
    }
}

/// Whether a stream takes colour: it is a terminal, and neither `NO_COLOR` nor the terminal says otherwise.
fn colour(stream: &impl anstream::stream::RawStream) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// Text of somebody else without what a terminal would obey (`reliability.md`, D27): control characters and the marks
/// that reorder text. Each is replaced by as many bytes, so that spans stay right; line breaks and tabs stay.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
    };
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let replace = |c: char| match (obeyed(c), c.len_utf8()) {
        (false, _) => c,
        (true, 1) => '?',
        (true, 2) => '\u{b7}',
        (true, _) => '\u{fffd}',
    };
    Cow::Owned(text.chars().map(replace).collect())
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind, Write};

    use super::{Console, visible};

    /// A stream that cannot be written to.
    struct Broken(ErrorKind);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(Error::from(self.0))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told_and_a_reader_that_left_is_not() {
        for (kind, told) in [
            (ErrorKind::StorageFull, true),
            (ErrorKind::BrokenPipe, false),
        ] {
            let mut console = Console::into(Broken(kind), std::io::sink());
            console.say("a line");
            assert_eq!(console.lost().is_some(), told, "{kind}");
        }
    }

    #[test]
    fn a_terminal_obeys_nothing_of_somebody_elses_text() {
        let text = "a\u{1b}[31mb\r\u{9b}2J\u{202e}c\n\t\u{7f}é";
        let shown = visible(text);
        assert_eq!(shown, "a?[31mb?\u{b7}2J\u{fffd}c\n\t?é");
        assert_eq!(shown.len(), text.len());
        assert!(matches!(visible("plain é"), std::borrow::Cow::Borrowed(_)));
    }
}
