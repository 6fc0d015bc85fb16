//! What the address of a result page says: trial, selected rubric, selected step, filters. Everything a reader can choose
//! lives here, so that a link shows the same to whoever opens it.

use leptos_router::params::ParamsMap;
use serde::{Deserialize, Serialize};

use crate::pages::escape;

/// Which rubrics are listed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Show {
    /// All of them.
    #[default]
    All,
    /// Incorrect, absent or unscored.
    NotSatisfied,
    /// Misattributed or uncited.
    SourceProblems,
    /// Other than in the previous run.
    Changed,
}

impl Show {
    /// All of them, in the order of their tabs.
    pub const ALL: [Self; 4] = [
        Self::All,
        Self::NotSatisfied,
        Self::Changed,
        Self::SourceProblems,
    ];

    /// On its tab.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "All",
            Self::NotSatisfied => "Not satisfied",
            Self::Changed => "Changed",
            Self::SourceProblems => "Source problems",
        }
    }

    /// As it stands in the address; `None` for the default.
    pub const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::NotSatisfied => Some("not-satisfied"),
            Self::SourceProblems => Some("sources"),
            Self::Changed => Some("changed"),
        }
    }

    fn parse(text: &str) -> Self {
        [Self::NotSatisfied, Self::SourceProblems, Self::Changed]
            .into_iter()
            .find(|show| show.as_str() == Some(text))
            .unwrap_or_default()
    }
}

/// The address.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultQuery {
    /// `/w/:ws/runs/:id/c/:case`.
    pub path: String,
    /// Absent: the first trial that is not green.
    pub trial: Option<u32>,
    /// `R5`.
    pub rubric: Option<String>,
    /// `main:4`.
    pub step: Option<String>,
    /// Which rubrics.
    pub show: Show,
    /// Words that a step must hold.
    pub words: String,
    /// Only steps that call this tool.
    pub tool: Option<String>,
}

impl ResultQuery {
    /// Reads the address. What makes no sense is left out.
    pub fn read(path: String, query: &ParamsMap) -> Self {
        let some = |key: &str| query.get(key).filter(|value| !value.is_empty());
        Self {
            path,
            trial: query.get("trial").and_then(|value| value.parse().ok()),
            rubric: some("r").filter(|value| is_label(value)),
            step: some("step"),
            show: Show::parse(&some("show").unwrap_or_default()),
            words: query.get("q").unwrap_or_default(),
            tool: some("tool"),
        }
    }

    /// Name and value of every part that is not the default, in a fixed order; without `words` for the search form.
    pub fn pairs(&self) -> Vec<(&'static str, String)> {
        let mut pairs = Vec::new();
        let mut push = |key, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                pairs.push((key, value));
            }
        };
        push("trial", self.trial.map(|trial| trial.to_string()));
        push("show", self.show.as_str().map(str::to_owned));
        push("r", self.rubric.clone());
        push("tool", self.tool.clone());
        push("q", Some(self.words.clone()));
        push("step", self.step.clone());
        pairs
    }

    /// The address it was read from.
    pub fn href(&self) -> String {
        let mut href = self.path.clone();
        for (index, (key, value)) in self.pairs().into_iter().enumerate() {
            href.push(if index == 0 { '?' } else { '&' });
            href.push_str(key);
            href.push('=');
            href.push_str(&escape(&value));
        }
        href
    }

    /// With other words to search for; the selected step may not be among them.
    pub fn searching(&self, words: &str) -> String {
        let mut to = self.clone();
        to.words = words.trim().to_owned();
        to.step = None;
        to.href()
    }

    /// With another rubric selected, at its row.
    pub fn at_rubric(&self, label: &str) -> String {
        let mut to = self.clone();
        to.rubric = Some(label.to_owned());
        // A rubric that the filter hides cannot be jumped to.
        to.show = Show::All;
        format!("{}#{label}", to.href())
    }

    /// With another step selected, at the steps. Filters that could hide it are dropped.
    pub fn at_step(&self, address: &str) -> String {
        let mut to = self.clone();
        to.step = Some(address.to_owned());
        to.words.clear();
        to.tool = None;
        format!("{}#steps", to.href())
    }

    /// With another step selected among those listed.
    pub fn step_here(&self, address: &str) -> String {
        let mut to = self.clone();
        to.step = Some(address.to_owned());
        to.href()
    }

    /// Another filter of the rubrics.
    pub fn showing(&self, show: Show) -> String {
        let mut to = self.clone();
        to.show = show;
        format!("{}#rubrics", to.href())
    }

    /// Another trial; what was selected in this one means nothing there.
    pub fn on_trial(&self, trial: u32) -> String {
        Self {
            path: self.path.clone(),
            trial: Some(trial),
            ..Self::default()
        }
        .href()
    }

    /// Another tool, or all.
    pub fn with_tool(&self, tool: Option<&str>) -> String {
        let mut to = self.clone();
        to.tool = tool.map(str::to_owned);
        format!("{}#steps", to.href())
    }
}

/// `R7`: nothing else is put into a selector or an id.
pub fn is_label(text: &str) -> bool {
    text.strip_prefix('R').is_some_and(|digits| {
        !digits.is_empty() && digits.len() < 5 && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&'static str, &str)]) -> ResultQuery {
        let mut map = ParamsMap::new();
        for (key, value) in pairs {
            map.insert(*key, (*value).to_owned());
        }
        ResultQuery::read("/w/a/runs/4/c/x".to_owned(), &map)
    }

    #[test]
    fn an_address_says_what_was_chosen() {
        let query = read(&[
            ("trial", "2"),
            ("r", "R5"),
            ("show", "sources"),
            ("step", "main:4"),
            ("q", "net debt"),
        ]);
        assert_eq!(query.trial, Some(2));
        assert_eq!(query.show, Show::SourceProblems);
        assert!(
            query
                .href()
                .starts_with("/w/a/runs/4/c/x?trial=2&show=sources&r=R5&q=net%20debt&step=main")
        );
        assert!(
            query
                .at_rubric("R7")
                .ends_with("r=R7&q=net%20debt&step=main:4#R7")
        );
        assert!(!query.at_step("main:9").contains("q="));
        assert_eq!(query.on_trial(3), "/w/a/runs/4/c/x?trial=3");
    }

    #[test]
    fn nonsense_is_left_out() {
        let query = read(&[("trial", "x"), ("r", "R5\"]"), ("show", "?"), ("step", "")]);
        assert_eq!(
            query,
            ResultQuery {
                path: "/w/a/runs/4/c/x".to_owned(),
                ..ResultQuery::default()
            }
        );
        assert_eq!(query.href(), "/w/a/runs/4/c/x");
    }
}
