//! What differs between the providers of judge models: the form of a request and of a reply. One file each.
//!
//! Each asks for the strictest structured output its provider has; a model or server that does not know it is asked in a
//! looser form, and our own check stands behind all of them.

mod anthropic;
mod google;
mod openai;

use evalkit_core::judge::prompt::Prompt;
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::config::JudgeProvider;

/// One request before it has a provider's form.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) model: &'a str,
    pub(crate) prompt: &'a Prompt,
    /// Absent for models that do not take one.
    pub(crate) temperature: Option<f64>,
    pub(crate) form: Form,
    /// The longest reply, tokens; absent = as the provider does.
    pub(crate) longest: Option<u32>,
}

/// How strictly the reply's shape is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// By JSON Schema.
    Schema,
    /// The provider's older way: any JSON object, or a forced tool call.
    Loose,
    /// In words alone.
    Words,
}

impl Form {
    /// What to try when a provider does not take this form.
    pub(crate) const fn looser(self) -> Option<Self> {
        match self {
            Self::Schema => Some(Self::Loose),
            Self::Loose => Some(Self::Words),
            Self::Words => None,
        }
    }
}

/// A reply after its provider's form is taken off.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) end: End,
    pub(crate) input_tokens: Option<u64>,
    pub(crate) output_tokens: Option<u64>,
}

/// How a reply ended, as its provider says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum End {
    #[default]
    Whole,
    /// At the limit of tokens.
    Cut,
    /// The model refused, or a filter stopped it; with what was said.
    Refused(String),
}

/// One provider.
pub(crate) trait Provider: Send + Sync + std::fmt::Debug {
    /// Where its API lives unless the configuration says otherwise.
    fn base_url(&self) -> Option<&'static str>;
    /// The variable that usually holds its key.
    fn key_variable(&self) -> Option<&'static str>;
    /// Below the base address.
    fn path(&self, model: &str) -> String;
    /// The header that carries the key, and its value.
    fn credential(&self, key: &str) -> (HeaderName, String);
    /// Headers of every request.
    fn headers(&self, headers: &mut HeaderMap) {
        let _ = headers;
    }
    /// The request's body.
    fn body(&self, question: &Question<'_>) -> Value;
    /// Reads a reply's body; `None` when it has not the provider's form.
    fn read(&self, body: &Value) -> Option<Reply>;
}

/// The adapter of a provider that calls a model; `None` for those that do not.
pub(crate) fn of(provider: JudgeProvider) -> Option<&'static dyn Provider> {
    match provider {
        JudgeProvider::OpenAi => Some(&openai::OPENAI),
        JudgeProvider::OpenAiCompatible => Some(&openai::COMPATIBLE),
        JudgeProvider::Anthropic => Some(&anthropic::Anthropic),
        JudgeProvider::Google => Some(&google::Google),
        JudgeProvider::Offline | JudgeProvider::Fake | JudgeProvider::Replay => None,
    }
}

/// A header's value that logs never show.
pub(crate) fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// What a refused request complains about, as far as another form of it could help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Complaint {
    /// The model takes no temperature.
    Temperature,
    /// The shape of the reply cannot be asked for in this form.
    Form,
    /// The limit of tokens is not taken as it was written.
    Longest,
    /// The request is larger than the model reads.
    TooLarge,
    /// Something else.
    Other,
}

/// Sorts the text of a 400 by what it names.
pub(crate) fn complaint(text: &str) -> Complaint {
    let text = text.to_lowercase();
    let names = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if names(&[
        "context_length_exceeded",
        "context length",
        "context window",
        "prompt is too long",
        "maximum number of tokens",
        "input token count",
        "request_too_large",
    ]) {
        Complaint::TooLarge
    } else if names(&["temperature"]) {
        Complaint::Temperature
    } else if names(&["max_tokens", "max_completion_tokens", "maxoutputtokens"]) {
        Complaint::Longest
    } else if names(&[
        "response_format",
        "json_schema",
        "json_object",
        "output_config",
        "output_format",
        "responsejsonschema",
        "response_json_schema",
        "responseschema",
        "response_schema",
        "responsemimetype",
        "response_mime_type",
        "structured output",
        "tool_choice",
        "guided",
        "grammar",
    ]) {
        Complaint::Form
    } else {
        Complaint::Other
    }
}

/// What a model turned out not to take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Habits {
    pub(super) temperature: bool,
    pub(super) longest: bool,
    pub(super) form: Form,
}

impl Default for Habits {
    fn default() -> Self {
        Self {
            temperature: true,
            longest: true,
            form: Form::Schema,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_requests_are_sorted_by_what_they_name() {
        for (text, wanted) in [
            (
                "Unsupported value: 'temperature' does not support 0",
                Complaint::Temperature,
            ),
            (
                "Invalid parameter: 'response_format' of type 'json_schema' is not supported",
                Complaint::Form,
            ),
            (
                "Unsupported parameter: 'max_tokens'; use 'max_completion_tokens'",
                Complaint::Longest,
            ),
            (
                "This model's maximum context length is 8192 tokens",
                Complaint::TooLarge,
            ),
            (
                "prompt is too long: 250000 tokens > 200000 maximum",
                Complaint::TooLarge,
            ),
            ("invalid model", Complaint::Other),
        ] {
            assert_eq!(complaint(text), wanted, "{text}");
        }
    }

    #[test]
    fn a_key_never_shows() {
        let value = secret("sk-very-secret").unwrap();
        assert!(value.is_sensitive());
        assert_eq!(format!("{value:?}"), "Sensitive");
        assert!(secret("line\nbreak").is_none());
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use super::Prompt;

    /// A prompt as tests of the forms need one.
    pub(crate) fn prompt() -> Prompt {
        Prompt {
            system: "system".to_owned(),
            user: "user".to_owned(),
            schema: serde_json::json!({"type": "object"}),
            template: "1",
        }
    }
}
