//! A release embeds the site: it is built anew when the site changed.

#[expect(
    clippy::disallowed_methods,
    reason = "a build script has no configuration but its environment"
)]
fn main() {
    println!("cargo:rerun-if-env-changed=EVALKIT_SITE_DIR");
    if let Ok(folder) = std::env::var("EVALKIT_SITE_DIR") {
        println!("cargo:rerun-if-changed={folder}/manifest.json");
    }
}
