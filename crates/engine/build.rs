//! Lists the files of the example dataset, so that the program carries it and a clone without a server can try it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let dataset = Path::new(&variable("CARGO_MANIFEST_DIR")?).join("../../examples/world-facts");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", dataset.display());
    let mut out = String::new();
    for (name, folder) in [("CASES", ""), ("FIXTURES", "fixtures")] {
        let mut files: Vec<PathBuf> = fs::read_dir(dataset.join(folder))?
            .map(|entry| entry.map(|entry| entry.path()))
            .collect::<io::Result<_>>()?;
        files.retain(|file| {
            let named = |wanted: &str| file.file_name().is_some_and(|name| name == wanted);
            let yaml = file
                .extension()
                .is_some_and(|extension| extension == "yaml");
            file.is_file() && (!folder.is_empty() || (yaml && !named("evalkit.yaml")))
        });
        files.sort();
        let _ = writeln!(out, "pub(super) static {name}: &[(&str, &[u8])] = &[");
        for file in files {
            let key = file.file_name().unwrap_or_default().to_string_lossy();
            let path = file.canonicalize()?;
            let _ = writeln!(out, "    ({key:?}, include_bytes!({path:?})),");
        }
        out.push_str("];\n");
    }
    fs::write(Path::new(&variable("OUT_DIR")?).join("bundled.rs"), out)
}

#[expect(
    clippy::disallowed_methods,
    reason = "cargo speaks to a build script through its environment"
)]
fn variable(name: &str) -> io::Result<String> {
    env::var(name).map_err(io::Error::other)
}
