//! The engine: how long a run of many short calls takes, every step durable, and where the time goes.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context, Result, ensure};

use super::{Figure, agent::Agent, figure::median_and_p99};
use crate::{
    build::{self, Mode},
    postgres::Cluster,
    process,
    repo::Repo,
    served::Served,
};

/// Trials of a run: one of each case.
const TRIALS: usize = 500;
/// Calls at once.
const AT_ONCE: usize = 50;
/// What the slow agent takes for an answer.
const ANSWER: Duration = Duration::from_millis(50);
/// Runs; the middle one counts.
const RUNS: usize = 5;
/// What is promised for a run of [`TRIALS`] calls of [`ANSWER`], in ms, by database; 500 is the least possible.
const LIMITS_MS: [(&str, f64); 2] = [("SQLite", 550.0), ("PostgreSQL", 650.0)];

/// 500 trials of an agent of 50 ms, 50 at once, on SQLite and, where it is installed, on PostgreSQL.
///
/// # Errors
/// When the build fails, a server does not start, or a run does not complete.
pub fn engine(repo: &Repo) -> Result<Vec<Figure>> {
    build::all(repo, Mode::Release)?.print();
    let mut figures = Vec::new();
    for (database, limit) in LIMITS_MS {
        let cluster = match database {
            "PostgreSQL" => match Cluster::start() {
                Ok(cluster) => Some(cluster),
                Err(error) => {
                    println!("   no PostgreSQL: {error:#}");
                    continue;
                }
            },
            _ => None,
        };
        figures.extend(on(repo, database, limit, cluster.as_ref())?);
    }
    Ok(figures)
}

fn on(repo: &Repo, database: &str, limit: f64, cluster: Option<&Cluster>) -> Result<Vec<Figure>> {
    println!("   {database}");
    let bench = Bench::start(repo, cluster)?;
    let slow = bench.runs("slow", ANSWER)?;
    let fast = bench.runs("instant", Duration::ZERO)?;
    bench.server.stop()?;
    let least = ANSWER.as_secs_f64() * 1000.0 * (TRIALS as f64 / AT_ONCE as f64).ceil();
    let what = format!("run of {TRIALS} trials, {AT_ONCE} at once, {database}");
    let ms = |name: &str, value| Figure::new(format!("{what}: {name}"), value, "ms");
    Ok(vec![
        ms("agent of 50 ms", slow.wall).at_most(limit),
        Figure::new(
            format!("{what}: over the least possible"),
            slow.wall / least,
            "times",
        ),
        ms("from the start to the first call", slow.before),
        ms("from the first call to the last answer", slow.calls),
        ms("from the last answer to the end", slow.after),
        ms("agent that answers at once", fast.wall),
        Figure::new(
            format!("engine's own time for a trial, {database}"),
            fast.wall / TRIALS as f64,
            "ms",
        ),
    ])
}

/// Times of one run in ms.
#[derive(Clone, Copy, Debug, Default)]
struct Times {
    /// From start to end, as the server dates them.
    wall: f64,
    before: f64,
    calls: f64,
    after: f64,
}

struct Bench {
    server: Served,
    program: PathBuf,
    environment: BTreeMap<&'static str, String>,
}

impl Bench {
    fn start(repo: &Repo, cluster: Option<&Cluster>) -> Result<Self> {
        let folder = repo.target("bench/engine");
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let cases = folder.join("cases");
        fs::create_dir_all(&cases)?;
        fs::write(cases.join("numbers.yaml"), dataset())?;
        let log = folder.join("server.log");
        let database = match cluster {
            Some(cluster) => cluster.environment(&folder)?.to_vec(),
            None => Vec::new(),
        };
        let data = folder.join("data");
        let server = Served::start_with(repo, Mode::Release, &data, &log, &database)?;
        let environment = BTreeMap::from([
            ("EVALKIT_SERVER", server.url()),
            ("EVALKIT_TOKEN", token(&log)?),
            ("HOME", folder.display().to_string()),
        ]);
        let bench = Self {
            server,
            program: build::server::program(repo, Mode::Release),
            environment,
        };
        bench.say(&["sync", &path(&cases)?, "--dataset", "numbers"])?;
        Ok(bench)
    }

    fn say(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command(arguments);
        let output = process::output(&mut command)?;
        ensure!(
            output.status.success(),
            "`{}` ended with {}\n{}",
            process::line(&command),
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = process::command(&self.program);
        command.args(arguments).envs(&self.environment);
        command
    }

    /// The middle of several runs, by wall time.
    fn runs(&self, name: &str, answer: Duration) -> Result<Times> {
        let agent = Agent::start(answer)?;
        let at_once = AT_ONCE.to_string();
        self.say(&[
            "agent",
            "add",
            name,
            "--url",
            &agent.url(),
            "--concurrency",
            &at_once,
        ])?;
        let mut all = Vec::new();
        for _ in 0..RUNS {
            agent.forget();
            let output = process::output(&mut self.command(&[
                "run",
                "numbers@demo",
                "--agent",
                name,
                "--concurrency",
                &at_once,
                "--json",
            ]))?;
            let results: serde_json::Value = serde_json::from_slice(&output.stdout)
                .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
            all.push(times(&results, &agent)?);
        }
        all.sort_by(|a, b| a.wall.total_cmp(&b.wall));
        let (middle, _) = median_and_p99(all.iter().map(|run| run.wall).collect());
        println!(
            "   {name}: {}",
            all.iter().fold(String::new(), |mut line, run| {
                let _ = write!(line, "{:.0} ms ", run.wall);
                line
            })
        );
        all.into_iter()
            .find(|run| run.wall >= middle)
            .context("no run was made")
    }
}

fn times(results: &serde_json::Value, agent: &Agent) -> Result<Times> {
    let done = results["counts"]["done"].as_u64();
    ensure!(
        done == Some(TRIALS as u64),
        "the run ended with {}",
        results["counts"]
    );
    let at = |key: &str| -> Result<f64> {
        let text = results[key]
            .as_str()
            .with_context(|| format!("the results have no {key}"))?;
        epoch_ms(text).with_context(|| format!("{key} is {text}"))
    };
    let (start, end) = (at("started_at")?, at("finished_at")?);
    let (first, last) = agent.span().context("the agent was not called")?;
    Ok(Times {
        wall: end - start,
        before: since_epoch(first) - start,
        calls: since_epoch(last) - since_epoch(first),
        after: end - since_epoch(last),
    })
}

fn since_epoch(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs_f64()
        * 1000.0
}

/// `2026-03-01T10:00:00.123Z` as ms since 1970.
fn epoch_ms(text: &str) -> Option<f64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let mut parts = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (
        parts.next()?.ok()?,
        parts.next()?.ok()?,
        parts.next()?.ok()?,
    );
    let mut clock = time.split(':');
    let hours: f64 = clock.next()?.parse().ok()?;
    let minutes: f64 = clock.next()?.parse().ok()?;
    let seconds: f64 = clock.next()?.parse().ok()?;
    // Days since 1970 by the civil calendar, with March as the first month.
    let (y, m) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let era = y.div_euclid(400);
    let of_era = y.rem_euclid(400);
    let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * m + 2) / 5 + day
        - 1
        - 719_468;
    Some((days as f64 * 86_400.0 + hours * 3_600.0 + minutes * 60.0 + seconds) * 1000.0)
}

fn dataset() -> String {
    let mut text = String::from("cases:\n");
    for number in 0..TRIALS {
        let _ = write!(
            text,
            "  - id: number-{number}\n    input:\n      question: \"Which number comes before {}?\"\n    expected: \"{number}\"\n    \
             max_response_time: 10\n    evaluators:\n      output:\n        answer_rubrics:\n          rubrics:\n            \
             - rubric: \"States that the number is {number}.\"\n              type: factual_retrieval\n",
            number + 1
        );
    }
    text
}

/// The token in the line that a demo prints.
fn token(log: &Path) -> Result<String> {
    let said = fs::read_to_string(log)?;
    let at = said.find("evk_").context("the demo printed no token")?;
    Ok(said[at..]
        .chars()
        .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
        .collect())
}

fn path(path: &Path) -> Result<String> {
    Ok(path
        .to_str()
        .context("the target folder is not UTF-8")?
        .to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(epoch_ms("1970-01-01T00:00:00.250Z"), Some(250.0));
        assert_eq!(
            epoch_ms("2024-03-01T00:00:00Z"),
            Some(1_709_251_200_000.0),
            "after a leap day"
        );
        assert_eq!(epoch_ms("yesterday"), None);
    }
}
