//! Grading one recorded run with one judge: the core's evaluators, and a judge for those that ask one.

use std::sync::Arc;

use evalkit_core::grade::Grade;
use evalkit_core::grading::{Step, Trial, plan, settle};
use evalkit_core::overlay::EffectiveCase;
use evalkit_core::run::RecordedRun;
use evalkit_core::score::Bars;

use crate::judge::Judge;

/// One grade for each evaluator that the case plans, in the order of `grading.md`. A function of its arguments alone.
pub fn grade_run(
    case: &EffectiveCase,
    run: &RecordedRun,
    bars: &Bars,
    judge: &Judge,
) -> Vec<Grade> {
    let trial = Trial::new(case, run, bars);
    plan(case)
        .into_iter()
        .map(|planned| match trial.begin(&planned.evaluator) {
            Step::Done(grade) => grade,
            Step::Judge(task) => {
                let judgement = judge.judge(&task);
                settle(&task, judgement.entries, judgement.stamp)
            }
        })
        .collect()
}

/// The same away from the async threads, because arithmetic over a long answer takes its time. An evaluator that breaks
/// leaves an error on every grade of the trial; it never loses the trial.
pub(crate) async fn grade_apart(
    case: Arc<EffectiveCase>,
    run: Arc<RecordedRun>,
    bars: Arc<Bars>,
    judge: Judge,
) -> Vec<Grade> {
    let planned = Arc::clone(&case);
    let graded = tokio::task::spawn_blocking(move || grade_run(&case, &run, &bars, &judge)).await;
    graded.unwrap_or_else(|_| {
        tracing::error!(case = %planned.case.id, "an evaluator panicked");
        plan(&planned)
            .into_iter()
            .map(|planned| {
                Grade::failed(
                    &planned.evaluator,
                    "The evaluators broke on this recorded run. This is a fault of Evalkit; please report it with the run.",
                )
            })
            .collect()
    })
}
