//! Comparing the arguments of a call with what a case expects.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Number, Value};

use super::ActualCall;
use crate::canonical;
use crate::case::{ArgsMode, ExpectedCall, MatchOverride};

/// The lower-case texts of one call's arguments, by key.
pub(super) type KeyTexts = BTreeMap<String, String>;

/// Texts that substring comparisons look into, made once a call and not once a comparison.
pub(super) struct Texts(Vec<KeyTexts>);

impl Texts {
    /// Only for keys that some pattern searches, of calls that some pattern names.
    pub(super) fn new(patterns: &[Pattern], calls: &[ActualCall]) -> Self {
        let mut wanted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for pattern in patterns {
            let keys = pattern.parts.iter().filter(|p| p.needle.is_some());
            wanted
                .entry(&pattern.name)
                .or_default()
                .extend(keys.map(|p| p.key.as_str()));
        }
        Self(
            calls
                .iter()
                .map(|call| {
                    let keys = wanted.get(call.name.as_str()).into_iter().flatten();
                    keys.filter_map(|key| {
                        let found = call.arguments.as_object()?.get(*key)?;
                        Some(((*key).to_owned(), folded(found)))
                    })
                    .collect()
                })
                .collect(),
        )
    }

    pub(super) fn of(&self, call: usize) -> &KeyTexts {
        &self.0[call]
    }
}

/// What a case expects of one call's arguments.
pub(super) struct Pattern {
    name: String,
    /// No other keys allowed.
    closed: bool,
    parts: Vec<Part>,
}

/// What is expected of one key.
struct Part {
    key: String,
    expected: Value,
    /// Lower-case text to be found; otherwise the values are compared.
    needle: Option<String>,
    exact: bool,
}

impl Pattern {
    pub(super) fn new(entry: &ExpectedCall) -> Self {
        let none = Map::new();
        let args = match entry.args_mode {
            ArgsMode::Ignore => &none,
            _ => entry.args.as_ref().unwrap_or(&none),
        };
        Self {
            name: entry.name.clone(),
            closed: entry.args_mode == ArgsMode::Exact,
            parts: args
                .iter()
                .map(|(key, expected)| {
                    let searched = match (entry.args_mode, entry.match_overrides.get(key)) {
                        // Overrides do not go with `exact` (`E-TOOL-CHECK`).
                        (ArgsMode::Exact, _) => false,
                        (_, Some(over)) => *over == MatchOverride::Substring,
                        (mode, None) => mode == ArgsMode::Substring,
                    };
                    Part {
                        key: key.clone(),
                        expected: expected.clone(),
                        needle: searched.then(|| folded(expected)),
                        exact: entry.args_mode == ArgsMode::Exact,
                    }
                })
                .collect(),
        }
    }

    /// Whether the arguments are as expected; `texts` are those of the call.
    pub(super) fn fits(&self, arguments: &Value, texts: &KeyTexts) -> bool {
        let none = Map::new();
        let Some(map) = mapping(arguments, &none) else {
            return self.parts.is_empty() && !self.closed;
        };
        if self.closed && map.len() != self.parts.len() {
            return false;
        }
        self.parts.iter().all(|part| match &part.needle {
            Some(needle) => texts
                .get(&part.key)
                .is_some_and(|text| text.contains(needle)),
            None => map.get(&part.key).is_some_and(|found| part.equals(found)),
        })
    }

    /// What differs, key by key: the case's keys in its order, then keys that should not be there.
    pub(super) fn differences(&self, arguments: &Value) -> Vec<Difference> {
        let none = Map::new();
        let Some(map) = mapping(arguments, &none) else {
            if self.parts.is_empty() && !self.closed {
                return Vec::new();
            }
            return vec![Difference {
                key: "arguments".to_owned(),
                expected: Some("a mapping".to_owned()),
                found: Some(clip(arguments)),
            }];
        };
        let mut out: Vec<Difference> = Vec::new();
        for part in &self.parts {
            let found = map.get(&part.key);
            let fits = found.is_some_and(|found| match &part.needle {
                Some(needle) => folded(found).contains(needle),
                None => part.equals(found),
            });
            if !fits {
                let expected = clip(&part.expected);
                out.push(Difference {
                    key: part.key.clone(),
                    expected: Some(if part.needle.is_some() {
                        format!("something with {expected}")
                    } else {
                        expected
                    }),
                    found: found.map(clip),
                });
            }
        }
        if self.closed {
            let known: BTreeSet<&str> = self.parts.iter().map(|p| p.key.as_str()).collect();
            out.extend(
                map.iter()
                    .filter(|(key, _)| !known.contains(key.as_str()))
                    .map(|(key, found)| Difference {
                        key: key.clone(),
                        expected: None,
                        found: Some(clip(found)),
                    }),
            );
        }
        out
    }
}

impl Part {
    fn equals(&self, found: &Value) -> bool {
        if self.exact {
            equal(&self.expected, found)
        } else {
            subset(&self.expected, found)
        }
    }
}

/// Arguments as a mapping; none recorded is an empty one.
fn mapping<'v>(
    arguments: &'v Value,
    none: &'v Map<String, Value>,
) -> Option<&'v Map<String, Value>> {
    match arguments {
        Value::Object(map) => Some(map),
        Value::Null => Some(none),
        _ => None,
    }
}

/// Mappings by subset at every depth, lists and all else by equality.
fn subset(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .all(|(key, value)| found.get(key).is_some_and(|f| subset(value, f))),
        _ => equal(expected, found),
    }
}

/// Equality at every depth; numbers by value, never equal to texts.
fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.get(key).is_some_and(|b| equal(a, b)))
        }
        _ => a == b,
    }
}

/// `1` equals `1.0`; whole numbers of any size are never compared through a rounding float.
fn same_number(a: &Number, b: &Number) -> bool {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => a.as_f64() == b.as_f64(),
        _ => false,
    }
}

/// The exact value of a whole number below 2^127.
fn whole(number: &Number) -> Option<i128> {
    if let Some(value) = number.as_i64() {
        return Some(value.into());
    }
    if let Some(value) = number.as_u64() {
        return Some(value.into());
    }
    let float = number.as_f64()?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and within i128, checked in the condition"
    )]
    (float.fract() == 0.0 && float.abs() < 1e38).then_some(float as i128)
}

/// A value as a substring comparison sees it: a text as it is, anything else as compact JSON with sorted keys, in
/// lower case.
fn folded(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_lowercase(),
        other => canonical::text(other).to_lowercase(),
    }
}

/// One key that is not as expected.
pub(super) struct Difference {
    pub(super) key: String,
    expected: Option<String>,
    found: Option<String>,
}

impl Difference {
    /// In words, at most six keys.
    pub(super) fn list(differences: &[Self]) -> String {
        const SHOWN: usize = 6;
        let mut words: Vec<String> = differences
            .iter()
            .take(SHOWN)
            .map(|d| match (&d.expected, &d.found) {
                (Some(expected), Some(found)) => {
                    format!("{} is {found}, expected {expected}", d.key)
                }
                (Some(expected), None) => format!("{} is not there, expected {expected}", d.key),
                (None, _) => format!("{} is not expected", d.key),
            })
            .collect();
        if differences.len() > SHOWN {
            words.push(format!("{} more keys differ", differences.len() - SHOWN));
        }
        words.join("; ")
    }
}

/// Compact JSON for a message, at most 80 characters.
fn clip(value: &Value) -> String {
    let text = canonical::text(value);
    match text.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn fits(entry: Value, arguments: &Value) -> bool {
        let entry: ExpectedCall = serde_json::from_value(entry).unwrap();
        let pattern = Pattern::new(&entry);
        let call = ActualCall {
            address: "main:1#0".to_owned(),
            name: entry.name,
            arguments: arguments.clone(),
        };
        let patterns = [pattern];
        let texts = Texts::new(&patterns, std::slice::from_ref(&call));
        let fits = patterns[0].fits(arguments, texts.of(0));
        assert_eq!(
            fits,
            patterns[0].differences(arguments).is_empty(),
            "the two must agree"
        );
        fits
    }

    #[test]
    fn subset_is_recursive_on_mappings_and_equality_on_lists() {
        let entry = json!({"name": "t", "args": {"a": {"x": 1}, "l": [1, {"k": 2}]}});
        assert!(fits(
            entry.clone(),
            &json!({"a": {"x": 1.0, "y": 2}, "l": [1, {"k": 2}], "z": 0})
        ));
        assert!(!fits(
            entry.clone(),
            &json!({"a": {"x": 1}, "l": [1, {"k": 2, "m": 3}]})
        ));
        assert!(!fits(
            entry.clone(),
            &json!({"a": {"x": 1}, "l": [{"k": 2}, 1]})
        ));
        assert!(!fits(
            entry.clone(),
            &json!({"a": {"x": "1"}, "l": [1, {"k": 2}]})
        ));
        assert!(!fits(entry, &json!({"a": {"x": 1}})));
        assert!(fits(json!({"name": "t"}), &json!({"anything": 1})));
        assert!(fits(json!({"name": "t"}), &json!("not a mapping")));
        assert!(!fits(json!({"name": "t", "args": {"a": null}}), &json!({})));
        assert!(fits(
            json!({"name": "t", "args": {"a": null}}),
            &json!({"a": null})
        ));
    }

    #[test]
    fn exact_takes_no_other_key_and_without_args_no_argument() {
        let entry = json!({"name": "t", "args": {"a": {"x": 1}}, "args_mode": "exact"});
        assert!(fits(entry.clone(), &json!({"a": {"x": 1.0}})));
        assert!(!fits(entry.clone(), &json!({"a": {"x": 1, "y": 2}})));
        assert!(!fits(entry, &json!({"a": {"x": 1}, "b": 2})));
        let bare = json!({"name": "t", "args_mode": "exact"});
        assert!(fits(bare.clone(), &json!({})));
        assert!(fits(bare.clone(), &Value::Null));
        assert!(!fits(bare.clone(), &json!({"a": 1})));
        assert!(!fits(bare, &json!("a")));
    }

    #[test]
    fn ignore_looks_at_the_name_alone() {
        assert!(fits(
            json!({"name": "t", "args": {"a": 1}, "args_mode": "ignore"}),
            &json!({})
        ));
        assert!(fits(
            json!({"name": "t", "args_mode": "ignore"}),
            &json!(["x"])
        ));
    }

    #[test]
    fn substring_folds_case_and_reads_other_values_as_sorted_json() {
        let entry = json!({"name": "t", "args": {"q": "Roku PLATFORM"}, "args_mode": "substring"});
        assert!(fits(
            entry.clone(),
            &json!({"q": "the roku platform margin", "n": 1})
        ));
        assert!(!fits(entry, &json!({"q": "roku  platform"})));
        let entry = json!({"name": "t", "args": {"f": "\"a\":1,\"b\""}, "args_mode": "substring"});
        assert!(fits(entry, &json!({"f": {"b": 2, "a": 1.0}})));
        let number = json!({"name": "t", "args": {"n": 20}, "args_mode": "substring"});
        assert!(fits(number, &json!({"n": "FY2024"})));
        let list = json!({"name": "t", "args": {"n": [1, 2]}, "args_mode": "substring"});
        assert!(fits(list.clone(), &json!({"n": [[1, 2.0], 3]})));
        assert!(!fits(list, &json!({"n": [1, 3, 2]})));
    }

    #[test]
    fn overrides_set_the_mode_of_single_keys() {
        let entry = json!({"name": "t", "args": {"q": "roku", "id": "A"}, "match_overrides": {"q": "substring"}});
        assert!(fits(entry.clone(), &json!({"q": "About Roku", "id": "A"})));
        assert!(!fits(entry, &json!({"q": "About Roku", "id": "a"})));
        let entry = json!({"name": "t", "args": {"q": "roku", "id": {"k": 1}}, "args_mode": "substring", "match_overrides": {"id": "equals"}});
        assert!(fits(
            entry.clone(),
            &json!({"q": "About Roku", "id": {"k": 1, "z": 2}})
        ));
        assert!(!fits(entry, &json!({"q": "About Roku", "id": {"k": 11}})));
    }

    #[test]
    fn large_whole_numbers_are_not_rounded() {
        let big = 9_007_199_254_740_993_i64;
        assert!(equal(&json!(big), &json!(big)));
        assert!(!equal(&json!(big), &json!(big - 1)));
        assert!(!equal(&json!(big), &json!(9_007_199_254_740_992.0)));
        assert!(equal(&json!(u64::MAX), &json!(u64::MAX)));
        assert!(!equal(
            &json!(u64::MAX),
            &json!(18_446_744_073_709_551_616.0)
        ));
        assert!(!equal(&json!(u64::MAX), &json!(-1)));
        assert!(equal(&json!(1e300), &json!(1e300)));
        assert!(!equal(&json!(1e300), &json!(1)));
        assert!(equal(&json!(0), &json!(-0.0)));
        assert!(!equal(&json!(1), &json!(true)));
    }
}
