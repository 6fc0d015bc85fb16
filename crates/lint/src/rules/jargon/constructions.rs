//! Tier 3: everyday words, in a construction that speaks of the machinery.

use std::ops::Range;

use super::names::Vocabulary;
use super::phrases::{ACTS, RUNS};
use crate::prose::{Part, Word};

/// Verbs that use a thing of the machinery, when the sentence begins with them.
const USES: &[&str] = &[
    "uses", "use", "using", "invokes", "invoke", "invoking", "calls", "call", "calling", "queries",
    "query", "querying", "hits", "hit", "runs", "run", "triggers", "trigger", "loads", "load",
    "consults", "executes", "accesses", "pings", "employs", "applies",
];

/// Verbs by which a thing is only ever machinery.
const CALLS: &[&str] = &[
    "invokes", "invoke", "calls", "call", "queries", "query", "hits", "hit", "pings",
];

const HEADS: &[&str] = &[
    "tool", "skill", "server", "plugin", "plug-in", "api", "endpoint", "llm",
];

/// Words after which the noun before them is the head, not a part of a longer noun.
const CLOSES: &[&str] = &[
    "", "and", "or", "to", "for", "with", "once", "twice", "before", "after", "when", "at", "in",
    "on", "from", "of", "that", "which", "until", "over", "again", "first", "as", "but", "by",
    "then", "if", "no", "only", "exactly", "rather", "instead", "while", "because", "more",
    "without", "so", "is", "has",
];

const SMALL: &[&str] = &[
    "of", "for", "from", "in", "at", "on", "by", "with", "to", "and", "or", "that", "which", "as",
    "before", "after", "when", "is", "was", "are", "were",
];

pub(super) fn find(
    text: &str,
    words: &[Word<'_>],
    part: Part,
    vocabulary: &Vocabulary,
) -> Vec<Range<usize>> {
    let sentence = Sentence {
        text,
        words,
        part,
        vocabulary,
    };
    let mut found = Vec::new();
    for i in 0..words.len() {
        let hit = sentence
            .uses(i)
            .or_else(|| sentence.by_means(i))
            .or_else(|| sentence.actor(i))
            .or_else(|| sentence.prompt(i))
            .or_else(|| sentence.retrieval(i))
            .or_else(|| sentence.output(i));
        found.extend(hit.map(|(from, to)| words[from].start..words[to].end));
    }
    found.extend(
        sentence
            .source()
            .map(|(from, to)| words[from].start..words[to].end),
    );
    found
}

struct Sentence<'s> {
    text: &'s str,
    words: &'s [Word<'s>],
    part: Part,
    vocabulary: &'s Vocabulary,
}

type Hit = Option<(usize, usize)>;

impl Sentence<'_> {
    fn at(&self, i: usize) -> &str {
        self.words.get(i).map_or("", |word| word.lower.as_str())
    }

    fn before(&self, i: usize, n: usize) -> &str {
        i.checked_sub(n).map_or("", |i| self.at(i))
    }

    /// Whether a sign that ends a clause stands between a word and the next, or nothing follows.
    fn stops(&self, i: usize) -> bool {
        let Some(word) = self.words.get(i) else {
            return true;
        };
        let end = self
            .words
            .get(i + 1)
            .map_or(self.text.len(), |next| next.start);
        self.text[word.end..end].contains(['.', ',', ';', ':', '!', '?', ')', '(', '"', '”'])
    }

    /// Whether a sentence begins at a word, or its verb follows on "and" and "then".
    fn opens(&self, i: usize) -> bool {
        if i == 0 {
            return true;
        }
        let gap = self.text[self.words[i - 1].end..self.words[i].start].trim();
        gap.ends_with(['.', '!', '?', ';', '(', ':']) || self.before(i, 1) == "please"
    }

    fn goes_on(&self, i: usize) -> bool {
        matches!(self.before(i, 1), "and" | "then") && self.words[0].is(RUNS)
    }

    /// A head noun of the machinery within four words of `from`, past an article and modifiers; `bare` allows none.
    fn head(&self, from: usize, bare: bool) -> Option<usize> {
        let mut i = from;
        if matches!(self.at(i), "the" | "a" | "an" | "its" | "this" | "that") {
            i += 1;
        }
        let first = i;
        while i < first + 4 {
            let word = self.at(i);
            if word.is_empty() || SMALL.contains(&word) {
                return None;
            }
            let plural = word.strip_suffix('s').unwrap_or(word);
            let head = HEADS.contains(&word) || HEADS.contains(&plural) && word.len() > 3;
            if head && (CLOSES.contains(&self.at(i + 1)) || self.stops(i)) {
                return (bare || i > first).then_some(i);
            }
            if self.stops(i) {
                return None;
            }
            i += 1;
        }
        None
    }

    /// "Uses the pricing tool", "Calls search with …".
    fn uses(&self, i: usize) -> Hit {
        let verb = self.at(i);
        if !USES.contains(&verb) {
            if matches!(verb, "selects" | "chooses" | "picks")
                && self.opens(i)
                && self.part == Part::Trajectory
                || verb == "selects" && self.opens(i)
            {
                let head = self.head(i + 1, false)?;
                let choice = matches!(
                    self.before(head, 1),
                    "right" | "correct" | "appropriate" | "wrong" | "best" | "suitable"
                );
                return (self.at(head).starts_with("tool") && choice).then_some((i, head));
            }
            return None;
        }
        if !self.opens(i) && !self.goes_on(i) {
            return None;
        }
        let name = self.at(i + 1);
        let direct = self.vocabulary.everyday.contains(name)
            && (CALLS.contains(&verb) || matches!(verb, "uses" | "use" | "runs" | "run" | "using"))
            && (CLOSES.contains(&self.at(i + 2)) || self.stops(i + 1));
        if direct {
            return Some((i, i + 1));
        }
        // "Use the belt sander tool" is advice where an answer is quoted.
        if self.part == Part::Expected && verb == "use" {
            return None;
        }
        self.head(i + 1, matches!(self.part, Part::Trajectory))
            .map(|head| (i, head))
    }

    /// "Retrieves … via the scheduling server", "is found with the calculator tool".
    fn by_means(&self, i: usize) -> Hit {
        let way = self.at(i);
        if !matches!(
            way,
            "with" | "via" | "through" | "by" | "from" | "to" | "using"
        ) {
            return None;
        }
        let run = self.words[0].is(RUNS);
        let found = matches!(
            self.before(i, 1),
            "found" | "obtained" | "taken" | "computed" | "calculated" | "fetched" | "retrieved"
        ) && self.words[..i]
            .iter()
            .any(|word| word.is(&["answer", "figure", "result", "value", "number"]));
        if !run && !found {
            return None;
        }
        if let Some(head) = self.head(i + 1, false) {
            return Some((i, head));
        }
        // "from the market data provider", "to the second data provider"
        (i + 2..i + 6)
            .find(|at| self.at(*at) == "provider" && self.before(*at, 1) == "data")
            .filter(|at| CLOSES.contains(&self.at(at + 1)) || self.stops(*at))
            .map(|at| (i, at))
    }

    /// "The agent should …", "The LLM correctly …", "the model should refuse".
    fn actor(&self, i: usize) -> Hit {
        const SPEAKS: &[&str] = &[
            "refuse",
            "answer",
            "say",
            "state",
            "name",
            "ask",
            "reply",
            "respond",
            "explain",
            "decline",
            "not",
            "mention",
            "recognise",
            "recognize",
            "admit",
            "apologise",
            "apologize",
            "cite",
        ];
        const NOTES: &[&str] = &[
            "notes",
            "answer",
            "reply",
            "response",
            "output",
            "steps",
            "reasoning",
            "message",
            "messages",
            "thinking",
            "intermediate",
            "final",
            "first",
            "last",
        ];
        if self.before(i, 1) != "the" {
            if matches!(self.at(i), "prompts" | "prompt")
                && self.at(i + 1) == "the"
                && matches!(self.at(i + 2), "model" | "agent" | "llm")
            {
                return Some((i, i + 2));
            }
            return None;
        }
        let opens = i >= 1 && self.opens(i - 1);
        let next = self.at(i + 1);
        let hit = match self.at(i) {
            "agent" => next == "should" || opens && ACTS.contains(&next),
            "model" => {
                matches!(next, "should" | "must")
                    && SPEAKS.contains(&self.at(i + 2))
                    && opens
                    && (self.at(i + 2) != "not" || SPEAKS.contains(&self.at(i + 3)))
            }
            "llm" => opens || matches!(next, "should" | "must"),
            "agent's" => opens && NOTES.contains(&next),
            _ => false,
        };
        hit.then(|| (i - 1, i + 1))
            .filter(|(_, to)| *to < self.words.len())
    }

    /// "follows the prompt", "contradict the prompt", "in the prompt".
    fn prompt(&self, i: usize) -> Hit {
        if self.at(i) != "prompt" || self.before(i, 1) != "the" {
            return None;
        }
        let heard = matches!(
            self.before(i, 2),
            "follows"
                | "follow"
                | "obeys"
                | "obey"
                | "ignores"
                | "ignore"
                | "contradict"
                | "contradicts"
                | "violates"
                | "repeats"
        );
        (heard && (CLOSES.contains(&self.at(i + 1)) || self.stops(i))).then(|| (i - 2, i))
    }

    /// RAG, embeddings and SQL as the means.
    fn retrieval(&self, i: usize) -> Hit {
        let word = self.words[i].text;
        if word == "RAG" {
            let used = matches!(
                self.before(i, 1),
                "uses" | "use" | "using" | "via" | "by" | "through" | "with"
            );
            let built = matches!(
                self.at(i + 1),
                "over" | "pipeline" | "retrieval" | "system" | "index"
            );
            return (used || built).then_some((i.saturating_sub(usize::from(used)), i));
        }
        if matches!(self.at(i), "embedding" | "embeddings") {
            let kind = matches!(
                self.at(i + 1),
                "lookup" | "search" | "index" | "similarity" | "store" | "vector" | "vectors"
            );
            return kind.then_some((i, i + 1));
        }
        if word == "SQL" {
            let article = usize::from(matches!(self.before(i, 1), "a" | "an" | "the"));
            let verb = i.checked_sub(1 + article)?;
            let writes = matches!(
                self.at(verb),
                "runs"
                    | "run"
                    | "writes"
                    | "write"
                    | "executes"
                    | "issues"
                    | "generates"
                    | "uses"
                    | "using"
            );
            let to = if matches!(self.at(i + 1), "query" | "queries") {
                i + 1
            } else {
                i
            };
            return (writes && self.opens(verb)).then_some((verb, to));
        }
        None
    }

    /// "the tool returns", "output of the filings tool".
    fn output(&self, i: usize) -> Hit {
        if self.at(i) == "tool" && self.before(i, 1) == "the" {
            let next = self.at(i + 1);
            let back = matches!(
                self.at(i + 2),
                "to" | "within" | "by" | "after" | "before" | "in"
            );
            return (matches!(next, "returns" | "returned" | "outputs") && !back)
                .then(|| (i - 1, i + 1));
        }
        if matches!(self.at(i), "output" | "outputs" | "response")
            && self.at(i + 1) == "of"
            && self.at(i + 2) == "the"
        {
            return self.head(i + 2, false).map(|head| (i, head));
        }
        None
    }

    /// A source that is an API, a server or a tool: no other noun carries the fact.
    fn source(&self) -> Hit {
        let last = self.words.len().checked_sub(1)?;
        let bare = self.part == Part::Source && !self.words.iter().any(|word| word.is(SMALL));
        let head = matches!(
            self.at(last),
            "api" | "endpoint" | "plugin" | "server" | "tool"
        );
        (bare && head && self.words.len() <= 5).then_some((0, last))
    }
}
