//! Words of a sentence, and the lists that decide which of them may stand beside a rubric's own.

use std::ops::Range;

/// A word, in lower case and without a plural or possessive `s`, or the place of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A word without digits.
    Word(String),
    /// A year, a date, an identifier: anything with a digit that is no figure.
    Mark(String),
    /// A figure.
    Figure,
}

/// Words that cannot turn the meaning of a statement, whichever of them stand in it.
const NEUTRAL: &[&str] = &[
    "a",
    "an",
    "the",
    "was",
    "were",
    "is",
    "are",
    "be",
    "been",
    "has",
    "had",
    "have",
    "of",
    "in",
    "for",
    "at",
    "on",
    "during",
    "that",
    "it",
    "and",
    "reported",
    "report",
    "recorded",
    "posted",
    "stood",
    "year",
    "about",
    "approximately",
    "around",
    "roughly",
    "there",
    "did",
    "do",
    "does",
];

/// Words that may take back, doubt, suppose, quote or date what stands elsewhere in an answer.
const DOUBT: &[&str] = &[
    "actually",
    "allegedly",
    "alleged",
    "although",
    "apparently",
    "april-fool",
    "assume",
    "assuming",
    "believe",
    "believed",
    "cannot",
    "can't",
    "claim",
    "claimed",
    "claiming",
    "confirm",
    "contrary",
    "correction",
    "corrected",
    "correct",
    "could",
    "couldn't",
    "critic",
    "deny",
    "denied",
    "denie",
    "depending",
    "disagree",
    "discrepancy",
    "disputed",
    "dispute",
    "disregard",
    "don't",
    "doubt",
    "doubtful",
    "draft",
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
    "fictional",
    "fictitious",
    "fiction",
    "forecast",
    "formerly",
    "guess",
    "guidance",
    "guided",
    "guide",
    "hardly",
    "hearsay",
    "however",
    "hypothesi",
    "hypothesis",
    "hypothetical",
    "hypothetically",
    "if",
    "ignore",
    "imagine",
    "imaginary",
    "impossible",
    "inaccurate",
    "incorrect",
    "incorrectly",
    "indicative",
    "instead",
    "invalid",
    "invented",
    "isn't",
    "joke",
    "kidding",
    "lie",
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
    "perhaps",
    "placeholder",
    "plan",
    "planned",
    "possibly",
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
    "restated",
    "retract",
    "retracted",
    "revised",
    "rumor",
    "rumour",
    "sample",
    "say",
    "saying",
    "scenario",
    "seem",
    "seemingly",
    "should",
    "skeptic",
    "sceptic",
    "so-called",
    "speculation",
    "speculate",
    "superseded",
    "suppose",
    "supposed",
    "supposedly",
    "suspect",
    "target",
    "template",
    "test",
    "though",
    "thought",
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
    "withdrawn",
    "wish",
    "would",
    "wouldn't",
    "wrong",
    "wrongly",
];

/// Words that deny; in a sentence beside the one that counts, or one that points back, they may deny it.
const DENIAL: &[&str] = &[
    "not", "no", "without", "didn't", "doesn't", "won't", "aren't", "weren't", "hasn't", "hadn't",
    "haven't", "n't",
];

/// Words by which a sentence points back at another.
const POINTING: &[&str] = &[
    "that",
    "this",
    "these",
    "those",
    "it",
    "they",
    "both",
    "all",
    "everything",
    "nothing",
    "above",
    "former",
    "latter",
    "such",
    "same",
    "previous",
    "preceding",
    "figure",
    "number",
    "value",
    "statement",
    "answer",
    "sentence",
];

/// Whether a word cannot turn a meaning.
pub(super) fn is_neutral(word: &str) -> bool {
    NEUTRAL.contains(&word)
}

/// Whether a word may cast doubt on a whole answer.
pub(super) fn is_doubt(word: &str) -> bool {
    DOUBT.contains(&word)
}

/// Whether a word denies.
pub(super) fn is_denial(word: &str) -> bool {
    DENIAL.contains(&word) || word.ends_with("n't")
}

/// Whether a word points back.
pub(super) fn points_back(word: &str) -> bool {
    POINTING.contains(&word)
}

/// The tokens of `text[range]`. Figures are byte ranges of `text`, each one token.
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
        if let Some(figure) = figures.iter().find(|f| f.start == at) {
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
