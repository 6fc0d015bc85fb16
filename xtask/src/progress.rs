//! Long builds side by side, with one honest line about how far they are.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, IsTerminal as _, Write as _},
    process::{Command, Stdio},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

use crate::process;

/// How long each step took, in the order they ended.
#[derive(Debug, Default)]
pub struct Times(Vec<(String, Duration, bool)>);

impl Times {
    /// Prints one line a step.
    pub fn print(&self) {
        for (name, time, fresh) in &self.0 {
            let note = if *fresh { "  unchanged" } else { "" };
            println!("  {name:<9} {:>6.1} s{note}", time.as_secs_f64());
        }
    }
}

/// The steps that run now. Shared by the threads that run them.
pub struct Board {
    start: Instant,
    live: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: BTreeMap<String, usize>,
    done: Times,
    /// When a line was last printed where there is no terminal, in seconds since the start.
    printed: u64,
}

/// How often a log gets a line of progress, in seconds.
const LOG_EVERY: u64 = 20;

impl Board {
    /// Nothing runs yet.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            live: std::io::stderr().is_terminal() && std::env::var_os("CI").is_none(),
            state: Mutex::new(State::default()),
        }
    }

    /// Runs one step under a name and keeps its time. `work` returns whether everything was fresh.
    ///
    /// # Errors
    /// The error of the step, with its name.
    pub fn step(&self, name: &str, work: impl FnOnce(&Lane<'_>) -> Result<Fresh>) -> Result<()> {
        let start = Instant::now();
        self.with(|state| state.running.insert(name.to_owned(), 0));
        let outcome = work(&Lane { board: self, name });
        self.with(|state| state.running.remove(name));
        let fresh = outcome.with_context(|| format!("step `{name}` failed"))?;
        let unchanged = fresh == Fresh::Unchanged;
        self.with(|state| {
            let time = start.elapsed();
            state.done.0.push((name.to_owned(), time, unchanged));
        });
        Ok(())
    }

    /// Clears the live line and returns the times.
    pub fn finish(self) -> Times {
        self.clear();
        let state = self.state.into_inner();
        state.unwrap_or_else(PoisonError::into_inner).done
    }

    fn with<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let seconds = self.start.elapsed().as_secs();
        if !self.live && seconds < state.printed + LOG_EVERY {
            return result;
        }
        let parts: Vec<_> = state
            .running
            .iter()
            .map(|(name, crates)| match crates {
                0 => name.clone(),
                n => format!("{name}: {n} crates"),
            })
            .collect();
        let line = format!("  {seconds:>3} s  {}", parts.join(", "));
        if self.live {
            eprint!("\r\x1b[K{line}");
            let _ = std::io::stderr().flush();
        } else {
            eprintln!("{line}");
            state.printed = seconds;
        }
        result
    }

    fn clear(&self) {
        if self.live {
            eprint!("\r\x1b[K");
        }
    }
}

/// Whether a step found its work already done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// Nothing had to be done.
    Unchanged,
    /// The step ran.
    Rebuilt,
}

/// One running step.
pub struct Lane<'a> {
    board: &'a Board,
    name: &'a str,
}

impl Lane<'_> {
    /// Runs cargo, counts the crates it compiles, and repeats what it says beyond that.
    ///
    /// # Errors
    /// When cargo fails; all it said is in the message.
    pub fn cargo(&self, command: &mut Command) -> Result<()> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", process::line(command)))?;
        let mut said = String::new();
        if let Some(pipe) = child.stderr.take() {
            for line in BufReader::new(pipe).lines() {
                let line = line?;
                let first = line.split_whitespace().next().unwrap_or_default();
                match first {
                    "Compiling" | "Checking" => self.board.with(|state| {
                        *state.running.entry(self.name.to_owned()).or_default() += 1;
                    }),
                    "Finished" | "Blocking" | "Downloading" | "Downloaded" | "Locking"
                    | "Updating" | "Fresh" | "Adding" => {}
                    _ => {
                        said.push_str(&line);
                        said.push('\n');
                    }
                }
            }
        }
        let status = child.wait()?;
        if !status.success() {
            bail!("`{}` ended with {status}\n{said}", process::line(command));
        }
        if !said.trim().is_empty() {
            self.board.clear();
            eprintln!("{}", said.trim_end());
        }
        Ok(())
    }
}
