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
    /// Built only when this file of the clone exists.
    only_with: Option<&'static str>,
}

/// The pages, and the linter of the editor's worker, which only the editor loads.
const MODULES: [Module; 2] = [
    Module {
        package: "evalkit-frontend",
        name: "app",
        only_with: None,
    },
    Module {
        package: "evalkit-lint-wasm",
        name: "lint",
        only_with: Some("editor/main.js"),
    },
];

/// Raw modules as cargo left them, by name.
pub type Raw = Vec<(&'static str, PathBuf)>;

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
pub fn compile(repo: &Repo, mode: Mode, toolchain: Toolchain, board: &Board) -> Result<Raw> {
    let mut raw = Raw::new();
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
        raw.push((module.name, output));
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

/// Makes `<name>.js` and `<name>.wasm` for the site out of each raw module.
///
/// # Errors
/// When bindgen, wasm-opt or esbuild fail.
pub fn bind(repo: &Repo, mode: Mode, tool: &Path, raw: &Raw, board: &Board) -> Result<()> {
    for (name, module) in raw {
        let stage = pack::stage(repo, mode);
        let outputs = [
            stage.join(format!("{name}.js")),
            stage.join(format!("{name}.wasm")),
        ];
        let outputs: Vec<&Path> = outputs.iter().map(PathBuf::as_path).collect();
        board.step(&format!("{name}.js"), |_| {
            let inputs = Inputs::of("bindgen 1")
                .text("mode", mode.name())
                .files(repo, "package-lock.json")?
                .files(repo, "xtask/build")?
                .file(module)?
                .finish();
            let stamp = Stamp::new(mode.work(repo).join(format!("{name}-bindgen.stamp")));
            if stamp.holds(&inputs, &outputs) {
                return Ok(Fresh::Unchanged);
            }
            fs::create_dir_all(&stage)?;
            bind_one(repo, mode, tool, name, module)?;
            stamp.set(&inputs, &outputs)?;
            Ok(Fresh::Rebuilt)
        })?;
    }
    Ok(())
}

fn bind_one(repo: &Repo, mode: Mode, tool: &Path, name: &str, module: &Path) -> Result<()> {
    let stage = pack::stage(repo, mode);
    let bound = mode.work(repo).join("bindgen").join(name);
    let mut bindgen = process::command(tool);
    bindgen.arg("bindgen").arg(module).arg(&bound).arg(name);
    process::capture(&mut bindgen)?;

    let (from, to) = (
        bound.join(format!("{name}_bg.wasm")),
        stage.join(format!("{name}.wasm")),
    );
    if mode == Mode::Release {
        let mut optimise = npm::tool(repo, "binaryen/bin/wasm-opt")?;
        optimise.arg(&from).arg("-o").arg(&to).args([
            "-Oz",
            "--converge",
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
    } else {
        fs::copy(&from, &to).with_context(|| format!("cannot copy {}", from.display()))?;
    }
    // Bundles inline snippets into the glue, so that the site has one script, and shortens it.
    let mut bundle = npm::tool(repo, "esbuild/bin/esbuild")?;
    bundle
        .arg(bound.join(format!("{name}.js")))
        .args(["--bundle", "--minify", "--format=esm", "--target=es2022"])
        .args(["--log-level=warning", "--legal-comments=none"])
        .arg(format!(
            "--outfile={}",
            stage.join(format!("{name}.js")).display()
        ));
    process::capture(&mut bundle)?;
    Ok(())
}
