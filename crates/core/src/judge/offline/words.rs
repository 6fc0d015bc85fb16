//! Words of a sentence, and the lists that decide which of them may stand beside a rubric's own.

use std::ops::Range;

/// A word, in lower case and without a plural or possessive `s`, or the place of a figure.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Token {
    /// A word without digits.
    Word(String),
    /// A year, a date, an identifier: anything with a digit that is no figure.
    Mark(String),
    /// A figure.
    Figure,
    /// The end of a part: a possessive ending.
    Break,
}

/// Words that say nothing at all in a statement.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "that",
    "about",
    "approximately",
    "around",
    "roughly",
    "also",
    "thus",
    "therefore",
    "hence",
];

/// Verbs that say no more than that something is so; they part a statement.
const COPULAS: &[&str] = &[
    "was",
    "were",
    "is",
    "are",
    "be",
    "been",
    "has",
    "had",
    "have",
    "reported",
    "report",
    "recorded",
    "posted",
    "booked",
    "generated",
    "stood",
    "did",
    "do",
    "does",
    "measured",
    "measure",
    "reached",
    "reache",
    "covered",
    "cover",
    "counted",
    "count",
    "equalled",
    "equal",
    "lasted",
    "take",
    "took",
    "come",
    "came",
    "there",
];

/// Words that join the parts of a statement, and how each counts; those that only place it in time or space count alike.
const LINKS: &[(&str, &str)] = &[
    ("in", "in"),
    ("for", "in"),
    ("at", "in"),
    ("on", "in"),
    ("during", "in"),
    ("of", "of"),
    ("by", "by"),
    ("to", "to"),
    ("from", "from"),
    ("between", "between"),
    ("before", "before"),
    ("after", "after"),
    ("since", "since"),
    ("until", "until"),
    ("with", "with"),
    ("under", "under"),
    ("over", "over"),
    ("against", "against"),
];

/// Words that may take back, doubt, suppose, quote or date what stands elsewhere in an answer.
const DOUBT: &[&str] = &[
    "actually",
    "allege",
    "alleged",
    "allegedly",
    "although",
    "apparently",
    "argue",
    "argued",
    "assert",
    "asserted",
    "assume",
    "assuming",
    "believe",
    "believed",
    "bet",
    "bogus",
    "can't",
    "cannot",
    "claim",
    "claimed",
    "claiming",
    "confirm",
    "contrary",
    "correct",
    "corrected",
    "correction",
    "could",
    "couldn't",
    "critic",
    "denie",
    "denied",
    "deny",
    "depending",
    "disagree",
    "discrepancy",
    "dispute",
    "disputed",
    "disregard",
    "don't",
    "doubt",
    "doubtful",
    "draft",
    "dream",
    "dummy",
    "erroneou",
    "erroneous",
    "error",
    "estimate",
    "estimated",
    "example",
    "expected",
    "fabricated",
    "fake",
    "false",
    "falsely",
    "fiction",
    "fictional",
    "fictitious",
    "fool",
    "forecast",
    "formerly",
    "gossip",
    "guess",
    "guidance",
    "guide",
    "guided",
    "hardly",
    "hear",
    "heard",
    "hearsay",
    "hoax",
    "hope",
    "hoped",
    "however",
    "hypothesi",
    "hypothesis",
    "hypothetical",
    "hypothetically",
    "if",
    "ignore",
    "imaginary",
    "imagine",
    "impossible",
    "inaccurate",
    "incorrect",
    "incorrectly",
    "indicative",
    "insist",
    "insisted",
    "instead",
    "invalid",
    "invented",
    "isn't",
    "joke",
    "kidding",
    "legend",
    "liar",
    "lie",
    "lied",
    "longer",
    "lorem",
    "maybe",
    "might",
    "misleading",
    "misprint",
    "misquoted",
    "misread",
    "misreported",
    "misstated",
    "mistake",
    "mistaken",
    "mistakenly",
    "myth",
    "neither",
    "never",
    "nobody",
    "none",
    "nonsense",
    "nor",
    "opposite",
    "or",
    "otherwise",
    "outdated",
    "parody",
    "perhaps",
    "phony",
    "placeholder",
    "plan",
    "planned",
    "possibly",
    "prank",
    "preliminary",
    "presumably",
    "pretend",
    "previously",
    "probably",
    "projected",
    "projection",
    "purported",
    "purportedly",
    "quiz",
    "quote",
    "rather",
    "refute",
    "refuted",
    "rejected",
    "repeat",
    "repeated",
    "reportedly",
    "restated",
    "retract",
    "retracted",
    "revised",
    "rumor",
    "rumour",
    "sample",
    "sarcasm",
    "sarcastic",
    "satire",
    "satirical",
    "say",
    "saying",
    "scam",
    "scenario",
    "sceptic",
    "seem",
    "seemingly",
    "should",
    "sic",
    "skeptic",
    "so-called",
    "speculate",
    "speculation",
    "spoof",
    "suggest",
    "suggested",
    "superseded",
    "suppose",
    "supposed",
    "supposedly",
    "suspect",
    "target",
    "template",
    "though",
    "thought",
    "told",
    "trick",
    "true",
    "typo",
    "unable",
    "unaudited",
    "uncertain",
    "unclear",
    "unconfirmed",
    "unknown",
    "unless",
    "unlikely",
    "unproven",
    "unreliable",
    "unsure",
    "untrue",
    "unverified",
    "used",
    "verify",
    "wasn't",
    "whether",
    "wish",
    "withdrawn",
    "would",
    "wouldn't",
    "write",
    "wrong",
    "wrongly",
    "wrote",
];

/// Words that deny; in a sentence beside the one that counts they may deny it.
const DENIAL: &[&str] = &["not", "no", "without", "n't"];

/// Words by which a later sentence reaches back to what was said, whatever it then does with it.
const BACK: &[&str] = &[
    "above",
    "all",
    "amount",
    "another",
    "answer",
    "anything",
    "before",
    "both",
    "data",
    "different",
    "digit",
    "each",
    "earlier",
    "either",
    "entire",
    "every",
    "everything",
    "fact",
    "figure",
    "first",
    "foregoing",
    "former",
    "information",
    "it",
    "its",
    "last",
    "latter",
    "line",
    "list",
    "number",
    "one",
    "other",
    "paragraph",
    "preceding",
    "previous",
    "real",
    "reality",
    "reply",
    "response",
    "reverse",
    "same",
    "second",
    "sentence",
    "statement",
    "such",
    "text",
    "that",
    "their",
    "them",
    "there",
    "these",
    "they",
    "thi",
    "this",
    "those",
    "truth",
    "value",
    "whole",
    "word",
];

/// Words by which an earlier sentence reaches forward.
const FORWARD: &[&str] = &[
    "below",
    "follow",
    "following",
    "here",
    "next",
    "now",
    "opposite",
    "subsequent",
    "then",
    "what",
];

/// Whether a word says nothing at all.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Whether a word says only that something is so.
pub(super) fn is_copula(word: &str) -> bool {
    COPULAS.contains(&word)
}

/// Whether a word carries no meaning of its own in a statement.
pub(super) fn is_empty(word: &str) -> bool {
    is_filler(word) || is_copula(word)
}

/// How a joining word counts.
pub(super) fn link(word: &str) -> Option<&'static str> {
    let found = LINKS.iter().find(|(link, _)| *link == word);
    found.map(|(_, counts_as)| *counts_as)
}

/// Whether a word may cast doubt on a whole answer.
pub(super) fn is_doubt(word: &str) -> bool {
    DOUBT.contains(&word)
}

/// Whether a word denies.
pub(super) fn is_denial(word: &str) -> bool {
    DENIAL.contains(&word) || word.ends_with("n't")
}

/// Whether a word reaches back.
pub(super) fn reaches_back(word: &str) -> bool {
    BACK.contains(&word)
}

/// Whether a word reaches forward.
pub(super) fn reaches_forward(word: &str) -> bool {
    FORWARD.contains(&word)
}

/// The tokens of `text[range]`. Figures are byte ranges of `text` in order, each one token.
pub(super) fn tokens(text: &str, range: Range<usize>, figures: &[Range<usize>]) -> Vec<Token> {
    let mut out = Vec::new();
    let mut word = String::new();
    let mut open_figure: Option<usize> = None;
    for (offset, c) in text.get(range.clone()).unwrap_or("").char_indices() {
        let at = range.start + offset;
        if let Some(end) = open_figure {
            if at < end {
                continue;
            }
            open_figure = None;
        }
        if let Some(figure) = figures
            .binary_search_by_key(&at, |f| f.start)
            .ok()
            .and_then(|i| figures.get(i))
        {
            flush(&mut word, &mut out);
            out.push(Token::Figure);
            open_figure = Some(figure.end);
            continue;
        }
        let inner = matches!(c, '-' | '\'' | '’' | '&' | '/') && !word.is_empty();
        if c.is_alphanumeric() || inner {
            word.push(if c == '’' { '\'' } else { c });
        } else {
            flush(&mut word, &mut out);
        }
    }
    flush(&mut word, &mut out);
    fiscal(out)
}

fn flush(word: &mut String, out: &mut Vec<Token>) {
    let taken = std::mem::take(word);
    let trimmed = taken.trim_end_matches(['-', '\'', '&', '/']);
    if trimmed.is_empty() {
        return;
    }
    let lower = trimmed.to_lowercase();
    if lower.chars().any(|c| c.is_ascii_digit()) {
        out.push(Token::Mark(lower));
    } else {
        out.push(Token::Word(stem(&lower)));
        if lower.ends_with("'s") || (taken.ends_with('\'') && lower.ends_with('s')) {
            out.push(Token::Break);
        }
    }
}

/// Without a possessive or plural `s`.
fn stem(lower: &str) -> String {
    let base = lower.strip_suffix("'s").unwrap_or(lower);
    match base.strip_suffix('s') {
        Some(rest) if rest.chars().count() > 2 && !rest.ends_with(['s', 'u', 'i']) => {
            rest.to_owned()
        }
        _ => base.to_owned(),
    }
}

/// `fiscal 2024`, `fiscal year 2024` and `FY 2024` as `fy2024`; a plain year stays what it is.
fn fiscal(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let Token::Mark(mark) = &token else {
            out.push(token);
            continue;
        };
        let is_word =
            |token: Option<&Token>, word: &str| token == Some(&Token::Word(word.to_owned()));
        let year = mark.len() == 4 && mark.bytes().all(|b| b.is_ascii_digit());
        let after_year = is_word(out.last(), "year")
            && is_word(out.len().checked_sub(2).and_then(|i| out.get(i)), "fiscal");
        if year && after_year {
            out.truncate(out.len() - 2);
        } else if year && (is_word(out.last(), "fiscal") || is_word(out.last(), "fy")) {
            out.pop();
        } else {
            out.push(token);
            continue;
        }
        out.push(Token::Mark(format!("fy{mark}")));
    }
    out
}
