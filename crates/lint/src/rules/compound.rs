//! `W-COMPOUND`: one rubric, several assertions.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{self, Word, answer_rubrics, place};
use evalkit_core::figures::prose::{content, sentences};

pub(crate) const RULE: Rule = Rule {
    code: "W-COMPOUND",
    severity: Severity::Warning,
    what: "A rubric asserts several things that could be graded differently.",
    why: "An answer that has one half right gets one verdict, and nobody sees which half it was. Two rubrics count both.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower, and who built it?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall and that Eiffel built it.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower, and who built it?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower is 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"Names Eiffel as the builder.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// Every answer rubric.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for rubric in answer_rubrics(unit) {
        let text = rubric.sentence.text;
        if super::type_mismatch::states_its_method(&rubric).is_some() {
            continue;
        }
        let Some(from) = second(text) else { continue };
        let end = text.trim_end().len();
        let span = place(unit.source, rubric.sentence.node, text, from..end);
        let path = unit.pointer_to(&rubric.sentence.path);
        let help =
            "Split it: one rubric for each statement that could be right or wrong on its own.";
        sink.report(
            &RULE,
            unit,
            span,
            path,
            "This rubric asserts more than one thing.",
            help,
        );
    }
}

/// Where a second assertion begins.
fn second(text: &str) -> Option<usize> {
    let words = prose::words(text);
    for (i, word) in words.iter().enumerate().skip(1) {
        if word.lower != "and" {
            continue;
        }
        let next = words.get(i + 1)?;
        let after = words.get(i + 2);
        // "states that A and that B"
        let that = next.lower == "that"
            && words[..i].iter().any(|w| w.lower == "that")
            && after.is_some_and(|w| !w.is(prose::FINITE));
        // "calculates A, and explains B"
        let asserts = next.is(prose::ASSERTS)
            || next.lower.ends_with("ly") && after.is_some_and(|w| w.is(prose::ASSERTS));
        if that || asserts && words[0].is(prose::ASSERTS) || clause(text, &words, i) {
            return Some(next.start);
        }
    }
    second_sentence(text)
}

/// "that A was x and B was y": both sides have a subject and a verb, and speak of different things.
fn clause(text: &str, words: &[Word<'_>], and: usize) -> bool {
    const TIED: &[&str] = &[
        "if", "when", "where", "because", "whether", "unless", "than", "which", "who", "whose",
        "both", "between", "while", "what", "how", "since", "although", "only",
    ];
    if words.iter().any(|word| word.is(TIED)) {
        return false;
    }
    let left = &words[..and];
    let right = &words[and + 1..];
    let verb = |words: &[Word<'_>]| words.iter().rposition(|word| word.is(prose::FINITE));
    let (Some(first), Some(other)) = (verb(left), right.iter().position(|w| w.is(prose::FINITE)))
    else {
        return false;
    };
    // A subject between "and" and the verb; a figure on each side.
    if other == 0 || first == 0 || right[..other].iter().any(|w| w.lower == "that") {
        return false;
    }
    let figure = |from: usize, to: usize| !prose::figures(&text[from..to]).is_empty();
    let start = words[and].end;
    if !figure(0, words[and].start) || !figure(start, text.len()) {
        return false;
    }
    // Two periods of one comparison: the other side brings no word of its own.
    let subject = content(&text[right[0].start..right[other].start]);
    let known = content(&text[..words[and].start]);
    let period = |word: &String| evalkit_core::figures::prose::periods(word).is_empty();
    subject
        .iter()
        .any(|word| !known.contains(word) && period(word))
}

/// A second sentence that asserts something of its own.
fn second_sentence(text: &str) -> Option<usize> {
    sentences(text).into_iter().skip(1).find_map(|range| {
        let first = prose::words(&text[range.clone()]).into_iter().next()?;
        first
            .is(prose::ASSERTS)
            .then_some(range.start + first.start)
    })
}

#[cfg(test)]
mod tests {
    use super::second;

    #[test]
    fn what_is_two_things_and_what_is_one() {
        for text in [
            "States that revenue was $5 million and the margin was 3%.",
            "Calculates growth of 5%, and clearly explains what drove it.",
            "States that the lease ends in May. Names the landlord.",
        ] {
            assert!(second(text).is_some(), "{text}");
        }
        for text in [
            "States that revenue was $5 million in 2023 and was $6 million in 2024.",
            "States that gross profit was $588.8 million in FY2023 and $653.0 million in FY2024.",
            "States that research and development was 5% of sales.",
            "Weighs price and quality against the 3% discount.",
            "States that Holm sells and services pumps.",
        ] {
            assert_eq!(second(text), None, "{text}");
        }
    }
}
