//! What the agent knows by itself: a small file of notes, some of them wrong on purpose.

use serde::Deserialize;
use serde_json::Value;

use crate::planets::divide;
use crate::trajectory::Trajectory;

/// The notes that come with the agent.
const BUNDLED: &str = include_str!("../answers/notes.json");

/// One note.
#[derive(Debug, Clone, Deserialize)]
pub struct Note {
    /// Words that a question must all hold, in lower case.
    about: Vec<String>,
    /// The document it was taken from.
    document: String,
    /// What the agent says.
    answer: String,
    /// Divisions that it repeats before it answers.
    shares: Vec<Share>,
}

#[derive(Debug, Clone, Deserialize)]
struct Share {
    label: String,
    numerator: f64,
    denominator: f64,
}

/// All notes.
#[derive(Debug, Clone)]
pub struct Notes(Vec<Note>);

impl Notes {
    /// The notes compiled into the agent.
    ///
    /// # Errors
    /// When the file is not valid.
    pub fn bundled() -> Result<Self, serde_json::Error> {
        serde_json::from_str(BUNDLED).map(Self)
    }

    /// Answers from the note that fits, or says that there is none.
    pub fn answer(&self, question: &str, steps: &mut Trajectory) -> String {
        let asked = question.to_lowercase();
        let found = self
            .0
            .iter()
            .find(|note| note.about.iter().all(|word| asked.contains(word.as_str())));
        let topic: String = question.chars().take(80).collect();
        let Some(note) = found else {
            steps.call(
                "look_up_note",
                [("topic", Value::from(topic))],
                "No note fits.",
            );
            return "I could not find anything about this in my notes.".to_owned();
        };
        steps.call(
            "look_up_note",
            [("topic", Value::from(topic))],
            format!("{}: {}", note.document, note.answer),
        );
        for share in &note.shares {
            divide(steps, &share.label, share.numerator, share.denominator);
        }
        note.answer.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::Notes;
    use crate::trajectory::Trajectory;

    #[test]
    fn a_question_finds_its_note_or_none() {
        let notes = Notes::bundled().unwrap();
        let mut steps = Trajectory::begin("t", "");
        let known = notes.answer("When was Apollo 11 launched?", &mut steps);
        assert!(known.contains("16 July 1969"));
        let unknown = notes.answer("Who wrote Middlemarch?", &mut steps);
        assert!(unknown.starts_with("I could not find"));
    }
}
