//! The fields of the case language, as `cases.md` lists them (A case, Overlays, Fixtures; `gate.md` 3 for `expect`).

use super::{Closed, Field, Shape};

const fn required(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: true,
        shape,
    }
}

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field {
        name,
        required: false,
        shape,
    }
}

/// A document with `cases`.
pub(crate) const CASE_LIST: Shape = Shape::Closed(&Closed {
    name: "a case list",
    fields: &[
        optional("defaults", Shape::Closed(&CASE_DEFAULTS)),
        required("cases", Shape::List(&Shape::Any)),
    ],
    left_to_rules: &["overlays", "fixtures"],
});

const CASE_DEFAULTS: Closed = Closed {
    name: "the defaults of a case list",
    fields: &[optional("max_response_time", Shape::Number)],
    left_to_rules: &[],
};

/// A document with `overlays`.
pub(crate) const OVERLAY_LIST: Shape = Shape::Closed(&Closed {
    name: "an overlay list",
    fields: &[
        optional("defaults", Shape::Closed(&OVERLAY_DEFAULTS)),
        required("overlays", Shape::List(&Shape::Any)),
    ],
    left_to_rules: &["cases", "fixtures"],
});

const OVERLAY_DEFAULTS: Closed = Closed {
    name: "the defaults of an overlay list",
    fields: &[optional("agents", Shape::List(&Shape::Text))],
    left_to_rules: &[],
};

/// A document with `fixtures` in a file named `fixtures.yaml`.
pub(crate) const REGISTRY: Shape = Shape::Closed(&Closed {
    name: "a fixture registry",
    fields: &[required("fixtures", Shape::Named(&Shape::Any))],
    left_to_rules: &["cases", "overlays"],
});

/// One entry of a registry.
pub(crate) const FIXTURE: Shape = Shape::Closed(&Closed {
    name: "a fixture",
    fields: &[
        required("sha256", Shape::Text),
        required("context", Shape::Text),
    ],
    left_to_rules: &[],
});

/// The fields of a case.
pub(crate) const CASE_FIELDS: Closed = Closed {
    name: "a case",
    fields: &[
        required("id", Shape::Text),
        optional("tags", Shape::List(&Shape::Text)),
        required("input", Shape::Closed(&INPUT)),
        optional("fixtures", Shape::List(&Shape::Text)),
        optional("expected", Shape::Text),
        optional("context", Shape::Text),
        optional("max_response_time", Shape::Number),
        optional("approvals", Shape::List(&Shape::Closed(&APPROVAL))),
        optional("expect", Shape::Closed(&EXPECT)),
        optional("metrics", Shape::Named(&METRIC)),
        optional("metadata", Shape::Object),
        optional("evaluators", Shape::Closed(&EVALUATORS)),
    ],
    left_to_rules: &[],
};

/// One case.
pub(crate) const CASE: Shape = Shape::Closed(&CASE_FIELDS);

const INPUT: Closed = Closed {
    name: "`input`",
    fields: &[
        optional("question", Shape::Text),
        optional("messages", Shape::List(&Shape::Closed(&MESSAGE))),
    ],
    left_to_rules: &[],
};

const MESSAGE: Closed = Closed {
    name: "a message",
    fields: &[
        required("role", Shape::Text),
        required("content", Shape::Text),
    ],
    left_to_rules: &[],
};

const EVALUATORS: Closed = Closed {
    name: "`evaluators`",
    fields: &[
        optional("output", Shape::Closed(&OUTPUT)),
        optional("trajectory", Shape::Closed(&TRAJECTORY)),
        optional("custom", Shape::Named(&Shape::Object)),
    ],
    left_to_rules: &[],
};

const OUTPUT: Closed = Closed {
    name: "`evaluators.output`",
    fields: &[
        optional("answer_rubrics", Shape::Closed(&ANSWER_RUBRICS)),
        optional(
            "presentation_judge",
            Shape::OneOf(&[Shape::Closed(&PRESENTATION), Shape::List(&Shape::Text)]),
        ),
    ],
    left_to_rules: &[],
};

const ANSWER_RUBRICS: Closed = Closed {
    name: "`answer_rubrics`",
    fields: &[required("rubrics", Shape::List(&Shape::Closed(&RUBRIC)))],
    left_to_rules: &[],
};

const RUBRIC: Closed = Closed {
    name: "a rubric",
    fields: &[
        required("rubric", Shape::Text),
        // A missing or wrong `type` is E-RUBRIC-TYPE, whatever stands there.
        optional("type", Shape::Any),
        optional("source", Shape::Text),
    ],
    left_to_rules: crate::rules::rubric_field::NAMES,
};

const PRESENTATION: Closed = Closed {
    name: "`presentation_judge`",
    fields: &[
        optional("require", Shape::List(&Shape::Text)),
        optional("forbid", Shape::List(&Shape::Text)),
    ],
    left_to_rules: &[],
};

const TRAJECTORY: Closed = Closed {
    name: "`evaluators.trajectory`",
    fields: &[
        optional("trajectory_rubrics", Shape::Closed(&TRAJECTORY_RUBRICS)),
        optional("required_tools_called", Shape::Closed(&REQUIRED_TOOLS)),
        optional("tool_trajectory_match", Shape::Closed(&TOOL_MATCH)),
    ],
    left_to_rules: &[],
};

const TRAJECTORY_RUBRICS: Closed = Closed {
    name: "`trajectory_rubrics`",
    fields: &[required("rubrics", Shape::List(&Shape::Text))],
    left_to_rules: &[],
};

const REQUIRED_TOOLS: Closed = Closed {
    name: "`required_tools_called`",
    fields: &[required("tools", Shape::List(&Shape::Text))],
    left_to_rules: &[],
};

const TOOL_MATCH: Closed = Closed {
    name: "`tool_trajectory_match`",
    fields: &[
        optional("ordered", Shape::Truth),
        required("expected", Shape::List(&Shape::Closed(&EXPECTED_CALL))),
    ],
    left_to_rules: &[],
};

const EXPECTED_CALL: Closed = Closed {
    name: "an expected call",
    fields: &[
        required("name", Shape::Text),
        optional("args", Shape::Object),
        optional("args_mode", Shape::Text),
        optional("match_overrides", Shape::Named(&Shape::Text)),
    ],
    left_to_rules: &[],
};

const METRIC: Shape = Shape::OneOf(&[Shape::OrEmpty(&Shape::Closed(&METRIC_SPEC)), Shape::Number]);

const METRIC_SPEC: Closed = Closed {
    name: "a metric",
    fields: &[optional("threshold", Shape::OrEmpty(&Shape::Number))],
    left_to_rules: &[],
};

const TEXTS: Shape = Shape::OrEmpty(&Shape::OneOf(&[Shape::List(&Shape::Text), Shape::Text]));

const EXPECT: Closed = Closed {
    name: "`expect`",
    fields: &[
        optional("contains", TEXTS),
        optional("not_contains", TEXTS),
        optional("regex", Shape::OrEmpty(&Shape::Text)),
        optional(
            "json_schema",
            Shape::OrEmpty(&Shape::OneOf(&[Shape::Object, Shape::Truth])),
        ),
        optional("tool_calls", Shape::OrEmpty(&Shape::List(&EXPECT_CALL))),
        optional("ordered", Shape::OrEmpty(&Shape::Truth)),
        optional("no_tool_calls", Shape::OrEmpty(&Shape::Truth)),
        optional("max_latency_ms", Shape::OrEmpty(&Shape::Number)),
        optional("max_tokens", Shape::OrEmpty(&Shape::Number)),
        optional("case_insensitive", Shape::OrEmpty(&Shape::Truth)),
        optional("scope", Shape::OrEmpty(&Shape::Text)),
        optional(
            "approvals",
            Shape::OrEmpty(&Shape::List(&Shape::Closed(&EXPECT_APPROVAL))),
        ),
        optional("no_approvals", Shape::OrEmpty(&Shape::Truth)),
    ],
    left_to_rules: &[],
};

const EXPECT_CALL: Shape = Shape::OneOf(&[
    Shape::Text,
    Shape::Closed(&Closed {
        name: "an expected call",
        fields: &[
            required("name", Shape::Text),
            optional("args_subset", Shape::OrEmpty(&Shape::Object)),
        ],
        left_to_rules: &[],
    }),
]);

const EXPECT_APPROVAL: Closed = Closed {
    name: "an expected approval",
    fields: &[
        required("match", Shape::Closed(&APPROVAL_MATCH)),
        optional("status", Shape::Text),
    ],
    left_to_rules: &[],
};

const APPROVAL: Closed = Closed {
    name: "an approval instruction",
    fields: &[
        required("decision", Shape::Text),
        required("match", Shape::Closed(&APPROVAL_MATCH)),
    ],
    left_to_rules: &[],
};

const APPROVAL_MATCH: Closed = Closed {
    name: "`match`",
    fields: &[
        optional("api", Shape::Text),
        optional("operation_id", Shape::Text),
        optional("method", Shape::Text),
        optional("path", Shape::Text),
    ],
    left_to_rules: &[],
};

/// One overlay. What a case may have and an overlay may not is `E-OVERLAY-FIELD`.
pub(crate) const OVERLAY: Shape = Shape::Closed(&Closed {
    name: "an overlay",
    fields: &[
        required("extends", Shape::Text),
        // Missing or empty agents are E-OVERLAY-AGENTS.
        optional("agents", Shape::List(&Shape::Text)),
        optional("tags", Shape::List(&Shape::Text)),
        optional("evaluators", Shape::Closed(&OVERLAY_EVALUATORS)),
    ],
    left_to_rules: crate::rules::overlay_field::CASE_ONLY,
});

const OVERLAY_EVALUATORS: Closed = Closed {
    name: "the `evaluators` of an overlay",
    fields: &[
        optional("trajectory", Shape::Closed(&OVERLAY_TRAJECTORY)),
        optional("custom", Shape::Named(&Shape::Object)),
    ],
    left_to_rules: crate::rules::overlay_field::EVALUATORS_ONLY,
};

const OVERLAY_TRAJECTORY: Closed = Closed {
    name: "the `evaluators.trajectory` of an overlay",
    fields: &[
        optional("required_tools_called", Shape::Closed(&REQUIRED_TOOLS)),
        optional("tool_trajectory_match", Shape::Closed(&TOOL_MATCH)),
    ],
    left_to_rules: crate::rules::overlay_field::TRAJECTORY_ONLY,
};

/// Where a field of a case is written, when its name is one: `evaluators.output.answer_rubrics`. The outermost place wins.
pub(crate) fn place_of(name: &str) -> Option<String> {
    fn search(closed: &Closed, name: &str, depth: usize) -> Option<String> {
        if depth == 0 {
            return closed
                .fields
                .iter()
                .any(|field| field.name == name)
                .then(|| name.to_owned());
        }
        closed.fields.iter().find_map(|field| {
            let inner = inner(&field.shape)?;
            search(inner, name, depth - 1).map(|path| format!("{}.{path}", field.name))
        })
    }
    fn inner(shape: &Shape) -> Option<&'static Closed> {
        match shape {
            Shape::Closed(closed) => Some(closed),
            Shape::List(shape) | Shape::OrEmpty(shape) => inner(shape),
            Shape::OneOf(shapes) => shapes.iter().find_map(inner),
            _ => None,
        }
    }
    (0..5).find_map(|depth| search(&CASE_FIELDS, name, depth))
}

#[cfg(test)]
mod tests {
    use super::place_of;

    #[test]
    fn fields_know_their_place() {
        assert_eq!(
            place_of("answer_rubrics").as_deref(),
            Some("evaluators.output.answer_rubrics")
        );
        assert_eq!(place_of("question").as_deref(), Some("input.question"));
        assert_eq!(place_of("tags").as_deref(), Some("tags"));
        assert_eq!(
            place_of("args_mode").as_deref(),
            Some("evaluators.trajectory.tool_trajectory_match.expected.args_mode")
        );
        assert_eq!(place_of("nonsense"), None);
    }
}
