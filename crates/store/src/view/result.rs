//! Result: why. The answer, the verdicts with their evidence, the steps, and what changed since the previous run.

use std::sync::Arc;

use evalkit_core::atif;
use evalkit_core::explanation::{entry_verdicts, rubric_verdicts};
use evalkit_core::grade::{Colour, Grade};
use evalkit_core::grading::{AnswerFrom, Trial};
use evalkit_core::next_act::error_in_words;
use evalkit_core::overlay::EffectiveCase;
use evalkit_core::policy::Action;
use evalkit_core::results::ResultsJudge;
use evalkit_core::run::{RecordedRun, RunError};
use evalkit_core::score::case_colour;
use evalkit_core::verdict::{CheckVerdict, Unscored, Verdict};
use evalkit_core::view::dataset::AgentCell;
use evalkit_core::view::result::{PreviousResult, ResultPage, TrajectoryView};

use crate::colour;
use crate::ctx::Ctx;
use crate::db::{Tx, args};
use crate::error::StoreError;
use crate::experiment::Frozen;
use crate::judging;
use crate::queue::effective_cases;
use crate::results::error_of;
use crate::row::Row;
use crate::store::Store;
use crate::view::case::{grades_of, shown_trial};
use crate::view::experiment;

/// One experiment's trials of one case, and the one that is shown.
struct Shown {
    trials: Vec<(u32, Colour)>,
    row: Row,
}

impl Store {
    /// The Result page; `trial` absent shows the first that is not green.
    ///
    /// # Errors
    /// `S-NOT-FOUND` for a result that is not there or not the caller's to see.
    pub async fn result_page(
        &self,
        ctx: &Ctx,
        workspace: &str,
        run: i64,
        case_id: &str,
        trial: Option<u32>,
    ) -> Result<ResultPage, StoreError> {
        let mut tx = self.read().await?;
        let workspace = tx.enter(ctx, workspace, Action::Read).await?;
        let head = experiment::head(&mut tx, &workspace.id, run).await?;
        let experiment_id = head.text("id")?;
        let frozen: Frozen = head.json("frozen")?;
        let shown = shown(&mut tx, &workspace.id, &experiment_id, case_id, trial).await?;
        let (case, version) = effective_cases(&mut tx, &experiment_id, &[case_id.to_owned()])
            .await?
            .remove(case_id)
            .ok_or_else(StoreError::not_found)?;
        let trial_id = shown.row.text("id")?;
        let grades = grades_of(&mut tx, &workspace.id, std::slice::from_ref(&trial_id))
            .await?
            .remove(&trial_id)
            .unwrap_or_default();
        let recorded = self
            .recorded(&mut tx, &workspace.id, &trial_id)
            .await?
            .unwrap_or_default();
        let previous = previous(
            &mut tx,
            &workspace.id,
            &head,
            case_id,
            &grades,
            &frozen.judge,
        )
        .await?;
        let judge_calls = judging::calls(&mut tx, &workspace.id, &trial_id).await?;
        let neighbours = neighbours(&mut tx, &workspace.id, &experiment_id, case_id).await?;
        drop(tx);
        let case = Arc::new(case);
        let read = read_run(Arc::clone(&case), recorded.run).await?;
        let state = shown.row.text("state")?;
        let error = if state == "error" {
            error_of(&shown.row)?
        } else {
            None
        };
        let colour = colour::parse(&shown.row.text("colour")?);
        let what = shown.row.text("what")?;
        let conclusion = conclusion(colour, &state, &grades, &what, error.as_ref());
        let case = Arc::unwrap_or_clone(case);
        Ok(ResultPage {
            workspace: workspace.slug,
            dataset: head.text("dataset")?,
            run,
            agent: head.text("agent")?,
            version,
            origins: case.origins,
            case: case.case,
            trial: shown.row.number("trial")?,
            trials: shown.trials,
            state,
            colour,
            conclusion,
            answer: read.answer,
            answer_from: read.answer_from.map(str::to_owned),
            output: read.output,
            error,
            attempts: shown.row.number("attempts")?,
            latency_ms: read.latency_ms,
            usage: read.usage,
            grades,
            judge: frozen.judge,
            judge_calls,
            trajectory: read.trajectory,
            addresses_grader: recorded.addresses_grader,
            previous,
            before: neighbours.before,
            after: neighbours.after,
            next_red: neighbours.next_red,
            at: shown.row.int("at")?,
        })
    }

    /// What a trial recorded, and whether its answer addresses a grader.
    async fn recorded(
        &self,
        tx: &mut Tx,
        workspace_id: &str,
        trial_id: &str,
    ) -> Result<Option<Recorded>, StoreError> {
        let row = tx
            .optional(
                "SELECT run, answer, addresses_grader, trajectory_sha256, trajectory FROM recorded_run \
                 WHERE trial_id = $1 AND workspace_id = $2",
                args![trial_id, workspace_id],
            )
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let mut run: RecordedRun = row.json("run")?;
        run.answer = row.maybe_text("answer")?;
        let trajectory = self
            .trajectory_bytes(
                tx,
                workspace_id,
                row.maybe_text("trajectory_sha256")?,
                row.maybe_bytes("trajectory")?,
            )
            .await?;
        Ok(Some(Recorded {
            run: (run, trajectory),
            addresses_grader: row.flag("addresses_grader")?,
        }))
    }
}

#[derive(Default)]
struct Recorded {
    run: (RecordedRun, Option<Vec<u8>>),
    addresses_grader: bool,
}

async fn shown(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    case_id: &str,
    trial: Option<u32>,
) -> Result<Shown, StoreError> {
    let mut rows = tx
        .all(
            "SELECT id, trial, state, colour, what, attempts, stage, error_class, error_message, \
             COALESCE(ended_at, recorded_at, started_at, 0) AS at FROM trial \
             WHERE workspace_id = $1 AND experiment_id = $2 AND case_id = $3 ORDER BY trial",
            args![workspace_id, experiment_id, case_id],
        )
        .await?;
    let mut trials = Vec::with_capacity(rows.len());
    for row in &rows {
        trials.push((row.number("trial")?, colour::parse(&row.text("colour")?)));
    }
    let index = match trial {
        Some(wanted) => trials.iter().position(|(number, _)| *number == wanted),
        None => shown_trial(&rows)?,
    }
    .ok_or_else(StoreError::not_found)?;
    Ok(Shown {
        trials,
        row: rows.swap_remove(index),
    })
}

#[derive(Default)]
struct Read {
    answer: Option<String>,
    answer_from: Option<&'static str>,
    output: Option<String>,
    latency_ms: Option<u64>,
    usage: Option<evalkit_core::run::Usage>,
    trajectory: Option<TrajectoryView>,
}

/// Parses the trajectory and works out the final answer, aside: a trajectory can be many megabytes.
async fn read_run(
    case: Arc<EffectiveCase>,
    (mut run, bytes): (RecordedRun, Option<Vec<u8>>),
) -> Result<Read, StoreError> {
    let work = move || {
        let mut problems = Vec::new();
        run.trajectory = bytes.and_then(|bytes| match serde_json::from_slice(&bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                problems.push(format!("the trajectory is not JSON: {error}"));
                None
            }
        });
        let bars = evalkit_core::score::Bars::new();
        let trial = Trial::new(&case, &run, &bars);
        let (answer, answer_from) = match trial.answer() {
            Some((text, from)) => (
                Some(text.to_owned()),
                Some(match from {
                    AnswerFrom::Harness => "the harness",
                    AnswerFrom::LastAgentMessage => "the last agent message",
                }),
            ),
            None => (None, None),
        };
        let trajectory = match (&run.trajectory, trial.document()) {
            (_, Some(document)) => Some(atif::view(document)),
            (Some(value), None) => {
                let found = atif::Document::parse(value).err().unwrap_or_default();
                problems.extend(found.iter().take(50).map(ToString::to_string));
                Some(TrajectoryView {
                    problems,
                    ..TrajectoryView::default()
                })
            }
            (None, None) if !problems.is_empty() => Some(TrajectoryView {
                problems,
                ..TrajectoryView::default()
            }),
            (None, None) => None,
        };
        Read {
            answer,
            answer_from,
            output: run
                .output
                .as_ref()
                .filter(|value| !value.is_null())
                .map(|value| serde_json::to_string_pretty(value).unwrap_or_default()),
            latency_ms: run.latency_ms,
            usage: run.usage.clone(),
            trajectory,
        }
    };
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| StoreError::Unreadable("a recorded run stopped its reader".to_owned()))
}

/// The conclusion first, in one or two sentences.
fn conclusion(
    colour: Colour,
    state: &str,
    grades: &[Grade],
    what: &str,
    error: Option<&RunError>,
) -> String {
    if let Some(error) = error {
        return format!("No answer. {}", error_in_words(error.class).happened);
    }
    let rubrics = rubric_verdicts(grades);
    let count = if rubrics.is_empty() {
        String::new()
    } else {
        let satisfied = rubrics
            .iter()
            .filter(|v| v.verdict == Some(Verdict::Satisfied))
            .count();
        format!(", {satisfied} of {}", rubrics.len())
    };
    let head = match colour {
        Colour::Green => format!("Green{count}."),
        Colour::Red => format!("Red{count}."),
        Colour::Flaky => format!("Flaky{count}."),
        Colour::Unscored => format!("Neither green nor red{count}: not everything has a verdict."),
        Colour::Error => "Neither green nor red: an evaluator failed.".to_owned(),
        Colour::Cancelled => return "Cancelled before it ended.".to_owned(),
        Colour::Skipped => return "Nothing was graded: every evaluator skipped.".to_owned(),
        Colour::Open => return format!("This trial is {state}."),
    };
    if what.is_empty() {
        head
    } else {
        let mut what = what.to_owned();
        if let Some(first) = what.get_mut(0..1) {
            first.make_ascii_uppercase();
        }
        format!("{head} {what}.")
    }
}

/// The same case in the newest earlier run of the dataset against this agent.
async fn previous(
    tx: &mut Tx,
    workspace_id: &str,
    head: &Row,
    case_id: &str,
    now: &[Grade],
    judge: &ResultsJudge,
) -> Result<Option<PreviousResult>, StoreError> {
    let row = tx
        .optional(
            "SELECT e.id, e.number, e.frozen, c.version FROM experiment e \
             JOIN experiment_case c ON c.experiment_id = e.id AND c.case_id = $5 \
             WHERE e.workspace_id = $1 AND e.dataset_id = $2 AND e.agent = $3 AND e.number < $4 \
             ORDER BY e.number DESC LIMIT 1",
            args![
                workspace_id,
                head.text("dataset_id")?,
                head.text("agent")?,
                head.int("number")?,
                case_id
            ],
        )
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let rows = tx
        .all(
            "SELECT id, trial, colour, satisfied, asked, COALESCE(ended_at, started_at, 0) AS at FROM trial \
             WHERE workspace_id = $1 AND experiment_id = $2 AND case_id = $3 ORDER BY trial",
            args![workspace_id, row.text("id")?, case_id],
        )
        .await?;
    let mut colours = Vec::with_capacity(rows.len());
    for trial in &rows {
        colours.push(colour::parse(&trial.text("colour")?));
    }
    let Some(trial) = shown_trial(&rows)?.and_then(|index| rows.get(index)) else {
        return Ok(None);
    };
    let id = trial.text("id")?;
    let before = grades_of(tx, workspace_id, std::slice::from_ref(&id))
        .await?
        .remove(&id)
        .unwrap_or_default();
    let frozen: Frozen = row.json("frozen")?;
    Ok(Some(PreviousResult {
        cell: AgentCell {
            colour: case_colour(&colours),
            satisfied: trial.count("satisfied")?,
            of: trial.count("asked")?,
            run: row.int("number")?,
            at: trial.int("at")?,
        },
        changes: changes(&before, now),
        version: row.number("version")?,
        ruler_moved: frozen.judge != *judge,
    }))
}

/// Verdicts that differ, of sentences that both runs hold at the same place.
fn changes(before: &[Grade], now: &[Grade]) -> Vec<(String, String, String)> {
    let mut changes = Vec::new();
    let mut compare = |letter: char, old: Vec<(String, String)>, new: Vec<(String, String)>| {
        for (index, ((old_text, old), (new_text, new))) in old.into_iter().zip(new).enumerate() {
            if old_text == new_text && old != new {
                changes.push((format!("{letter}{}", index + 1), old, new));
            }
        }
    };
    let rubrics = |grades: &[Grade]| {
        rubric_verdicts(grades)
            .into_iter()
            .map(|v| (v.rubric, verdict_word(v.verdict, v.unscored)))
            .collect()
    };
    compare('R', rubrics(before), rubrics(now));
    for (evaluator, letter) in [("trajectory_rubrics", 'T'), ("presentation_judge", 'P')] {
        let entries = |grades: &[Grade]| {
            entry_verdicts(grades, evaluator)
                .into_iter()
                .map(|v| (v.rubric, check_word(v.verdict, v.unscored)))
                .collect()
        };
        compare(letter, entries(before), entries(now));
    }
    changes
}

fn verdict_word(verdict: Option<Verdict>, unscored: Option<Unscored>) -> String {
    match verdict {
        Some(Verdict::Satisfied) => "satisfied",
        Some(Verdict::Incorrect) => "incorrect",
        Some(Verdict::Absent) => "absent",
        None => unscored.map_or("unscored", Unscored::as_str),
    }
    .to_owned()
}

fn check_word(verdict: Option<CheckVerdict>, unscored: Option<Unscored>) -> String {
    match verdict {
        Some(CheckVerdict::Satisfied) => "satisfied",
        Some(CheckVerdict::Unsatisfied) => "unsatisfied",
        None => unscored.map_or("unscored", Unscored::as_str),
    }
    .to_owned()
}

struct Neighbours {
    before: Option<String>,
    after: Option<String>,
    next_red: Option<String>,
}

/// Case ids beside this one in the run, in the order of the grid, and the next red one, from the start again after the end.
async fn neighbours(
    tx: &mut Tx,
    workspace_id: &str,
    experiment_id: &str,
    case_id: &str,
) -> Result<Neighbours, StoreError> {
    let row = tx
        .one(
            "SELECT \
             (SELECT MAX(c.case_id) FROM experiment_case c WHERE c.experiment_id = $1 AND c.workspace_id = $2 AND c.case_id < $3) AS before, \
             (SELECT MIN(c.case_id) FROM experiment_case c WHERE c.experiment_id = $1 AND c.workspace_id = $2 AND c.case_id > $3) AS after, \
             COALESCE( \
              (SELECT MIN(t.case_id) FROM trial t WHERE t.experiment_id = $1 AND t.workspace_id = $2 AND t.colour = 'red' AND t.case_id > $3), \
              (SELECT MIN(t.case_id) FROM trial t WHERE t.experiment_id = $1 AND t.workspace_id = $2 AND t.colour = 'red' AND t.case_id < $3) \
             ) AS next_red",
            args![experiment_id, workspace_id, case_id],
        )
        .await?;
    Ok(Neighbours {
        before: row.maybe_text("before")?,
        after: row.maybe_text("after")?,
        next_red: row.maybe_text("next_red")?,
    })
}
