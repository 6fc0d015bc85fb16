//! The command line (`cli.md`). Everyday commands are grouped by task in the help; every command has examples.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Parser, Subcommand, ValueEnum, value_parser};

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

Run against an agent
  agent      Register, list, check agents        evalkit agent add desk --url http://127.0.0.1:8080/
  run        Sync, run, grade, say what fell     evalkit run shop-desk --agent desk
  sync       Send a folder of cases              evalkit sync cases --dry-run
  collect    Fetch the results of a run          evalkit collect 7 --out results

Server and sign-in
  serve      Start the server                    evalkit serve --demo
  login      Keep an access token                evalkit login --token-stdin
  whoami     Whose token is used                 evalkit whoami
  logout     Revoke and forget it                evalkit logout
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
    /// Keep an access token for the server
    #[command(after_help = "\
Examples:
  evalkit login --token-stdin            then paste the token
  pass show evalkit | evalkit login --token-stdin

The server is the one of EVALKIT_SERVER, else of evalkit.yaml, else http://127.0.0.1:3000. In CI, set EVALKIT_SERVER and
EVALKIT_TOKEN instead.")]
    Login {
        /// Read the token from standard input
        #[arg(long)]
        token_stdin: bool,
    },
    /// Revoke the access token and forget it
    #[command(after_help = "Examples:\n  evalkit logout")]
    Logout,
    /// Say whose token is used, and where
    #[command(after_help = "Examples:\n  evalkit whoami\n  evalkit whoami --json")]
    Whoami {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Register, list, check and remove agents
    #[command(subcommand)]
    Agent(AgentVerb),
    /// Make a dataset on the server equal to a folder
    Sync(SyncArgs),
    /// Sync, run against an agent, and say what came of it
    Run(RunArgs),
    /// Fetch the results of a run
    Collect(CollectArgs),
}

/// `evalkit agent …`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum AgentVerb {
    /// Register an agent, or change the one of that name
    Add(AgentAdd),
    /// List the agents that a workspace may use
    #[command(
        after_help = "Examples:\n  evalkit agent list\n  evalkit agent list --workspace dev --json"
    )]
    List {
        /// Of this workspace; your own otherwise
        #[arg(long, value_name = "WORKSPACE")]
        workspace: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Call an agent once and print what came back
    #[command(after_help = "\
Examples:
  evalkit agent check desk
  evalkit agent check desk@dev --json

Exit codes: 0 it answers, 1 it does not, 3 there is no such agent.")]
    Check {
        /// `name` or `name@workspace`
        #[arg(value_name = "NAME")]
        name: String,
        /// Of this workspace; your own otherwise
        #[arg(long, value_name = "WORKSPACE")]
        workspace: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget an agent and its secret
    #[command(after_help = "Examples:\n  evalkit agent remove desk")]
    Remove {
        /// `name` or `name@workspace`
        #[arg(value_name = "NAME")]
        name: String,
        /// Of this workspace; your own otherwise
        #[arg(long, value_name = "WORKSPACE")]
        workspace: Option<String>,
    },
}

/// `evalkit agent add`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit agent add desk --url http://127.0.0.1:8080/
  evalkit agent add desk --url https://desk.example/run --secret-env DESK_TOKEN --concurrency 4")]
pub(crate) struct AgentAdd {
    /// `name` or `name@workspace`
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Where it takes its POST
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// What it speaks
    #[arg(long, value_name = "ADAPTER", default_value = "evalkit-http")]
    pub adapter: String,
    /// The environment variable that holds its secret
    #[arg(long, value_name = "VARIABLE")]
    pub secret_env: Option<String>,
    /// The header for the secret; `Authorization: Bearer` otherwise
    #[arg(long, value_name = "HEADER")]
    pub secret_header: Option<String>,
    /// The model to name, for openai-chat
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// What it records: trajectory, tool_calls, approvals, output; may be repeated
    #[arg(long, value_name = "CAPABILITY")]
    pub capability: Vec<String>,
    /// Calls at once
    #[arg(long, value_name = "N")]
    pub concurrency: Option<u32>,
    /// Calls a second
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Seconds a trial may take
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// In this workspace; your own otherwise
    #[arg(long, value_name = "WORKSPACE")]
    pub workspace: Option<String>,
}

/// `evalkit sync`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit sync cases --dry-run
  evalkit sync cases --workspace dev --dataset finance

Exit codes: 0 done, 1 lint errors, missing fixtures or a conflict (nothing was changed), 3 configuration or usage.")]
pub(crate) struct SyncArgs {
    /// A file or folder
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
    /// Into this workspace; your own otherwise
    #[arg(long, value_name = "WORKSPACE")]
    pub workspace: Option<String>,
    /// Into this dataset; the one of evalkit.yaml, else the folder's name, otherwise
    #[arg(long, value_name = "SLUG")]
    pub dataset: Option<String>,
    /// Only say what would change
    #[arg(long)]
    pub dry_run: bool,
    /// Leave cases that are not in the files
    #[arg(long)]
    pub keep_missing: bool,
    /// Archive however many cases are not in the files
    #[arg(long)]
    pub archive: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// `evalkit run`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit run shop-desk --agent desk
  evalkit run shop-desk --agent desk --split prices --trials 3 --threshold 0.8
  evalkit run finance@dev --agent bot --detach

A dataset of evalkit.yaml, or a path, is synced into your own workspace first. `dataset@workspace` runs what is there.

Exit codes: 0 done and met, 1 below --threshold or lint errors, 2 something is not done or unscored, 3 nothing began.")]
pub(crate) struct RunArgs {
    /// A dataset of evalkit.yaml, a path, or `dataset@workspace`
    #[arg(value_name = "DATASET")]
    pub dataset: String,
    /// `name` or `name@workspace`
    #[arg(long, value_name = "AGENT")]
    pub agent: String,
    /// Only cases with this tag
    #[arg(long, value_name = "TAG")]
    pub split: Option<String>,
    /// Only this case; may be repeated
    #[arg(long, value_name = "ID")]
    pub case_id: Vec<String>,
    /// Trials of each case, from 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Calls at once, from 1
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub concurrency: Option<u32>,
    /// Sync into this workspace; your own otherwise
    #[arg(long, value_name = "WORKSPACE")]
    pub workspace: Option<String>,
    /// Run what the server has
    #[arg(long)]
    pub no_sync: bool,
    /// Also run cases tagged needs-ground-truth
    #[arg(long)]
    pub include_needs_ground_truth: bool,
    /// Ask for every verdict anew
    #[arg(long)]
    pub no_cache: bool,
    /// The least answer_rubric_score, 0 to 1
    #[arg(long, value_name = "X")]
    pub threshold: Option<f64>,
    /// Begin, print the link, and do not wait
    #[arg(long)]
    pub detach: bool,
    /// Print `evalkit.results/1` at the end
    #[arg(long)]
    pub json: bool,
}

/// `evalkit collect`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  evalkit collect 7
  evalkit collect 7@dev --out results --threshold 0.8
  evalkit collect 7 --format runs > runs.jsonl

With --out, a folder with results.json, and for each trial answer.md, trajectory.json and explanation.json.

Exit codes: 0 complete and met, 1 below --threshold, 2 something is not done or unscored, 3 configuration or usage.")]
pub(crate) struct CollectArgs {
    /// The number in its link, `number@workspace`, or the link
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: String,
    /// Of this workspace; your own otherwise
    #[arg(long, value_name = "WORKSPACE")]
    pub workspace: Option<String>,
    /// Write a bundle into this folder
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The least answer_rubric_score, 0 to 1
    #[arg(long, value_name = "X")]
    pub threshold: Option<f64>,
    /// What to print, or to add to the bundle
    #[arg(long, value_enum, default_value_t = CollectFormat::Json)]
    pub format: CollectFormat,
}

/// Formats of `collect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CollectFormat {
    /// `evalkit.results/1`
    Json,
    /// Recorded runs, one a line
    Runs,
    /// JUnit XML
    Junit,
    /// Markdown
    Markdown,
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
  evalkit lint cases --dataset shop-desk
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
    #[arg(long, value_name = "FILE", conflicts_with = "dataset")]
    pub facts: Option<PathBuf>,
    /// Ask the server what is known beside this dataset, `slug` or `slug@workspace`
    #[arg(long, value_name = "SLUG")]
    pub dataset: Option<String>,
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
        allow_hyphen_values = true,
        requires = "answer",
        required_unless_present = "batch"
    )]
    pub rubric: Option<String>,
    /// The answer
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        requires = "rubric"
    )]
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
