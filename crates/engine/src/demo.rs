//! The bundled demo: a dataset, two agents and their graded runs (`web.md`, Home; `runs.md`, the `demo` adapter).

mod bundled;
mod seed;

pub use bundled::{DEMO_DATASET, bundled_cases, bundled_files, bundled_fixtures};
pub use seed::{DEMO_PERSON, builtin_agents, demo_case_count};
