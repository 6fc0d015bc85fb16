//! `W-DASH-LIST`: topics in a row instead of a sentence.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{self, answer_rubrics, place, trajectory, words};

pub(crate) const RULE: Rule = Rule {
    code: "W-DASH-LIST",
    severity: Severity::Warning,
    what: "The text of a rubric is a list of topics, parted by dashes or slashes.",
    why: "A topic is neither right nor wrong. A sentence that says what a good answer contains can be graded.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"What kind of building is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Height - builder - materials\"\n          type: analysis_interpretation\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"What kind of building is the tower?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Identifies the tower as an open lattice of iron.\"\n          type: analysis_interpretation\n",
        )],
        facts: "",
    },
};

/// Every answer rubric and trajectory rubric.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let rubrics = answer_rubrics(unit)
        .into_iter()
        .map(|rubric| rubric.sentence);
    for passage in rubrics.chain(trajectory(unit)) {
        if !is_list(passage.text) {
            continue;
        }
        let trimmed = passage.text.trim_end().len();
        let span = place(unit.source, passage.node, passage.text, 0..trimmed);
        let help = "Write one rubric for each topic, and say in it what a good answer states.";
        let path = unit.pointer_to(&passage.path);
        sink.report(
            &RULE,
            unit,
            span,
            path,
            "This is a list of topics, not a statement.",
            help,
        );
    }
}

/// At least three parts, none of them a statement.
fn is_list(text: &str) -> bool {
    let mut parts: Vec<&str> = Vec::new();
    for line in text.lines() {
        let line = line.trim();
        let line = line.strip_prefix(['-', '*', '•']).unwrap_or(line);
        let mut rest = line;
        while let Some((at, length)) = separator(rest) {
            parts.push(&rest[..at]);
            rest = &rest[at + length..];
        }
        parts.push(rest);
    }
    if parts.len() < 3 {
        let slashed: Vec<&str> = text.split('/').collect();
        if slashed.len() < 3 || text.contains("//") {
            return false;
        }
        parts = slashed;
    }
    parts.iter().all(|part| {
        let topic = words(part);
        !topic.is_empty()
            && topic.len() <= 8
            && prose::figures(part).is_empty()
            && topic[0].text.starts_with(char::is_alphabetic)
            && !topic
                .iter()
                .any(|word| word.is(prose::FINITE) || word.lower == "that")
    })
}

/// The first separator between topics, with its length.
fn separator(text: &str) -> Option<(usize, usize)> {
    [" - ", " – ", " — ", " / ", " | "]
        .iter()
        .filter_map(|mark| Some((text.find(mark)?, mark.len())))
        .min()
}

#[cfg(test)]
mod tests {
    use super::is_list;

    #[test]
    fn lists_and_sentences() {
        for text in [
            "Risks / outlook / markets",
            "- risks\n- outlook\n- markets",
            "Risks – main markets – outlook",
            "risks/outlook/markets",
        ] {
            assert!(is_list(text), "{text}");
        }
        for text in [
            "States that the line Rome - Milan - Turin is 720 km long.",
            "States that km/h is used.",
            "Covers risk - in 2024 alone - at length.",
            "https://example.com/a/b",
            "12 / 14 / 16",
        ] {
            assert!(!is_list(text), "{text}");
        }
    }
}
