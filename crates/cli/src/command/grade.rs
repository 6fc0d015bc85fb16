//! `evalkit grade`: recorded runs against cases, by the server's own grading code and without a server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalkit_core::experiment::TrialState;
use evalkit_core::grade::{Grade, JudgeStamp};
use evalkit_core::grading::{self, Step, Trial};
use evalkit_core::judge::replay::Replay;
use evalkit_core::judge::{JudgeTask, JudgedEntry, fake, offline};
use evalkit_core::overlay::{EffectiveCase, NamedOverlay, bare_agent, merge};
use evalkit_core::results::{ResultsHead, ResultsJudge, TrialInput, build};
use evalkit_core::run::{RecordedRun, RunStatus};
use evalkit_core::score::{self, Bars};
use evalkit_lint::{ParsedDataset, nearest};

use super::{Context, pretty};
use crate::args::GradeArgs;
use crate::console::visible;
use crate::dataset::{Dataset, named_overlays};
use crate::exit::{Exit, Failure, Outcome};
use crate::project::Project;
use crate::{recorded, scores};

/// The tag of cases that runs leave out (`cases.md`, A case).
const NEEDS_GROUND_TRUTH: &str = "needs-ground-truth";

/// The judges that need no network.
enum Judge {
    Offline,
    Fake,
    Replay(Replay),
}

impl Judge {
    fn read(name: &str, folder: &Path) -> Result<Self, Failure> {
        if let Some(file) = name.strip_prefix("replay:") {
            let text = std::fs::read_to_string(folder.join(file)).map_err(|error| {
                Failure::misuse(
                    format!("{file} cannot be read: {error}."),
                    "Check the path.",
                )
            })?;
            return Replay::parse(&text)
                .map(Self::Replay)
                .map_err(|problems| Failure {
                    details: problems.iter().take(20).map(ToString::to_string).collect(),
                    ..Failure::misuse(
                        format!("{file} holds replies that cannot be used."),
                        "One JSON object a line: case_id, evaluator, verdicts.",
                    )
                });
        }
        match name {
            "offline" => Ok(Self::Offline),
            "fake" => Ok(Self::Fake),
            "config" => Err(Failure::misuse(
                "This version calls no judge model from `grade`.",
                "Use `offline` or `replay:FILE`, or run the cases on a server.",
            )),
            other => {
                let near = nearest(other, ["offline", "fake", "replay:FILE"]);
                Err(Failure::misuse(
                    format!("There is no judge `{other}`."),
                    near.map_or_else(
                        || "Write `offline`, `fake` or `replay:FILE`.".to_owned(),
                        |near| format!("Did you mean `{near}`?"),
                    ),
                ))
            }
        }
    }

    fn stamp(&self) -> JudgeStamp {
        match self {
            Self::Offline => offline::stamp(),
            Self::Fake => fake::stamp(),
            Self::Replay(_) => Replay::stamp(),
        }
    }

    fn judge(&self, task: &JudgeTask) -> Vec<JudgedEntry> {
        match self {
            Self::Offline => offline::judge(task),
            Self::Fake => fake::judge(task),
            Self::Replay(replay) => replay.judge(task),
        }
    }
}

/// Exit 0 done and met, 1 below the threshold or lint errors, 2 incomplete, 3 unusable input.
pub(super) fn run(args: &GradeArgs, context: &mut Context) -> Outcome {
    let folder = context.environment.folder.clone();
    scores::check_threshold(args.threshold)?;
    let judge = Judge::read(&args.judge, &folder)?;
    let runs = recorded::read(&folder, &args.runs)?;
    let (agent, runs) = of_one_agent(runs, args.agent.as_deref())?;
    let project = Project::find(&folder, Some(&args.path))?;
    let dataset = Dataset::read([args.path.as_path()], &project, Default::default(), context)?
        .sound(context)?;
    let overlays = named_overlays(&dataset);
    let trials = grade(&dataset, &overlays, &runs, agent.as_deref(), &judge)?;
    if trials.is_empty() {
        return Err(Failure::misuse(
            format!("{} holds no case to grade.", args.path.display()),
            "Check the path, and that the runs name its cases.",
        ));
    }
    note_strangers(&dataset, &runs, context);
    let head = ResultsHead {
        dataset: dataset_name(&folder, &args.path),
        agent,
        judge: results_judge(&judge, &trials),
        ..ResultsHead::default()
    };
    let results = build(head, &trials);
    if args.json {
        context.console.say(pretty(&results)?);
    } else {
        for line in scores::report(&results, context.verbose > 0) {
            context.console.say(line);
        }
    }
    Ok(scores::verdict(
        &results,
        args.threshold,
        &mut context.console,
    ))
}

/// The runs of the agent asked for, or of the only one there is.
fn of_one_agent(
    runs: Vec<RecordedRun>,
    asked: Option<&str>,
) -> Result<(Option<String>, Vec<RecordedRun>), Failure> {
    let named: BTreeSet<&str> = runs
        .iter()
        .filter_map(|run| run.agent.as_deref().map(bare_agent))
        .collect();
    let list = named.iter().copied().collect::<Vec<_>>().join(", ");
    let Some(asked) = asked else {
        if named.len() > 1 {
            return Err(Failure::misuse(
                format!("The runs are of several agents: {list}."),
                "Name one with --agent.",
            ));
        }
        let agent = named.first().map(|agent| (*agent).to_owned());
        return Ok((agent, runs));
    };
    let bare = bare_agent(asked);
    if !named.is_empty() && !named.contains(bare) {
        return Err(Failure::misuse(
            format!("No run is of the agent `{bare}`; they are of: {list}."),
            "Check the name.",
        ));
    }
    let agent = bare.to_owned();
    let own = runs
        .into_iter()
        .filter(|run| {
            run.agent
                .as_deref()
                .is_none_or(|name| bare_agent(name) == agent)
        })
        .collect();
    Ok((Some(agent), own))
}

/// Every planned trial, in the order of the cases: one for each recorded run, and an open one for a case without any, so
/// that a missing answer never looks like a complete run.
fn grade(
    dataset: &ParsedDataset,
    overlays: &[NamedOverlay],
    runs: &[RecordedRun],
    agent: Option<&str>,
    judge: &Judge,
) -> Result<Vec<TrialInput>, Failure> {
    let mut by_case: BTreeMap<&str, Vec<&RecordedRun>> = BTreeMap::new();
    for run in runs {
        by_case.entry(&run.case_id).or_default().push(run);
    }
    let bars = Bars::new();
    let mut trials = Vec::new();
    for parsed in &dataset.cases {
        let case = &parsed.case;
        let effective = match agent {
            None => EffectiveCase {
                case: case.clone(),
                origins: BTreeMap::new(),
            },
            Some(agent) => merge(case, overlays, agent).map_err(|clash| {
                Failure::new(
                    Exit::NotMet,
                    format!("Overlays clash: {clash}."),
                    "Keep one of the two.",
                )
            })?,
        };
        let planned = TrialInput {
            case_id: case.id.clone(),
            version: None,
            trial: 1,
            state: TrialState::Queued,
            names: score::names(&effective.case),
            grades: Vec::new(),
            latency_ms: None,
            usage: None,
            error: None,
        };
        let mut own = by_case.remove(case.id.as_str()).unwrap_or_default();
        own.sort_by_key(|run| run.trial);
        if own.is_empty() && !case.tags.iter().any(|tag| tag == NEEDS_GROUND_TRUTH) {
            trials.push(planned);
            continue;
        }
        for run in own {
            let failed = run.status == RunStatus::Error;
            trials.push(TrialInput {
                trial: run.trial,
                state: if failed {
                    TrialState::Error
                } else {
                    TrialState::Done
                },
                grades: if failed {
                    Vec::new()
                } else {
                    grades(&effective, run, &bars, judge)
                },
                latency_ms: run.latency_ms,
                usage: run.usage.clone(),
                error: run.error.clone(),
                ..planned.clone()
            });
        }
    }
    Ok(trials)
}

fn grades(case: &EffectiveCase, run: &RecordedRun, bars: &Bars, judge: &Judge) -> Vec<Grade> {
    let trial = Trial::new(case, run, bars);
    grading::plan(case)
        .into_iter()
        .map(|planned| match trial.begin(&planned.evaluator) {
            Step::Done(grade) => grade,
            Step::Judge(task) => grading::settle(&task, judge.judge(&task), judge.stamp()),
        })
        .collect()
}

fn results_judge(judge: &Judge, trials: &[TrialInput]) -> ResultsJudge {
    let stamp = judge.stamp();
    let mut templates = BTreeMap::new();
    for grade in trials.iter().flat_map(|trial| &trial.grades) {
        if let Some(stamp) = &grade.judge {
            templates.insert(grade.evaluator.clone(), stamp.template.clone());
        }
    }
    ResultsJudge {
        provider: stamp.provider,
        model: stamp.model,
        templates,
        quality_signal: stamp.quality_signal,
    }
}

/// Runs of cases that the files do not hold are not graded; up to five are named.
fn note_strangers(dataset: &ParsedDataset, runs: &[RecordedRun], context: &mut Context) {
    let known: BTreeSet<&str> = dataset.cases.iter().map(|c| c.case.id.as_str()).collect();
    let strangers: BTreeSet<&str> = runs
        .iter()
        .map(|run| run.case_id.as_str())
        .filter(|id| !known.contains(id))
        .collect();
    if strangers.is_empty() {
        return;
    }
    let named: Vec<&str> = strangers.iter().copied().take(5).collect();
    let more = if strangers.len() > 5 { ", …" } else { "" };
    context.console.warn(format!(
        "warning: runs of cases that are not in these files are left out: {}{more}",
        visible(&named.join(", "))
    ));
}

/// A dataset offline is called after its path.
fn dataset_name(folder: &Path, path: &Path) -> String {
    let whole = folder.join(path);
    let whole = whole.canonicalize().unwrap_or(whole);
    let name = if whole.is_file() {
        whole.file_stem()
    } else {
        whole.file_name()
    };
    name.map_or_else(
        || path.display().to_string(),
        |name| name.to_string_lossy().into_owned(),
    )
}
