//! The `offline` judge: deterministic, no model (`grading.md`, The judge).

use super::{JudgeTask, JudgedEntry};
use crate::grade::JudgeStamp;
use crate::verdict::Unscored;

/// Leaves everything undecided.
pub fn judge(task: &JudgeTask) -> Vec<JudgedEntry> {
    task.all_unscored(
        Unscored::OfflineUndecided,
        "The offline judge decides only what arithmetic and plain containment show.",
    )
}

/// How grades name this judge.
pub fn stamp() -> JudgeStamp {
    JudgeStamp {
        provider: "offline".to_owned(),
        model: None,
        template: "1".to_owned(),
        quality_signal: false,
    }
}
