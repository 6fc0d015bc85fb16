//! `evalkit`: the server and every command.

use std::process::ExitCode;

use evalkit_backend::config::Arguments;
use evalkit_backend::serve;

#[tokio::main]
async fn main() -> ExitCode {
    evalkit_cli::main_with(std::env::args_os(), |serve| {
        serve::run(Arguments {
            demo: serve.demo,
            config: serve.config,
            bind: serve.bind,
        })
    })
    .await
}
