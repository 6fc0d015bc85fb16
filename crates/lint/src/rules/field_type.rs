//! `E-FIELD-TYPE`: a value of the wrong kind.

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::node::{Kind, Node};
use crate::project::{Sink, Unit};
use crate::shape::{Path, Shape};
use crate::source::{Source, Span};
use crate::{scalar, splice, yaml};

pub(crate) const RULE: Rule = Rule {
    code: "E-FIELD-TYPE",
    severity: Severity::Error,
    what: "A value is of another kind than its field takes: text must be text, a list a list.",
    why: "`expected: 42` is a number, and `\"42\"` is text. They are different contents, so nothing guesses.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower, in metres?\"}\n    expected: 330\n    max_response_time: 60\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "cases:\n  - id: tower-height\n    input: {question: \"How tall is the tower, in metres?\"}\n    expected: \"330\"\n    max_response_time: 60\n",
        )],
        facts: "",
    },
};

/// Reports a value that does not fit its shape.
pub(crate) fn report(node: &Node, shape: &Shape, path: Path<'_>, unit: &Unit<'_>, sink: &mut Sink) {
    let name = path.name();
    let wants = shape.describe();
    let (message, help) = if node.kind == Kind::Null {
        (
            format!("{name} is empty and must be {wants}."),
            "Give it a value, or remove it.".to_owned(),
        )
    } else {
        (
            format!("{name} must be {wants}, and this is {}.", node.describe()),
            help(node, shape),
        )
    };
    let span = if node.span.start == node.span.end {
        key_before(unit.source, node.span.start as usize)
    } else {
        match node.kind {
            Kind::List(_) | Kind::Mapping(_) => unit.source.first_line(node.span),
            _ => node.span,
        }
    };
    let fix = fix(node, shape, unit.source);
    sink.report(&RULE, unit, span, path.pointer(), message, help)
        .fix = fix;
}

/// The key whose value is missing at `at`; the last character before it where no key is.
fn key_before(source: &Source<'_>, at: usize) -> Span {
    let token = yaml::token(source, at);
    let text = &source.text[..token.end as usize];
    let Some(key) = text.strip_suffix(':') else {
        return token;
    };
    let start = key
        .rfind(|c: char| c.is_whitespace() || matches!(c, '{' | ','))
        .map_or(0, |i| i + key[i..].chars().next().map_or(1, char::len_utf8));
    let start = start.max(source.line(source.line_of(token.start)).start as usize);
    if start < key.len() {
        Span::new(start, key.len())
    } else {
        token
    }
}

fn help(node: &Node, shape: &Shape) -> String {
    match (shape, &node.kind) {
        (Shape::Text, kind) if is_plain(kind) => "Put it in double quotes.".to_owned(),
        (Shape::Text, Kind::Mapping(_)) => {
            "Write one text. If it holds `: `, put it in double quotes.".to_owned()
        }
        (Shape::Number, Kind::Text(_)) => "Write digits only, without quotes or units.".to_owned(),
        (Shape::Truth, Kind::Text(_)) => {
            "Write `true` or `false`; `yes`, `no`, `on` and `off` are text.".to_owned()
        }
        (Shape::List(_), kind) if is_plain(kind) || matches!(kind, Kind::Text(_)) => {
            "Put it in square brackets, or on a line of its own that starts with `- `.".to_owned()
        }
        (Shape::Closed(closed), Kind::Text(_)) if closed.name == "a rubric" => {
            "Write `rubric:` with this sentence, and `type:` beside it.".to_owned()
        }
        _ => format!("Write {}.", shape.describe()),
    }
}

fn is_plain(kind: &Kind) -> bool {
    matches!(kind, Kind::Bool(_) | Kind::Number(_) | Kind::NotFinite(_))
}

fn fix(node: &Node, shape: &Shape, source: &Source<'_>) -> Option<Fix> {
    if !splice::is_inline(source, node.span) {
        return None;
    }
    let written = source.slice(node.span);
    let (title, text) = match (shape, &node.kind) {
        (Shape::Text, kind) if is_plain(kind) => ("Put it in quotes", splice::quoted(written)),
        (Shape::Number, Kind::Text(text))
            if scalar::integer(text)
                .or_else(|| scalar::float(text))
                .is_some() =>
        {
            ("Remove the quotes", text.to_string())
        }
        (Shape::Truth, Kind::Text(text)) => {
            let value = match &*text.to_ascii_lowercase() {
                "yes" | "on" | "true" | "y" => "true",
                "no" | "off" | "false" | "n" => "false",
                _ => return None,
            };
            ("Write it as YAML 1.2 does", value.to_owned())
        }
        (Shape::List(Shape::Text), Kind::Text(text)) => {
            ("Make it a list", format!("[{}]", splice::quoted(text)))
        }
        (Shape::List(Shape::Text), kind) if is_plain(kind) => {
            ("Make it a list", format!("[{}]", splice::quoted(written)))
        }
        _ => return None,
    };
    Some(Fix {
        title: title.to_owned(),
        safe: true,
        edits: vec![Edit::new(node.span, text)],
    })
}
