//! The browser half: Rust to WebAssembly, its JavaScript glue, and the optimiser.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result};

use super::{
    Mode, npm, pack,
    toolchain::{TARGET, Toolchain},
};
use crate::{
    process,
    progress::{Board, Fresh},
    repo::Repo,
    stamp::{Inputs, Stamp},
};

/// What is compiled for the browser: the package, and its name in the site.
struct Module {
    package: &'static str,
    name: &'static str,
    /// Cut into a main module and chunks of pages.
    split: bool,
    /// Built only when this file of the clone exists.
    only_with: Option<&'static str>,
}

/// The pages, and the linter of the editor's worker, which only the editor loads.
const MODULES: [Module; 2] = [
    Module {
        package: "evalkit-frontend",
        name: "app",
        split: true,
        only_with: None,
    },
    Module {
        package: "evalkit-lint-wasm",
        name: "lint",
        split: false,
        only_with: Some("editor/main.js"),
    },
];

/// A module as cargo left it.
pub struct Raw {
    name: &'static str,
    split: bool,
    file: PathBuf,
}

impl Mode {
    /// The cargo profile of the browser half.
    fn browser_profile(self) -> &'static str {
        match self {
            Self::Dev => "wasm-dev",
            Self::Release => "wasm",
        }
    }
}

/// Compiles the modules.
///
/// # Errors
/// When cargo fails.
pub fn compile(repo: &Repo, mode: Mode, toolchain: Toolchain, board: &Board) -> Result<Vec<Raw>> {
    let mut raw = Vec::new();
    for module in &MODULES {
        if module
            .only_with
            .is_some_and(|file| !repo.path(file).is_file())
        {
            continue;
        }
        let folder = repo.target(TARGET).join(mode.browser_profile());
        let output = folder.join(format!("{}.wasm", module.package.replace('-', "_")));
        board.step(&format!("{}.wasm", module.name), |lane| {
            let inputs = inputs(repo, mode, toolchain)?;
            let stamp = Stamp::new(mode.work(repo).join(format!("{}.stamp", module.name)));
            if stamp.holds(&inputs, &[&output]) {
                return Ok(Fresh::Unchanged);
            }
            let mut cargo = toolchain.command("cargo");
            cargo
                .current_dir(repo.root())
                .args(["build", "--locked", "--lib", "--package", module.package])
                .args(["--target", TARGET, "--profile", mode.browser_profile()])
                .env("CARGO_TARGET_DIR", repo.target(""));
            lane.cargo(&mut cargo)?;
            stamp.set(&inputs, &[&output])?;
            Ok(Fresh::Rebuilt)
        })?;
        raw.push(Raw {
            name: module.name,
            split: module.split,
            file: output,
        });
    }
    Ok(raw)
}

fn inputs(repo: &Repo, mode: Mode, toolchain: Toolchain) -> Result<String> {
    let mut inputs = Inputs::of("wasm 1")
        .text("profile", mode.browser_profile())
        .text("rustc", &toolchain.version()?)
        .env("RUSTFLAGS");
    for path in ["Cargo.toml", "Cargo.lock", ".cargo", "app", "frontend"] {
        inputs = inputs.files(repo, path)?;
    }
    for path in ["core", "lint", "lint-wasm"] {
        inputs = inputs.files(repo, &format!("crates/{path}"))?;
    }
    Ok(inputs.finish())
}

/// Makes `<name>.js`, `<name>.wasm` and the chunks for the site out of each raw module.
///
/// # Errors
/// When cutting, bindgen, wasm-opt or esbuild fail.
pub fn bind(repo: &Repo, mode: Mode, tool: &Path, raw: &[Raw], board: &Board) -> Result<()> {
    for module in raw {
        let name = module.name;
        let stage = pack::stage(repo, mode);
        let outputs = [
            stage.join(format!("{name}.js")),
            stage.join(format!("{name}.wasm")),
        ];
        let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
        board.step(&format!("{name}.js"), |_| {
            let inputs = Inputs::of("bindgen 3")
                .text("mode", mode.name())
                .files(repo, "package-lock.json")?
                .files(repo, "xtask/build")?
                .file(&module.file)?
                .finish();
            let stamp = Stamp::new(mode.work(repo).join(format!("{name}-bindgen.stamp")));
            if stamp.holds(&inputs, &outputs) {
                return Ok(Fresh::Unchanged);
            }
            fs::create_dir_all(&stage)?;
            bind_one(repo, mode, tool, module)?;
            stamp.set(&inputs, &outputs)?;
            Ok(Fresh::Rebuilt)
        })?;
    }
    Ok(())
}

fn bind_one(repo: &Repo, mode: Mode, tool: &Path, module: &Raw) -> Result<()> {
    let name = module.name;
    let stage = pack::stage(repo, mode);
    let bound = mode.work(repo).join("bindgen").join(name);
    let parts = mode.work(repo).join("split").join(name);
    let mut main = module.file.clone();
    if module.split {
        let mut split = process::command(tool);
        split.arg("split").arg(&module.file).arg(&parts).arg(name);
        process::capture(&mut split)?;
        main = parts.join("main.wasm");
    }
    let mut bindgen = process::command(tool);
    bindgen.arg("bindgen").arg(&main).arg(&bound).arg(name);
    process::capture(&mut bindgen)?;

    let mut modules = vec![(
        bound.join(format!("{name}_bg.wasm")),
        stage.join(format!("{name}.wasm")),
    )];
    if module.split {
        // Chunks of an earlier build, which this one may not have.
        let chunks = stage.join("chunks");
        if chunks.exists() {
            fs::remove_dir_all(&chunks)?;
        }
        fs::create_dir_all(&chunks)?;
        for file in Repo::files_of(&parts)? {
            let Some(part) = file.file_name().map(PathBuf::from) else {
                continue;
            };
            match part.extension().and_then(|ending| ending.to_str()) {
                Some("wasm") if part != Path::new("main.wasm") => {
                    modules.push((file, chunks.join(part)));
                }
                // Beside the glue, which imports it.
                Some("js") => copy(&file, &bound.join(part))?,
                Some("json") => copy(&file, &chunks.join(part))?,
                _ => {}
            }
        }
    }
    for (from, to) in &modules {
        if mode == Mode::Release {
            optimise(repo, from, to)?;
        } else {
            copy(from, to)?;
        }
    }
    // Bundles inline snippets into the glue, so that the site has one script, and shortens it.
    let mut bundle = npm::tool(repo, "esbuild/bin/esbuild")?;
    bundle
        .arg(bound.join(format!("{name}.js")))
        .args(["--bundle", "--minify", "--format=esm", "--target=es2022"])
        .args(["--log-level=warning", "--legal-comments=none"])
        // The glue names the loader of chunks once for every function that it imports from it.
        .arg("--log-override:duplicate-object-key=silent")
        .arg(format!(
            "--outfile={}",
            stage.join(format!("{name}.js")).display()
        ));
    process::capture(&mut bundle)?;
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

fn optimise(repo: &Repo, from: &Path, to: &Path) -> Result<()> {
    let mut optimise = npm::tool(repo, "binaryen/bin/wasm-opt")?;
    optimise.arg(from).arg("-o").arg(to).args([
        "-Oz",
        "--converge",
        "--strip-debug",
        "--strip-producers",
        // The first 1,024 bytes are the far end of the stack, and no Rust pointer is made by wrapping around. Addresses may then
        // be folded into loads and stores.
        "--low-memory-unused",
        // What rustc may use in a wasm32 module today; wasm-opt refuses what it is not told of.
        "--enable-bulk-memory",
        "--enable-bulk-memory-opt",
        "--enable-mutable-globals",
        "--enable-multivalue",
        "--enable-nontrapping-float-to-int",
        "--enable-reference-types",
        "--enable-sign-ext",
    ]);
    process::capture(&mut optimise)?;
    Ok(())
}
