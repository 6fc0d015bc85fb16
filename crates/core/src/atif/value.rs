//! Reading single JSON values the way the reference reader does: loosely where it is loose, never beyond 64 bits.

use serde_json::Value;

/// How a value was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Read<T> {
    /// As the format has it.
    Exact(T),
    /// Written otherwise, e.g. `"12"` for 12.
    Loose(T),
    /// It cannot be read; the text says what was expected.
    Not(&'static str),
}

impl<T> Read<T> {
    pub(super) fn ok(self) -> Option<T> {
        match self {
            Self::Exact(value) | Self::Loose(value) => Some(value),
            Self::Not(_) => None,
        }
    }
}

/// A whole number of 64 bits.
pub(super) fn integer(value: &Value) -> Read<i64> {
    const WHOLE: &str = "a whole number";
    const WIDE: &str = "a whole number of at most 64 bits";
    match value {
        Value::Number(number) => {
            if let Some(whole) = number.as_i64() {
                return Read::Exact(whole);
            }
            match number.as_f64() {
                Some(float) if float.fract() == 0.0 => {
                    if float.abs() < 9_007_199_254_740_992.0 {
                        #[expect(
                            clippy::cast_possible_truncation,
                            reason = "whole and below 2^53, checked above"
                        )]
                        Read::Loose(float as i64)
                    } else {
                        Read::Not(WIDE)
                    }
                }
                _ => Read::Not(WHOLE),
            }
        }
        Value::Bool(flag) => Read::Loose(i64::from(*flag)),
        Value::String(text) => text.trim().parse().map_or(Read::Not(WHOLE), Read::Loose),
        _ => Read::Not(WHOLE),
    }
}

/// A finite number.
pub(super) fn number(value: &Value) -> Read<f64> {
    const NUMBER: &str = "a number";
    match value {
        Value::Number(number) => number.as_f64().map_or(Read::Not(NUMBER), Read::Exact),
        Value::Bool(flag) => Read::Loose(f64::from(u8::from(*flag))),
        Value::String(text) => match text.trim().parse::<f64>() {
            Ok(float) if float.is_finite() => Read::Loose(float),
            _ => Read::Not(NUMBER),
        },
        _ => Read::Not(NUMBER),
    }
}

/// True or false.
pub(super) fn boolean(value: &Value) -> Read<bool> {
    const BOOLEAN: &str = "true or false";
    match value {
        Value::Bool(flag) => Read::Exact(*flag),
        Value::Number(number) => match number.as_f64() {
            Some(1.0) => Read::Loose(true),
            Some(0.0) => Read::Loose(false),
            _ => Read::Not(BOOLEAN),
        },
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "true" | "t" | "yes" | "y" | "on" | "1" => Read::Loose(true),
            "false" | "f" | "no" | "n" | "off" | "0" => Read::Loose(false),
            _ => Read::Not(BOOLEAN),
        },
        _ => Read::Not(BOOLEAN),
    }
}

/// The kind of a value, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
