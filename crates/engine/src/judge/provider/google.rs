//! Google's Gemini API.

use http::HeaderName;
use serde_json::{Value, json};

use super::{End, Form, Provider, Question, Reply};

#[derive(Debug)]
pub(super) struct Google;

impl Provider for Google {
    fn base_url(&self) -> Option<&'static str> {
        Some("https://generativelanguage.googleapis.com/v1beta")
    }

    fn key_variable(&self) -> Option<&'static str> {
        Some("GEMINI_API_KEY")
    }

    fn path(&self, model: &str) -> String {
        let model = model.strip_prefix("models/").unwrap_or(model);
        format!("models/{model}:generateContent")
    }

    fn credential(&self, key: &str) -> (HeaderName, String) {
        // In a header, never in the address.
        (HeaderName::from_static("x-goog-api-key"), key.to_owned())
    }

    fn body(&self, question: &Question<'_>) -> Value {
        let mut generation = json!({});
        if let Some(temperature) = question.temperature {
            generation["temperature"] = json!(temperature);
        }
        if let Some(longest) = question.longest {
            generation["maxOutputTokens"] = json!(longest);
        }
        match question.form {
            Form::Schema => {
                generation["responseMimeType"] = json!("application/json");
                generation["responseJsonSchema"] = question.prompt.schema.clone();
            }
            Form::Loose => generation["responseMimeType"] = json!("application/json"),
            Form::Words => {}
        }
        json!({
            "systemInstruction": {"parts": [{"text": question.prompt.system}]},
            "contents": [{"role": "user", "parts": [{"text": question.prompt.user}]}],
            "generationConfig": generation,
        })
    }

    fn read(&self, body: &Value) -> Option<Reply> {
        let usage = |name: &str| {
            body.get("usageMetadata")
                .and_then(|usage| usage.get(name)?.as_u64())
        };
        let thoughts = usage("thoughtsTokenCount").unwrap_or(0);
        let reply = |text, end| Reply {
            text,
            end,
            input_tokens: usage("promptTokenCount"),
            output_tokens: usage("candidatesTokenCount").map(|tokens| tokens + thoughts),
        };
        let blocked = body
            .get("promptFeedback")
            .and_then(|feedback| feedback.get("blockReason")?.as_str());
        if let Some(reason) = blocked {
            let words = format!("the provider blocked the request: {reason}");
            return Some(reply(String::new(), End::Refused(words)));
        }
        let candidate = body.get("candidates")?.get(0)?;
        let text: String = candidate
            .get("content")
            .and_then(|content| content.get("parts")?.as_array())
            .into_iter()
            .flatten()
            .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
            .filter_map(|part| part.get("text").and_then(Value::as_str))
            .collect();
        let end = match candidate.get("finishReason").and_then(Value::as_str) {
            None | Some("STOP" | "FINISH_REASON_UNSPECIFIED") => End::Whole,
            Some("MAX_TOKENS") => End::Cut,
            Some(reason) => End::Refused(format!("the provider stopped it: {reason}")),
        };
        Some(reply(text, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::provider::testing::prompt;

    #[test]
    fn a_request() {
        let prompt = prompt();
        let question = Question {
            model: "models/m",
            prompt: &prompt,
            temperature: Some(0.0),
            form: Form::Schema,
            longest: Some(9),
        };
        let body = Google.body(&question);
        assert_eq!(Google.path("models/m"), "models/m:generateContent");
        assert_eq!(
            body["generationConfig"]["responseJsonSchema"],
            prompt.schema
        );
        assert_eq!(body["generationConfig"]["maxOutputTokens"], 9);
        assert_eq!(body["systemInstruction"]["parts"][0]["text"], prompt.system);
    }

    #[test]
    fn replies() {
        let read = |parts: Value, reason: &str| {
            Google.read(&json!({"candidates": [{"content": {"parts": parts}, "finishReason": reason}],
                "usageMetadata": {"promptTokenCount": 4, "candidatesTokenCount": 2, "thoughtsTokenCount": 3}}))
        };
        let whole = read(
            json!([{"text": "hm", "thought": true}, {"text": "{"}, {"text": "}"}]),
            "STOP",
        )
        .unwrap();
        assert_eq!((whole.text.as_str(), whole.end), ("{}", End::Whole));
        assert_eq!(
            (whole.input_tokens, whole.output_tokens),
            (Some(4), Some(5))
        );
        assert_eq!(read(json!([]), "MAX_TOKENS").unwrap().end, End::Cut);
        for reason in ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"] {
            assert!(matches!(
                read(json!([]), reason).unwrap().end,
                End::Refused(_)
            ));
        }
        let blocked = Google
            .read(&json!({"promptFeedback": {"blockReason": "SAFETY"}}))
            .unwrap();
        assert!(matches!(blocked.end, End::Refused(_)));
        assert!(Google.read(&json!({"candidates": []})).is_none());
    }
}
