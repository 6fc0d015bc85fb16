//! `cargo xtask demo` and `cargo xtask serve`: build what changed, then become the server.

use std::{ffi::OsString, net::TcpListener, process::Command};

use anyhow::{Result, bail};

use crate::{
    build::{self, Mode},
    prerequisite, process,
    repo::Repo,
};

/// The ports that the demo tries, in order.
const PORTS: std::ops::RangeInclusive<u16> = 3000..=3009;

/// Builds, then serves the demo on the first free port. The server prints its address, the line for the
/// command and where its data lies.
///
/// # Errors
/// When a prerequisite is missing, a step fails or no port is free.
pub fn demo(repo: &Repo, mode: Mode, rest: &[OsString]) -> Result<()> {
    prepare(repo, mode)?;
    let mut server = server(repo, mode);
    server.arg("--demo");
    if !rest.iter().any(|argument| argument == "--bind") {
        let Some(port) = free_port(PORTS) else {
            bail!(
                "ports {} to {} are all taken: end what listens there, or choose one with `cargo xtask demo -- --bind 127.0.0.1:PORT`",
                PORTS.start(),
                PORTS.end()
            );
        };
        server.arg("--bind").arg(format!("127.0.0.1:{port}"));
    }
    server.args(rest);
    process::replace(server)
}

/// Builds, then runs `evalkit serve` with the given arguments.
///
/// # Errors
/// When a prerequisite is missing or a step fails.
pub fn serve(repo: &Repo, mode: Mode, rest: &[OsString]) -> Result<()> {
    prepare(repo, mode)?;
    let mut server = server(repo, mode);
    server.args(rest);
    process::replace(server)
}

fn prepare(repo: &Repo, mode: Mode) -> Result<()> {
    prerequisite::require(&prerequisite::BUILD)?;
    build::all(repo, mode)?.print();
    Ok(())
}

/// `evalkit serve` of this build, with its site.
pub fn server(repo: &Repo, mode: Mode) -> Command {
    let mut server = process::command(build::server::program(repo, mode));
    server.arg("serve");
    if mode == Mode::Dev {
        server.env("EVALKIT_SITE_DIR", mode.site(repo));
    }
    server
}

/// The first port of a range on which nothing listens.
pub fn free_port(mut ports: impl Iterator<Item = u16>) -> Option<u16> {
    ports.find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taken_port_is_passed_over() -> Result<()> {
        let taken = TcpListener::bind("127.0.0.1:0")?;
        let port = taken.local_addr()?.port();
        assert_eq!(free_port(std::iter::once(port)), None);
        drop(taken);
        assert_eq!(free_port(std::iter::once(port)), Some(port));
        Ok(())
    }
}
