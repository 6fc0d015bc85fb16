//! The suite is whole: it calls every public function of the store.

use std::path::Path;

/// All text of the Rust files below a folder.
fn text_of(folder: &Path) -> String {
    let mut text = String::new();
    let entries =
        std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&text_of(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            text.push_str(&std::fs::read_to_string(&path).expect("a file"));
        }
    }
    text
}

fn public_functions(source: &str) -> Vec<&str> {
    source
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub async fn "))
        .filter_map(|rest| rest.split(['(', '<']).next())
        .collect()
}

fn not_called<'a>(functions: &[&'a str], suite: &str) -> Vec<&'a str> {
    functions
        .iter()
        .filter(|name| {
            !suite.contains(&format!(".{name}(")) && !suite.contains(&format!("::{name}("))
        })
        .copied()
        .collect()
}

#[test]
fn every_public_function_of_the_store_is_called_on_both_databases() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = text_of(&here.join("src"));
    let functions = public_functions(&source);
    assert!(
        functions.len() > 60,
        "{} functions are too few to be all",
        functions.len()
    );
    let suite = text_of(&here.join("tests/conformance"));
    let missing = not_called(&functions, &suite);
    assert!(
        missing.is_empty(),
        "tests/conformance calls none of: {missing:?}"
    );
}

#[test]
fn a_function_that_is_not_called_is_found() {
    let source = "    pub async fn one(&self) {}\n    pub async fn two<T>(x: T) {}\n    pub(crate) async fn three() {}\n";
    let functions = public_functions(source);
    assert_eq!(functions, ["one", "two"]);
    assert_eq!(not_called(&functions, "store.one(x)"), ["two"]);
    assert_eq!(
        not_called(&functions, "store.one(x); Store::two(y)"),
        Vec::<&str>::new()
    );
}
