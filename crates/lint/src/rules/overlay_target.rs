//! `E-OVERLAY-TARGET`: an overlay extends a case that does not exist.

use evalkit_core::name::is_case_id;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::project::{Project, Sink, Unit};
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-OVERLAY-TARGET",
    severity: Severity::Error,
    what: "`extends` names a case that neither this dataset, the workspace nor the bases have.",
    why: "The checks of the overlay would never be made.",
    bad: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-hight\n    agents: [support-bot]\n    tags: [towers]\n",
        )],
        facts: "{\"other_cases\": {\"tower-height\": \"buildings\"}, \"base_cases\": {}}",
    },
    good: Example {
        files: &[(
            "overlays.yaml",
            "overlays:\n  - extends: tower-height\n    agents: [support-bot]\n    tags: [towers]\n",
        )],
        facts: "{\"other_cases\": {\"tower-height\": \"buildings\"}, \"base_cases\": {}}",
    },
};

/// The target against every id that is known. Silent when a broken case hides its id.
pub(crate) fn check(unit: &Unit<'_>, project: &Project<'_>, sink: &mut Sink) {
    let (Some(others), Some(bases)) = (&project.facts.other_cases, &project.facts.base_cases)
    else {
        return;
    };
    let (Some(id), Some(node)) = (unit.id, unit.node.get("extends")) else {
        return;
    };
    let known = others.contains_key(id)
        || bases.contains_key(id)
        || project.broken_ids.contains(id)
        || project.case_ids.contains(id);
    if known || project.ids_incomplete || !is_case_id(id) {
        return;
    }
    let names = project
        .cases
        .iter()
        .filter_map(|case| case.id)
        .chain(others.keys().map(String::as_str))
        .chain(bases.keys().map(String::as_str));
    let near = nearest(id, names);
    let help = match near {
        Some(near) => format!("Did you mean `{near}`?"),
        None => "Check the id, or name the dataset of the case under `bases` in `evalkit.yaml`."
            .to_owned(),
    };
    let inline = splice::is_inline(unit.source, node.span);
    let message = format!("There is no case `{id}` to extend.");
    let path = unit.pointer_to("/extends");
    let diagnostic = sink.report(&RULE, unit, node.span, path, message, help);
    diagnostic.fix = near.filter(|_| inline).map(|near| Fix {
        title: format!("Write `{near}`"),
        safe: false,
        edits: vec![Edit::new(node.span, splice::quoted(near))],
    });
}
