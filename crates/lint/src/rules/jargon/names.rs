//! Tier 1: names that are known, and words that are shaped like code.

use std::collections::HashSet;
use std::ops::Range;

use crate::node::Node;
use crate::project::Project;

/// Names that are known, and what is excused.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    /// Names of one word that mean nothing else, in lower case.
    names: HashSet<String>,
    /// Names with blanks or signs inside, in lower case.
    long: Vec<String>,
    /// Tool names that are everyday words, in lower case: `search`.
    pub everyday: HashSet<String>,
    /// The dataset's own subject, in lower case.
    subject: Vec<String>,
}

impl Vocabulary {
    /// From tool names, `jargon` and `subject_terms`.
    pub(super) fn new<'a>(
        tools: impl Iterator<Item = &'a str>,
        jargon: &[String],
        subject: &[String],
    ) -> Self {
        let mut made = Self {
            subject: subject
                .iter()
                .map(|term| term.trim().to_lowercase())
                .filter(|term| !term.is_empty())
                .collect(),
            ..Self::default()
        };
        for name in tools {
            let plain = name.chars().all(char::is_alphabetic)
                && !name.chars().skip(1).any(char::is_uppercase);
            if plain {
                made.everyday.insert(name.to_lowercase());
            } else {
                made.add(name);
            }
        }
        jargon.iter().for_each(|word| made.add(word));
        made
    }

    /// What facts and the tool checks of the files tell.
    pub(super) fn of(project: &Project<'_>) -> Self {
        let mut tools: HashSet<&str> = HashSet::new();
        for unit in project.cases.iter().chain(&project.overlays) {
            let checks = unit.node.at(&["evaluators", "trajectory"]);
            let list = |keys: &[&str]| {
                checks
                    .and_then(|node| node.at(keys))
                    .and_then(Node::list)
                    .unwrap_or_default()
            };
            tools.extend(
                list(&["required_tools_called", "tools"])
                    .iter()
                    .filter_map(Node::text),
            );
            let calls = list(&["tool_trajectory_match", "expected"]);
            tools.extend(calls.iter().filter_map(|call| call.get("name")?.text()));
        }
        let facts = project.facts;
        tools.extend(facts.tools.iter().flatten().map(String::as_str));
        Self::new(
            tools.into_iter(),
            facts.jargon.as_deref().unwrap_or_default(),
            facts.subject_terms.as_deref().unwrap_or_default(),
        )
    }

    fn add(&mut self, name: &str) {
        let name = name.trim().to_lowercase();
        if name.is_empty() {
        } else if name.chars().all(part_of_name) {
            self.names.insert(name);
        } else {
            self.long.push(name);
        }
    }

    /// Whether a piece of text holds a subject term as whole words.
    pub(super) fn is_subject(&self, piece: &str) -> bool {
        if self.subject.is_empty() {
            return false;
        }
        let piece = piece.to_lowercase();
        self.subject.iter().any(|term| {
            let plural = format!("{term}s");
            whole(&piece, term).is_some() || whole(&piece, &plural).is_some()
        })
    }
}

fn part_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Where `wanted` stands in `text` as whole words.
fn whole(text: &str, wanted: &str) -> Option<Range<usize>> {
    let edge = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(wanted).find_map(|(at, _)| {
        let end = at + wanted.len();
        let free = edge(text[..at].chars().next_back()) && edge(text[end..].chars().next());
        free.then_some(at..end)
    })
}

/// Runs of characters that names are made of, with their places.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + text[rest..].find(part_of_name)?;
        let end = start
            + text[start..]
                .find(|c| !part_of_name(c))
                .unwrap_or(text.len() - start);
        rest = end;
        Some(start..end)
    })
}

/// A known name, wherever it stands and whatever is tied to it by a hyphen or a point.
pub(super) fn known(text: &str, vocabulary: &Vocabulary) -> Option<Range<usize>> {
    if !vocabulary.names.is_empty() {
        for run in runs(text) {
            let edges: Vec<usize> = std::iter::once(run.start)
                .chain(
                    text[run.clone()]
                        .match_indices(['-', '.'])
                        .map(|(at, _)| run.start + at),
                )
                .take(12)
                .collect();
            for &from in &edges {
                let from = if from == run.start { from } else { from + 1 };
                let ends = edges
                    .iter()
                    .copied()
                    .filter(|end| *end > from)
                    .chain([run.end]);
                for end in ends {
                    if vocabulary.names.contains(&text[from..end].to_lowercase()) {
                        return Some(from..end);
                    }
                }
            }
        }
    }
    if !vocabulary.long.is_empty() {
        let lower = text.to_lowercase();
        // Places are those of the text only where lower case keeps every length.
        if lower.len() == text.len() {
            return vocabulary.long.iter().find_map(|name| whole(&lower, name));
        }
        if vocabulary
            .long
            .iter()
            .any(|name| whole(&lower, name).is_some())
        {
            return Some(0..text.len());
        }
    }
    None
}

/// File name endings of code, data and notes.
const ENDINGS: &[&str] = &[
    "md", "txt", "csv", "tsv", "json", "jsonl", "yaml", "yml", "toml", "xml", "py", "ipynb", "rs",
    "js", "ts", "sh", "sql", "html", "pdf", "xlsx", "xls", "docx", "pptx", "log", "db", "sqlite",
    "parquet", "png", "jpg", "ini", "cfg", "zip",
];

/// Endings that mark a file without a folder too.
const PLAIN_ENDINGS: &[&str] = &[
    "md", "json", "jsonl", "yaml", "yml", "toml", "py", "ipynb", "sh", "parquet", "sqlite",
];

/// Words shaped like code. The case's own fixtures are what the user attached, and may be named.
pub(super) fn shaped(text: &str, fixtures: &[&str]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, token) in tokens(text) {
        if token.contains("://")
            || token.contains('@')
            || token.starts_with("www.")
            || fixtures.contains(&token)
        {
            continue;
        }
        if let Some(range) = path(text, at, token)
            .or_else(|| call(at, token))
            .or_else(|| snake(at, token))
        {
            found.push(range);
        }
    }
    found
}

/// Words between blanks, without the signs around them.
fn tokens(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let around: &[char] = &[
        '"', '\'', '“', '”', '‘', '’', '`', ',', ';', ':', '!', '?', '[', ']', '*',
    ];
    text.split_whitespace().filter_map(move |word| {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        let cut = word.trim_start_matches(around).trim_start_matches('(');
        let start = start + word.len() - cut.len();
        let cut = cut.trim_end_matches(around).trim_end_matches('.');
        (!cut.is_empty()).then_some((start, cut))
    })
}

fn identifier(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// `snake_case`, at least two parts of two letters or more.
fn snake(at: usize, token: &str) -> Option<Range<usize>> {
    let mut rest = 0;
    while let Some(from) = token[rest..].find(identifier).map(|i| rest + i) {
        let end = from
            + token[from..]
                .find(|c| !identifier(c))
                .unwrap_or(token.len() - from);
        let name = token[from..end].trim_matches('_');
        let parts: Vec<&str> = name.split('_').filter(|part| !part.is_empty()).collect();
        let words = parts
            .iter()
            .filter(|part| part.len() >= 2 && part.starts_with(|c: char| c.is_ascii_alphabetic()));
        if parts.len() >= 2 && words.count() >= 2 {
            return Some(at + from..at + end);
        }
        rest = end;
    }
    None
}

/// `computeVat(net)`, `Library.check(`, `refresh()`; not `iPhone(s)`, `MWh(th)` or `f(3)`.
fn call(at: usize, token: &str) -> Option<Range<usize>> {
    let open = token.find('(')?;
    if token[open..].starts_with("(s)") {
        return None;
    }
    let name = token[..open]
        .rsplit(|c| !identifier(c))
        .next()
        .unwrap_or_default();
    let lower = name.chars().take_while(char::is_ascii_lowercase).count();
    let camel = lower >= 2
        && name
            .chars()
            .nth(lower)
            .is_some_and(|c| c.is_ascii_uppercase());
    let empty = name.len() >= 3 && token[open..].starts_with("()");
    (camel || empty).then(|| {
        let end = token[open..]
            .find(')')
            .map_or(token.len(), |close| open + close + 1);
        at..at + end
    })
}

fn path(text: &str, at: usize, token: &str) -> Option<Range<usize>> {
    let token = token.trim_end_matches(')');
    let whole = || Some(at..at + token.len());
    let bytes = token.as_bytes();
    let drive =
        bytes.len() > 3 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' && bytes[2] == b'\\';
    if drive
        || ["~/", "./", "../"]
            .iter()
            .any(|start| token.starts_with(start) && token.len() > start.len())
    {
        return whole();
    }
    let (stem, ending) = token.rsplit_once('.').unwrap_or((token, ""));
    let named = stem.ends_with(|c: char| c.is_alphanumeric());
    if token.contains('/') && ENDINGS.contains(&ending) && named
        || PLAIN_ENDINGS.contains(&ending) && named
    {
        return whole();
    }
    let rest = token.strip_prefix('/')?;
    let segment = |part: &str| {
        part.len() >= 2
            && part.starts_with(|c: char| c.is_ascii_lowercase())
            && part.chars().all(|c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.')
            })
    };
    let parts: Vec<&str> = rest.split('/').collect();
    if !parts.iter().all(|part| segment(part)) {
        return None;
    }
    if parts.len() >= 2 {
        return whole();
    }
    // "31 cents /kg" has a figure just before; "/review" has none.
    let measure = text[..at]
        .split_whitespace()
        .rev()
        .take(2)
        .any(|word| word.contains(|c: char| c.is_ascii_digit()));
    (rest.len() >= 4 && !measure).then(whole).flatten()
}
