//! JSON as block YAML, for text that cannot be cut from its file. Text is double-quoted, so nothing is misread.

use serde_json::Value;

use crate::node::Kind;
use crate::scalar;
use crate::splice::quoted;

/// A value as a YAML document that ends with a line break.
pub(crate) fn yaml(value: &Value) -> String {
    let mut out = String::new();
    match value {
        Value::Object(map) if !map.is_empty() => block(value, 0, &mut out),
        Value::Array(items) if !items.is_empty() => block(value, 0, &mut out),
        scalar => {
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
    out
}

fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) => {
            for (i, (name, value)) in map.iter().enumerate() {
                if i > 0 || indent == 0 || out.ends_with('\n') {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str(&key(name));
                out.push(':');
                below(value, indent + 2, out);
            }
        }
        Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                if i > 0 || indent == 0 || out.ends_with('\n') {
                    out.push_str(&" ".repeat(indent));
                }
                out.push_str("- ");
                match item {
                    Value::Object(map) if !map.is_empty() => block(item, indent + 2, out),
                    Value::Array(inner) if !inner.is_empty() => block(item, indent + 2, out),
                    scalar => {
                        out.push_str(&inline(scalar));
                        out.push('\n');
                    }
                }
            }
        }
        _ => {}
    }
}

fn below(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        Value::Array(items) if !items.is_empty() => {
            out.push('\n');
            block(value, indent, out);
        }
        scalar => {
            out.push(' ');
            out.push_str(&inline(scalar));
            out.push('\n');
        }
    }
}

fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => quoted(text),
        other => other.to_string(),
    }
}

/// A key as plain text where that is safe.
fn key(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
        && matches!(scalar::resolve(name), Kind::Text(_))
        && name != "<<";
    if plain { name.to_owned() } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::yaml;
    use serde_json::json;

    #[test]
    fn reads_well_and_back() {
        let value = json!({
            "id": "a", "empty": {}, "none": [], "list": [1, [2, [3]], {"x": "y: z", "q": [true, null]}],
            "a b": {"null": "\u{1f600} \"x\"\n", "1": -0.5}
        });
        let text = yaml(&value);
        insta::assert_snapshot!(text, @r#"
        id: "a"
        empty: {}
        none: []
        list:
          - 1
          - - 2
            - - 3
          - x: "y: z"
            q:
              - true
              - null
        "a b":
          "null": "😀 \"x\"\n"
          "1": -0.5
        "#);
    }
}
