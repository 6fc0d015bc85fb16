//! Whether an answer states a rubric so plainly that nobody would argue.

use std::ops::Range;

use super::super::addresses_grader;
use super::source;
use super::words::{self, Token};
use crate::figures::{self, Opinion, SeenFigure, context, prose};
use crate::verdict::FigureResult;

/// Answers longer than this are left undecided.
const LONGEST: usize = 64 * 1024;

/// Signs of quotes, code, tables, links and templates: a sentence with one of them is not plain type.
const MARKUP: [char; 20] = [
    '"', '“', '”', '„', '«', '»', '‘', '`', '~', '<', '>', '|', '?', '#', '{', '}', '[', ']', '=',
    '\\',
];

/// What can be said of a rubric.
pub(super) enum Decision<'a> {
    /// The sentence that states it; with `said`, it states something else.
    Stated {
        /// The other figure.
        said: Option<String>,
        /// One sentence for a person.
        why: String,
        /// The answer's sentence, verbatim.
        sentence: &'a str,
    },
    /// The answer says that it has nothing to say.
    Absent(&'static str),
    /// Plainness ends here.
    Undecided(String),
}

/// Decides a rubric on an answer's text.
pub(super) fn decide<'a>(rubric: &str, answer: &'a str, source: Option<&str>) -> Decision<'a> {
    const NOT_PLAIN: &str =
        "No sentence of the answer says it so plainly that no reading is needed.";
    if answer.len() > LONGEST {
        return Decision::Undecided("The answer is too long to be read offline.".to_owned());
    }
    if let Some(why) = context::distrusted(rubric, answer) {
        return Decision::Undecided(why.to_owned());
    }
    if addresses_grader(answer) {
        return Decision::Undecided("The answer speaks to its grader.".to_owned());
    }
    if refuses(answer) {
        return Decision::Absent("The answer says only that it found nothing.");
    }
    let opinion = figures::judge(rubric, answer);
    let reading = Reading::new(answer, &opinion, source);
    if reading.sentences.len() > 400 {
        return Decision::Undecided("The answer is too long to be read offline.".to_owned());
    }
    let Some(statements) = Statement::of(rubric, &opinion) else {
        return Decision::Undecided("The rubric is not a plain statement.".to_owned());
    };
    let found = if opinion.criteria.is_empty() {
        reading
            .stated(&statements, &[])
            .map(|sentence| Decision::Stated {
                said: None,
                why: "The answer says it in the rubric's own words.".to_owned(),
                sentence,
            })
    } else {
        match opinion.result {
            FigureResult::Matches => {
                let matched: Vec<Range<usize>> = opinion
                    .matched
                    .iter()
                    .map(|(start, end)| *start..*end)
                    .collect();
                reading
                    .stated(&statements, &matched)
                    .map(|sentence| Decision::Stated {
                        said: None,
                        why: opinion.why.clone(),
                        sentence,
                    })
            }
            FigureResult::Contradicts => reading.contradicted(&statements, &opinion),
            FigureResult::NotFound | FigureResult::Undecided => None,
        }
    };
    found.unwrap_or_else(|| {
        Decision::Undecided(match opinion.result {
            FigureResult::Undecided if !opinion.criteria.is_empty() => opinion.why,
            _ => NOT_PLAIN.to_owned(),
        })
    })
}

/// "I could not find …" and nothing else: one sentence, no figure, no second clause.
fn refuses(answer: &str) -> bool {
    const OPENINGS: [&str; 14] = [
        "i could not find",
        "i couldn't find",
        "i was unable to find",
        "i was not able to find",
        "i cannot find",
        "i can't find",
        "i can not find",
        "i did not find",
        "i didn't find",
        "i found no information",
        "i do not know",
        "i don't know",
        "i have no information",
        "i do not have information",
    ];
    const TURNS: [&str; 14] = [
        " but ",
        " however",
        " although ",
        " though ",
        ";",
        ":",
        " because ",
        " as there ",
        " since ",
        " exist",
        " never ",
        " suggest",
        " instead",
        " which ",
    ];
    let text = answer.trim().to_lowercase().replace('’', "'");
    let text = [
        "sorry, but ",
        "sorry, ",
        "unfortunately, ",
        "i'm sorry, but ",
        "i am sorry, but ",
    ]
    .iter()
    .find_map(|opening| text.strip_prefix(opening))
    .unwrap_or(&text);
    let sentence = text.trim_end_matches('.');
    OPENINGS.iter().any(|opening| sentence.starts_with(opening))
        && !sentence.contains(['.', '!', '?', '\n', '(', '"', '“'])
        && !sentence.chars().any(|c| c.is_ascii_digit())
        && !TURNS.iter().any(|turn| sentence.contains(turn))
}

/// What a sentence asserts.
struct Statement {
    /// Words, joining words, marks and figures in their order, empty words left out.
    order: Vec<Token>,
    /// The same cut where a verb of being, a possessive, `of`, a joining word of place or time, a mark or a figure stands;
    /// sorted.
    parts: Vec<Vec<Token>>,
}

impl Statement {
    /// The statements that would satisfy a rubric word for word; `None` when the rubric is no plain statement.
    fn of(rubric: &str, opinion: &Opinion) -> Option<Vec<Self>> {
        const LEADS: [&str; 17] = [
            "states",
            "says",
            "reports",
            "notes",
            "mentions",
            "calculates",
            "computes",
            "finds",
            "concludes",
            "observes",
            "identifies",
            "explains",
            "shows",
            "confirms",
            "indicates",
            "determines",
            "gives",
        ];
        let text = without_band(rubric.trim());
        let mut figures = in_order(&opinion.rubric_figures);
        figures.retain(|f| f.end <= text.len());
        // A range or a choice of figures is no plain statement.
        if figures.len() != opinion.criteria.len()
            || opinion.rubric_figures.len() > 2 * figures.len()
        {
            return None;
        }
        let (lead, rest) = text.split_once(' ')?;
        let lead = lead.to_lowercase();
        let body = |from: usize, to: usize| words::tokens(text, from..to, &figures);
        let start = text.len() - rest.len();
        if matches!(lead.as_str(), "names" | "identifies")
            && figures.is_empty()
            && !rest.starts_with("that ")
        {
            // "Names A as B": "A is B" and "B is A".
            let (name, role) = rest.split_once(" as ")?;
            let name = body(start, start + name.len());
            let role = body(text.len() - role.len(), text.len());
            let join = |a: &[Token], b: &[Token]| Self::asked([a, b].concat());
            return Some(vec![join(&name, &role), join(&role, &name)]);
        }
        if !LEADS.contains(&lead.as_str()) {
            return None;
        }
        match rest.strip_prefix("that ") {
            Some(clause) => Some(vec![Self::asked(body(
                text.len() - clause.len(),
                text.len(),
            ))]),
            // "Calculates X as 5".
            None if figures.len() == 1 && rest.contains(" as ") => {
                Some(vec![Self::asked(body(start, text.len()))])
            }
            None => None,
        }
    }

    /// A rubric's statement: words of a criterion right before a figure are met by arithmetic, not by words.
    fn asked(tokens: Vec<Token>) -> Self {
        const CRITERIA: [&[&str]; 8] = [
            &["at", "least"],
            &["at", "most"],
            &["more", "than"],
            &["less", "than"],
            &["fewer", "than"],
            &["up", "to"],
            &["exactly"],
            &["as"],
        ];
        Self::new(before_figures(tokens, &CRITERIA))
    }

    /// An answer's statement.
    fn said(tokens: Vec<Token>) -> Self {
        const REACHING: [&[&str]; 4] = [
            &["came", "to"],
            &["amounted", "to"],
            &["totalled"],
            &["totaled"],
        ];
        Self::new(before_figures(tokens, &REACHING))
    }

    fn new(tokens: Vec<Token>) -> Self {
        let mut order = Vec::new();
        let mut parts = vec![Vec::new()];
        for token in before_figures(tokens, &[&["of"]]) {
            let (kept, part) = match token {
                Token::Word(word) if words::is_filler(&word) => continue,
                Token::Word(word) if words::is_copula(&word) => (None, None),
                Token::Word(word) => {
                    let word = words::link(&word).map_or(word, str::to_owned);
                    let joins = matches!(word.as_str(), "of" | "in");
                    let word = Token::Word(word);
                    (Some(word.clone()), (!joins).then_some(word))
                }
                Token::Mark(mark) => {
                    parts.push(vec![Token::Mark(mark.clone())]);
                    (Some(Token::Mark(mark)), None)
                }
                Token::Figure => (Some(Token::Figure), None),
                Token::Break => (None, None),
            };
            match (part, parts.last_mut()) {
                (Some(word), Some(open)) => open.push(word),
                _ => parts.push(Vec::new()),
            }
            order.extend(kept);
        }
        parts.retain(|part| !part.is_empty());
        parts.sort();
        Self { order, parts }
    }

    fn count(&self, wanted: fn(&Token) -> bool) -> usize {
        self.order.iter().filter(|token| wanted(token)).count()
    }

    /// Whether a sentence says just this: the same words in the same order, up to a part that a joining word opens and that
    /// moves between end and front. A statement of one figure is the same whichever way its parts are joined: "the area
    /// of Lake Orsa is 5", "Lake Orsa has an area of 5", "Lake Orsa's area is 5".
    fn is_said_by(&self, said: &Self) -> bool {
        let figures = self.count(|t| *t == Token::Figure);
        let marks = self.count(|t| matches!(t, Token::Mark(_)));
        if self.order.is_empty() || figures != said.count(|t| *t == Token::Figure) {
            return false;
        }
        let same_parts = figures == 1
            && marks < 2
            && !self.parts.is_empty()
            && shape(&self.order) == shape(&said.order)
            && self.parts == said.parts;
        same_parts || rotated(&self.order, &said.order)
    }
}

/// Byte ranges of figures, first to last.
fn in_order(figures: &[SeenFigure]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = figures.iter().map(|f| f.start..f.end).collect();
    ranges.sort_by_key(|range| range.start);
    ranges
}

/// The rubric without a band in brackets or after `±`, which arithmetic reads.
fn without_band(rubric: &str) -> &str {
    let band = ["(±", "( ±", "(+/-", "±", "+/-"]
        .iter()
        .filter_map(|sign| rubric.find(sign))
        .min();
    match band {
        Some(at) => {
            let rest = rubric[at..].trim_end_matches('.');
            let closes = rest.ends_with(')') || !rubric[at..].starts_with('(');
            // Only at the end: words after a band may matter.
            let ends = rest.split_whitespace().count() <= 4 && closes;
            if ends {
                rubric[..at].trim_end()
            } else {
                rubric
            }
        }
        None => rubric,
    }
}

/// Without these words where they stand right before a figure.
fn before_figures(tokens: Vec<Token>, phrases: &[&[&str]]) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        if token == Token::Figure {
            let phrase = phrases.iter().find(|phrase| {
                out.len().checked_sub(phrase.len()).is_some_and(|from| {
                    out[from..]
                        .iter()
                        .zip(**phrase)
                        .all(|(token, word)| *token == Token::Word((*word).to_owned()))
                })
            });
            if let Some(phrase) = phrase {
                out.truncate(out.len() - phrase.len());
            }
        }
        out.push(token);
    }
    out
}

/// The joining word right before the figure: "rose by 5" is not "rose to 5".
fn shape(tokens: &[Token]) -> Option<&Token> {
    let at = tokens.iter().position(|t| *t == Token::Figure)?;
    tokens
        .get(at.checked_sub(1)?)
        .filter(|token| matches!(token, Token::Word(word) if words::link(word).is_some()))
}

/// Whether two sequences are equal, or one is the other with a part that a joining word opens moved from end to front.
fn rotated(a: &[Token], b: &[Token]) -> bool {
    let opens = |token: &Token| matches!(token, Token::Word(word) if words::link(word).is_some());
    let moved = |a: &[Token], b: &[Token]| {
        (1..a.len()).any(|k| opens(&a[k]) && a[k..].iter().chain(&a[..k]).eq(b))
    };
    a == b || (a.len() == b.len() && (moved(a, b) || moved(b, a)))
}

/// An answer cut into sentences, each with its tokens.
struct Reading<'a, 's> {
    answer: &'a str,
    sentences: Vec<Range<usize>>,
    figures: Vec<Range<usize>>,
    source: Option<&'s str>,
}

impl<'a, 's> Reading<'a, 's> {
    fn new(answer: &'a str, opinion: &Opinion, source: Option<&'s str>) -> Self {
        Self {
            answer,
            sentences: prose::sentences(answer)
                .into_iter()
                .filter(|range| answer[range.clone()].chars().any(char::is_alphanumeric))
                .collect(),
            figures: in_order(&opinion.answer_figures),
            source,
        }
    }

    /// The one sentence that says one of the statements with these figures, when nothing else in the answer could turn it.
    fn stated(&self, statements: &[Statement], figures: &[Range<usize>]) -> Option<&'a str> {
        let at = (0..self.sentences.len()).find(|at| {
            let range = &self.sentences[*at];
            figures
                .iter()
                .all(|f| f.start >= range.start && f.end <= range.end)
                && self.says(*at, statements)
        })?;
        self.stands(at, statements).then(|| self.sentence(at))
    }

    /// The one sentence that makes the statement with another figure.
    fn contradicted(&self, statements: &[Statement], opinion: &Opinion) -> Option<Decision<'a>> {
        if opinion.criteria.len() != 1 {
            return None;
        }
        let mut saying = (0..self.sentences.len()).filter(|at| self.says(*at, statements));
        let at = saying.next()?;
        if saying.next().is_some() || !self.stands(at, statements) {
            return None;
        }
        let range = &self.sentences[at];
        let figure = self
            .figures
            .iter()
            .find(|f| f.start >= range.start && f.end <= range.end)?;
        Some(Decision::Stated {
            said: Some(self.answer.get(figure.clone())?.to_owned()),
            why: opinion.why.clone(),
            sentence: self.sentence(at),
        })
    }

    fn sentence(&self, at: usize) -> &'a str {
        let text = self.answer[self.sentences[at].clone()].trim();
        // A list marker is no part of what is said.
        let text = text
            .strip_prefix(['-', '*', '•'])
            .map_or(text, str::trim_start);
        text.trim_end_matches(['*', '_']).trim()
    }

    /// Whether the sentence at `at` makes one of the statements in plain type.
    fn says(&self, at: usize, statements: &[Statement]) -> bool {
        let range = self.sentences[at].clone();
        let Some(text) = self.answer.get(range.clone()) else {
            return false;
        };
        if text.contains(MARKUP) {
            return false;
        }
        let tokens = match self.source.and_then(|source| source::credit(source, text)) {
            Some(credit) => {
                let cut = range.start + credit.start..range.start + credit.end;
                let mut tokens = words::tokens(self.answer, range.start..cut.start, &self.figures);
                tokens.extend(words::tokens(
                    self.answer,
                    cut.end..range.end,
                    &self.figures,
                ));
                tokens
            }
            None if text.contains(['(', ')']) => return false,
            None => words::tokens(self.answer, range, &self.figures),
        };
        let said = Statement::said(tokens);
        statements
            .iter()
            .any(|statement| statement.is_said_by(&said))
    }

    /// Whether nothing else in the answer may turn the sentence: no doubt and no question anywhere, no denial next to it,
    /// no heading or opening line that could frame it, no other sentence on its point, none before that reaches forward
    /// and none after that reaches back.
    fn stands(&self, at: usize, statements: &[Statement]) -> bool {
        let own: Vec<&Token> = statements.iter().flat_map(|s| &s.order).collect();
        let whole = words::tokens(self.answer, 0..self.answer.len(), &self.figures);
        let doubted = whole.iter().any(|token| {
            matches!(token, Token::Word(word) if words::is_doubt(word)) && !own.contains(&token)
        });
        if doubted || self.answer.contains(['?', '~', '<', '`', '>']) {
            return false;
        }
        (0..self.sentences.len())
            .filter(|other| *other != at)
            .all(|other| self.leaves_alone(other, at, &own))
    }

    /// Whether the sentence at `other` has no hold on the one at `at`, whose tokens are `own`.
    fn leaves_alone(&self, other: usize, at: usize, own: &[&Token]) -> bool {
        let tokens = words::tokens(self.answer, self.sentences[other].clone(), &self.figures);
        let has = |wanted: fn(&str) -> bool| {
            tokens
                .iter()
                .any(|t| matches!(t, Token::Word(word) if wanted(word)))
        };
        let beside = other + 1 == at || other == at + 1;
        if beside && has(words::is_denial) {
            return false;
        }
        // Half of its words are ours: it speaks of the same point, and says who knows what.
        let content = |token: &Token| matches!(token, Token::Word(word) if !words::is_empty(word) && words::link(word).is_none());
        let ours = own.iter().filter(|token| content(token)).count();
        let shared = own
            .iter()
            .filter(|token| content(token) && tokens.contains(token))
            .count();
        if ours > 0 && 2 * shared > ours {
            return false;
        }
        if other > at {
            // Too short to be about anything else.
            return !has(words::reaches_back) && tokens.len() > 3;
        }
        let text = self.answer[self.sentences[other].clone()].trim();
        let frames = text.starts_with('#') || text.trim_end_matches(['*', '_']).ends_with(':');
        if frames {
            return tokens.iter().all(|token| {
                own.contains(&token)
                    || matches!(token, Token::Word(word) if words::is_empty(word) || words::link(word).is_some()
                        || matches!(word.as_str(), "answer" | "result" | "summary" | "finding" | "overview"))
            });
        }
        !has(words::reaches_forward)
    }
}
