//! The rule catalogue (`cases.md`, Lint): one file for each code, with what it says, why, and an example of each side.
//!
//! To add a rule, write its file with a `RULE` and a `check`, list it in [`CATALOGUE`], and put its `check` into the
//! table of what it looks at. A test runs every example: the bad one raises the code and the good one does not.

pub(crate) mod checkpoint_no_value;
pub(crate) mod compound;
pub(crate) mod dash_list;
pub(crate) mod date_anchor;
pub(crate) mod document;
pub(crate) mod duplicate;
pub(crate) mod evaluator_unknown;
pub(crate) mod expected_uncovered;
pub(crate) mod field_missing;
pub(crate) mod field_type;
pub(crate) mod field_unknown;
pub(crate) mod final_figure;
pub(crate) mod fixture_hash;
pub(crate) mod fixture_key;
pub(crate) mod fixture_missing;
pub(crate) mod fixture_unknown;
pub(crate) mod ground_truth;
pub(crate) mod id_duplicate;
pub(crate) mod id_format;
pub(crate) mod id_taken;
pub(crate) mod jargon;
pub(crate) mod nothing_to_grade;
pub(crate) mod opinion;
pub(crate) mod overlay_agents;
pub(crate) mod overlay_clash;
pub(crate) mod overlay_field;
pub(crate) mod overlay_target;
pub(crate) mod presentation;
pub(crate) mod rubric_field;
pub(crate) mod rubric_source;
pub(crate) mod rubric_type;
pub(crate) mod series;
pub(crate) mod source_narrow;
pub(crate) mod source_partial;
pub(crate) mod tool_check;
pub(crate) mod tool_unknown;
pub(crate) mod trajectory_copy;
pub(crate) mod type_mismatch;
pub(crate) mod unasked;
pub(crate) mod value;
pub(crate) mod yaml;

use crate::Severity;
use crate::project::{Fixture, Project, Sink, Unit};

/// A rule of the catalogue.
#[derive(Debug)]
pub struct Rule {
    /// Its code, e.g. `E-RUBRIC-SOURCE`.
    pub code: &'static str,
    /// How much a finding weighs.
    pub severity: Severity,
    /// When it is raised.
    pub what: &'static str,
    /// Why that matters to the author.
    pub why: &'static str,
    /// Files that raise it.
    pub bad: Example,
    /// The same, mended.
    pub good: Example,
}

/// Files of an example, with the facts it needs.
#[derive(Debug)]
pub struct Example {
    /// Name and text of each file.
    pub files: &'static [(&'static str, &'static str)],
    /// A facts file, or nothing.
    pub facts: &'static str,
}

/// Every rule, in the order of `cases.md`.
pub const CATALOGUE: &[&Rule] = &[
    &yaml::RULE,
    &document::RULE,
    &field_unknown::RULE,
    &field_missing::RULE,
    &field_type::RULE,
    &id_format::RULE,
    &id_duplicate::RULE,
    &id_taken::RULE,
    &nothing_to_grade::RULE,
    &rubric_type::RULE,
    &rubric_source::RULE,
    &rubric_field::RULE,
    &jargon::RULE,
    &fixture_key::RULE,
    &fixture_unknown::RULE,
    &fixture_missing::RULE,
    &fixture_hash::RULE,
    &overlay_agents::RULE,
    &overlay_field::RULE,
    &overlay_target::RULE,
    &overlay_clash::RULE,
    &evaluator_unknown::RULE,
    &tool_check::RULE,
    &value::RULE,
    &date_anchor::RULE,
    &compound::RULE,
    &dash_list::RULE,
    &type_mismatch::RULE,
    &presentation::RULE,
    &opinion::RULE,
    &checkpoint_no_value::RULE,
    &series::RULE,
    &source_partial::RULE,
    &source_narrow::RULE,
    &duplicate::RULE,
    &unasked::RULE,
    &expected_uncovered::RULE,
    &trajectory_copy::RULE,
    &tool_unknown::RULE,
    &final_figure::RULE,
    &ground_truth::RULE,
];

/// The rule of a code.
pub fn rule(code: &str) -> Option<&'static Rule> {
    CATALOGUE.iter().copied().find(|rule| rule.code == code)
}

/// Looks at one case.
const CASE_RULES: &[fn(&Unit<'_>, &Project<'_>, &mut Sink)] = &[
    id_format::check_case,
    id_taken::check,
    field_missing::check_case,
    nothing_to_grade::check,
    rubric_type::check,
    rubric_source::check,
    rubric_field::check,
    fixture_unknown::check,
    fixture_key::check_case,
    evaluator_unknown::check,
    tool_check::check,
    tool_unknown::check,
    value::check_case,
    date_anchor::check,
    compound::check,
    dash_list::check,
    type_mismatch::check,
    presentation::check,
    opinion::check,
    checkpoint_no_value::check,
    series::check,
    source_partial::check,
    source_narrow::check,
    duplicate::check,
    unasked::check,
    expected_uncovered::check,
    trajectory_copy::check,
    final_figure::check,
    ground_truth::check,
];

/// Looks at one overlay.
const OVERLAY_RULES: &[fn(&Unit<'_>, &Project<'_>, &mut Sink)] = &[
    id_format::check_overlay,
    field_missing::check_overlay,
    overlay_agents::check,
    overlay_field::check,
    overlay_target::check,
    evaluator_unknown::check,
    tool_check::check,
    tool_unknown::check,
    value::check_overlay,
];

/// Looks at one registry entry.
const FIXTURE_RULES: &[fn(&Fixture<'_>, &Project<'_>, &mut Sink)] = &[
    fixture_key::check_entry,
    fixture_missing::check_entry,
    fixture_hash::check,
    value::check_fixture,
];

/// Looks at everything at once.
const PROJECT_RULES: &[fn(&Project<'_>, &mut Sink)] = &[
    id_duplicate::check,
    jargon::check,
    fixture_key::check_duplicates,
    fixture_missing::check_facts,
    overlay_clash::check,
];

/// Runs every rule.
pub(crate) fn run(project: &Project<'_>, sink: &mut Sink) {
    for case in &project.cases {
        for rule in CASE_RULES {
            rule(case, project, sink);
        }
    }
    for overlay in &project.overlays {
        for rule in OVERLAY_RULES {
            rule(overlay, project, sink);
        }
    }
    for fixture in &project.fixtures {
        for rule in FIXTURE_RULES {
            rule(fixture, project, sink);
        }
    }
    for rule in PROJECT_RULES {
        rule(project, sink);
    }
}
