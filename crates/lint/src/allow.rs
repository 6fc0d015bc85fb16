//! `# evalkit: allow W-CODE` on or above a line silences a warning there (`cases.md`, Lint). Errors cannot be silenced.

use std::collections::HashMap;

use crate::Severity;
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::syntax::Comment;

/// Which codes are allowed on which 1-based lines of a file.
pub(crate) struct Allowed {
    lines: HashMap<u32, Vec<String>>,
}

impl Allowed {
    /// Reads the comments of a file. One beside text is about its own line, one on a line of its own about the next
    /// line that is not a comment.
    pub(crate) fn read(source: &Source<'_>, comments: &[Comment]) -> Self {
        let mut lines: HashMap<u32, Vec<String>> = HashMap::new();
        for comment in comments {
            let Some(codes) = codes(source.slice(comment.span)) else {
                continue;
            };
            let own = source.line_of(comment.span.start);
            let mut line = own;
            let text = |line: usize| source.slice(source.line(line)).trim_start().to_owned();
            while text(line).starts_with('#') && line + 1 < source.line_count() {
                line += 1;
            }
            let line = u32::try_from(line + 1).unwrap_or(u32::MAX);
            lines.entry(line).or_default().extend(codes);
        }
        Self { lines }
    }

    /// Whether a finding of this file is silenced.
    pub(crate) fn silences(&self, diagnostic: &Diagnostic) -> bool {
        diagnostic.severity != Severity::Error
            && self
                .lines
                .get(&diagnostic.place.line)
                .is_some_and(|codes| codes.contains(&diagnostic.code))
    }
}

fn codes(comment: &str) -> Option<Vec<String>> {
    let rest = comment.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("evalkit:")?.trim_start();
    let rest = rest.strip_prefix("allow")?;
    let codes: Vec<String> = rest
        .split(|c: char| c == ',' || c.is_whitespace())
        .take_while(|word| !word.starts_with('('))
        .filter(|word| word.starts_with("W-") || word.starts_with("H-"))
        .map(str::to_owned)
        .collect();
    (!codes.is_empty()).then_some(codes)
}
