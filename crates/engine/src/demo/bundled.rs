//! The example dataset `world-facts`, carried inside the program.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use evalkit_core::case::Case;
use evalkit_lint::{LintFacts, SourceFile, lint};

include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The bundled dataset's slug.
pub const DEMO_DATASET: &str = "world-facts";

/// Its YAML files: cases, overlays, the fixture registry.
pub fn bundled_files() -> Vec<SourceFile> {
    CASES
        .iter()
        .map(|(name, bytes)| SourceFile::new(*name, *bytes))
        .collect()
}

/// Its fixtures' bytes by key.
pub fn bundled_fixtures() -> &'static [(&'static str, &'static [u8])] {
    FIXTURES
}

/// Its cases by id, read once.
pub fn bundled_cases() -> &'static BTreeMap<String, Case> {
    static READ: LazyLock<BTreeMap<String, Case>> = LazyLock::new(|| {
        lint(&bundled_files(), &LintFacts::default())
            .dataset
            .cases
            .into_iter()
            .map(|parsed| (parsed.case.id.clone(), parsed.case))
            .collect()
    });
    &READ
}

#[cfg(test)]
mod tests {
    use super::*;
    use evalkit_core::canonical;

    #[test]
    fn the_bundle_is_whole_and_sound() {
        let report = lint(&bundled_files(), &LintFacts::default());
        assert!(!report.has_errors(), "{:?}", report.diagnostics);
        assert!(bundled_cases().len() >= 24);
        assert!(!report.dataset.overlays.is_empty());
        for (key, entry) in &report.dataset.registry {
            let (_, bytes) = bundled_fixtures()
                .iter()
                .find(|(name, _)| name == key)
                .unwrap();
            assert_eq!(canonical::hash_bytes(bytes), entry.sha256, "{key}");
        }
    }
}
