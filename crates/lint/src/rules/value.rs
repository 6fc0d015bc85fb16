//! `E-VALUE`: a value of the right kind that cannot be meant.

use evalkit_core::name::is_slug;

use super::{Example, Rule};
use crate::Severity;
use crate::diagnostic::{Edit, Fix};
use crate::nearest::nearest;
use crate::node::{Kind, Node};
use crate::project::{Fixture, Project, Sink, Unit};
use crate::source::Span;
use crate::splice;

pub(crate) const RULE: Rule = Rule {
    code: "E-VALUE",
    severity: Severity::Error,
    what: "A value is out of its range: a time limit of zero, an empty list of rubrics, an unknown role, a malformed hash, ….",
    why: "The case would run and grade something that nobody meant.",
    bad: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nmax_response_time: 0\n",
        )],
        facts: "",
    },
    good: Example {
        files: &[(
            "cases.yaml",
            "id: tower-height\ninput: {question: \"How tall is the tower?\"}\nmax_response_time: 60\n",
        )],
        facts: "",
    },
};

/// A unit with the sink, for short reports.
struct Check<'a, 'b> {
    unit: &'a Unit<'b>,
    sink: &'a mut Sink,
}

impl Check<'_, '_> {
    fn report(&mut self, span: Span, path: &str, message: impl Into<String>, help: &str) {
        let path = self.unit.pointer_to(path);
        self.sink
            .report(&RULE, self.unit, span, path, message, help);
    }

    fn positive(&mut self, node: Option<&Node>, path: &str) {
        let Some(node) = node else { return };
        if node.number().is_some_and(|n| !(n > 0.0 && n.is_finite())) {
            let help = "Write how many seconds the answer may take.";
            self.report(
                node.span,
                path,
                "`max_response_time` must be above zero.",
                help,
            );
        }
    }

    /// A text that says something.
    fn filled(&mut self, node: Option<&Node>, path: &str, name: &str) {
        let Some(node) = node else { return };
        if node.text().is_some_and(|text| text.trim().is_empty()) {
            let message = format!("{name} is empty.");
            self.report(node.span, path, message, "Write it, or remove the field.");
        }
    }

    /// A list of texts that each say something.
    fn filled_list(&mut self, node: Option<&Node>, path: &str, name: &str) {
        let items = node.and_then(Node::list).unwrap_or_default();
        for (i, item) in items.iter().enumerate() {
            self.filled(Some(item), &format!("{path}/{i}"), name);
        }
    }

    fn not_empty(&mut self, node: Option<&Node>, path: &str, message: &str, help: &str) {
        if let Some(node) = node
            && node.list().is_some_and(<[Node]>::is_empty)
        {
            self.report(node.span, path, message, help);
        }
    }

    fn one_of(&mut self, node: Option<&Node>, path: &str, name: &str, allowed: &[&str]) {
        let Some(node) = node else { return };
        let Some(text) = node.text().filter(|text| !allowed.contains(text)) else {
            return;
        };
        let all: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
        let help = match nearest(text, allowed.iter().copied()) {
            Some(near) => format!("Did you mean `{near}`? It is one of {}.", all.join(", ")),
            None => format!("It is one of {}.", all.join(", ")),
        };
        let shown: String = text.chars().take(60).collect();
        let message = format!("`{shown}` is not {name}.");
        self.report(node.span, path, message, &help);
    }
}

/// The values of a case.
pub(crate) fn check_case(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    let node = unit.node;
    let mut check = Check { unit, sink };
    check.positive(node.get("max_response_time"), "/max_response_time");
    check.filled_list(node.get("tags"), "/tags", "The tag");
    input(node, &mut check);
    evaluators(node, &mut check);
    if let Some(expect) = node.get("expect") {
        expectations(expect, &mut check);
    }
    let approvals = node.get("approvals").and_then(Node::list);
    for (i, item) in approvals.unwrap_or_default().iter().enumerate() {
        let path = format!("/approvals/{i}");
        let decision = item.get("decision");
        let at = format!("{path}/decision");
        check.one_of(decision, &at, "a decision", &["approve", "reject"]);
        approval_match(item.get("match"), &format!("{path}/match"), &mut check);
    }
    not_finite(node, String::new(), &mut check);
}

fn input(node: &Node, check: &mut Check<'_, '_>) {
    let question = node.at(&["input", "question"]);
    check.filled(question, "/input/question", "The question");
    let messages = node.at(&["input", "messages"]);
    let help = "Write at least one entry with `role: user`.";
    check.not_empty(messages, "/input/messages", "`messages` is empty.", help);
    let Some(items) = messages
        .and_then(Node::list)
        .filter(|items| !items.is_empty())
    else {
        return;
    };
    for (i, item) in items.iter().enumerate() {
        let path = format!("/input/messages/{i}/role");
        let role = item.get("role");
        check.one_of(role, &path, "a role", &["user", "system", "assistant"]);
    }
    let user = items.iter().any(|item| {
        item.kind == Kind::Broken || item.get("role").and_then(Node::text) == Some("user")
    });
    if !user && let Some(messages) = messages {
        let span = check.unit.source.first_line(messages.span);
        check.report(
            span,
            "/input/messages",
            "No message is from a user, so nothing would be asked.",
            help,
        );
    }
}

fn evaluators(node: &Node, check: &mut Check<'_, '_>) {
    let base = "/evaluators/output/answer_rubrics/rubrics";
    let rubrics = node.at(&["evaluators", "output", "answer_rubrics", "rubrics"]);
    let help = "Write at least one rubric, or remove `answer_rubrics`.";
    check.not_empty(rubrics, base, "The list of rubrics is empty.", help);
    for (i, rubric) in rubrics
        .and_then(Node::list)
        .unwrap_or_default()
        .iter()
        .enumerate()
    {
        check.filled(
            rubric.get("rubric"),
            &format!("{base}/{i}/rubric"),
            "The rubric",
        );
        check.filled(
            rubric.get("source"),
            &format!("{base}/{i}/source"),
            "The source",
        );
    }
    let base = "/evaluators/trajectory/trajectory_rubrics/rubrics";
    let rubrics = node.at(&["evaluators", "trajectory", "trajectory_rubrics", "rubrics"]);
    let help = "Write at least one rubric, or remove `trajectory_rubrics`.";
    check.not_empty(rubrics, base, "The list of rubrics is empty.", help);
    check.filled_list(rubrics, base, "The rubric");
    presentation(node, check);
}

fn presentation(node: &Node, check: &mut Check<'_, '_>) {
    let base = "/evaluators/output/presentation_judge";
    let Some(entry) = node
        .at(&["evaluators", "output"])
        .and_then(|output| output.entry("presentation_judge"))
    else {
        return;
    };
    let judge = &entry.value;
    let mut entries = 0;
    let mut lists = Vec::new();
    if judge.list().is_some() {
        lists.push((judge, base.to_owned()));
    } else {
        for name in ["require", "forbid"] {
            let list = judge.get(name).map(|node| (node, format!("{base}/{name}")));
            lists.extend(list);
        }
    }
    let help = "Write at least one entry under `require` or `forbid`, or remove it.";
    for (list, path) in &lists {
        entries += list.list().map_or(1, <[Node]>::len);
        check.filled_list(Some(list), path, "The entry");
    }
    if entries == 0 && (judge.mapping().is_some() || judge.list().is_some()) {
        let message = "`presentation_judge` has no entry.";
        check.report(entry.key_span, base, message, help);
    }
}

fn expectations(expect: &Node, check: &mut Check<'_, '_>) {
    check.one_of(
        expect.get("scope"),
        "/expect/scope",
        "a scope",
        &["final_turn", "all_turns"],
    );
    let holds = |key: &str| {
        expect
            .get(key)
            .is_some_and(|node| !matches!(node.kind, Kind::Null | Kind::Bool(false)))
    };
    let calls = expect.get("tool_calls").and_then(Node::list);
    if holds("no_tool_calls")
        && calls.is_some_and(|calls| !calls.is_empty())
        && let Some(entry) = expect.entry("no_tool_calls")
    {
        let help = "Keep one of the two.";
        let message = "`no_tool_calls` contradicts `tool_calls`.";
        check.report(entry.key_span, "/expect/no_tool_calls", message, help);
    }
    if holds("no_approvals")
        && holds("approvals")
        && let Some(entry) = expect.entry("no_approvals")
    {
        let help = "Keep one of the two.";
        let message = "`no_approvals` contradicts `approvals`.";
        check.report(entry.key_span, "/expect/no_approvals", message, help);
    }
    let approvals = expect.get("approvals");
    let help = "Write at least one entry, or remove it.";
    check.not_empty(
        approvals,
        "/expect/approvals",
        "`approvals` is empty.",
        help,
    );
    let approvals = approvals.and_then(Node::list).unwrap_or_default();
    for (i, item) in approvals.iter().enumerate() {
        let path = format!("/expect/approvals/{i}");
        check.one_of(
            item.get("status"),
            &format!("{path}/status"),
            "a status",
            &["gated", "approved", "rejected"],
        );
        approval_match(item.get("match"), &format!("{path}/match"), check);
    }
}

/// `gate.md` 5: what names a gated call.
fn approval_match(node: Option<&Node>, path: &str, check: &mut Check<'_, '_>) {
    let Some(node) = node.filter(|node| node.mapping().is_some()) else {
        return;
    };
    for key in ["api", "operation_id", "method", "path"] {
        let name = format!("`{key}`");
        check.filled(node.get(key), &format!("{path}/{key}"), &name);
    }
    let has = |key: &str| node.get(key).is_some();
    let named = has("operation_id") || (has("method") && has("path"));
    if !named || has("method") != has("path") {
        let span = check.unit.source.first_line(node.span);
        let message = "This names no call.";
        let help = "Give `operation_id`, or `method` and `path` together.";
        check.report(span, path, message, help);
    }
    if let Some(method) = node.get("method")
        && let Some(text) = method.text()
        && !["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
            .contains(&&*text.to_ascii_uppercase())
    {
        let shown: String = text.chars().take(20).collect();
        let message = format!("`{shown}` is not a method.");
        let help = "It is one of GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS.";
        check.report(method.span, &format!("{path}/method"), message, help);
    }
}

/// `.inf` and `.nan` anywhere: JSON cannot hold them, so results could not carry them.
fn not_finite(node: &Node, path: String, check: &mut Check<'_, '_>) {
    match &node.kind {
        Kind::NotFinite(_) if path != "/max_response_time" => {
            let message = "This is not a number that can be stored.";
            check.report(
                node.span,
                &path,
                message,
                "Write a finite number, or put it in quotes.",
            );
        }
        Kind::List(items) => {
            for (i, item) in items.iter().enumerate().filter(|(_, item)| may_hold(item)) {
                not_finite(item, format!("{path}/{i}"), check);
            }
        }
        Kind::Mapping(entries) => {
            for entry in entries.iter().filter(|entry| may_hold(&entry.value)) {
                let key = crate::node::escape_pointer(&entry.key);
                not_finite(&entry.value, format!("{path}/{key}"), check);
            }
        }
        _ => {}
    }
}

fn may_hold(node: &Node) -> bool {
    matches!(
        node.kind,
        Kind::NotFinite(_) | Kind::List(_) | Kind::Mapping(_)
    )
}

/// The values of an overlay.
pub(crate) fn check_overlay(unit: &Unit<'_>, _: &Project<'_>, sink: &mut Sink) {
    Check { unit, sink }.filled_list(unit.node.get("tags"), "/tags", "The tag");
    let own = unit.node.get("agents");
    let Some(agents) = own.and_then(Node::list) else {
        return not_finite(unit.node, String::new(), &mut Check { unit, sink });
    };
    for (i, agent) in agents.iter().enumerate() {
        check_agent(agent, &unit.pointer_to(&format!("/agents/{i}")), unit, sink);
    }
    not_finite(unit.node, String::new(), &mut Check { unit, sink });
}

/// An agent of an overlay: a bare name (`cases.md`, Overlays).
pub(crate) fn check_agent(node: &Node, pointer: &str, unit: &Unit<'_>, sink: &mut Sink) {
    let Some(name) = node.text().filter(|name| !is_slug(name)) else {
        return;
    };
    let bare = name
        .split_once('@')
        .map(|(bare, _)| bare)
        .filter(|bare| is_slug(bare));
    let (message, help) = match bare {
        Some(bare) => (
            format!("`{name}` names a workspace, and an overlay takes the bare name."),
            format!("Write `{bare}`; it covers that agent in every workspace."),
        ),
        None => {
            let shown: String = name.chars().take(80).collect();
            (
                format!("`{shown}` is not an agent's name."),
                "An agent's name has lower-case letters, digits and `-`, at most 63.".to_owned(),
            )
        }
    };
    let inline = splice::is_inline(unit.source, node.span);
    let diagnostic = sink.report(&RULE, unit, node.span, pointer.to_owned(), message, help);
    diagnostic.fix = bare.filter(|_| inline).map(|bare| Fix {
        title: format!("Write `{bare}`"),
        safe: true,
        edits: vec![Edit::new(node.span, splice::quoted(bare))],
    });
}

/// The `defaults` of a document, which no single case or overlay is to blame for.
pub(crate) fn check_defaults(unit: &Unit<'_>, sink: &mut Sink) {
    let Some(defaults) = unit.node.get("defaults") else {
        return;
    };
    let time = defaults.get("max_response_time");
    Check { unit, sink }.positive(time, "/defaults/max_response_time");
    let agents = defaults.get("agents").and_then(Node::list);
    for (i, agent) in agents.unwrap_or_default().iter().enumerate() {
        check_agent(agent, &format!("/defaults/agents/{i}"), unit, sink);
    }
}

/// The values of a registry entry.
pub(crate) fn check_fixture(fixture: &Fixture<'_>, _: &Project<'_>, sink: &mut Sink) {
    let unit = &fixture.unit;
    let mut check = Check { unit, sink };
    check.filled(unit.node.get("context"), "/context", "The context");
    let Some(node) = unit.node.get("sha256") else {
        return;
    };
    if node.text().is_some_and(|text| !is_sha256(text)) {
        let message = "This is not a SHA-256.";
        let help = "Write 64 hex digits; `evalkit fixture add FILE` works them out.";
        check.report(node.span, "/sha256", message, help);
    }
}

/// 64 hex digits.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_hexdigit())
}
