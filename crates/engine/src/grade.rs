//! Grading one recorded run with one judge: the core's evaluators, and a judge for those that ask one.

use std::collections::HashSet;
use std::sync::Arc;

use evalkit_core::grade::Grade;
use evalkit_core::grading::{Planned, Step, Trial, plan, settle};
use evalkit_core::judge::JudgeTask;
use evalkit_core::overlay::EffectiveCase;
use evalkit_core::run::RecordedRun;
use evalkit_core::score::Bars;

use crate::judge::{Judge, Ledger};

/// What a planned evaluator says when its code broke. It never loses the trial.
const BROKEN: &str = "The evaluators broke on this recorded run. This is a fault of Evalkit; please report it with the run.";

/// One grade for each evaluator that the case plans, in the order of `grading.md`.
pub async fn grade_run(
    case: Arc<EffectiveCase>,
    run: Arc<RecordedRun>,
    bars: Arc<Bars>,
    judge: &Judge,
    ledger: &Ledger,
) -> Vec<Grade> {
    let begun = begin_apart(case, run, bars, judge.clone(), HashSet::new()).await;
    let grades = begun.ask(judge, ledger).await;
    grades.into_iter().map(|(_, grade)| grade).collect()
}

/// A trial whose grades are there but for those that a model must be asked for.
pub(crate) struct Begun {
    /// With their places in the order of `grading.md`.
    pub(crate) done: Vec<(u32, Grade)>,
    /// What is still to be asked.
    pub(crate) asks: Vec<(u32, Arc<JudgeTask>)>,
}

/// Grades what needs no call, away from the async threads, because arithmetic over a long answer takes its time.
/// Evaluators in `have` are graded already and left out.
pub(crate) async fn begin_apart(
    case: Arc<EffectiveCase>,
    run: Arc<RecordedRun>,
    bars: Arc<Bars>,
    judge: Judge,
    have: HashSet<String>,
) -> Begun {
    let planned: Vec<(u32, Planned)> = (0..)
        .zip(plan(&case))
        .filter(|(_, planned)| !have.contains(&planned.evaluator))
        .collect();
    let spared = planned.clone();
    let id = case.case.id.clone();
    let begun = tokio::task::spawn_blocking(move || {
        let trial = Trial::new(&case, &run, &bars);
        let mut begun = Begun {
            done: Vec::new(),
            asks: Vec::new(),
        };
        for (place, planned) in planned {
            match trial.begin(&planned.evaluator) {
                Step::Done(grade) => begun.done.push((place, grade)),
                Step::Judge(task) if judge.calls_a_model() => {
                    begun.asks.push((place, Arc::new(task)))
                }
                Step::Judge(task) => {
                    let judgement = judge.judge_here(&task);
                    let grade = settle(&task, judgement.entries, judgement.stamp);
                    begun.done.push((place, grade));
                }
            }
        }
        begun
    })
    .await;
    begun.unwrap_or_else(|_| {
        tracing::error!(case = %id, "an evaluator panicked");
        Begun {
            done: spared
                .into_iter()
                .map(|(place, planned)| (place, Grade::failed(&planned.evaluator, BROKEN)))
                .collect(),
            asks: Vec::new(),
        }
    })
}

impl Begun {
    /// Asks the model what is to be asked; every grade of the trial that was not there before, in order.
    pub(crate) async fn ask(self, judge: &Judge, ledger: &Ledger) -> Vec<(u32, Grade)> {
        let mut grades = self.done;
        for (place, task) in self.asks {
            let judgement = judge.judge(&task, ledger).await;
            let evaluator = task.evaluator.as_str();
            let settled = tokio::task::spawn_blocking(move || {
                settle(&task, judgement.entries, judgement.stamp)
            })
            .await;
            let grade = settled.unwrap_or_else(|_| Grade::failed(evaluator, BROKEN));
            grades.push((place, grade));
        }
        grades.sort_by_key(|(place, _)| *place);
        grades
    }
}
