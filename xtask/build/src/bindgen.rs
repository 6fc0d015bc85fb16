//! JavaScript glue for a WebAssembly module. As a library of the same version as `wasm-bindgen` itself,
//! so that there is no separately installed tool that can drift.

use std::{fs, path::Path};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

/// Bodies that are sent and received as streams. Leptos brings them, no page uses them, and as exports they would keep
/// everything that they call.
const STREAMS: &str = "intounderlying";

/// Writes `<name>.js` and `<name>_bg.wasm` into an emptied folder.
///
/// # Errors
/// When the module cannot be read or was made with another version.
pub fn run(module: &Path, out: &Path, name: &str) -> Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    let mut bindgen = Bindgen::new();
    bindgen
        .input_path(module)
        .out_name(name)
        .web(true)?
        .typescript(false)
        // Chunks import the table of functions and the stack of the main module.
        .keep_lld_exports(true)
        .remove_producers_section(true)
        // A third of a daily build; panics name their file and line without it.
        .remove_name_section(true)
        // The server names the hashed module; a default that points nowhere would only hide a mistake.
        .omit_default_module_path(true);
    let broken = || format!("wasm-bindgen on {}", module.display());
    let mut output = bindgen.generate_output().with_context(broken)?;
    let unused: Vec<_> = output
        .wasm()
        .exports
        .iter()
        .filter(|export| export.name.contains(STREAMS))
        .map(|export| export.id())
        .collect();
    for export in unused {
        output.wasm_mut().exports.delete(export);
    }
    output.emit(out).with_context(broken)
}
