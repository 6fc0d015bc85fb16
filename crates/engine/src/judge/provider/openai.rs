//! OpenAI's chat completions, and the many servers that speak the same.

use http::{HeaderName, header};
use serde_json::{Value, json};

use super::{End, Form, Provider, Question, Reply};

/// The name the reply's schema goes by.
const SCHEMA: &str = "verdicts";

#[derive(Debug)]
pub(super) struct OpenAi {
    base_url: Option<&'static str>,
    key_variable: Option<&'static str>,
    /// What the limit of tokens is called.
    longest: &'static str,
}

pub(super) static OPENAI: OpenAi = OpenAi {
    base_url: Some("https://api.openai.com/v1"),
    key_variable: Some("OPENAI_API_KEY"),
    longest: "max_completion_tokens",
};

pub(super) static COMPATIBLE: OpenAi = OpenAi {
    base_url: None,
    key_variable: None,
    longest: "max_tokens",
};

impl Provider for OpenAi {
    fn base_url(&self) -> Option<&'static str> {
        self.base_url
    }

    fn key_variable(&self) -> Option<&'static str> {
        self.key_variable
    }

    fn path(&self, _model: &str) -> String {
        "chat/completions".to_owned()
    }

    fn credential(&self, key: &str) -> (HeaderName, String) {
        (header::AUTHORIZATION, format!("Bearer {key}"))
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let mut body = json!({
            "model": question.model,
            "messages": [
                {"role": "system", "content": question.prompt.system},
                {"role": "user", "content": question.prompt.user},
            ],
        });
        if let Some(temperature) = question.temperature {
            body["temperature"] = json!(temperature);
        }
        if let Some(longest) = question.longest {
            body[self.longest] = json!(longest);
        }
        match question.form {
            Form::Schema => {
                body["response_format"] = json!({"type": "json_schema",
                    "json_schema": {"name": SCHEMA, "strict": true, "schema": question.prompt.schema}});
            }
            Form::Loose => body["response_format"] = json!({"type": "json_object"}),
            Form::Words => {}
        }
        body
    }

    fn read(&self, body: &Value) -> Option<Reply> {
        let choice = body.get("choices")?.get(0)?;
        let message = choice.get("message")?;
        let text = match message.get("content") {
            Some(Value::String(text)) => text.clone(),
            // Some servers give the parts of a message.
            Some(Value::Array(parts)) => parts
                .iter()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect(),
            _ => String::new(),
        };
        let refusal = message
            .get("refusal")
            .and_then(Value::as_str)
            .filter(|words| !words.is_empty());
        let end = match (refusal, choice.get("finish_reason").and_then(Value::as_str)) {
            (Some(words), _) => End::Refused(words.to_owned()),
            (None, Some("content_filter")) => {
                End::Refused("a content filter stopped it".to_owned())
            }
            (None, Some("length")) => End::Cut,
            _ => End::Whole,
        };
        let tokens = |name| body.get("usage")?.get(name)?.as_u64();
        Some(Reply {
            text,
            end,
            input_tokens: tokens("prompt_tokens"),
            output_tokens: tokens("completion_tokens"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::provider::testing::prompt;

    #[test]
    fn a_request_asks_for_the_schema_strictly() {
        let prompt = prompt();
        let mut question = Question {
            model: "m",
            prompt: &prompt,
            temperature: Some(0.0),
            form: Form::Schema,
            longest: Some(100),
        };
        let body = OPENAI.body(&question);
        assert_eq!(body["temperature"], 0.0);
        assert_eq!(body["max_completion_tokens"], 100);
        assert_eq!(body["response_format"]["json_schema"]["strict"], true);
        assert_eq!(
            body["response_format"]["json_schema"]["schema"],
            prompt.schema
        );
        assert_eq!(body["messages"][1]["content"], prompt.user);
        question.form = Form::Loose;
        question.temperature = None;
        let body = COMPATIBLE.body(&question);
        assert_eq!(body["response_format"], json!({"type": "json_object"}));
        assert_eq!(body["max_tokens"], 100);
        assert!(body.get("temperature").is_none());
        question.form = Form::Words;
        assert!(COMPATIBLE.body(&question).get("response_format").is_none());
    }

    #[test]
    fn replies() {
        let body = |message: Value, reason: &str| {
            json!({"choices": [{"message": message, "finish_reason": reason}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 3}})
        };
        let whole = OPENAI
            .read(&body(json!({"content": "x", "refusal": null}), "stop"))
            .unwrap();
        assert_eq!((whole.text.as_str(), whole.end), ("x", End::Whole));
        assert_eq!(
            (whole.input_tokens, whole.output_tokens),
            (Some(10), Some(3))
        );
        let end = |message, reason| OPENAI.read(&body(message, reason)).unwrap().end;
        assert_eq!(
            end(json!({"content": null, "refusal": "no"}), "stop"),
            End::Refused("no".to_owned())
        );
        assert_eq!(end(json!({"content": "x"}), "length"), End::Cut);
        assert!(matches!(
            end(json!({"content": ""}), "content_filter"),
            End::Refused(_)
        ));
        assert!(OPENAI.read(&json!({"choices": []})).is_none());
        assert!(OPENAI.read(&json!([])).is_none());
    }
}
