//! `E-JARGON`: the vocabulary of the harness in a case.
//!
//! Three tiers (`cases.md`, Lint): names that cannot be anything else, phrases that mean the machinery alone, and
//! everyday words in a construction that speaks of the machinery. It is an error, so a doubtful sentence passes.

mod constructions;
mod names;
mod phrases;

use std::ops::Range;

use super::{Example, Rule};
use crate::Severity;
use crate::node::Node;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Part, passages, place, words};

use names::Vocabulary;

pub(crate) const RULE: Rule = Rule {
    code: "E-JARGON",
    severity: Severity::Error,
    what: "A question, `expected`, rubric, source, presentation entry or checkpoint uses the vocabulary of the harness: tools, prompts, servers, file paths.",
    why: "A case says what a good answer is, for any agent. A sentence about the machinery grades one agent, and breaks when its tools change.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States the height that get_height returns.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// A part of a text that is jargon.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leak {
    range: Range<usize>,
    /// Whether it is a name that is known, which no subject term excuses.
    known: bool,
}

/// Every text of every case.
pub(crate) fn check(project: &Project<'_>, sink: &mut Sink) {
    let vocabulary = Vocabulary::of(project);
    for unit in &project.cases {
        let fixtures: Vec<&str> = unit
            .node
            .get("fixtures")
            .and_then(Node::list)
            .unwrap_or_default()
            .iter()
            .filter_map(Node::text)
            .collect();
        for passage in passages(unit) {
            let Some(leak) = first_leak(passage.text, passage.part, &vocabulary, &fixtures) else {
                continue;
            };
            report(unit, &passage, &leak, sink);
        }
    }
}

fn report(unit: &Unit<'_>, passage: &crate::prose::Passage<'_>, leak: &Leak, sink: &mut Sink) {
    let shown = &passage.text[leak.range.clone()];
    let what = match (leak.known, passage.part) {
        (true, _) => "is a name of the harness",
        (_, Part::Question) => "speaks of the machinery, and a user would not",
        _ => "speaks of the machinery, not of the answer",
    };
    let message = format!("\u{201c}{shown}\u{201d} {what}.");
    let span = place(unit.source, passage.node, passage.text, leak.range.clone());
    let help = if leak.known {
        "Say what is looked up or worked out, not with what. Tool checks belong into an overlay."
    } else {
        "Say it in words of the subject. If this is the dataset's own subject, list it under `subject_terms` in `evalkit.yaml`."
    };
    sink.report(
        &RULE,
        unit,
        span,
        unit.pointer_to(&passage.path),
        message,
        help,
    );
}

/// The first leak that no subject term excuses.
fn first_leak(text: &str, part: Part, vocabulary: &Vocabulary, fixtures: &[&str]) -> Option<Leak> {
    let known = names::known(text, vocabulary);
    if let Some(range) = known {
        return Some(Leak { range, known: true });
    }
    let words = words(text);
    let mut found: Vec<Range<usize>> = names::shaped(text, fixtures);
    found.extend(phrases::find(text, &words, part));
    found.extend(constructions::find(text, &words, part, vocabulary));
    found.retain(|range| !vocabulary.is_subject(&text[range.clone()]));
    found.sort_by_key(|range| (range.start, range.end));
    let range = found.into_iter().next()?;
    Some(Leak {
        range,
        known: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaks(text: &str, part: Part, tools: &[&str]) -> bool {
        let vocabulary = Vocabulary::new(tools.iter().copied(), &[], &[]);
        first_leak(text, part, &vocabulary, &[]).is_some()
    }

    #[test]
    fn leaks_of_every_tier() {
        for (text, part) in [
            ("Takes quote_id from the response.", Part::Rubric),
            ("Runs fetchQuote(id) first.", Part::Trajectory),
            ("See ./notes/plan.md for more.", Part::Expected),
            ("Stops after the third tool call.", Part::Trajectory),
            ("The answer comes from a tool-call.", Part::Rubric),
            ("Invokes the billing API twice.", Part::Trajectory),
            ("The agent should apologise.", Part::Rubric),
            (
                "Retrieves the price via the quotes server.",
                Part::Trajectory,
            ),
            (
                "Use the billing tool and tell me what I owe.",
                Part::Question,
            ),
            ("ChatGPT must refuse.", Part::Rubric),
        ] {
            assert!(leaks(text, part, &[]), "{text}");
        }
        assert!(leaks(
            "Uses look-up-v3's rows.",
            Part::Trajectory,
            &["look-up-v3"]
        ));
        assert!(leaks(
            "The QuoteFinder-based total.",
            Part::Rubric,
            &["QuoteFinder"]
        ));
        assert!(leaks("Calls quotes twice.", Part::Trajectory, &["quotes"]));
    }

    #[test]
    fn everyday_sentences_pass() {
        for (text, part) in [
            (
                "States that the travel agent should refund the fare.",
                Part::Rubric,
            ),
            ("What is the current model of the KD-18?", Part::Question),
            ("Names the tool that cuts best.", Part::Rubric),
            ("States that the speed is 80 km/h and 3 m/s.", Part::Rubric),
            ("the notice at https://example.com/a_b/c.pdf", Part::Source),
            (
                "States that a model of the ship stands in the hall.",
                Part::Rubric,
            ),
            ("States that the wage is 12 euros /hour.", Part::Rubric),
            ("_Emphasis_ is not code.", Part::Rubric),
            ("States that CO_2 is measured.", Part::Rubric),
        ] {
            assert!(!leaks(text, part, &["quotes"]), "{text}");
        }
    }
}
