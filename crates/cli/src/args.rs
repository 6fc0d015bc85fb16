//! The command line (`cli.md`). Everyday commands are grouped by task in the help; every command has examples.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit::Exit;

const EVERYDAY: &str = "\
Keeps, runs, grades and reviews the eval cases of your AI agents.

Usage: evalkit COMMAND [OPTIONS]

Write cases
  lint       Check case files                    evalkit lint cases
  show       What a case comes down to           evalkit show cases --case-id three-mugs
  figures    How a number will match             evalkit figures --rubric \"Costs €9.90.\" --answer \"It is €9.9\"

Without a server
  grade      Grade recorded runs                 evalkit grade cases --runs runs.jsonl
  atif       Check a trajectory file             evalkit atif check trajectory.json

Run
  serve      Start the server                    evalkit serve --demo
  help       Help on a command                   evalkit help lint

Options
  -q, --quiet      Say only what was asked for, and errors
  -v, --verbose    Say more
  -h, --help       Print help
  -V, --version    Print the version

Exit codes: 0 done and met, 1 not met, 2 incomplete, 3 configuration or usage.
";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "evalkit",
    version,
    about = "Keeps, runs, grades and reviews the eval cases of your AI agents",
    override_help = EVERYDAY,
    disable_help_subcommand = false,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub(crate) struct Invocation {
    /// Say only what was asked for, and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say more
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Start the server
    Serve(ServeArgs),
    /// Check case files
    Lint(LintArgs),
    /// Show what a case comes down to: its canonical content, hash, and what overlays add for an agent
    Show(ShowArgs),
    /// Show which figures are seen in a rubric and an answer, and whether they match
    Figures(FiguresArgs),
    /// Grade recorded runs against the cases of a file or folder
    Grade(GradeArgs),
    /// Work with trajectory files
    #[command(subcommand)]
    Atif(AtifVerb),
}

/// `evalkit serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit serve                          on 127.0.0.1:3000, data in the platform's data folder
  evalkit serve --demo                   a throw-away server with demo people and data
  evalkit serve --config config.yaml --bind 127.0.0.1:8000")]
pub struct ServeArgs {
    /// Start with demo people and data, in a throw-away folder unless EVALKIT_DATA is set
    #[arg(long)]
    pub demo: bool,
    /// The server's configuration file
    #[arg(long, value_name = "FILE", env = "EVALKIT_CONFIG")]
    pub config: Option<PathBuf>,
    /// The address to listen on
    #[arg(long, value_name = "ADDR")]
    pub bind: Option<SocketAddr>,
}

/// `evalkit lint`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit lint cases
  evalkit lint cases/a.yaml overlays.yaml --format json
  evalkit lint cases --facts facts.json --deny-warnings

Exit codes: 0 clean, 1 errors (or warnings with --deny-warnings), 3 unusable input.")]
pub(crate) struct LintArgs {
    /// Files and folders, checked together as one dataset
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// How to print what was found
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
    /// What is known beside the files (`evalkit.facts/1`)
    #[arg(long, value_name = "FILE")]
    pub facts: Option<PathBuf>,
    /// Show hints too
    #[arg(long)]
    pub hints: bool,
    /// Let warnings fail the command
    #[arg(long)]
    pub deny_warnings: bool,
}

/// How diagnostics are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Text,
    /// `evalkit.lint/1`
    Json,
    /// Annotations of a GitHub workflow
    Github,
}

/// `evalkit show`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit show cases
  evalkit show cases --case-id three-mugs --agent support-bot --json

With --json, one object a line: id, canonical, content_hash, effective, origins.")]
pub(crate) struct ShowArgs {
    /// A file or folder
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Only this case; may be repeated
    #[arg(long, value_name = "ID")]
    pub case_id: Vec<String>,
    /// Fold in the overlays for this agent
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Print JSON, one object a line
    #[arg(long)]
    pub json: bool,
}

/// `evalkit figures`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit figures --rubric \"Calculates the margin as 46.46% (±0.05pp).\" --answer \"The margin was 46.5 %.\"
  evalkit figures --batch pairs.jsonl --json

A batch file has one object a line: {\"rubric\": \"…\", \"answer\": \"…\"}.")]
pub(crate) struct FiguresArgs {
    /// The rubric's sentence
    #[arg(
        long,
        value_name = "TEXT",
        requires = "answer",
        required_unless_present = "batch"
    )]
    pub rubric: Option<String>,
    /// The answer
    #[arg(long, value_name = "TEXT", requires = "rubric")]
    pub answer: Option<String>,
    /// Many pairs, one JSON object a line; `-` reads standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rubric", "answer"])]
    pub batch: Option<PathBuf>,
    /// Print JSON, one object a pair
    #[arg(long)]
    pub json: bool,
}

/// `evalkit grade`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit grade cases --runs runs.jsonl
  evalkit grade cases --runs runs.jsonl --judge replay:replies.jsonl --agent support-bot
  evalkit grade cases --runs runs.jsonl --threshold 0.8 --json

Judges: offline decides by arithmetic and plain wording, and leaves the rest unscored; replay:FILE reads verdicts from a
file; fake finds everything satisfied and only proves that the plumbing works.

Exit codes: 0 done and met, 1 below --threshold or lint errors, 2 something is missing, failed or unscored, 3 unusable input.")]
pub(crate) struct GradeArgs {
    /// A file or folder of cases, overlays included
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Recorded runs, one a line
    #[arg(long, value_name = "FILE")]
    pub runs: PathBuf,
    /// offline, fake or replay:FILE
    #[arg(long, value_name = "JUDGE", default_value = "offline")]
    pub judge: String,
    /// Whose runs they are; overlays for this agent are folded in
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// The least answer_rubric_score, 0 to 1
    #[arg(long, value_name = "X")]
    pub threshold: Option<f64>,
    /// Print `evalkit.results/1`
    #[arg(long)]
    pub json: bool,
}

/// `evalkit atif …`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum AtifVerb {
    /// Check a trajectory file against ATIF
    #[command(after_help = "\
Examples:
  evalkit atif check trajectory.json
  evalkit atif check trajectory.json --json

Exit codes: 0 valid, 1 not valid, 3 the file cannot be read.")]
    Check {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

/// Help, the version, or a usage error.
pub(crate) struct Shown(clap::Error);

impl Shown {
    /// Prints it and says how the command ends: a usage error is 3 (`cli.md`).
    pub(crate) fn print(&self) -> ExitCode {
        // Nothing is left to do when even this cannot be written.
        let _ = self.0.print();
        match self.0.kind() {
            ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => ExitCode::SUCCESS,
            _ => Exit::Misuse.into(),
        }
    }
}

/// Reads a command line; the program's name comes first.
pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Invocation, Shown> {
    Invocation::try_parse_from(args).map_err(Shown)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::{EVERYDAY, Invocation};

    #[test]
    fn every_command_is_in_the_everyday_help_and_has_examples() {
        let command = Invocation::command();
        command.clone().debug_assert();
        for verb in command
            .get_subcommands()
            .filter(|verb| verb.get_name() != "help")
        {
            let line = format!("\n  {} ", verb.get_name());
            assert!(EVERYDAY.contains(&line), "{}", verb.get_name());
            let mut leaves: Vec<&clap::Command> = verb.get_subcommands().collect();
            if leaves.is_empty() {
                leaves.push(verb);
            }
            for leaf in leaves {
                let help = leaf
                    .get_after_help()
                    .map(ToString::to_string)
                    .unwrap_or_default();
                assert!(help.contains("Examples:"), "{}", leaf.get_name());
            }
        }
    }
}
