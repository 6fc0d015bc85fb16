//! Running other programs.

use std::{
    ffi::OsStr,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

/// A command without what `cargo run` put into our own environment.
///
/// Cargo describes the package it runs (`CARGO_PKG_NAME` and so on). Handed on to an inner cargo these
/// would make build scripts that watch them run again.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text == "CARGO"
            || name_text.starts_with("CARGO_PKG_")
            || name_text.starts_with("CARGO_MANIFEST_")
            || name_text.starts_with("CARGO_BIN_")
            || name_text.starts_with("CARGO_CRATE_")
            || name_text == "CARGO_PRIMARY_PACKAGE"
        {
            command.env_remove(&name);
        }
    }
    command
}

/// The command as a person would type it, with the variables set for it in front.
pub fn line(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(name, value)| {
            let value = value?;
            Some(format!("{}={}", name.to_string_lossy(), quoted(value)))
        })
        .collect();
    words.push(quoted(command.get_program()));
    words.extend(command.get_args().map(quoted));
    words.join(" ")
}

fn quoted(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%*".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Runs to the end with the terminal of this program.
///
/// # Errors
/// When it cannot be started or ends with a failure.
pub fn run(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    if !status.success() {
        bail!("`{}` ended with {status}", line(command));
    }
    Ok(())
}

/// Becomes another program where the system can, so that signals reach it directly; elsewhere runs it.
///
/// # Errors
/// When it cannot be started, or where it could only be run, when it fails.
pub fn replace(mut command: Command) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        let error = command.exec();
        Err(anyhow::Error::from(error).context(format!("cannot start `{}`", line(&command))))
    }
    #[cfg(not(unix))]
    run(&mut command)
}

/// Runs to the end and keeps what it printed.
///
/// # Errors
/// When it cannot be started.
pub fn output(command: &mut Command) -> Result<Output> {
    command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start `{}`", line(command)))
}

/// What a successful command printed, trimmed.
///
/// # Errors
/// When it cannot be started or fails; the message carries the end of its error output.
pub fn capture(command: &mut Command) -> Result<String> {
    let output = output(command)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!(
            "`{}` ended with {}\n{}",
            line(command),
            output.status,
            tail(&said, 20)
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs to the end, but no longer than `limit`. `None` means that time ran out and the program was ended.
///
/// # Errors
/// When it cannot be started.
pub fn capture_within(command: &mut Command, limit: Duration) -> Result<Option<(bool, String)>> {
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start `{}`", line(command)))?;
    let readers = [
        child.stdout.take().map(|pipe| drain(Box::new(pipe))),
        child.stderr.take().map(|pipe| drain(Box::new(pipe))),
    ];
    let Some(status) = wait_within(&mut child, limit)? else {
        child.kill()?;
        child.wait()?;
        return Ok(None);
    };
    let mut said = String::new();
    for reader in readers.into_iter().flatten() {
        said.push_str(&reader.join().unwrap_or_default());
    }
    Ok(Some((status.success(), said.trim().to_owned())))
}

fn drain(mut pipe: Box<dyn std::io::Read + Send>) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        // A broken pipe only shortens the text; the exit status decides.
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Waits for the end of a child for at most `limit`.
///
/// # Errors
/// When the state of the child cannot be read.
pub fn wait_within(child: &mut Child, limit: Duration) -> Result<Option<std::process::ExitStatus>> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if start.elapsed() >= limit {
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// Asks a child to end (SIGTERM where there is one), waits, and ends it by force after `limit`.
///
/// # Errors
/// When its state cannot be read.
pub fn terminate(child: &mut Child, limit: Duration) -> Result<()> {
    if cfg!(unix) {
        // The standard library only knows SIGKILL, and the server deserves the chance to drain.
        let asked = Command::new("kill")
            .args(["-TERM", &child.id().to_string()])
            .stderr(Stdio::null())
            .status();
        if asked.is_ok_and(|status| status.success()) && wait_within(child, limit)?.is_some() {
            return Ok(());
        }
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}

/// Where a program lies on `PATH`.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}

/// The last `count` lines.
pub fn tail(text: &str, count: usize) -> String {
    let lines: Vec<_> = text.trim_end().lines().collect();
    lines[lines.len().saturating_sub(count)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_can_be_pasted() {
        let mut command = Command::new("cargo");
        command.args(["build", "two words", "it's"]).env("A", "b c");
        assert_eq!(line(&command), r"A='b c' cargo build 'two words' 'it'\''s'");
    }

    #[test]
    fn time_runs_out() -> Result<()> {
        let slow = capture_within(Command::new("sleep").arg("30"), Duration::from_millis(50))?;
        assert!(slow.is_none());
        let quick = capture_within(Command::new("echo").arg("hi"), Duration::from_secs(10))?;
        assert_eq!(quick, Some((true, "hi".into())));
        Ok(())
    }

    #[test]
    fn the_tail_is_the_end() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
