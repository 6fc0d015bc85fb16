//! What a model is asked, from versioned templates (`grading.md`, The judge). One file an evaluator, in `prompts/`.
//!
//! Absent: agent and model names, weights, other answers. All that others wrote stands in blocks of data.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::fence::{self, Key};
use super::{JudgeTask, Judged, asking};
use crate::canonical;
use crate::case::Input;

/// A template file.
#[derive(Debug)]
struct Template {
    version: &'static str,
    system: &'static str,
    user: &'static str,
    correction: &'static str,
    neutral: &'static str,
}

impl Template {
    fn read(text: &'static str) -> Self {
        let section = |name: &str| {
            text.split("=== ")
                .find_map(|part| part.strip_prefix(name))
                .map_or("", str::trim)
        };
        Self {
            version: text
                .strip_prefix("version:")
                .and_then(|rest| rest.lines().next())
                .map_or("", str::trim),
            system: section("system\n"),
            user: section("user\n"),
            correction: section("correction\n"),
            neutral: section("neutral\n"),
        }
    }
}

static ANSWER_RUBRICS: LazyLock<Template> =
    LazyLock::new(|| Template::read(include_str!("../../prompts/answer_rubrics.md")));

fn template(evaluator: Judged) -> Option<&'static Template> {
    match evaluator {
        Judged::AnswerRubrics => Some(&ANSWER_RUBRICS),
        Judged::PresentationJudge | Judged::TrajectoryRubrics => None,
    }
}

/// The version of an evaluator's template; absent when models are not asked about it yet.
pub fn version(evaluator: Judged) -> Option<&'static str> {
    template(evaluator).map(|template| template.version)
}

/// One request, before any provider's form.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// Ours alone: no word of it comes from a case or an answer.
    pub system: String,
    /// The blocks of data, and what to do.
    pub user: String,
    /// The JSON Schema of the reply; one fixed shape an evaluator.
    pub schema: Value,
    /// The template's version.
    pub template: &'static str,
}

impl Prompt {
    /// SHA-256 of all that the judge reads.
    pub fn hash(&self) -> String {
        canonical::hash_bytes(
            format!("{}\u{0}{}\u{0}{}", self.system, self.user, self.schema).as_bytes(),
        )
    }
}

/// Why a request is made again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Again {
    /// What was wrong with the reply before.
    pub problem: Option<String>,
    /// The judge refused: say once more what it is asked for.
    pub neutral: bool,
}

/// The request about the entries `asked` of a task; absent for an evaluator without a template.
pub fn build(task: &JudgeTask, asked: &[usize], key: &Key, again: &Again) -> Option<Prompt> {
    let template = template(task.evaluator)?;
    let question = fence::block(key, "question", &question(&task.input));
    let names = ["answer", "output"];
    let judged: Vec<String> = task
        .texts
        .iter()
        .zip(names)
        .map(|(text, name)| fence::block(key, name, text))
        .collect();
    let rubrics = fence::block(key, "rubrics", &rubrics(task, asked));
    let correction = again.problem.as_ref().map(|problem| {
        let problem = fence::block(key, "problem", problem);
        format!(
            "\n{}\n",
            fence::fill(template.correction, &[("problem", &problem)])
        )
    });
    let ids: Vec<String> = asked.iter().map(|index| asking::id(*index)).collect();
    let body = fence::fill(
        template.user,
        &[
            ("key", key.as_str()),
            ("question", &question),
            ("judged", &judged.join("\n\n")),
            ("rubrics", &rubrics),
            ("correction", correction.as_deref().unwrap_or_default()),
            ("ids", &ids.join(", ")),
        ],
    );
    Some(Prompt {
        system: template.system.to_owned(),
        user: if again.neutral {
            format!("{}\n\n{body}", template.neutral)
        } else {
            body
        },
        schema: schema(),
        template: template.version,
    })
}

/// The question as written, or the turns as JSON.
pub(super) fn question(input: &Input) -> String {
    match (&input.question, input.messages.as_slice()) {
        (Some(question), []) => question.clone(),
        _ => serde_json::to_string_pretty(input).unwrap_or_default(),
    }
}

fn rubrics(task: &JudgeTask, asked: &[usize]) -> String {
    let list: Vec<Value> = asked
        .iter()
        .filter_map(|index| Some((*index, task.entries.get(*index)?)))
        .map(|(index, entry)| match &entry.source {
            Some(source) => {
                json!({"id": asking::id(index), "rubric": entry.text, "source": source})
            }
            None => json!({"id": asking::id(index), "rubric": entry.text}),
        })
        .collect();
    serde_json::to_string_pretty(&list).unwrap_or_default()
}

/// The shape of a reply about answer rubrics: evidence, then reasoning, then the verdict.
fn schema() -> Value {
    let words = json!(["satisfied", "incorrect", "absent"]);
    let text_or_null = json!({"type": ["string", "null"]});
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["verdicts"],
        "properties": {"verdicts": {"type": "array", "items": {
            "type": "object",
            "additionalProperties": false,
            "required": ["id", "evidence", "reasoning", "verdict", "said", "source"],
            "properties": {
                "id": {"type": "string"},
                "evidence": {"type": "array", "items": {"type": "string"}},
                "reasoning": {"type": "string"},
                "verdict": {"type": "string", "enum": words},
                "said": text_or_null,
                "source": {"anyOf": [
                    {"type": "object", "additionalProperties": false, "required": ["cited", "verdict"],
                     "properties": {"cited": text_or_null, "verdict": {"type": "string", "enum": words}}},
                    {"type": "null"}
                ]}
            }
        }}}
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::testing::task;

    #[test]
    fn every_template_has_all_its_parts() {
        let template = template(Judged::AnswerRubrics).unwrap();
        assert_eq!(template.version, "1");
        for part in [
            template.system,
            template.user,
            template.correction,
            template.neutral,
        ] {
            assert!(!part.is_empty() && !part.contains("==="), "{part}");
        }
        for slot in ["key", "question", "judged", "rubrics", "correction", "ids"] {
            assert!(template.user.contains(&format!("{{{{{slot}}}}}")), "{slot}");
        }
        assert!(!template.system.contains("{{"));
        assert_eq!(version(Judged::PresentationJudge), None);
    }

    #[test]
    fn a_request_names_its_ids_and_holds_its_data_in_blocks() {
        let task = task(3, "The answer.");
        let key = Key::new([7; 16]);
        let again = Again {
            problem: Some("r2: no quote".to_owned()),
            neutral: false,
        };
        let prompt = build(&task, &[2, 0], &key, &again).unwrap();
        assert!(
            prompt.user.ends_with("Give a verdict on each of: r3, r1."),
            "{}",
            prompt.user
        );
        for name in ["question", "answer", "rubrics", "problem"] {
            let opening = format!("<evalkit-data key=\"{}\" name=\"{name}\">", key.as_str());
            assert_eq!(prompt.user.matches(&opening).count(), 1, "{name}");
        }
        assert!(!prompt.user.contains("rubric 2"));
        let first = build(&task, &[2, 0], &key, &Again::default()).unwrap();
        assert!(!first.user.contains("previous reply"));
        assert_ne!(first.hash(), prompt.hash());
        assert_eq!(
            build(&task, &[0], &Key::any(), &again),
            build(&task, &[0], &Key::any(), &again)
        );
    }
}
