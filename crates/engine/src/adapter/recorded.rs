//! `recorded`: no agent at all; runs are read from files (`runs.md`, Agents; `formats.md`, Recorded runs).
//!
//! The path is one that the operator wrote into `config.yaml`: a JSONL file of recorded runs, an ATIF file named after
//! its case (`<case id>.json`), or a folder of both. Uploaded runs do not come this way; they are imported.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use evalkit_core::run::{AgentErrorClass, Capability, RecordedRun, RunStatus};
use futures::future::BoxFuture;
use serde_json::Value;
use tokio::sync::OnceCell;

use super::{Adapter, AgentFailure, AgentReply, AgentTask, reply};

/// The largest file read, bytes.
const FILE_CAP: u64 = 1 << 30;
/// The largest trajectory file read, bytes.
const TRAJECTORY_CAP: u64 = 32 << 20;

/// Why recorded runs cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RecordedError(String);

/// Runs from files. The files are read at the first call, once.
#[derive(Debug)]
pub struct Recorded {
    path: PathBuf,
    capabilities: Option<Vec<Capability>>,
    runs: OnceCell<Result<Runs, RecordedError>>,
}

/// By case id, in file order.
type Runs = HashMap<String, Vec<RecordedRun>>;

impl Recorded {
    /// Runs below `path`. `capabilities` stand in where a record declares none.
    pub fn new(path: impl Into<PathBuf>, capabilities: Option<Vec<Capability>>) -> Self {
        Self {
            path: path.into(),
            capabilities,
            runs: OnceCell::new(),
        }
    }

    async fn find(&self, task: &AgentTask) -> Result<AgentReply, AgentFailure> {
        let failed = |message: String| AgentFailure::of(AgentErrorClass::AgentReported, message);
        let runs = self
            .runs
            .get_or_init(|| async {
                let path = self.path.clone();
                tokio::task::spawn_blocking(move || read_path(&path))
                    .await
                    .unwrap_or_else(|_| {
                        Err(RecordedError(
                            "The recorded runs could not be read.".to_owned(),
                        ))
                    })
            })
            .await
            .as_ref()
            .map_err(|error| failed(error.to_string()))?;
        let of_case = runs.get(&task.case_id).ok_or_else(|| {
            failed(format!(
                "{} holds no run of `{}`.",
                self.path.display(),
                task.case_id
            ))
        })?;
        let run = of_case
            .iter()
            .find(|run| run.trial == task.trial)
            .ok_or_else(|| {
                failed(format!(
                    "{} holds no trial {} of `{}`.",
                    self.path.display(),
                    task.trial,
                    task.case_id
                ))
            })?;
        if run.status == RunStatus::Error {
            return Err(AgentFailure {
                latency_ms: run.latency_ms,
                ..match &run.error {
                    Some(error) => AgentFailure::of(error.class, error.message.clone()),
                    None => failed("The recorded run failed without saying why.".to_owned()),
                }
            });
        }
        if let Some(trajectory) = &run.trajectory {
            reply::check_trajectory(trajectory)?;
        }
        Ok(AgentReply {
            trajectory: run
                .trajectory
                .as_ref()
                .map(|value| value.to_string().into_bytes()),
            run: RecordedRun {
                capabilities: run
                    .capabilities
                    .clone()
                    .or_else(|| self.capabilities.clone()),
                ..run.clone()
            },
        })
    }
}

impl Adapter for Recorded {
    fn call<'a>(&'a self, task: &'a AgentTask) -> BoxFuture<'a, Result<AgentReply, AgentFailure>> {
        Box::pin(self.find(task))
    }
}

fn read_path(path: &Path) -> Result<Runs, RecordedError> {
    let mut files = Vec::new();
    if path.is_dir() {
        let entries = std::fs::read_dir(path).map_err(|error| unreadable(path, &error))?;
        for entry in entries {
            files.push(entry.map_err(|error| unreadable(path, &error))?.path());
        }
        files.sort();
        files.retain(|file| {
            matches!(
                file.extension().and_then(|extension| extension.to_str()),
                Some("jsonl" | "json")
            )
        });
    } else {
        files.push(path.to_owned());
    }
    let mut runs = Runs::new();
    for file in &files {
        for run in read_file(file)? {
            runs.entry(run.case_id.clone()).or_default().push(run);
        }
    }
    if runs.is_empty() {
        return Err(RecordedError(format!(
            "{} holds no recorded run: expected *.jsonl with one run a line, or <case id>.json with a trajectory.",
            path.display()
        )));
    }
    Ok(runs)
}

fn read_file(file: &Path) -> Result<Vec<RecordedRun>, RecordedError> {
    let folder = file.parent().unwrap_or_else(|| Path::new("."));
    if file
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let text = read_text(file, TRAJECTORY_CAP)?;
        let value: Value = serde_json::from_str(&text)
            .map_err(|error| RecordedError(format!("{} is not JSON: {error}.", file.display())))?;
        // A file with a case id of its own is one recorded run; anything else is a trajectory named after its case.
        if value.get("case_id").is_some() {
            return read_runs(&text, Some(folder))
                .map_err(|error| RecordedError(format!("{}: {error}", file.display())));
        }
        let case_id = file
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        return Ok(vec![RecordedRun {
            case_id: case_id.to_owned(),
            trial: 1,
            trajectory: Some(value),
            ..RecordedRun::default()
        }]);
    }
    let text = read_text(file, FILE_CAP)?;
    read_runs(&text, Some(folder))
        .map_err(|error| RecordedError(format!("{}: {error}", file.display())))
}

/// Reads recorded runs, one a line, or a single one over several lines. Trajectories given as a path are read from below
/// `folder`; without a folder such a path is an error.
///
/// # Errors
/// The first line that cannot be read, by number.
pub fn read_runs(text: &str, folder: Option<&Path>) -> Result<Vec<RecordedRun>, RecordedError> {
    let mut runs = Vec::new();
    if let Ok(run) = serde_json::from_str::<RecordedRun>(text) {
        runs.push(run);
    } else {
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let run: RecordedRun = serde_json::from_str(line)
                .map_err(|error| RecordedError(format!("line {}: {error}.", number + 1)))?;
            runs.push(run);
        }
    }
    for run in &mut runs {
        if let Some(Value::String(path)) = &run.trajectory {
            let value = read_trajectory(path, folder)?;
            run.trajectory = Some(value);
        }
    }
    Ok(runs)
}

fn read_trajectory(path: &str, folder: Option<&Path>) -> Result<Value, RecordedError> {
    let refuse =
        |why: &str| RecordedError(format!("The trajectory `{}` {why}.", path.escape_debug()));
    let Some(folder) = folder else {
        return Err(refuse("is a path, and these runs did not come from a file"));
    };
    let relative = Path::new(path);
    if !relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return Err(refuse("lies outside the folder of its file"));
    }
    // A link inside the folder must not lead out of it either.
    let root = folder
        .canonicalize()
        .map_err(|error| unreadable(folder, &error))?;
    let file = root
        .join(relative)
        .canonicalize()
        .map_err(|_| refuse("does not exist"))?;
    if !file.starts_with(&root) {
        return Err(refuse("lies outside the folder of its file"));
    }
    serde_json::from_str(&read_text(&file, TRAJECTORY_CAP)?)
        .map_err(|error| refuse(&format!("is not JSON: {error}")))
}

fn read_text(file: &Path, cap: u64) -> Result<String, RecordedError> {
    let opened = std::fs::File::open(file).map_err(|error| unreadable(file, &error))?;
    let mut text = String::new();
    opened
        .take(cap + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(file, &error))?;
    if text.len() as u64 > cap {
        return Err(RecordedError(format!(
            "{} is larger than {} MiB.",
            file.display(),
            cap >> 20
        )));
    }
    Ok(text)
}

fn unreadable(path: &Path, error: &std::io::Error) -> RecordedError {
    RecordedError(format!("{} cannot be read: {error}.", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATIF: &str = r#"{"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"},
        "steps": [{"step_id": 1, "source": "agent", "message": "from the steps"}]}"#;

    fn task(case_id: &str, trial: u32) -> AgentTask {
        AgentTask {
            run_id: "r".to_owned(),
            case_id: case_id.to_owned(),
            trial,
            question: None,
            messages: Vec::new(),
            prompt: String::new(),
            fixtures: Vec::new(),
            idempotency_key: "k".to_owned(),
            allowed: std::time::Duration::from_secs(1),
        }
    }

    #[tokio::test]
    async fn lines_trajectories_and_their_errors() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("steps")).unwrap();
        write("steps/a.json", ATIF);
        write("by-name.json", ATIF);
        write(
            "runs.jsonl",
            "{\"case_id\": \"a\", \"answer\": \"one\", \"trajectory\": \"steps/a.json\"}\n\n\
             {\"case_id\": \"a\", \"trial\": 2, \"answer\": \"two\"}\n\
             {\"case_id\": \"b\", \"status\": \"error\", \"error\": \"gave up\", \"latency_ms\": 7}\n\
             {\"case_id\": \"c\", \"trajectory\": {\"steps\": []}}\n",
        );
        let recorded = Recorded::new(folder.path(), Some(vec![Capability::Trajectory]));
        let reply = recorded.call(&task("a", 1)).await.unwrap();
        assert_eq!(reply.run.answer.as_deref(), Some("one"));
        assert!(reply.run.trajectory.unwrap().is_object());
        assert_eq!(reply.run.capabilities, Some(vec![Capability::Trajectory]));
        assert_eq!(
            recorded
                .call(&task("a", 2))
                .await
                .unwrap()
                .run
                .answer
                .as_deref(),
            Some("two")
        );
        assert!(
            recorded
                .call(&task("by-name", 1))
                .await
                .unwrap()
                .run
                .trajectory
                .is_some()
        );
        let failure = recorded.call(&task("b", 1)).await.unwrap_err();
        assert_eq!(
            (failure.error.class, failure.latency_ms),
            (AgentErrorClass::AgentReported, Some(7))
        );
        assert_eq!(failure.error.message, "gave up");
        assert_eq!(
            recorded.call(&task("c", 1)).await.unwrap_err().error.class,
            AgentErrorClass::InvalidAtif
        );
        for (case, trial) in [("a", 3), ("nope", 1)] {
            let failure = recorded.call(&task(case, trial)).await.unwrap_err();
            assert!(failure.error.message.contains(case), "{failure}");
        }
    }

    #[test]
    fn paths_stay_inside_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(outside.path(), ATIF).unwrap();
        for path in [
            "../x.json",
            "/etc/hostname",
            outside.path().to_str().unwrap(),
        ] {
            let line = serde_json::json!({"case_id": "a", "trajectory": path}).to_string();
            let error = read_runs(&line, Some(folder.path())).unwrap_err();
            assert!(error.to_string().contains("outside"), "{error}");
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(outside.path(), folder.path().join("link.json")).unwrap();
            let line = r#"{"case_id": "a", "trajectory": "link.json"}"#;
            assert!(
                read_runs(line, Some(folder.path()))
                    .unwrap_err()
                    .to_string()
                    .contains("outside")
            );
        }
        assert!(read_runs(r#"{"case_id": "a", "trajectory": "x.json"}"#, None).is_err());
        let error = read_runs("{\"case_id\": \"a\"}\n{oops}\n", None).unwrap_err();
        assert!(error.to_string().contains("line 2"), "{error}");
    }
}
