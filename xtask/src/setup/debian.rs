//! `setup --system`: Debian packages, and the wasm32 target from Debian's Rust where rustup has none.
//!
//! Every command is printed before it runs, and each step looks first whether it is already done.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};

use crate::{
    build::toolchain::{LINKED, TARGET, Toolchain, holds_core},
    postgres,
    prerequisite::{self, System},
    process,
    repo::Repo,
};

/// Packages that tests use, with the program that shows that they are there.
const TEST_PACKAGES: [(&str, &str); 3] = [
    ("chromium", "chromium"),
    ("strace", "strace"),
    ("postgresql", "postgres"),
];
/// Debian's newest Rust, its cargo and the sources of the standard library.
const RUST_PACKAGES: [&str; 3] = ["rustc-web", "cargo-web", "rust-web-src"];
/// Linkers that speak `-flavor wasm`, the newest first.
const LINKERS: [&str; 3] = ["lld-22", "lld-19", "lld"];
/// Where Debian's Rust keeps its libraries.
const SYSROOT: &str = "/usr";

/// Installs what is missing.
///
/// # Errors
/// On another system, without root, or when a command fails.
pub fn install(repo: &Repo) -> Result<()> {
    if System::present() != Some(System::Debian) {
        bail!(
            "`setup --system` knows Debian and its kin only; `cargo xtask setup` lists what is missing here"
        );
    }
    let missing: Vec<_> = TEST_PACKAGES
        .iter()
        .filter(|(package, program)| {
            process::find(program).is_none()
                && !(*package == "chromium" && prerequisite::chromium().is_some())
                && !(*package == "postgresql" && postgres::programs().is_ok())
        })
        .map(|(package, _)| *package)
        .collect();
    apt_get(&missing)?;
    match Toolchain::find_or_fetch() {
        Ok(_) => Ok(()),
        Err(error) => {
            println!("{error:#}\n\nBuilding the target from Debian's sources instead.");
            wasm_target(repo)
        }
    }
}

fn apt_get(packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    let install = |packages: &[&str]| {
        let mut command = as_root("apt-get")?;
        command.env("DEBIAN_FRONTEND", "noninteractive");
        command.args(["install", "-y", "--no-install-recommends"]);
        announced(command.args(packages))
    };
    if install(packages).is_err() {
        // The lists of a fresh machine are empty or old.
        announced(as_root("apt-get")?.arg("update"))?;
        install(packages)?;
    }
    Ok(())
}

/// A program run as root: directly where we are root, else through sudo without a prompt for a script.
fn as_root(program: &str) -> Result<std::process::Command> {
    let me = process::capture(std::process::Command::new("id").arg("-u"))?;
    if me == "0" {
        return Ok(process::command(program));
    }
    if process::find("sudo").is_none() {
        bail!("`setup --system` needs root to run {program}: run it as root");
    }
    let mut command = process::command("sudo");
    command.arg(program);
    Ok(command)
}

fn announced(command: &mut std::process::Command) -> Result<()> {
    println!("  $ {}", process::line(command));
    process::run(command)
}

fn wasm_target(repo: &Repo) -> Result<()> {
    let libraries = Path::new(SYSROOT)
        .join("lib/rustlib")
        .join(TARGET)
        .join("lib");
    let rustc = Path::new(SYSROOT).join("bin/rustc");
    let sources = Path::new(SYSROOT).join("lib/rustlib/src/rust/library/std/Cargo.toml");
    let cargo = Path::new(SYSROOT).join("bin/cargo");
    if !(rustc.is_file() && cargo.is_file() && sources.is_file()) {
        apt_get(&RUST_PACKAGES)?;
    }
    if !holds_core(&libraries) {
        let built = build_std(repo, &rustc, &cargo)?;
        announced(as_root("mkdir")?.arg("-p").arg(&libraries))?;
        announced(as_root("cp")?.args(&built).arg(&libraries))?;
    }
    let host =
        process::capture(std::process::Command::new(&rustc).args(["--print", "host-tuple"]))?;
    link_linker(
        &Path::new(SYSROOT)
            .join("lib/rustlib")
            .join(host)
            .join("bin"),
    )?;
    if process::find("rustup").is_some() {
        announced(process::command("rustup").args(["toolchain", "link", LINKED, SYSROOT]))?;
    }
    match Toolchain::find() {
        Some(_) => Ok(()),
        None => bail!(
            "the target was built, yet no toolchain finds it in {}",
            libraries.display()
        ),
    }
}

/// Builds the standard library for the target and returns its libraries.
fn build_std(repo: &Repo, rustc: &Path, cargo: &Path) -> Result<Vec<PathBuf>> {
    let seed = repo.target("wasm-std");
    fs::create_dir_all(seed.join("src"))?;
    fs::write(seed.join("src/lib.rs"), "")?;
    fs::write(
        seed.join("Cargo.toml"),
        "[package]\nname = \"seed\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n\n[profile.release]\npanic = \"abort\"\n",
    )?;
    let target = seed.join("target");
    let mut command = process::command(cargo);
    command
        .current_dir(&seed)
        .env("RUSTC", rustc)
        // -Zbuild-std is not stable; Debian's compiler is a release and lets it through for its own library.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", "-Zforce-unstable-if-unmarked")
        .env("CARGO_TARGET_DIR", &target)
        .args(["build", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro");
    announced(&mut command)?;
    let folder = target.join(TARGET).join("release/deps");
    let mut libraries = Vec::new();
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libseed-") {
            libraries.push(path);
        }
    }
    libraries.sort();
    Ok(libraries)
}

/// rustc looks for `rust-lld` beside its libraries: any LLVM linker that speaks WebAssembly will do.
fn link_linker(folder: &Path) -> Result<()> {
    let link = folder.join("rust-lld");
    if link.exists() {
        return Ok(());
    }
    let find = || LINKERS.iter().find_map(|name| process::find(name));
    let linker = match linker_of_rustup().or_else(find) {
        Some(linker) => linker,
        None => {
            for package in LINKERS {
                if apt_get(&[package]).is_ok() {
                    break;
                }
            }
            find().context("no LLVM linker could be installed (package lld)")?
        }
    };
    announced(as_root("mkdir")?.arg("-p").arg(folder))?;
    announced(as_root("ln")?.arg("-sf").arg(linker).arg(link))
}

/// The linker of the default toolchain, which may have been installed without the target.
fn linker_of_rustup() -> Option<PathBuf> {
    let ask = |what: &str| process::capture(process::command("rustc").args(["--print", what])).ok();
    let linker = Path::new(&ask("sysroot")?)
        .join("lib/rustlib")
        .join(ask("host-tuple")?)
        .join("bin/rust-lld");
    linker.is_file().then_some(linker)
}
