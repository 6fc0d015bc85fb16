//! The bundle of a run on disk: `results.json`, and for each trial `answer.md`, `trajectory.json`, `explanation.json`.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use evalkit_core::name::is_case_id;
use evalkit_core::results::Results;
use evalkit_core::run::RecordedRun;

use crate::command::pretty;
use crate::exit::Failure;

/// Makes the folder.
pub(super) fn begin(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| failed(folder, &error))
}

/// Writes a file.
pub(super) fn put(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|error| failed(path, &error))
}

/// The failure of a path.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::misuse(
        format!("{} cannot be written: {error}.", path.display()),
        "Choose another folder with --out, or check its rights.",
    )
}

/// Writes the results and one folder a trial; `runs` holds the recorded runs, one a line.
pub(super) fn write(folder: &Path, results: &Results, runs: &Path) -> Result<(), Failure> {
    put(&folder.join("results.json"), &(pretty(results)? + "\n"))?;
    for case in &results.cases {
        let explanation = pretty(&case.evaluators)? + "\n";
        put(
            &trial(folder, &case.id, case.trial)?.join("explanation.json"),
            &explanation,
        )?;
    }
    let file = File::open(runs).map_err(|error| failed(runs, &error))?;
    for line in BufReader::new(file).lines() {
        let line = line.map_err(|error| failed(runs, &error))?;
        if line.trim().is_empty() {
            continue;
        }
        let run: RecordedRun = serde_json::from_str(&line).map_err(|error| {
            Failure::misuse(
                format!("The server sent a recorded run that cannot be read: {error}."),
                "Check that it is of this version.",
            )
        })?;
        let trial = trial(folder, &run.case_id, run.trial)?;
        if let Some(answer) = &run.answer {
            put(&trial.join("answer.md"), answer)?;
        } else if let Some(output) = &run.output {
            put(&trial.join("output.json"), &(pretty(output)? + "\n"))?;
        }
        if let Some(trajectory) = &run.trajectory {
            put(
                &trial.join("trajectory.json"),
                &(pretty(trajectory)? + "\n"),
            )?;
        }
    }
    Ok(())
}

/// `<case id>/<trial>`. An id of another form would name a place outside the folder, so it names none.
fn trial(folder: &Path, case_id: &str, trial: u32) -> Result<PathBuf, Failure> {
    if !is_case_id(case_id) {
        return Err(Failure::misuse(
            "The server sent a case id of a form that ids do not have.",
            "Check that it is an Evalkit server.",
        ));
    }
    let path = folder.join(case_id).join(trial.to_string());
    begin(&path)?;
    Ok(path)
}
