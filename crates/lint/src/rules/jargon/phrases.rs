//! Tier 2: phrases that mean the machinery alone.

use std::ops::Range;

use crate::prose::{Part, Word};

/// Two words that mean the machinery, the second in the singular.
const PAIRS: &[(&str, &str)] = &[
    ("tool", "call"),
    ("tool", "result"),
    ("tool", "output"),
    ("tool", "invocation"),
    ("tool", "response"),
    ("tool", "calling"),
    ("function", "call"),
    ("function", "calling"),
    ("mcp", "server"),
    ("mcp", "tool"),
    ("mcp", "client"),
    ("system", "prompt"),
    ("developer", "prompt"),
    ("system", "message"),
    ("context", "window"),
];

/// Sellers of data, in words.
const VENDORS: &[&[&str]] = &[
    &["bloomberg"],
    &["factset"],
    &["refinitiv"],
    &["eikon"],
    &["morningstar"],
    &["capital", "iq"],
    &["capiq"],
    &["pitchbook"],
    &["crunchbase"],
    &["yahoo", "finance"],
    &["alpha", "vantage"],
    &["lseg"],
];

/// Agents and models that are products.
const PRODUCTS: &[&str] = &[
    "claude",
    "chatgpt",
    "gemini",
    "copilot",
    "grok",
    "llama",
    "deepseek",
    "openai",
    "anthropic",
];

/// What an agent does in a sentence about its run.
pub(super) const ACTS: &[&str] = &[
    "should",
    "must",
    "has",
    "needs",
    "ought",
    "shall",
    "retrieves",
    "looks",
    "states",
    "answers",
    "replies",
    "responds",
    "calculates",
    "finds",
    "calls",
    "uses",
    "refuses",
    "explains",
    "asks",
    "fetches",
    "searches",
    "reads",
    "checks",
    "returns",
    "reports",
    "summarises",
    "summarizes",
    "correctly",
    "cites",
    "queries",
    "invokes",
    "decides",
    "declines",
];

/// Verbs that open a sentence about a run.
pub(super) const RUNS: &[&str] = &[
    "retrieves",
    "fetches",
    "gets",
    "pulls",
    "finds",
    "obtains",
    "looks",
    "takes",
    "reads",
    "confirms",
    "sends",
    "requests",
    "queries",
    "downloads",
    "extracts",
    "switches",
    "retrieve",
    "fetch",
    "get",
    "pull",
    "find",
    "obtain",
    "submits",
    "passes",
    "sources",
    "quotes",
];

/// Words of a run, near which "trajectory" is its record.
const OF_A_RUN: &[&str] = &[
    "answer", "reply", "response", "step", "steps", "opened", "call", "calls", "called",
    "searched", "fetched", "queried", "tool", "tools", "agent", "run", "looked",
];

pub(super) fn find(text: &str, words: &[Word<'_>], part: Part) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for i in 0..words.len() {
        let end = pair(words, i)
            .or_else(|| subagent(words, i))
            .or_else(|| the_skill(words, i))
            .or_else(|| trajectory(words, i))
            .or_else(|| vendor(text, words, i, part))
            .or_else(|| product(text, words, i));
        found.extend(end.map(|(from, to)| words[from].start..words[to].end));
    }
    found
}

fn at<'w>(words: &'w [Word<'_>], i: usize) -> &'w str {
    words.get(i).map_or("", |word| word.lower.as_str())
}

fn before<'w>(words: &'w [Word<'_>], i: usize, n: usize) -> &'w str {
    i.checked_sub(n).map_or("", |i| at(words, i))
}

fn singular(word: &str) -> &str {
    let word = word.strip_suffix("'s").unwrap_or(word);
    word.strip_suffix('s')
        .filter(|rest| !rest.ends_with('s'))
        .unwrap_or(word)
}

fn pair(words: &[Word<'_>], i: usize) -> Option<(usize, usize)> {
    let word = at(words, i);
    if let Some((first, second)) = word.split_once('-')
        && PAIRS.contains(&(first, singular(second)))
    {
        return Some((i, i));
    }
    let next = singular(at(words, i + 1));
    PAIRS.contains(&(word, next)).then_some((i, i + 1))
}

fn subagent(words: &[Word<'_>], i: usize) -> Option<(usize, usize)> {
    let word = singular(at(words, i));
    if word == "subagent" {
        return Some((i, i));
    }
    // Law and insurance know sub-agents too; nobody spawns those.
    let starts = (1..=4).find(|n| {
        matches!(
            before(words, i, *n),
            "spawns"
                | "spawn"
                | "launches"
                | "launch"
                | "spins"
                | "forks"
                | "dispatches"
                | "starts"
                | "delegates"
        )
    })?;
    (word == "sub-agent").then(|| (i - starts, i))
}

fn the_skill(words: &[Word<'_>], i: usize) -> Option<(usize, usize)> {
    if at(words, i) != "skill" || before(words, i, 1) != "the" {
        return None;
    }
    let verb = before(words, i, 2);
    let used = matches!(
        verb,
        "follows"
            | "follow"
            | "loads"
            | "load"
            | "invokes"
            | "runs"
            | "triggers"
            | "activates"
            | "executes"
            | "opens"
            | "reads"
    );
    let speaks = matches!(
        at(words, i + 1),
        "says" | "tells" | "instructs" | "file" | "instructions" | "definition"
    );
    if used {
        Some((i - 2, i))
    } else {
        speaks.then(|| (i - 1, i + 1))
    }
}

fn trajectory(words: &[Word<'_>], i: usize) -> Option<(usize, usize)> {
    if !matches!(at(words, i), "trajectory" | "trajectories") {
        return None;
    }
    let own = matches!(
        before(words, i, 1),
        "the"
            | "a"
            | "its"
            | "this"
            | "each"
            | "whole"
            | "full"
            | "entire"
            | "every"
            | "agent's"
            | "any"
    );
    let elsewhere = at(words, i + 1) == "of";
    let near = words.iter().any(|word| word.is(OF_A_RUN));
    (own && !elsewhere && near).then(|| (i - 1, i))
}

fn vendor(text: &str, words: &[Word<'_>], i: usize, part: Part) -> Option<(usize, usize)> {
    if part == Part::Source {
        return None;
    }
    let name = VENDORS.iter().find(|name| {
        words.get(i..i + name.len()).is_some_and(|found| {
            found
                .iter()
                .zip(**name)
                .all(|(word, wanted)| word.lower == *wanted)
        })
    })?;
    let last = i + name.len() - 1;
    let article = usize::from(before(words, i, 1) == "the");
    let way = before(words, i, 1 + article);
    let from = i.checked_sub(1 + article)?;
    let means = matches!(
        way,
        "via" | "through" | "using" | "queries" | "query" | "querying" | "calls"
    );
    let fetched = way == "from"
        && (words[..i].iter().any(|word| word.is(RUNS))
            || matches!(at(words, last + 1), "via" | "through"));
    // "from FactSet's annual report" is about the firm.
    let firm = text[words[last].end..].starts_with(['\'', '’'])
        || matches!(at(words, last + 1), "l" | "inc" | "plc");
    ((means || fetched) && !firm).then_some((from, last))
}

fn product(text: &str, words: &[Word<'_>], i: usize) -> Option<(usize, usize)> {
    let word = at(words, i);
    let name = PRODUCTS.contains(&word) || word.starts_with("gpt-") && word.len() > 4;
    if !name {
        return None;
    }
    let follows = at(words, i + 1);
    // A modal speaks of what the agent has to do; other verbs only where the sentence begins with the name.
    let opens = i == 0
        || text[..words[i].start]
            .trim_end()
            .ends_with(['.', '!', '?', ':']);
    let obliged = matches!(follows, "should" | "must" | "ought")
        || follows == "has" && at(words, i + 2) == "to";
    let acts = opens && ACTS.contains(&follows) && follows != "has";
    if obliged || acts {
        return Some((i, i + 1));
    }
    matches!(before(words, i, 1), "hey" | "hi" | "hello" | "dear")
        .then_some((i.saturating_sub(1), i))
}
