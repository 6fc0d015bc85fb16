//! The texts of a case, each with its node and its JSON pointer.

use crate::node::Node;
use crate::project::Unit;

use super::LONGEST;

/// What a text is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// What the user asks, in one or several turns.
    Question,
    /// `expected`.
    Expected,
    /// The sentence of an answer rubric.
    Rubric,
    /// The source of an answer rubric.
    Source,
    /// An entry of `presentation_judge`.
    Presentation,
    /// A trajectory rubric.
    Trajectory,
}

/// A text in its place.
#[derive(Debug, Clone)]
pub(crate) struct Passage<'a> {
    /// What it is for.
    pub part: Part,
    /// Its node.
    pub node: &'a Node,
    /// Its text.
    pub text: &'a str,
    /// The JSON pointer below the case.
    pub path: String,
}

/// An answer rubric that is text and has a known shape.
#[derive(Debug, Clone)]
pub(crate) struct Rubric<'a> {
    /// The sentence.
    pub sentence: Passage<'a>,
    /// `type`, as written.
    pub kind: &'a str,
    /// `source`.
    pub source: Option<Passage<'a>>,
}

impl Rubric<'_> {
    /// Whether it is `factual_retrieval`.
    pub(crate) fn is_factual(&self) -> bool {
        self.kind == "factual_retrieval"
    }

    /// Whether it is `derived_computation`.
    pub(crate) fn is_derived(&self) -> bool {
        self.kind == "derived_computation"
    }
}

fn passage<'a>(part: Part, node: Option<&'a Node>, path: impl Into<String>) -> Option<Passage<'a>> {
    let node = node?;
    let text = node.text().filter(|text| text.len() <= LONGEST)?;
    let path = path.into();
    Some(Passage {
        part,
        node,
        text,
        path,
    })
}

fn items<'a>(unit: &Unit<'a>, keys: &[&str]) -> &'a [Node] {
    unit.node.at(keys).and_then(Node::list).unwrap_or_default()
}

/// What the user says.
fn questions<'a>(unit: &Unit<'a>) -> Vec<Passage<'a>> {
    let question = unit.node.at(&["input", "question"]);
    let mut found: Vec<_> = passage(Part::Question, question, "/input/question")
        .into_iter()
        .collect();
    for (i, message) in items(unit, &["input", "messages"]).iter().enumerate() {
        if message.get("role").and_then(Node::text) == Some("user") {
            let path = format!("/input/messages/{i}/content");
            found.extend(passage(Part::Question, message.get("content"), path));
        }
    }
    found
}

/// The answer rubrics.
pub(crate) fn answer_rubrics<'a>(unit: &Unit<'a>) -> Vec<Rubric<'a>> {
    let list = items(unit, &["evaluators", "output", "answer_rubrics", "rubrics"]);
    let at = "/evaluators/output/answer_rubrics/rubrics";
    list.iter()
        .enumerate()
        .filter_map(|(i, rubric)| {
            let sentence = passage(
                Part::Rubric,
                rubric.get("rubric"),
                format!("{at}/{i}/rubric"),
            )?;
            let kind = rubric.get("type").and_then(Node::text).unwrap_or_default();
            let source = passage(
                Part::Source,
                rubric.get("source"),
                format!("{at}/{i}/source"),
            );
            Some(Rubric {
                sentence,
                kind,
                source,
            })
        })
        .collect()
}

/// The trajectory rubrics.
pub(crate) fn trajectory<'a>(unit: &Unit<'a>) -> Vec<Passage<'a>> {
    let keys = ["evaluators", "trajectory", "trajectory_rubrics", "rubrics"];
    items(unit, &keys)
        .iter()
        .enumerate()
        .filter_map(|(i, node)| {
            let path = format!("/evaluators/trajectory/trajectory_rubrics/rubrics/{i}");
            passage(Part::Trajectory, Some(node), path)
        })
        .collect()
}

/// The entries of `presentation_judge`, of either form.
pub(crate) fn presentation<'a>(unit: &Unit<'a>) -> Vec<Passage<'a>> {
    let keys = ["evaluators", "output", "presentation_judge"];
    let at = "/evaluators/output/presentation_judge";
    let mut found = Vec::new();
    let mut list = |nodes: &'a [Node], at: &str| {
        for (i, node) in nodes.iter().enumerate() {
            found.extend(passage(Part::Presentation, Some(node), format!("{at}/{i}")));
        }
    };
    list(items(unit, &keys), at);
    for side in ["require", "forbid"] {
        let nodes = unit.node.at(&keys).and_then(|node| node.get(side));
        list(
            nodes.and_then(Node::list).unwrap_or_default(),
            &format!("{at}/{side}"),
        );
    }
    found
}

/// Every text of a case that people or judges read as prose.
pub(crate) fn passages<'a>(unit: &Unit<'a>) -> Vec<Passage<'a>> {
    let mut found = questions(unit);
    let expected = unit.node.get("expected");
    found.extend(passage(Part::Expected, expected, "/expected"));
    for rubric in answer_rubrics(unit) {
        found.push(rubric.sentence);
        found.extend(rubric.source);
    }
    found.extend(presentation(unit));
    found.extend(trajectory(unit));
    found
}
