//! `E-EVALUATOR-UNKNOWN`: a custom evaluator that the deployment does not have.

use super::{Example, Rule};
use crate::Severity;
use crate::nearest::nearest;
use crate::node::{Node, escape_pointer};
use crate::project::{Project, Sink, Unit};

pub(crate) const RULE: Rule = Rule {
    code: "E-EVALUATOR-UNKNOWN",
    severity: Severity::Error,
    what: "`evaluators.custom` names an evaluator that is not registered on the deployment.",
    why: "Nobody would answer when the run is graded.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators: {custom: {cost_caps: {max_usd: 0.4}}}\n",
        )],
        facts: "{\"evaluators\": [\"cost_cap\"]}",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nevaluators: {custom: {cost_cap: {max_usd: 0.4}}}\n",
        )],
        facts: "{\"evaluators\": [\"cost_cap\"]}",
    },
};

/// Every name under `custom`, when the registered ones are known.
pub(crate) fn check(unit: &Unit<'_>, project: &Project<'_>, sink: &mut Sink) {
    let Some(registered) = &project.facts.evaluators else {
        return;
    };
    let custom = unit
        .node
        .at(&["evaluators", "custom"])
        .and_then(Node::mapping);
    for entry in custom.unwrap_or_default() {
        if registered.contains(&*entry.key) {
            continue;
        }
        let help = match nearest(&entry.key, registered.iter().map(String::as_str)) {
            Some(near) => format!("Did you mean `{near}`?"),
            None => "Register it under `custom_evaluators` in the server's `config.yaml`, or remove it here.".to_owned(),
        };
        let path = format!("/evaluators/custom/{}", escape_pointer(&entry.key));
        let message = format!("The custom evaluator `{}` is not registered.", entry.key);
        sink.report(
            &RULE,
            unit,
            entry.key_span,
            unit.pointer_to(&path),
            message,
            help,
        );
    }
}
