//! What lint works on: the cases, overlays and registry entries of all files, each with its place, and the sink that
//! findings go to.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::diagnostic::{Diagnostic, Place, Related};
use crate::facts::LintFacts;
use crate::node::Node;
use crate::rules::Rule;
use crate::source::{Source, Span};

/// A case, an overlay, a registry entry or a document, in its place.
#[derive(Debug)]
pub(crate) struct Unit<'a> {
    /// A number of its own, for [`Sink::is_sound`].
    pub number: usize,
    /// The file's text.
    pub source: &'a Source<'a>,
    /// The index of the document in the file.
    pub document: usize,
    /// The JSON pointer of the unit in its document.
    pub pointer: String,
    /// The unit's value.
    pub node: &'a Node,
    /// The case id, or the id that an overlay extends, when it can be read.
    pub id: Option<&'a str>,
    /// `defaults` of the document.
    pub defaults: Option<&'a Node>,
    /// Where the text of the unit may start: after the unit before it.
    pub after: usize,
}

impl Unit<'_> {
    /// A pointer below the unit's own.
    pub(crate) fn pointer_to(&self, suffix: &str) -> String {
        format!("{}{suffix}", self.pointer)
    }

    /// The place to speak of when the unit lacks something: its first line.
    pub(crate) fn first_line(&self) -> Span {
        self.source.first_line(self.node.span)
    }
}

/// A registry entry.
#[derive(Debug)]
pub(crate) struct Fixture<'a> {
    /// The entry's value.
    pub unit: Unit<'a>,
    /// Its key.
    pub key: &'a str,
    /// The key's place.
    pub key_span: Span,
}

/// Everything that was found in the files.
#[derive(Debug)]
pub(crate) struct Project<'a> {
    /// In file order.
    pub cases: Vec<Unit<'a>>,
    /// In file order.
    pub overlays: Vec<Unit<'a>>,
    /// In file order.
    pub fixtures: Vec<Fixture<'a>>,
    /// Whether the fixture registry is known: a registry document is among the files, or the facts hold it.
    pub registry_known: bool,
    /// Ids of cases that a syntax error broke, as far as they can be made out.
    pub broken_ids: HashSet<String>,
    /// A broken case hides its id, so that nobody can say which ids the files hold.
    pub ids_incomplete: bool,
    /// Every readable case id.
    pub case_ids: HashSet<&'a str>,
    /// Every key of the registry documents.
    pub fixture_keys: HashSet<&'a str>,
    /// What is known beside the files.
    pub facts: &'a LintFacts,
}

impl<'a> Project<'a> {
    /// The first case of each id.
    pub(crate) fn cases_by_id(&self) -> HashMap<&'a str, &Unit<'a>> {
        let mut cases = HashMap::new();
        for case in &self.cases {
            if let Some(id) = case.id {
                cases.entry(id).or_insert(case);
            }
        }
        cases
    }

    /// The first registry entry of each key.
    pub(crate) fn fixtures_by_key(&self) -> BTreeMap<&'a str, &Fixture<'a>> {
        let mut fixtures = BTreeMap::new();
        for fixture in &self.fixtures {
            fixtures.entry(fixture.key).or_insert(fixture);
        }
        fixtures
    }
}

/// Where findings go.
#[derive(Debug, Default)]
pub(crate) struct Sink {
    found: Vec<Diagnostic>,
    unsound: HashSet<usize>,
}

impl Sink {
    /// Adds a finding about a unit; `path` is the whole JSON pointer.
    pub(crate) fn report(
        &mut self,
        rule: &Rule,
        unit: &Unit<'_>,
        span: Span,
        path: String,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> &mut Diagnostic {
        if rule.severity == crate::Severity::Error {
            self.unsound.insert(unit.number);
        }
        let document = u32::try_from(unit.document).unwrap_or(u32::MAX);
        let diagnostic = Diagnostic {
            code: rule.code.to_owned(),
            severity: rule.severity,
            message: message.into(),
            help: help.into(),
            file: unit.source.path.to_owned(),
            place: Place::of(unit.source, span),
            case_id: unit.id.map(str::to_owned),
            document,
            path,
            related: Vec::new(),
            fix: None,
        };
        self.found.push(diagnostic);
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Whether no error was reported about a unit.
    pub(crate) fn is_sound(&self, unit: &Unit<'_>) -> bool {
        !self.unsound.contains(&unit.number)
    }

    /// All findings, unsorted.
    pub(crate) fn into_found(self) -> Vec<Diagnostic> {
        self.found
    }
}

/// Another place that a finding speaks of.
pub(crate) fn related(source: &Source<'_>, span: Span, message: impl Into<String>) -> Related {
    Related {
        message: message.into(),
        file: source.path.to_owned(),
        place: Place::of(source, span),
    }
}
