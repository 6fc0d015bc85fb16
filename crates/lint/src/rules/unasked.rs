//! `H-UNASKED`: a rubric about what nobody asked.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Part, answer_rubrics, passages, place, words, years};
use evalkit_core::figures::prose::content;
use std::collections::{BTreeSet, HashMap};

pub(crate) const RULE: Rule = Rule {
    code: "H-UNASKED",
    severity: Severity::Hint,
    what: "A rubric asserts a topic or a period that the question never mentions.",
    why: "A good answer to the question would not contain it, and would be marked down.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"States that 6.3 million visitors paid an entrance fee.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025, and how many visitors paid the fee in 2024?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"States that the tower was 330 metres tall.\"\n          type: factual_retrieval\n        - rubric: \"States that 6.3 million visitors paid an entrance fee.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
};

/// Facts with a figure, against the words of the question and of everything else in the case.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let rubrics = answer_rubrics(unit);
    // One rubric alone is what the case is about.
    if rubrics.len() < 2 {
        return;
    }
    let passages = passages(unit);
    let mut asked = BTreeSet::new();
    let mut asked_years = BTreeSet::new();
    let mut open = false;
    for passage in &passages {
        match passage.part {
            Part::Question => {
                asked.extend(content(passage.text));
                asked_years.extend(years(passage.text));
                open |= words(passage.text).iter().any(|word| word.is(OPEN));
            }
            Part::Expected | Part::Trajectory => asked.extend(content(passage.text)),
            _ => {}
        }
    }
    if asked.is_empty() || open || brings_material(unit) {
        return;
    }
    // What several rubrics speak of belongs to a comparison that the question asks for in other words.
    let mut spoken: HashMap<String, usize> = HashMap::new();
    for rubric in &rubrics {
        for word in content(rubric.sentence.text) {
            *spoken.entry(word).or_default() += 1;
        }
    }
    for rubric in &rubrics {
        let text = rubric.sentence.text;
        if !rubric.is_factual() || crate::prose::figures(text).is_empty() {
            continue;
        }
        // Names say whose figure it is, not which.
        let names: BTreeSet<String> = evalkit_core::figures::prose::names(text)
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        let topic: Vec<String> = content(text)
            .into_iter()
            .filter(|word| !names.contains(word) && !SAYING.contains(&word.as_str()))
            .collect();
        let strange = topic.len() >= 2
            && !topic
                .iter()
                .any(|word| spoken.get(word).is_some_and(|n| *n > 1) || mentions(&asked, word));
        let year = years(text)
            .into_iter()
            .find(|year| far(*year, &asked_years));
        if !strange && year.is_none() {
            continue;
        }
        let message = match year {
            Some(year) if !strange => format!("The question never mentions {year}."),
            _ => "The question never mentions this.".to_owned(),
        };
        let span = place(
            unit.source,
            rubric.sentence.node,
            text,
            0..text.trim_end().len(),
        );
        let help = "Ask for it in the question, or remove the rubric.";
        sink.report(
            &RULE,
            unit,
            span,
            unit.pointer_to(&rubric.sentence.path),
            message,
            help,
        );
    }
}

/// Questions that leave open what belongs into the answer.
const OPEN: &[&str] = &[
    "describe",
    "overview",
    "summarise",
    "summarize",
    "summary",
    "discuss",
    "explain",
    "assess",
    "analyse",
    "analyze",
    "evaluate",
    "profile",
    "brief",
    "why",
    "compare",
    "outline",
    "review",
];

/// Words that tell nothing about the topic.
const SAYING: &[&str] = &[
    "state", "say", "note", "name", "give", "report", "mention", "million", "billion", "thousand",
    "euro", "dollar", "pound", "percent",
];

/// Whether the question has the word, or one of the same root (`tow`, `towing`; `employ`, `employees`).
fn mentions(asked: &BTreeSet<String>, word: &str) -> bool {
    let root: String = root(word).chars().take(5).collect();
    let near = asked.range(root.clone()..).next();
    near.is_some_and(|other| other.starts_with(&root))
}

fn root(word: &str) -> &str {
    ["ing", "ed", "er", "ment"]
        .iter()
        .find_map(|end| {
            word.strip_suffix(end)
                .filter(|rest| rest.chars().count() >= 3)
        })
        .unwrap_or(word)
}

/// More than a year away from every year that the question names.
fn far(year: u16, asked: &BTreeSet<u16>) -> bool {
    let (Some(first), Some(last)) = (asked.first(), asked.last()) else {
        return false;
    };
    year + 1 < *first || year > last + 1
}

/// The question may point at a file that speaks of much more.
fn brings_material(unit: &Unit<'_>) -> bool {
    let list = |key: &str| unit.node.get(key).and_then(crate::node::Node::list);
    list("fixtures").is_some_and(|list| !list.is_empty()) || unit.node.get("context").is_some()
}
