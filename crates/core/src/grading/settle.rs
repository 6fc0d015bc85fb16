//! From a judge's checked entries to the grade: verdicts with their evidence, the second opinion, the scores.

use crate::figures;
use crate::grade::{Grade, JudgeStamp};
use crate::judge::{JudgeTask, Judged, JudgedEntry, JudgedVerdict};
use crate::score;
use crate::verdict::{
    EntryVerdict, FigureResult, HowJudged, RubricVerdict, SourceVerdict, Unscored, Verdict,
};

/// The grade of a judged evaluator. `entries` are one a task entry, in order; an entry too few is unscored
/// (`missing_ids`), one too many is dropped.
pub fn settle(task: &JudgeTask, mut entries: Vec<JudgedEntry>, judge: JudgeStamp) -> Grade {
    entries.resize_with(task.entries.len(), || {
        JudgedEntry::unscored(Unscored::MissingIds, "The judge left this one out.")
    });
    let scored = match task.evaluator {
        Judged::AnswerRubrics => {
            let opinions = asks_arithmetic(&judge);
            let text = task.judged_text();
            let verdicts: Vec<RubricVerdict> = entries
                .into_iter()
                .enumerate()
                .map(|(index, entry)| rubric_verdict(task, index, entry, opinions.then_some(&text)))
                .collect();
            score::answer_rubrics(&verdicts, &task.bars)
        }
        evaluator => {
            let verdicts: Vec<EntryVerdict> = entries
                .into_iter()
                .enumerate()
                .map(|(index, entry)| entry_verdict(task, index, entry))
                .collect();
            score::entries(evaluator.as_str(), &verdicts, &task.bars)
        }
    };
    Grade {
        evaluator: task.evaluator.as_str().to_owned(),
        outcome: scored.outcome,
        scores: scored.scores,
        skipped: scored.skipped,
        explanation: scored.explanation,
        judge: Some(judge),
    }
}

/// Arithmetic is a second opinion on judges that read language. The offline judge is arithmetic itself, and the fake one
/// has read nothing.
fn asks_arithmetic(judge: &JudgeStamp) -> bool {
    !matches!(judge.provider.as_str(), "offline" | "fake")
}

fn rubric_verdict(
    task: &JudgeTask,
    index: usize,
    entry: JudgedEntry,
    text: Option<&String>,
) -> RubricVerdict {
    let asked = &task.entries[index];
    let (verdict, unscored) = match entry.verdict {
        Ok(JudgedVerdict::Answer(verdict)) => (Some(verdict), None),
        // A verdict of the other kind never passes the check; should one come, it is no verdict.
        Ok(JudgedVerdict::Check(_)) => (None, Some(Unscored::ParseFailure)),
        Err(why) => (None, Some(why)),
    };
    let second_opinion = text.and_then(|text| {
        let opinion = figures::judge(&asked.text, text);
        (!opinion.criteria.is_empty()).then_some(opinion.result)
    });
    RubricVerdict {
        rubric: asked.text.clone(),
        // Every entry of this evaluator has a type.
        kind: asked
            .kind
            .unwrap_or(crate::case::RubricType::FactualRetrieval),
        verdict,
        unscored,
        evidence: entry.evidence,
        said: entry.said,
        reason: entry.reason,
        source: asked.source.as_ref().map(|expected| SourceVerdict {
            expected: expected.clone(),
            verdict: entry.source.filter(|_| verdict.is_some()),
            cited: entry.cited,
        }),
        second_opinion,
        needs_a_look: disagree(verdict, second_opinion),
        overridden: None,
        how: HowJudged {
            judged_by: entry.by,
            votes: entry.votes,
            cached: entry.cached,
        },
    }
}

/// Whether arithmetic and judge disagree (`grading.md`, Numbers).
fn disagree(verdict: Option<Verdict>, opinion: Option<FigureResult>) -> bool {
    match (verdict, opinion) {
        (Some(Verdict::Satisfied), Some(opinion)) => {
            matches!(opinion, FigureResult::Contradicts | FigureResult::NotFound)
        }
        (Some(Verdict::Incorrect | Verdict::Absent), Some(opinion)) => {
            opinion == FigureResult::Matches
        }
        _ => false,
    }
}

fn entry_verdict(task: &JudgeTask, index: usize, entry: JudgedEntry) -> EntryVerdict {
    let asked = &task.entries[index];
    let (verdict, unscored) = match entry.verdict {
        Ok(JudgedVerdict::Check(verdict)) => (Some(verdict), None),
        Ok(JudgedVerdict::Answer(_)) => (None, Some(Unscored::ParseFailure)),
        Err(why) => (None, Some(why)),
    };
    EntryVerdict {
        rubric: asked.text.clone(),
        rule: asked.rule,
        verdict,
        unscored,
        evidence: entry.evidence,
        reason: entry.reason,
        citations: entry.citations,
    }
}
