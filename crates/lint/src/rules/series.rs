//! `W-SERIES`: one checkpoint for each point of a series.

use std::collections::HashMap;

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Passage, answer_rubrics, place, trajectory, words};
use evalkit_core::figures::prose::periods;

pub(crate) const RULE: Rule = Rule {
    code: "W-SERIES",
    severity: Severity::Warning,
    what: "Five or more checkpoints say the same for one point of a series each.",
    why: "They drown the others: one series that was read badly costs more than everything else together.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the height in 2019 as 300 metres.\"\n        - \"Retrieves the height in 2020 as 301 metres.\"\n        - \"Retrieves the height in 2021 as 302 metres.\"\n        - \"Retrieves the height in 2022 as 303 metres.\"\n        - \"Retrieves the height in 2023 as 304 metres.\"\n        - \"Retrieves the height in 2024 as 305 metres.\"\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  trajectory:\n    trajectory_rubrics:\n      rubrics:\n        - \"Retrieves the heights of all years from 2019 to 2024.\"\n        - \"Retrieves the height in 2019 as 300 metres.\"\n        - \"Retrieves the height in 2024 as 305 metres.\"\n",
        )],
        facts: "",
    },
};

/// So many are a series.
const LONG: usize = 5;

/// The trajectory rubrics, and the answer rubrics.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let rubrics = answer_rubrics(unit)
        .into_iter()
        .map(|rubric| rubric.sentence);
    for list in [trajectory(unit), rubrics.collect()] {
        let mut alike: HashMap<String, (usize, usize)> = HashMap::new();
        for (i, passage) in list.iter().enumerate() {
            let (count, _) = alike.entry(pattern(passage)).or_insert((0, i));
            *count += 1;
        }
        let mut series: Vec<(usize, usize)> = alike
            .into_values()
            .filter(|(count, _)| *count >= LONG)
            .collect();
        series.sort_unstable_by_key(|(_, first)| *first);
        for (count, first) in series {
            let passage = &list[first];
            let end = passage.text.trim_end().len();
            let span = place(unit.source, passage.node, passage.text, 0..end);
            let message = format!(
                "This is the first of {count} rubrics that differ only in their point and its value."
            );
            let help = "Keep a spot check or two, and add one rubric on the whole series.";
            sink.report(
                &RULE,
                unit,
                span,
                unit.pointer_to(&passage.path),
                message,
                help,
            );
        }
    }
}

/// The text with every number and period taken out.
fn pattern(passage: &Passage<'_>) -> String {
    let mut out = String::with_capacity(passage.text.len());
    for word in words(passage.text) {
        let point = word.lower.contains(|c: char| c.is_ascii_digit())
            || !periods(word.text).is_empty()
            || word.is(&[
                "first",
                "second",
                "third",
                "fourth",
                "monday",
                "tuesday",
                "wednesday",
                "thursday",
                "friday",
                "saturday",
                "sunday",
            ]);
        out.push_str(if point { "#" } else { &word.lower });
        out.push(' ');
    }
    out
}
