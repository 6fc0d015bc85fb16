//! Which kind of document each one is (`cases.md`, Files), and what it holds.

use std::collections::HashSet;

use evalkit_core::name::is_case_id;

use crate::facts::LintFacts;
use crate::limits;
use crate::nearest::nearest;
use crate::node::{Entry, Kind, Node, escape_pointer};
use crate::project::{Fixture, Project, Sink, Unit};
use crate::rules::{document as rule, value, yaml as yaml_rule};
use crate::shape::{self, Path, language};
use crate::source::{Source, Span};
use crate::syntax::{Document, Parsed};

/// A file with what was read of it.
pub(crate) struct File<'a> {
    /// Its text.
    pub source: Source<'a>,
    /// Its documents.
    pub parsed: Parsed,
    /// It is JSON by its name.
    pub json: bool,
    /// It is named `fixtures.yaml`.
    pub registry: bool,
}

/// Sorts the documents of all files, checks their shape, and reports syntax errors.
pub(crate) fn collect<'a>(
    files: &'a [File<'a>],
    facts: &'a LintFacts,
    sink: &mut Sink,
) -> Project<'a> {
    let mut collector = Collector {
        sink,
        number: 0,
        project: Project {
            cases: Vec::new(),
            overlays: Vec::new(),
            fixtures: Vec::new(),
            registry_known: facts.fixtures.is_some(),
            broken_ids: HashSet::new(),
            ids_incomplete: false,
            case_ids: HashSet::new(),
            fixture_keys: HashSet::new(),
            facts,
        },
        full: false,
    };
    for file in files {
        collector.syntax_errors(file);
        for (i, document) in file.parsed.documents.iter().enumerate() {
            collector.document(file, i, document);
        }
    }
    let mut project = collector.project;
    project.case_ids = project.cases.iter().filter_map(|case| case.id).collect();
    project.fixture_keys = project.fixtures.iter().map(|fixture| fixture.key).collect();
    project
}

struct Collector<'a, 's> {
    sink: &'s mut Sink,
    number: usize,
    project: Project<'a>,
    /// The bound of cases is reached.
    full: bool,
}

impl<'a> Collector<'a, '_> {
    fn unit(&mut self, file: &'a File<'a>, document: usize, node: &'a Node) -> Unit<'a> {
        self.number += 1;
        Unit {
            number: self.number,
            source: &file.source,
            document,
            pointer: String::new(),
            node,
            id: None,
            defaults: None,
            after: 0,
        }
    }

    fn syntax_errors(&mut self, file: &'a File<'a>) {
        for error in file.parsed.errors.clone() {
            let at = error.span.start;
            let documents = &file.parsed.documents;
            // Documents lie one after another; an error at the very end belongs to the last.
            let index = documents
                .iter()
                .rposition(|document| document.span.start <= at)
                .unwrap_or(0);
            self.number += 1;
            let nothing = Node::null(Span::default());
            let root = documents.get(index).map_or(&nothing, |d| &d.root);
            let path = root.pointer_at(at);
            let id = case_id_at(root, &path, &file.source);
            let unit = Unit {
                number: self.number,
                source: &file.source,
                document: index,
                pointer: String::new(),
                node: root,
                id: id.as_deref(),
                defaults: None,
                after: 0,
            };
            yaml_rule::report(error, &unit, path, self.sink);
        }
    }

    fn document(&mut self, file: &'a File<'a>, index: usize, document: &'a Document) {
        let root = &document.root;
        let mut unit = self.unit(file, index, root);
        unit.after = document.span.start as usize;
        let entries = match &root.kind {
            Kind::Null => return,
            Kind::Broken => {
                self.project.ids_incomplete = true;
                return;
            }
            Kind::Mapping(entries) => entries,
            kind => {
                let span = unit.first_line();
                let (message, help) = match kind {
                    Kind::List(_) => (
                        "This document is a bare list.",
                        "Put the cases under `cases:`, or the overlays under `overlays:`.",
                    ),
                    _ => (
                        "This document is one single value.",
                        "Write a case list (`cases:`), a case (`id:` and `input:`) or an overlay list (`overlays:`).",
                    ),
                };
                rule::report(&unit, span, "", message, help, self.sink);
                return;
            }
        };
        let has = |key: &str| root.entry(key);
        let single = has("id").is_some() || has("input").is_some();
        let registry = has("fixtures").filter(|_| !single);
        let lists: Vec<&Entry> = [has("cases"), has("overlays"), registry]
            .into_iter()
            .flatten()
            .collect();
        if let Some(second) = lists.get(1) {
            let message = "This document holds two kinds of things.";
            let help = "Put each into a document of its own; `---` starts one.";
            let path = format!("/{}", second.key);
            rule::report(&unit, second.key_span, &path, message, help, self.sink);
            return;
        }
        match lists.first().map(|entry| (&*entry.key, *entry)) {
            Some(("cases", entry)) if !single => self.case_list(file, &unit, entry),
            Some(("overlays", entry)) if !single => self.overlay_list(file, &unit, entry),
            Some((_, entry)) if !single => self.registry(file, &unit, entry),
            _ if single => self.single(unit, document),
            _ if document.damaged => self.project.ids_incomplete = true,
            _ => no_kind(&unit, entries, self.sink),
        }
    }

    fn case_list(&mut self, file: &'a File<'a>, list: &Unit<'a>, cases: &'a Entry) {
        let items = cases.value.list().unwrap_or_default();
        if file.json && items.iter().any(is_gate_case) {
            let message = "This is a dataset in the gate notation (`messages`, `expect`, `judge`).";
            let help = "This version reads cases with `input` only, and the gate notation is read by a later version. \
                        Name the file in `.evalkitignore` to leave it out.";
            rule::report(list, cases.key_span, "/cases", message, help, self.sink);
            return;
        }
        let root = Path::root("");
        shape::check(list.node, &language::CASE_LIST, root, list, self.sink);
        value::check_defaults(list, self.sink);
        let mut after = cases.key_span.end as usize;
        for (i, item) in items.iter().enumerate() {
            let mut unit = self.unit(file, list.document, item);
            unit.pointer = format!("/cases/{i}");
            unit.defaults = list.node.get("defaults");
            unit.after = after;
            after = item.span.end as usize;
            if item.kind == Kind::Broken {
                match find_id(file.source.slice(item.span)) {
                    Some(id) => {
                        self.project.broken_ids.insert(id.to_owned());
                    }
                    None => self.project.ids_incomplete = true,
                }
                continue;
            }
            unit.id = item.get("id").and_then(Node::text);
            self.case(unit);
        }
    }

    fn case(&mut self, unit: Unit<'a>) {
        if self.project.cases.len() >= limits::CASES {
            if !self.full {
                self.full = true;
                let span = unit.first_line();
                let error = limits::exceeded(span, "20,000 cases a dataset", "Split the dataset.");
                let path = unit.pointer.clone();
                yaml_rule::report(error, &unit, path, self.sink);
            }
            return;
        }
        let root = Path::root(&unit.pointer);
        shape::check(unit.node, &language::CASE, root, &unit, self.sink);
        self.project.cases.push(unit);
    }

    fn single(&mut self, mut unit: Unit<'a>, document: &'a Document) {
        if document.damaged {
            match unit.node.get("id").and_then(Node::text) {
                Some(id) => {
                    self.project.broken_ids.insert(id.to_owned());
                }
                None => self.project.ids_incomplete = true,
            }
            return;
        }
        unit.id = unit.node.get("id").and_then(Node::text);
        self.case(unit);
    }

    fn overlay_list(&mut self, file: &'a File<'a>, list: &Unit<'a>, overlays: &'a Entry) {
        let root = Path::root("");
        shape::check(list.node, &language::OVERLAY_LIST, root, list, self.sink);
        value::check_defaults(list, self.sink);
        let mut after = overlays.key_span.end as usize;
        for (i, item) in overlays.value.list().unwrap_or_default().iter().enumerate() {
            let mut unit = self.unit(file, list.document, item);
            unit.pointer = format!("/overlays/{i}");
            unit.defaults = list.node.get("defaults");
            unit.after = after;
            after = item.span.end as usize;
            if item.kind == Kind::Broken {
                continue;
            }
            unit.id = item.get("extends").and_then(Node::text);
            let root = Path::root(&unit.pointer);
            shape::check(item, &language::OVERLAY, root, &unit, self.sink);
            self.project.overlays.push(unit);
        }
    }

    fn registry(&mut self, file: &'a File<'a>, list: &Unit<'a>, fixtures: &'a Entry) {
        if !file.registry {
            let message = "A fixture registry stands in a file named `fixtures.yaml`.";
            let help = "Move it there. Several such files, in several folders, merge.";
            rule::report(
                list,
                fixtures.key_span,
                "/fixtures",
                message,
                help,
                self.sink,
            );
            return;
        }
        self.project.registry_known = true;
        let root = Path::root("");
        shape::check(list.node, &language::REGISTRY, root, list, self.sink);
        for entry in fixtures.value.mapping().unwrap_or_default() {
            let mut unit = self.unit(file, list.document, &entry.value);
            unit.pointer = format!("/fixtures/{}", escape_pointer(&entry.key));
            let root = Path::root(&unit.pointer);
            shape::check(&entry.value, &language::FIXTURE, root, &unit, self.sink);
            self.project.fixtures.push(Fixture {
                unit,
                key: &entry.key,
                key_span: entry.key_span,
            });
        }
    }
}

fn no_kind(unit: &Unit<'_>, entries: &[Entry], sink: &mut Sink) {
    let Some(first) = entries.first() else {
        let message = "This document is an empty mapping.";
        let help = "Write `cases:`, or remove it.";
        rule::report(unit, unit.first_line(), "", message, help, sink);
        return;
    };
    let near = entries.iter().find_map(|entry| {
        let near = nearest(&entry.key, ["cases", "overlays", "fixtures"])?;
        Some((entry, near))
    });
    let message = "This document is no case list, single case, overlay list or fixture registry.";
    let (entry, help) = match near {
        Some((entry, near)) => (entry, format!("Did you mean `{near}`?")),
        None if unit.node.get("extends").is_some() => (
            first,
            "This looks like an overlay: put it into a list under `overlays:`.".to_owned(),
        ),
        None => (
            first,
            "Write `cases:`, `overlays:`, or a case with `id:` and `input:`. A file that is something else can be named in `.evalkitignore`."
                .to_owned(),
        ),
    };
    let path = format!("/{}", escape_pointer(&entry.key));
    rule::report(unit, entry.key_span, &path, message, &help, sink);
}

fn is_gate_case(item: &Node) -> bool {
    item.get("messages").is_some() && item.get("input").is_none()
}

/// The id of the case that a pointer leads into, or of the document when it is a single case.
fn case_id_at(root: &Node, path: &str, source: &Source<'_>) -> Option<String> {
    let item = path
        .strip_prefix("/cases/")
        .and_then(|rest| rest.split('/').next()?.parse::<usize>().ok())
        .and_then(|index| root.get("cases")?.list()?.get(index));
    let node = item.or_else(|| root.get("id").map(|_| root))?;
    match &node.kind {
        Kind::Broken => find_id(source.slice(node.span)).map(str::to_owned),
        _ => node.get("id").and_then(Node::text).map(str::to_owned),
    }
    .filter(|id| is_case_id(id))
}

/// The id that broken text seems to hold.
fn find_id(text: &str) -> Option<&str> {
    for (at, _) in text.match_indices("id") {
        let before = text[..at].chars().next_back();
        if !before.is_none_or(|c| c.is_whitespace() || matches!(c, '{' | ',' | '"' | '\'' | '-')) {
            continue;
        }
        let rest = text[at + 2..].trim_start_matches(['"', '\'']);
        let Some(rest) = rest.trim_start_matches(' ').strip_prefix(':') else {
            continue;
        };
        let rest = rest.trim_start_matches([' ', '"', '\'']);
        let end = rest
            .find(|c: char| c.is_whitespace() || matches!(c, ',' | '}' | '"' | '\''))
            .unwrap_or(rest.len());
        return Some(&rest[..end]).filter(|id| is_case_id(id));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::find_id;

    #[test]
    fn ids_are_made_out_in_broken_text() {
        assert_eq!(find_id("- id: abc\n  input: \"x"), Some("abc"));
        assert_eq!(find_id("{\"id\": \"abc\", \"x"), Some("abc"));
        assert_eq!(find_id("idle: 1\ngrid: 2\nid : 'a.b' # c"), Some("a.b"));
        assert_eq!(find_id("id: [x"), None);
        assert_eq!(find_id("tags: [a]"), None);
    }
}
