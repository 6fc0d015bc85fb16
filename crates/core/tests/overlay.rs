//! Overlays folded into a case: for the agents they name, adding and never replacing, with the origin of everything kept.

use evalkit_core::case::Case;
use evalkit_core::overlay::{NamedOverlay, bare_agent, merge};
use proptest::prelude::*;
use serde_json::{Value, json};

fn case(evaluators: Value) -> Case {
    serde_json::from_value(json!({"id": "roku", "tags": ["credit"], "input": {"question": "?"}, "evaluators": evaluators})).unwrap()
}

fn overlay(dataset: &str, body: Value) -> NamedOverlay {
    let mut value = json!({"dataset": dataset, "extends": "roku", "agents": ["bot"]});
    for (key, part) in body.as_object().unwrap() {
        value[key] = part.clone();
    }
    serde_json::from_value(value).unwrap()
}

fn tools(names: &[&str]) -> Value {
    json!({"evaluators": {"trajectory": {"required_tools_called": {"tools": names}}}})
}

#[test]
fn an_overlay_adds_for_the_agents_it_names_alone() {
    let case = case(json!({}));
    let overlays = [
        overlay("desk", tools(&["read"])),
        overlay(
            "risk",
            json!({"tags": ["hard", "credit"], "evaluators": {
            "trajectory": {"tool_trajectory_match": {"expected": [{"name": "read"}]}}, "custom": {"cost": {"cap": 1}}}}),
        ),
        overlay("elsewhere", json!({"extends": "other", "tags": ["never"]})),
    ];
    for agent in ["bot", "bot@mara"] {
        let effective = merge(&case, &overlays, agent).unwrap();
        let trajectory = &effective.case.evaluators.trajectory;
        assert_eq!(
            trajectory.required_tools_called.as_ref().unwrap().tools,
            ["read"]
        );
        assert_eq!(
            trajectory.tool_trajectory_match.as_ref().unwrap().expected[0].name,
            "read"
        );
        assert_eq!(effective.case.evaluators.custom["cost"], json!({"cap": 1}));
        assert_eq!(
            effective.case.tags,
            ["credit", "hard"],
            "tags only add, each once"
        );
        let origins: Vec<(&str, &str)> = effective
            .origins
            .iter()
            .map(|(name, from)| (name.as_str(), from.as_str()))
            .collect();
        assert_eq!(
            origins,
            [
                ("custom:cost", "risk"),
                ("required_tools_called", "desk"),
                ("tag:hard", "risk"),
                ("tool_trajectory_match", "risk"),
            ]
        );
    }
    for agent in ["other", "bots", "Bot", "mara@bot"] {
        let effective = merge(&case, &overlays, agent).unwrap();
        assert_eq!(effective.case, case, "{agent}");
        assert!(effective.origins.is_empty());
    }
}

#[test]
fn two_that_set_the_same_evaluator_clash_and_both_are_named() {
    let plain = case(json!({}));
    let clash = merge(
        &plain,
        &[
            overlay("desk", tools(&["a"])),
            overlay("risk", tools(&["b"])),
        ],
        "bot@w",
    )
    .unwrap_err();
    assert_eq!(
        clash.to_string(),
        "desk and risk both set required_tools_called for bot on roku"
    );
    let own = case(
        json!({"trajectory": {"required_tools_called": {"tools": ["a"]}}, "custom": {"cost": {}}}),
    );
    let clash = merge(&own, &[overlay("desk", tools(&["a"]))], "bot").unwrap_err();
    assert_eq!(
        (clash.first.as_str(), clash.second.as_str()),
        ("the case itself", "desk")
    );
    let custom = json!({"evaluators": {"custom": {"cost": {}}}});
    let clash = merge(&own, &[overlay("desk", custom.clone())], "bot").unwrap_err();
    assert_eq!(clash.evaluator, "custom:cost");
    let same_dataset = [overlay("desk", custom.clone()), overlay("desk", custom)];
    assert_eq!(
        merge(&plain, &same_dataset, "bot").unwrap_err().first,
        "desk"
    );
    // Of no interest to an agent that neither names.
    assert!(merge(&own, &[overlay("desk", tools(&["a"]))], "other").is_ok());
}

#[test]
fn agents_are_matched_by_bare_name() {
    assert_eq!(bare_agent("bot@mara"), "bot");
    assert_eq!(bare_agent("bot"), "bot");
}

proptest! {
    /// Without clashes the order of overlays does not matter to what is graded.
    #[test]
    fn order_matters_only_for_tags(swap in any::<bool>(), tags in prop::collection::vec("[a-c]", 0..4)) {
        let case = case(json!({}));
        let mut overlays = vec![overlay("desk", tools(&["a"])), overlay("risk", json!({"tags": tags, "evaluators": {"custom": {"x": 1}}}))];
        if swap {
            overlays.reverse();
        }
        let effective = merge(&case, &overlays, "bot").unwrap();
        prop_assert_eq!(effective.case.evaluators.custom.len(), 1);
        prop_assert!(effective.case.evaluators.trajectory.required_tools_called.is_some());
        let mut unique = effective.case.tags.clone();
        unique.sort();
        unique.dedup();
        prop_assert_eq!(unique.len(), effective.case.tags.len(), "no tag twice");
        prop_assert_eq!(&effective.case.tags[0], "credit");
    }
}
