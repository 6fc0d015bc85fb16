//! `xtask-build`: the build steps that need heavy libraries. Called by `cargo xtask`, not by people.
//!
//! ```text
//! xtask-build split <module.wasm> <out folder> <name>
//! xtask-build bindgen <module.wasm> <out folder> <name>
//! xtask-build pack <assets folder> <public folder> <site folder> quick|small
//! ```

mod bindgen;
mod compress;
mod pack;
mod split;

use std::path::Path;

use anyhow::{Result, bail};

use crate::compress::Effort;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["split", module, out, name] => split::run(Path::new(module), Path::new(out), name),
        ["bindgen", module, out, name] => bindgen::run(Path::new(module), Path::new(out), name),
        ["pack", assets, public, site, effort] => {
            let effort = match effort {
                "quick" => Effort::Quick,
                "small" => Effort::Small,
                other => bail!("no such effort: {other}"),
            };
            pack::run(
                Path::new(assets),
                Path::new(public),
                Path::new(site),
                effort,
            )
        }
        _ => bail!("this program is called by `cargo xtask build`"),
    }
}
