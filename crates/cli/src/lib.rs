//! The `evalkit` command as a library (`cli.md`). The binary hands over its arguments and a way to serve; everything
//! else is here: reading files, asking a server over HTTP, and saying what came of it.
//!
//! A command never opens the server's store. Commands that need no server work from files alone.

mod args;
mod command;
mod console;
mod credentials;
mod dataset;
mod diagnostics;
mod discover;
mod environment;
mod exit;
mod project;
mod recorded;
mod scores;
mod server;

use std::ffi::OsString;
use std::future::Future;
use std::process::ExitCode;

pub use args::ServeArgs;
use args::{Invocation, Verb};
use command::Context;
use console::Console;
use environment::Environment;
use exit::{Exit, Failure};

/// Runs the command line `args` (the program's name first) and returns its exit code. `serve` starts the server for
/// `evalkit serve`, which lives in the binary.
pub async fn main_with<S, F>(args: impl IntoIterator<Item = OsString>, serve: S) -> ExitCode
where
    S: FnOnce(ServeArgs) -> F,
    F: Future<Output = ExitCode>,
{
    let invocation = match args::read(args) {
        Ok(invocation) => invocation,
        Err(shown) => return shown.print(),
    };
    if let Verb::Serve(serve_args) = invocation.verb {
        return serve(serve_args).await;
    }
    let environment = Environment::read();
    let console = Console::of_the_terminal(invocation.quiet, environment.ci);
    run(invocation, environment, console).await.into()
}

/// Runs a command with everything it touches handed in.
async fn run(invocation: Invocation, environment: Environment, console: Console) -> Exit {
    let mut context = Context {
        environment,
        console,
        verbose: invocation.verbose,
    };
    let exit = match command::run(invocation.verb, &mut context).await {
        Ok(exit) => exit,
        Err(failure) => {
            context.console.fail(&failure);
            failure.exit
        }
    };
    let Some(error) = context.console.lost() else {
        return exit;
    };
    context.console.fail(&Failure::new(
        Exit::Incomplete,
        format!("The result could not be written whole: {error}."),
        "Make room where standard output goes, and run it again.",
    ));
    // What a script reads is cut, whatever the command found.
    match exit {
        Exit::Met | Exit::NotMet => Exit::Incomplete,
        worse => worse,
    }
}

#[cfg(test)]
mod tests;
