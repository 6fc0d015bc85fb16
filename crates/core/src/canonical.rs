//! Canonical JSON and its hash (`cases.md`, Canonical content). Our own bytes are hashed, never a database's.

use serde_json::{Map, Number, Value};
use sha2::{Digest, Sha256};

/// The same value with every mapping's keys in code point order and every whole number written without a fraction.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            let mut out = Map::with_capacity(map.len());
            for key in keys {
                out.insert(key.clone(), sorted(&map[key]));
            }
            Value::Object(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        Value::Number(number) => Value::Number(plain(number)),
        other => other.clone(),
    }
}

/// A whole float within the exact range of an `f64` (2^53) becomes an integer, so that `90` and `90.0` are one content.
fn plain(number: &Number) -> Number {
    match number.as_f64() {
        Some(float)
            if !number.is_i64()
                && !number.is_u64()
                && float.fract() == 0.0
                && float.abs() <= 9_007_199_254_740_992.0 =>
        {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "whole and within 2^53, checked above"
            )]
            Number::from(float as i64)
        }
        _ => number.clone(),
    }
}

/// Compact JSON text of the sorted form.
pub fn text(value: &Value) -> String {
    sorted(value).to_string()
}

/// SHA-256 of [`text`], 64 lower-case hex digits.
pub fn hash(value: &Value) -> String {
    hex::encode(Sha256::digest(text(value).as_bytes()))
}

/// SHA-256 of bytes, 64 lower-case hex digits.
pub fn hash_bytes(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn key_order_and_number_spelling_do_not_change_the_hash() {
        assert_eq!(
            hash(&json!({"b": [1.0, {"y": 2, "x": 3}], "a": 0.5})),
            hash(&json!({"a": 0.5, "b": [1, {"x": 3, "y": 2}]}))
        );
        assert_ne!(hash(&json!({"a": 1})), hash(&json!({"a": "1"})));
        assert_eq!(
            text(&json!({"b": 90.0, "a": 1e300})),
            r#"{"a":1e+300,"b":90}"#
        );
    }
}
