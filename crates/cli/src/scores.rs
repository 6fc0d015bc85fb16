//! Results in print: scores with what they were pooled over, counts, who judged, and what fell.

use evalkit_core::results::{CaseResult, Results};
use serde_json::Value;

use crate::console::{Console, visible};
use crate::diagnostics::count;
use crate::exit::{Exit, Failure};

/// Cases that are listed unless more is asked for.
const LISTED: usize = 20;

/// The lines of a results report. `all` lists every case that is not green.
pub(crate) fn report(results: &Results, all: bool) -> Vec<String> {
    let mut lines = vec![head(results)];
    lines.push(format!("  {}", counts(results)));
    if let Some(decided) = decided(results) {
        lines.push(format!("  {decided}"));
    }
    lines.push(String::new());
    lines.extend(table(results));
    let fallen: Vec<&CaseResult> = results
        .cases
        .iter()
        .filter(|case| case.green != Some(true))
        .collect();
    let shown = if all { fallen.len() } else { LISTED };
    if !fallen.is_empty() {
        lines.push(String::new());
    }
    for case in fallen.iter().take(shown) {
        lines.extend(fall(case));
    }
    if fallen.len() > shown {
        lines.push(format!(
            "… and {} more; -v lists them all",
            fallen.len() - shown
        ));
    }
    lines
}

fn head(results: &Results) -> String {
    let agent = results
        .agent
        .as_ref()
        .map(|agent| format!("agent {}, ", visible(agent)))
        .unwrap_or_default();
    format!("{}: {agent}{}", visible(&results.dataset), judge(results))
}

/// Who judged, and whether that says anything about quality (`grading.md`, The judge).
pub(crate) fn judge(results: &Results) -> String {
    let judge = &results.judge;
    let name = match (judge.provider.as_str(), &judge.model) {
        ("replay", _) => "recorded judge".to_owned(),
        (provider, None) => format!("{} judge", visible(provider)),
        (_, Some(model)) => format!("judge {}", visible(model)),
    };
    if judge.quality_signal {
        name
    } else {
        format!("{name}: not a quality signal")
    }
}

pub(crate) fn counts(results: &Results) -> String {
    let c = &results.counts;
    let mut parts = vec![format!("{} planned", c.planned), format!("{} done", c.done)];
    for (n, word) in [
        (c.error, "failed"),
        (c.cancelled, "cancelled"),
        (c.budget, "out of budget"),
        (c.open, "without an answer"),
        (c.unscored, "with something unscored"),
    ] {
        if n > 0 {
            parts.push(format!("{n} {word}"));
        }
    }
    parts.push(format!("{} green", c.green));
    parts.push(format!("{} red", c.red));
    parts.join(", ")
}

/// What a judge that may leave things open has decided.
fn decided(results: &Results) -> Option<String> {
    let of = |case: &CaseResult, key: &str| -> u64 {
        case.evaluators
            .get("answer_rubrics")
            .and_then(|block| block.get("counts")?.get(key)?.as_u64())
            .unwrap_or(0)
    };
    let sum = |key: &str| -> u64 { results.cases.iter().map(|case| of(case, key)).sum() };
    let (total, unscored, satisfied) = (sum("total"), sum("unscored"), sum("satisfied"));
    (unscored > 0).then(|| {
        let decided = total - unscored.min(total);
        format!("answer rubrics: decided {decided} of {total}; {satisfied} of {decided} decided satisfied")
    })
}

fn table(results: &Results) -> Vec<String> {
    if results.scores.is_empty() {
        return vec!["no score: nothing was graded in full".to_owned()];
    }
    let width = results
        .scores
        .keys()
        .map(|name| name.chars().count())
        .max()
        .unwrap_or(0)
        .max(5);
    let mut lines = vec![format!(
        "{:<width$}  {:>6}  {:>11}  {:<14}  over",
        "score", "value", "pooled", "95 % interval"
    )];
    for (name, score) in &results.scores {
        let pooled = format!("{}/{}", number(score.num), number(score.den));
        let interval = match (score.low, score.high) {
            (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
            _ => "-".to_owned(),
        };
        lines.push(format!(
            "{:<width$}  {:>6.3}  {pooled:>11}  {interval:<14}  {} of {}",
            visible(name),
            score.value,
            score.cases,
            score.of_cases
        ));
    }
    lines
}

/// A whole number without a fraction, anything else with two digits.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// Text of an agent on one line: its breaks and runs of blanks are one blank each.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// One case that is not green, with what fell.
pub(crate) fn fall(case: &CaseResult) -> Vec<String> {
    let colour = match (case.green, case.status.as_str()) {
        (Some(false), _) => "red",
        (_, "done") => "grey",
        (_, "error") => "failed",
        (_, "queued") => "no answer",
        (_, status) => status,
    };
    let trial = if case.trial > 1 {
        format!(", trial {}", case.trial)
    } else {
        String::new()
    };
    let mut lines = vec![format!("{colour:<9}  {}{trial}", visible(&case.id))];
    if let Some(error) = &case.error {
        lines.push(format!(
            "           {}: {}",
            error.class.as_str(),
            visible(&one_line(&error.message))
        ));
    }
    for (name, block) in &case.evaluators {
        lines.extend(entries(name, block));
    }
    lines
}

fn entries(evaluator: &str, block: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    if let Some(error) = text(block, "error") {
        lines.push(format!("           {evaluator}: {}", visible(&error)));
    }
    for verdict in block
        .get("verdicts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        let word = match text(verdict, "verdict") {
            Some(word) if word == "satisfied" => continue,
            Some(word) => word,
            None => "unscored".to_owned(),
        };
        let said = text(verdict, "said")
            .map(|said| format!("; said: {}", visible(&said)))
            .unwrap_or_default();
        let rubric = text(verdict, "rubric").unwrap_or_default();
        lines.push(format!("           {word}: {}{said}", visible(&rubric)));
    }
    for entry in block
        .get("entries")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if entry.get("matched") == Some(&Value::Bool(false)) {
            let name = text(entry, "name").unwrap_or_default();
            let reason = text(entry, "reason").unwrap_or_default();
            lines.push(format!(
                "           expected call {}: {}",
                visible(&name),
                visible(&reason)
            ));
        }
    }
    let missing: Vec<&str> = block
        .get("missing")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if !missing.is_empty() {
        let names = missing.join(", ");
        lines.push(format!("           never called: {}", visible(&names)));
    }
    lines
}

/// Whether an evaluator of the trial failed; what it would have said is unknown.
fn broken(case: &CaseResult) -> bool {
    case.status == "done"
        && case
            .evaluators
            .values()
            .any(|block| block.get("error").is_some_and(Value::is_string))
}

/// Whether a trial that is done is neither green nor red because everything skipped.
pub(crate) fn only_skipped(case: &CaseResult) -> bool {
    let unscored = |block: &Value| {
        block
            .get("verdicts")
            .and_then(Value::as_array)
            .is_some_and(|all| {
                all.iter()
                    .any(|v| v.get("verdict").is_none_or(Value::is_null))
            })
    };
    case.green.is_none()
        && case.status == "done"
        && !broken(case)
        && !case.evaluators.values().any(unscored)
}

/// What makes a run incomplete, in words; nothing when it is complete.
fn incomplete(results: &Results) -> Option<String> {
    let c = &results.counts;
    let not_done = c.planned - c.done.min(c.planned);
    let failed = results.cases.iter().filter(|case| broken(case)).count() as u64;
    let mut parts = Vec::new();
    for (n, what) in [
        (not_done, "not done"),
        (c.unscored, "with something unscored"),
        (failed, "with an evaluator that failed"),
    ] {
        if n > 0 {
            let n = usize::try_from(n).unwrap_or(usize::MAX);
            parts.push(format!("{} {what}", count(n, "trial")));
        }
    }
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// A threshold is a share.
pub(crate) fn check_threshold(threshold: Option<f64>) -> Result<(), Failure> {
    match threshold {
        Some(threshold) if !(0.0..=1.0).contains(&threshold) => Err(Failure::misuse(
            format!("A threshold of {threshold} cannot be met or missed."),
            "Give a number from 0 to 1.",
        )),
        _ => Ok(()),
    }
}

/// The exit code in order: incomplete, below the threshold, met (`runs.md`, Results). Says why on standard error.
pub(crate) fn verdict(results: &Results, threshold: Option<f64>, console: &mut Console) -> Exit {
    if let Some(why) = incomplete(results) {
        console.note(format!("incomplete: {why}"));
        return Exit::Incomplete;
    }
    let Some(threshold) = threshold else {
        return Exit::Met;
    };
    let signal = if results.judge.quality_signal {
        ""
    } else {
        " (not a quality signal)"
    };
    match results.scores.get("answer_rubric_score") {
        Some(score) if score.value >= threshold => {
            let value = score.value;
            console.note(format!(
                "met: answer_rubric_score {value:.3} reaches {threshold}{signal}"
            ));
            Exit::Met
        }
        Some(score) => {
            let value = score.value;
            console.note(format!(
                "not met: answer_rubric_score {value:.3} is below {threshold}{signal}"
            ));
            Exit::NotMet
        }
        None => {
            console
                .note("not met: there is no answer_rubric_score, since no case has answer rubrics");
            Exit::NotMet
        }
    }
}
