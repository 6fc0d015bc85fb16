//! What a database says happened, as rows of text: the same statements on SQLite and on PostgreSQL, for tests that
//! compare it with what the outside world saw (`reliability.md`, section 4). Rules over it are in [`crate::invariants`].

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions as _, Connection as _, Row as _};

use crate::{connection, url};

/// A row of the queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trial {
    /// Its id.
    pub id: String,
    /// The experiment.
    pub experiment: String,
    /// The case.
    pub case: String,
    /// From 1.
    pub trial: String,
    /// `queued`, `running`, `recorded`, `grading`, `done`, `error`, `cancelled` or `budget`.
    pub state: String,
    /// Calls that were claimed: the journal of calls.
    pub attempts: u64,
    /// Named in every call.
    pub key: String,
    /// Microseconds until its lease ends, by the database's clock; negative when it has. Absent without a lease.
    pub lease_left: Option<i64>,
    /// The answer, when one is recorded.
    pub answer: Option<String>,
    /// Whether one is recorded.
    pub recorded: bool,
}

/// A published score: of a trial, and by a grade of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The trial.
    pub trial: String,
    /// Its name.
    pub name: String,
    /// What held.
    pub num: f64,
    /// What was asked.
    pub den: f64,
}

/// Everything that the invariants look at, of one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct History {
    /// The queue.
    pub trials: Vec<Trial>,
    /// Trial and evaluator of each grade.
    pub grades: Vec<(String, String)>,
    /// Scores inside the grades.
    pub graded: Vec<Score>,
    /// Scores as stored for pooling.
    pub scores: Vec<Score>,
    /// Experiment, case, trial and new state of each committed move, in order.
    pub moves: Vec<(String, String, String, String)>,
    /// Hashes that a workspace refers to.
    pub blobs: Vec<String>,
    /// Experiments.
    pub experiments: Vec<String>,
    /// Audit rows that tell of a new experiment.
    pub begun: usize,
}

type Rows = Vec<Vec<Option<String>>>;

macro_rules! texts {
    ($rows:expr) => {
        $rows
            .unwrap_or_else(|error| panic!("{error}"))
            .iter()
            .map(|row| {
                (0..row.len())
                    .map(|n| {
                        row.try_get::<Option<String>, _>(n)
                            .unwrap_or_else(|error| panic!("{error}"))
                    })
                    .collect()
            })
            .collect::<Rows>()
    };
}

/// All statements, each column as text. `{now}` is the database's clock in microseconds.
const TRIALS: &str = "SELECT CAST(t.id AS TEXT), CAST(t.experiment_id AS TEXT), CAST(t.case_id AS TEXT), CAST(t.trial AS TEXT), \
     CAST(t.state AS TEXT), CAST(t.attempts AS TEXT), CAST(t.idempotency_key AS TEXT), CAST(t.lease_until - {now} AS TEXT), \
     CAST(r.answer AS TEXT), CAST(r.trial_id AS TEXT) FROM trial t LEFT JOIN recorded_run r ON r.trial_id = t.id ORDER BY t.id";
const GRADES: &str =
    "SELECT CAST(trial_id AS TEXT), CAST(evaluator AS TEXT), CAST(grade AS TEXT) FROM grade";
const SCORES: &str = "SELECT CAST(trial_id AS TEXT), CAST(name AS TEXT), CAST(num AS TEXT), CAST(den AS TEXT) FROM trial_score";
const MOVES: &str = "SELECT CAST(experiment_id AS TEXT), CAST(data AS TEXT) FROM event WHERE kind = 'trial' ORDER BY id";
const BLOBS: &str = "SELECT DISTINCT CAST(sha256 AS TEXT) FROM blob_ref";
const EXPERIMENTS: &str = "SELECT CAST(id AS TEXT) FROM experiment";
const BEGUN: &str = "SELECT CAST(id AS TEXT) FROM audit WHERE action = 'experiment.create'";

impl History {
    /// Reads it from the running test's PostgreSQL database, or from the SQLite file of a data folder. A server may
    /// be at work on either.
    ///
    /// # Panics
    /// When the database cannot be read.
    pub async fn read(folder: &Path) -> Self {
        let mut read = Vec::new();
        if url().is_some() {
            let now = "CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)";
            let mut connection = connection().await;
            let mut tx = connection
                .begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
                .await
                .unwrap_or_else(|error| panic!("{error}"));
            for statement in STATEMENTS {
                let statement = statement.replace("{now}", now);
                let rows = sqlx::query(AssertSqlSafe(statement))
                    .fetch_all(&mut *tx)
                    .await;
                read.push(texts!(rows));
            }
        } else {
            let now = "CAST(unixepoch('subsec') * 1000000 AS INTEGER)";
            let mut connection = SqliteConnectOptions::new()
                .filename(folder.join("evalkit.db"))
                .busy_timeout(std::time::Duration::from_secs(10))
                .disable_statement_logging()
                .connect()
                .await
                .unwrap_or_else(|error| panic!("{error}"));
            let mut tx = connection
                .begin()
                .await
                .unwrap_or_else(|error| panic!("{error}"));
            for statement in STATEMENTS {
                let statement = statement.replace("{now}", now);
                let rows = sqlx::query(AssertSqlSafe(statement))
                    .fetch_all(&mut *tx)
                    .await;
                read.push(texts!(rows));
            }
        }
        Self::of(read)
    }

    fn of(read: Vec<Rows>) -> Self {
        let mut read = read.into_iter();
        let mut next = || read.next().unwrap_or_default();
        let trials = next()
            .into_iter()
            .map(|row| {
                let mut row = row.into_iter();
                let mut cell = || row.next().flatten();
                Trial {
                    id: cell().unwrap_or_default(),
                    experiment: cell().unwrap_or_default(),
                    case: cell().unwrap_or_default(),
                    trial: cell().unwrap_or_default(),
                    state: cell().unwrap_or_default(),
                    attempts: cell().and_then(|n| n.parse().ok()).unwrap_or_default(),
                    key: cell().unwrap_or_default(),
                    lease_left: cell().and_then(|n| n.parse().ok()),
                    answer: cell(),
                    recorded: cell().is_some(),
                }
            })
            .collect();
        let mut grades = Vec::new();
        let mut graded = Vec::new();
        for row in next() {
            let [Some(trial), Some(evaluator), Some(grade)] = row.as_slice() else {
                continue;
            };
            grades.push((trial.clone(), evaluator.clone()));
            let grade: serde_json::Value = json(grade);
            for (name, score) in grade["scores"].as_object().into_iter().flatten() {
                let share = &score["share"];
                if let (Some(num), Some(den)) = (share["num"].as_f64(), share["den"].as_f64()) {
                    graded.push(Score {
                        trial: trial.clone(),
                        name: name.clone(),
                        num,
                        den,
                    });
                }
            }
        }
        let number = |cell: &Option<String>| {
            cell.as_deref()
                .and_then(|text| text.parse().ok())
                .unwrap_or(f64::NAN)
        };
        let scores = next()
            .into_iter()
            .map(|row| Score {
                trial: row[0].clone().unwrap_or_default(),
                name: row[1].clone().unwrap_or_default(),
                num: number(&row[2]),
                den: number(&row[3]),
            })
            .collect();
        let moves = next()
            .into_iter()
            .map(|row| {
                let cell = json(row[1].as_deref().unwrap_or_default());
                let text = |key: &str| cell[key].as_str().unwrap_or_default().to_owned();
                (
                    row[0].clone().unwrap_or_default(),
                    text("case_id"),
                    cell["trial"].to_string(),
                    text("state"),
                )
            })
            .collect();
        let mut firsts = || {
            next()
                .into_iter()
                .filter_map(|row| row.into_iter().next().flatten())
        };
        let blobs = firsts().collect();
        let experiments = firsts().collect();
        let begun = firsts().count();
        Self {
            trials,
            grades,
            graded,
            scores,
            moves,
            blobs,
            experiments,
            begun,
        }
    }
}

const STATEMENTS: [&str; 7] = [TRIALS, GRADES, SCORES, MOVES, BLOBS, EXPERIMENTS, BEGUN];

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
