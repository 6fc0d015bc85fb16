//! The judge of the built-in agents: verdicts recorded for their recorded answers.
//!
//! A recorded verdict belongs to one answer and one list of rubrics. Where either is not the bundled one (a rubric was
//! edited, or another agent answered), the offline judge decides instead, and its stamp says so.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use evalkit_core::judge::replay::Replay;
use evalkit_core::judge::{JudgeTask, Judged, offline};
use evalkit_core::run::RecordedRun;

use super::Judgement;
use crate::adapter::DemoAgent;
use crate::demo::bundled_cases;

/// Recorded verdicts of one built-in agent.
#[derive(Debug, Clone)]
pub struct DemoJudge {
    runs: Arc<HashMap<String, RecordedRun>>,
    replay: Arc<Replay>,
}

impl DemoJudge {
    /// The judge of `agent`'s recordings.
    pub fn new(agent: DemoAgent) -> Self {
        static CAREFUL: LazyLock<Arc<Replay>> = LazyLock::new(|| replies(DemoAgent::Careful));
        static HASTY: LazyLock<Arc<Replay>> = LazyLock::new(|| replies(DemoAgent::Hasty));
        Self {
            runs: agent.runs(),
            replay: Arc::clone(match agent {
                DemoAgent::Careful => &CAREFUL,
                DemoAgent::Hasty => &HASTY,
            }),
        }
    }

    pub(super) fn judge(&self, task: &JudgeTask) -> Judgement {
        if self.fits(task) {
            // Recorded once, and the agent answers every trial alike.
            let first = JudgeTask {
                trial: 1,
                ..task.clone()
            };
            return Judgement {
                entries: self.replay.judge(&first),
                stamp: Replay::stamp(),
            };
        }
        Judgement {
            entries: offline::judge(task),
            stamp: offline::stamp(),
        }
    }

    /// Whether the verdicts were recorded for this very answer and these very sentences.
    fn fits(&self, task: &JudgeTask) -> bool {
        let (Some(run), Some(case)) = (
            self.runs.get(&task.case_id),
            bundled_cases().get(&task.case_id),
        ) else {
            return false;
        };
        let same_answer = run
            .answer
            .as_ref()
            .is_some_and(|answer| task.texts.iter().any(|text| text == answer));
        let asked = task
            .entries
            .iter()
            .map(|entry| (entry.text.as_str(), entry.source.as_deref()));
        let output = &case.evaluators.output;
        let same_entries = match task.evaluator {
            Judged::AnswerRubrics => asked.eq(case
                .rubrics()
                .iter()
                .map(|rubric| (rubric.rubric.as_str(), rubric.source.as_deref()))),
            Judged::PresentationJudge => asked.eq(output
                .presentation_judge
                .iter()
                .flat_map(|entries| entries.require.iter().chain(&entries.forbid))
                .map(|entry| (entry.as_str(), None))),
            Judged::TrajectoryRubrics => asked.eq(case
                .trajectory_rubrics()
                .iter()
                .map(|rubric| (rubric.as_str(), None))),
        };
        same_answer && same_entries
    }
}

/// The bundled replies; a test holds them to having no unusable line.
fn replies(agent: DemoAgent) -> Arc<Replay> {
    Arc::new(Replay::parse(agent.replies_text()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adapter::DEMO_AGENTS;
    use evalkit_core::grading::{Step, Trial, plan};
    use evalkit_core::overlay::EffectiveCase;
    use evalkit_core::run::RunStatus;
    use std::collections::BTreeMap;

    fn effective(case: &evalkit_core::case::Case) -> EffectiveCase {
        EffectiveCase {
            case: case.clone(),
            origins: BTreeMap::new(),
        }
    }

    #[test]
    fn every_bundled_reply_can_be_read() {
        for agent in DEMO_AGENTS {
            assert!(
                Replay::parse(agent.replies_text()).is_ok(),
                "{}",
                agent.name()
            );
        }
    }

    #[test]
    fn recorded_answers_get_recorded_verdicts_and_nothing_stays_unscored() {
        for agent in DEMO_AGENTS {
            let judge = DemoJudge::new(agent);
            let mut judged = 0;
            for (id, case) in bundled_cases() {
                let runs = agent.runs();
                let Some(run) = runs.get(id).filter(|run| run.status == RunStatus::Ok) else {
                    continue;
                };
                let case = effective(case);
                let bars = BTreeMap::new();
                let trial = Trial::new(&case, run, &bars);
                for planned in plan(&case).iter().filter(|planned| planned.judged) {
                    let Step::Judge(mut task) = trial.begin(&planned.evaluator) else {
                        panic!("{id}: {} asks no judge", planned.evaluator);
                    };
                    task.trial = 7;
                    let judgement = judge.judge(&task);
                    assert_eq!(
                        judgement.stamp.provider, "replay",
                        "{id} {}",
                        planned.evaluator
                    );
                    for (index, entry) in judgement.entries.iter().enumerate() {
                        assert!(
                            entry.verdict.is_ok(),
                            "{} {id} {}: {:?}",
                            agent.name(),
                            task.label(index),
                            entry.reason
                        );
                    }
                    judged += 1;
                }
            }
            assert!(judged >= 24);
        }
    }

    #[test]
    fn another_answer_or_rubric_is_judged_offline() {
        let agent = DemoAgent::Careful;
        let judge = DemoJudge::new(agent);
        let case = effective(&bundled_cases()["everest-height-2020"]);
        let mut run = agent.runs()["everest-height-2020"].clone();
        let bars = BTreeMap::new();
        let ask = |case: &EffectiveCase, run: &RecordedRun| {
            let Step::Judge(task) = Trial::new(case, run, &bars).begin("answer_rubrics") else {
                panic!("asks no judge");
            };
            judge.judge(&task).stamp.provider
        };
        assert_eq!(ask(&case, &run), "replay");
        let mut edited = case.clone();
        if let Some(rubrics) = &mut edited.case.evaluators.output.answer_rubrics {
            rubrics.rubrics[0].rubric.push_str(" Really.");
        }
        assert_eq!(ask(&edited, &run), "offline");
        run.answer = Some("8,848 m".to_owned());
        assert_eq!(ask(&case, &run), "offline");
    }
}
