//! `W-TYPE-MISMATCH`: wording and `type` disagree.

use super::{Example, Rule};
use crate::Severity;
use crate::project::{Project, Sink, Unit};
use crate::prose::{Rubric, Word, answer_rubrics, place, words};

pub(crate) const RULE: Rule = Rule {
    code: "W-TYPE-MISMATCH",
    severity: Severity::Warning,
    what: "The wording of a rubric asks for one type, and `type` says another.",
    why: "Rates by type tell whether data never arrived or the reasoning went wrong. A rubric under the wrong type spoils both.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates the height as 330 metres.\"\n          type: factual_retrieval\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall was the tower on 1 May 2025?\"}\nevaluators:\n  output:\n    answer_rubrics:\n      rubrics:\n        - rubric: \"Calculates the height as 330 metres.\"\n          type: derived_computation\n",
        )],
        facts: "",
    },
};

/// Every answer rubric with a known type.
pub(crate) fn check(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    for rubric in answer_rubrics(unit) {
        let text = rubric.sentence.text;
        let Some((range, message, help)) = mismatch(&rubric) else {
            continue;
        };
        let span = place(unit.source, rubric.sentence.node, text, range);
        let path = unit.pointer_to(&rubric.sentence.path);
        sink.report(&RULE, unit, span, path, message, help);
    }
}

type Mismatch = (std::ops::Range<usize>, String, &'static str);

fn mismatch(rubric: &Rubric<'_>) -> Option<Mismatch> {
    let text = rubric.sentence.text;
    let words = words(text);
    let first = words.first()?;
    let analysis = rubric.kind == "analysis_interpretation";
    let says = |word: &str, kind: &str| format!("\u{201c}{word}\u{201d} and `{kind}` disagree.");
    let computes = first.is(&["calculates", "computes", "derives", "calculate", "compute"])
        || first.lower == "works" && words.get(1).is_some_and(|w| w.lower == "out");
    if computes && (rubric.is_factual() || analysis) {
        let help = "What the answer works out is `derived_computation`. Change the type, or say what the source states.";
        return Some((first.start..first.end, says(first.text, rubric.kind), help));
    }
    if first.is(&[
        "weighs",
        "discusses",
        "interprets",
        "assesses",
        "argues",
        "concludes",
    ]) && rubric.is_factual()
        || first.is(&["weighs", "discusses", "interprets"]) && rubric.is_derived()
    {
        let help = "A reading of the facts is `analysis_interpretation`. Change the type, or say the fact itself.";
        return Some((first.start..first.end, says(first.text, rubric.kind), help));
    }
    if rubric.is_derived() {
        if let Some(range) = states_its_method(rubric) {
            let message = "The method is stated beside the figure, and is not a rubric of its own."
                .to_owned();
            let help = "Split it: one `derived_computation` for the figure, one for the method.";
            return Some((range, message, help));
        }
        if let Some(range) = reported(&words) {
            let shown = text[range.clone()].to_owned();
            let help = "What a source states, or does not state, is `factual_retrieval`.";
            return Some((range, says(&shown, rubric.kind), help));
        }
        if first.is(&["retrieves", "quotes", "cites"]) {
            let help = "What a source states is `factual_retrieval`. Change the type, or say what is worked out.";
            return Some((first.start..first.end, says(first.text, rubric.kind), help));
        }
    }
    None
}

const SAID: &[&str] = &[
    "report", "disclose", "publish", "provide", "announce", "release", "state", "mention",
];
const SAID_PAST: &[&str] = &[
    "reported",
    "reports",
    "disclosed",
    "discloses",
    "published",
    "publishes",
    "announced",
    "announces",
];

/// "States that X reported …", "does not report".
fn reported(words: &[Word<'_>]) -> Option<std::ops::Range<usize>> {
    if !words[0].is(&["states", "says", "notes", "mentions", "reports"]) {
        return None;
    }
    for (i, word) in words.iter().enumerate().skip(1) {
        let next = |n: usize| words.get(i + n).map_or("", |w| w.lower.as_str());
        if word.is(&["does", "did", "do"])
            && next(1) == "not"
            && words.get(i + 2).is_some_and(|w| w.is(SAID))
        {
            return Some(word.start..words[i + 2].end);
        }
        // A verb has its subject before it; "the reported total" has an article there.
        let subject = i >= 2
            && !words[i - 1].is(&[
                "the", "a", "an", "as", "its", "of", "two", "both", "was", "were", "is", "are",
            ]);
        if word.is(SAID_PAST)
            && subject
            && !matches!(
                next(1),
                "figures" | "figure" | "values" | "totals" | "margin" | "revenue"
            )
        {
            return Some(word.start..word.end);
        }
    }
    None
}

/// "Calculates … and states that the mean was used": where the method begins.
pub(super) fn states_its_method(rubric: &Rubric<'_>) -> Option<std::ops::Range<usize>> {
    if !rubric.is_derived() {
        return None;
    }
    let text = rubric.sentence.text;
    let words = words(text);
    let and = words
        .iter()
        .position(|word| word.lower == "and")
        .filter(|at| *at > 0)?;
    let rest = &words[and + 1..];
    let says = rest.iter().take(2).any(|word| {
        word.is(&[
            "states",
            "says",
            "explains",
            "notes",
            "discloses",
            "names",
            "mentions",
        ])
    });
    let method = rest.iter().any(|word| {
        word.is(&[
            "used",
            "uses",
            "method",
            "approach",
            "formula",
            "basis",
            "assumption",
            "assumptions",
            "convention",
            "methodology",
        ])
    });
    let end = text.trim_end().trim_end_matches('.').len();
    (says && method && prose_figure(&text[..words[and].start])).then(|| rest[0].start..end)
}

fn prose_figure(text: &str) -> bool {
    !crate::prose::figures(text).is_empty()
}
