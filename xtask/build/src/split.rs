//! Cuts a module along its split points (`wasm_split` in the source) into a main module and chunks, as a library of the
//! same family as the macro that marks them.

use std::{collections::BTreeMap, fs, path::Path};

use anyhow::{Context, Result, anyhow};
use wasm_split_cli_support::{Options, transform};

/// The script that loads chunks; the glue imports it.
pub const LOADER: &str = "__wasm_split.js";
/// Where the site's build keeps chunks.
pub const FOLDER: &str = "chunks";
/// Which chunk of pages needs which modules, for the manifest.
pub const CHUNKS: &str = "chunks.json";

/// Writes `main.wasm`, a `.wasm` for each chunk, [`LOADER`] and [`CHUNKS`] into an emptied folder. `name` is that of the
/// glue that `bindgen` will make.
///
/// # Errors
/// When the module cannot be read, or was linked without relocations.
pub fn run(module: &Path, out: &Path, name: &str) -> Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    let bytes = fs::read(module).with_context(|| module.display().to_string())?;
    let (main, glue, loader) = (
        out.join("main.wasm"),
        format!("./{name}.js"),
        format!("./{LOADER}"),
    );
    let mut options = Options::new(&bytes);
    options.output_dir = out;
    options.main_out_path = &main;
    options.link_name = &loader;
    options.main_module = &glue;
    let split = transform(options)
        .map_err(|error| anyhow!("{error:?}").context(format!("cutting {}", module.display())))?;
    let chunks: BTreeMap<String, Vec<String>> = split
        .prefetch_map
        .into_iter()
        .map(|(chunk, files)| {
            let files = files
                .into_iter()
                .map(|file| format!("{FOLDER}/{file}.wasm"));
            (chunk, files.collect())
        })
        .collect();
    fs::write(out.join(CHUNKS), serde_json::to_string_pretty(&chunks)?)?;
    Ok(())
}
