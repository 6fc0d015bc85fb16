//! The case language (`cases.md`): YAML and JSON into a spanned tree, the tree into the case model, and every
//! problem on the way as a [`Diagnostic`]. Pure: no I/O, no clock, no randomness. Builds for `wasm32-unknown-unknown`.
//!
//! [`lint`] is the one entry. The order inside is fixed, so the same bytes give the same diagnostics everywhere:
//!
//! 1. `yaml` and `json` read each file into [`node::Node`]s, and resume after a syntax error at the next list item;
//! 2. `document` sorts documents into case lists, single cases, overlays and registries;
//! 3. `shape` checks fields and their types against the tables in `shape::language`;
//! 4. `rules` holds one file for each code of the catalogue;
//! 5. `lower` turns what is sound into `evalkit_core` values.

mod allow;
mod diagnostic;
mod document;
mod excerpt;
mod facts;
mod json;
mod limits;
mod lower;
mod nearest;
pub mod node;
mod print;
mod project;
mod prose;
mod report;
pub mod rules;
mod scalar;
mod shape;
mod source;
mod splice;
mod syntax;
mod yaml;

pub use diagnostic::{Diagnostic, Edit, Fix, Place, Related, Severity};
pub use facts::{FACTS_SCHEMA, FixtureFile, LintFacts};
pub use lower::FixtureEntry;
pub use nearest::nearest;
pub use report::{
    LINT_SCHEMA, LintDocument, LintReport, ParsedCase, ParsedDataset, ParsedOverlay, documents,
    lint,
};
pub use source::{SourceFile, Span};
