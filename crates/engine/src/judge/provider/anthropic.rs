//! Anthropic's messages.

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::{End, Form, Provider, Question, Reply};

/// The version of the API that these forms belong to.
const VERSION: &str = "2023-06-01";
/// The limit of tokens, which this provider wants always.
const LONGEST: u32 = 8_192;
/// The tool that stands in where a model does not know schemas for replies.
const TOOL: &str = "give_verdicts";

#[derive(Debug)]
pub(super) struct Anthropic;

impl Provider for Anthropic {
    fn base_url(&self) -> Option<&'static str> {
        Some("https://api.anthropic.com/v1")
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("ANTHROPIC_API_KEY")
    }

    fn path(&self, _model: &str) -> String {
        "messages".to_owned()
    }

    fn credential(&self, key: &str) -> (HeaderName, String) {
        (HeaderName::from_static("x-api-key"), key.to_owned())
    }

    fn headers(&self, headers: &mut HeaderMap) {
        headers.insert("anthropic-version", HeaderValue::from_static(VERSION));
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let mut body = json!({
            "model": question.model,
            "max_tokens": question.longest.unwrap_or(LONGEST),
            "system": question.prompt.system,
            "messages": [{"role": "user", "content": question.prompt.user}],
        });
        if let Some(temperature) = question.temperature {
            // This provider's scale ends at 1.
            body["temperature"] = json!(temperature.min(1.0));
        }
        match question.form {
            Form::Schema => {
                body["output_config"] =
                    json!({"format": {"type": "json_schema", "schema": question.prompt.schema}});
            }
            Form::Loose => {
                body["tools"] = json!([{"name": TOOL, "description": "Hands in the verdicts.",
                    "input_schema": question.prompt.schema}]);
                body["tool_choice"] = json!({"type": "tool", "name": TOOL});
            }
            Form::Words => {}
        }
        body
    }

    fn read(&self, body: &Value) -> Option<Reply> {
        let blocks = body.get("content")?.as_array()?;
        let mut text = String::new();
        for block in blocks {
            match block.get("type").and_then(Value::as_str) {
                Some("text") => text.push_str(
                    block
                        .get("text")
                        .and_then(Value::as_str)
                        .unwrap_or_default(),
                ),
                // The call is the reply; what was said beside it is not.
                Some("tool_use") => text = block.get("input")?.to_string(),
                _ => {}
            }
        }
        let end = match body.get("stop_reason").and_then(Value::as_str) {
            Some("refusal") => End::Refused(if text.is_empty() {
                "the model refused".to_owned()
            } else {
                text.clone()
            }),
            Some("max_tokens" | "model_context_window_exceeded") => End::Cut,
            _ => End::Whole,
        };
        let usage = |name: &str| {
            body.get("usage")
                .and_then(|usage| usage.get(name)?.as_u64())
        };
        // Tokens that came from the provider's own cache are counted apart.
        let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"]
            .into_iter()
            .filter_map(usage)
            .sum::<u64>();
        Some(Reply {
            text,
            end,
            input_tokens: usage("input_tokens").map(|tokens| tokens + cached),
            output_tokens: usage("output_tokens"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::provider::testing::prompt;

    #[test]
    fn a_request_in_its_two_forms() {
        let prompt = prompt();
        let mut question = Question {
            model: "m",
            prompt: &prompt,
            temperature: Some(1.5),
            form: Form::Schema,
            longest: None,
        };
        let body = Anthropic.body(&question);
        assert_eq!(body["max_tokens"], LONGEST);
        assert_eq!(body["temperature"], 1.0);
        assert_eq!(body["output_config"]["format"]["schema"], prompt.schema);
        question.form = Form::Loose;
        let body = Anthropic.body(&question);
        assert_eq!(body["tool_choice"]["name"], body["tools"][0]["name"]);
        assert_eq!(body["tools"][0]["input_schema"], prompt.schema);
        assert!(body.get("output_config").is_none());
    }

    #[test]
    fn replies() {
        let read = |content: Value, reason: &str| {
            Anthropic.read(&json!({"content": content, "stop_reason": reason,
                "usage": {"input_tokens": 5, "cache_read_input_tokens": 7, "output_tokens": 2}}))
        };
        let whole = read(
            json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"}]),
            "end_turn",
        )
        .unwrap();
        assert_eq!((whole.text.as_str(), whole.end), ("{}", End::Whole));
        assert_eq!(
            (whole.input_tokens, whole.output_tokens),
            (Some(12), Some(2))
        );
        let tool = read(
            json!([{"type": "text", "text": "Here."}, {"type": "tool_use", "input": {"verdicts": []}}]),
            "tool_use",
        );
        assert_eq!(tool.unwrap().text, "{\"verdicts\":[]}");
        assert!(matches!(
            read(json!([]), "refusal").unwrap().end,
            End::Refused(_)
        ));
        assert_eq!(
            read(json!([{"type": "text", "text": "{"}]), "max_tokens")
                .unwrap()
                .end,
            End::Cut
        );
        assert!(Anthropic.read(&json!({"content": "x"})).is_none());
    }
}
