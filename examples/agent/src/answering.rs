//! From a request to a reply: fetch the files, work with them or with the notes, record every step.

use serde_json::Value;

use crate::fixture::fetch;
use crate::notes::Notes;
use crate::planets::Planets;
use crate::protocol::{RunReply, RunRequest, Usage};
use crate::statements::Statements;
use crate::trajectory::Trajectory;

/// Answers one request. The agent looks at the question and its files only.
pub async fn answer(notes: &Notes, request: &RunRequest) -> RunReply {
    let Some(question) = request.input.question() else {
        return failed("the request holds no question".to_owned());
    };
    let prompt = request.input.prompt.as_deref().unwrap_or(question);
    let mut steps = Trajectory::begin("facts-bot", prompt);
    let mut worked_out = None;
    for link in &request.fixtures {
        let text = match fetch(&link.url).await {
            Ok(text) => text,
            Err(why) => return failed(format!("{}: {why}", link.key)),
        };
        steps.call(
            "fetch_fixture",
            [("key", Value::from(link.key.as_str()))],
            text.as_str(),
        );
        if worked_out.is_none() {
            worked_out = from_file(&text, question, &mut steps);
        }
    }
    let answer = match worked_out {
        Some(answer) => answer,
        None => notes.answer(question, &mut steps),
    };
    steps.finish(&answer);
    let usage = Usage {
        input_tokens: tokens(steps.characters()),
        output_tokens: tokens(answer.len()),
    };
    RunReply {
        answer: Some(answer),
        trajectory: Some(steps),
        usage: Some(usage),
        error: None,
    }
}

fn from_file(text: &str, question: &str, steps: &mut Trajectory) -> Option<String> {
    if let Some(planets) = Planets::parse(text) {
        planets.answer(question, steps)
    } else if let Some(statements) = Statements::parse(text) {
        statements.answer(question, steps)
    } else {
        None
    }
}

fn failed(why: String) -> RunReply {
    RunReply {
        answer: None,
        trajectory: None,
        usage: None,
        error: Some(why),
    }
}

/// About four characters a token.
fn tokens(characters: usize) -> u64 {
    u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX)
}
