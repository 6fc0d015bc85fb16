//! The linter for the browser's worker. Thin: it translates positions and types and holds no logic.

pub use evalkit_lint::{LintFacts, LintReport, SourceFile, lint};
