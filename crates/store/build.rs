//! The migrations are compiled in: a new file is a reason to compile again.

fn main() {
    println!("cargo:rerun-if-changed=../../migrations");
}
