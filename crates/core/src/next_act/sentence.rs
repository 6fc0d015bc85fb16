//! Building a sentence of words and labels.

use super::Part;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Sentence(pub(super) Vec<Part>);

impl Sentence {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self(vec![Part::Text(text.into())])
    }

    pub(super) fn and(mut self, text: &str) -> Self {
        if text.is_empty() {
            return self;
        }
        if let Some(Part::Text(last)) = self.0.last_mut() {
            last.push_str(text);
        } else {
            self.0.push(Part::Text(text.to_owned()));
        }
        self
    }

    pub(super) fn label(mut self, label: String) -> Self {
        self.0.push(Part::Label(label));
        self
    }

    pub(super) fn join(mut self, other: Self) -> Self {
        for part in other.0 {
            self = match part {
                Part::Text(text) => self.and(&text),
                Part::Label(label) => self.label(label),
            };
        }
        self
    }

    /// "R2", "R2 and R3", "R2, R3 and R5".
    pub(super) fn list(mut self, labels: &[String]) -> Self {
        for (index, label) in labels.iter().enumerate() {
            self = self
                .and(separator(index, labels.len()))
                .label(label.clone());
        }
        self
    }

    pub(super) fn clauses(mut self, clauses: Vec<Self>) -> Self {
        let count = clauses.len();
        for (index, clause) in clauses.into_iter().enumerate() {
            // A comma before the last "and": the clauses hold lists of their own.
            let separator = match (index, count) {
                (0, _) => "",
                (i, n) if i + 1 == n => ", and ",
                _ => ", ",
            };
            self = self.and(separator).join(clause);
        }
        self
    }
}

const fn separator(index: usize, count: usize) -> &'static str {
    if index == 0 {
        ""
    } else if index + 1 == count {
        " and "
    } else {
        ", "
    }
}

pub(super) fn seconds(ms: u64) -> String {
    format!("{}.{} s", ms / 1000, ms % 1000 / 100)
}

pub(super) fn plain_number(value: f64) -> String {
    format!("{value}")
}

pub(super) fn ended(message: &str) -> String {
    let message = message.trim();
    if message.ends_with(['.', '!', '?']) {
        message.to_owned()
    } else {
        format!("{message}.")
    }
}

/// At most `longest` characters, cut at a word, with an ellipsis where something was left out.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if text.chars().count() <= longest {
        return text.to_owned();
    }
    let head: String = text.chars().take(longest).collect();
    let end = head.rfind(' ').unwrap_or(head.len());
    format!("{}…", head[..end].trim_end())
}
