//! Asks the linker to keep what the build needs to cut the module into chunks (ADR 0024).

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[expect(
        clippy::disallowed_methods,
        reason = "cargo tells a build script its target by the environment"
    )]
    let family = std::env::var("CARGO_CFG_TARGET_FAMILY");
    if family.is_ok_and(|family| family == "wasm") {
        println!("cargo:rustc-link-arg-cdylib=--emit-relocs");
    }
}
