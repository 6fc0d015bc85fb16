//! The bundled demo: a dataset, two agents and their graded runs (`web.md`, Home; `runs.md`, the `demo` adapter).

mod bundled;

pub use bundled::{DEMO_DATASET, bundled_cases, bundled_files, bundled_fixtures};
