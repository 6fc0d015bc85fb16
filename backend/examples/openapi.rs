//! Writes the OpenAPI document to standard output: `cargo run -p evalkit --example openapi > docs/openapi.json`.

use std::io::Write as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = evalkit_backend::api::openapi().to_pretty_json()?;
    writeln!(std::io::stdout(), "{text}")?;
    Ok(())
}
