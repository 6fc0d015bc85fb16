//! The commands, one file each.

mod agent;
mod atif;
mod collect;
mod figures;
mod grade;
mod lint;
mod login;
mod run;
mod show;
mod sync;

use crate::args::{AtifVerb, Verb};
use crate::console::Console;
use crate::environment::Environment;
use crate::exit::{Exit, Failure, Outcome};

/// What every command works with.
pub(crate) struct Context {
    /// The environment, read once.
    pub environment: Environment,
    /// Where it speaks.
    pub console: Console,
    /// How much more to say.
    pub verbose: u8,
}

/// Carries a command out.
pub(crate) async fn run(verb: Verb, context: &mut Context) -> Outcome {
    match verb {
        Verb::Lint(args) => lint::run(&args, context).await,
        Verb::Show(args) => show::run(&args, context),
        Verb::Figures(args) => figures::run(&args, context),
        Verb::Grade(args) => grade::run(&args, context),
        Verb::Atif(AtifVerb::Check { file, json }) => atif::check(&file, json, context),
        Verb::Login { token_stdin } => login::login(token_stdin, context).await,
        Verb::Logout => login::logout(context).await,
        Verb::Whoami { json } => login::whoami(json, context).await,
        Verb::Agent(verb) => agent::run(verb, context).await,
        Verb::Sync(args) => sync::run(&args, context).await,
        Verb::Run(args) => run::run(&args, context).await,
        Verb::Collect(args) => collect::run(&args, context).await,
        // The binary serves before it comes here.
        Verb::Serve(_) => Err(Failure::new(
            Exit::Misuse,
            "This program cannot serve.",
            "Use the `evalkit` binary.",
        )),
    }
}

/// A value as indented JSON.
pub(crate) fn pretty<T: serde::Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| unwritable(&error))
}

/// A value as one line of JSON.
pub(crate) fn line<T: serde::Serialize>(value: &T) -> Result<String, Failure> {
    serde_json::to_string(value).map_err(|error| unwritable(&error))
}

fn unwritable(error: &serde_json::Error) -> Failure {
    Failure::misuse(
        format!("The result cannot be written as JSON: {error}."),
        "Please report this.",
    )
}
