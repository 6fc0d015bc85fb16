//! Whether an answer states a rubric so plainly that nobody would argue.

use std::ops::Range;

use super::super::addresses_grader;
use super::source;
use super::words::{self, Token};
use crate::figures::{self, Opinion, context};
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
    const TURNS: [&str; 16] = [
        " but ",
        " however",
        " although",
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
        " so ",
        " which ",
        " although ",
    ];
    let text = answer.trim().to_lowercase().replace('’', "'");
    let text = [
        "sorry, ",
        "sorry, but ",
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

/// What a rubric asserts, as the tokens that an answer's sentence must give.
struct Statement {
    /// Words and figures in order, neutral words and marks left out.
    order: Vec<Token>,
    /// Years, dates and identifiers in order.
    marks: Vec<Token>,
    /// With several figures or marks, marks keep their place among the words.
    whole: Vec<Token>,
    /// The word before the figure, where it shapes it: `by`, `to`, `from`.
    figures: usize,
}

impl Statement {
    /// The statements that would satisfy a rubric word for word; `None` when the rubric is no plain statement.
    fn of(rubric: &str, opinion: &Opinion) -> Option<Vec<Self>> {
        let text = rubric.trim();
        let figures: Vec<Range<usize>> = opinion
            .rubric_figures
            .iter()
            .map(|f| f.start..f.end)
            .collect();
        if figures.len() > opinion.criteria.len() {
            // A band or a range: only its words count, and only once it stands apart from them.
            let start = text.find('(').unwrap_or(text.len());
            let body = text[..start].trim_end();
            let outside = figures.iter().filter(|f| f.end <= body.len()).count();
            if outside != opinion.criteria.len() {
                return None;
            }
            let kept: Vec<Range<usize>> = figures
                .into_iter()
                .filter(|f| f.end <= body.len())
                .collect();
            return Self::from_parts(body, &kept);
        }
        Self::from_parts(text, &figures)
    }

    fn from_parts(text: &str, figures: &[Range<usize>]) -> Option<Vec<Self>> {
        const LEADS: [&str; 16] = [
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
        ];
        let (lead, rest) = text.split_once(' ')?;
        let lead = lead.to_lowercase();
        let offset = text.len() - rest.len();
        let body = |skip: usize| words::tokens(text, offset + skip..text.len(), figures);
        if LEADS.contains(&lead.as_str()) && rest.starts_with("that ") {
            return Some(vec![Self::new(body("that ".len()))]);
        }
        if lead == "names" && figures.is_empty() {
            // "Names A as B": "A is B" and "B is A".
            let (name, role) = rest.split_once(" as ")?;
            let name_end = offset + name.len();
            let role_start = text.len() - role.len();
            let name = words::tokens(text, offset..name_end, figures);
            let role = words::tokens(text, role_start..text.len(), figures);
            let join = |a: &[Token], b: &[Token]| Self::new([a, b].concat());
            return Some(vec![join(&name, &role), join(&role, &name)]);
        }
        None
    }

    fn new(tokens: Vec<Token>) -> Self {
        let content =
            |token: &Token| !matches!(token, Token::Word(word) if words::is_neutral(word));
        let whole: Vec<Token> = tokens.into_iter().filter(content).collect();
        let is_mark = |token: &&Token| matches!(token, Token::Mark(_));
        Self {
            order: whole.iter().filter(|t| !is_mark(t)).cloned().collect(),
            marks: whole.iter().filter(is_mark).cloned().collect(),
            figures: whole.iter().filter(|t| **t == Token::Figure).count(),
            whole,
        }
    }

    /// Whether a sentence says just this: the same words in the same order, up to a part moved from end to front, the same
    /// marks, as many figures, and nothing else that counts.
    fn is_said_by(&self, said: &Self) -> bool {
        if self.figures != said.figures || self.whole.is_empty() {
            return false;
        }
        // Two figures, or two marks beside a figure, must each keep their company.
        if self.figures > 1 || (self.figures == 1 && self.marks.len() > 1) {
            return rotated(&self.whole, &said.whole);
        }
        let words = |order: &[Token]| -> Vec<Token> {
            order
                .iter()
                .filter(|t| **t != Token::Figure)
                .cloned()
                .collect()
        };
        self.marks == said.marks
            && shape(&self.order) == shape(&said.order)
            && !words(&self.order).is_empty()
            && rotated(&words(&self.order), &words(&said.order))
    }
}

/// The word right before the figure where it says whether the figure is a level or a change.
fn shape(order: &[Token]) -> Option<&Token> {
    let at = order.iter().position(|t| *t == Token::Figure)?;
    let before = order.get(at.checked_sub(1)?)?;
    let shaping = |word: &str| {
        matches!(
            word,
            "by" | "to" | "from" | "per" | "than" | "over" | "under"
        )
    };
    matches!(before, Token::Word(word) if shaping(word)).then_some(before)
}

/// Whether `b` is `a` with a part moved from the end to the front.
fn rotated(a: &[Token], b: &[Token]) -> bool {
    a.len() == b.len() && (0..a.len().max(1)).any(|k| a[k..].iter().chain(&a[..k]).eq(b))
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
            sentences: context::sentences(answer)
                .into_iter()
                .filter(|range| answer[range.clone()].chars().any(char::is_alphanumeric))
                .collect(),
            figures: opinion
                .answer_figures
                .iter()
                .map(|f| f.start..f.end)
                .collect(),
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
        let tokens = without_reaching(tokens);
        let said = Statement::new(tokens);
        statements
            .iter()
            .any(|statement| statement.is_said_by(&said))
    }

    /// Whether nothing else in the answer may turn the sentence: no doubt anywhere, no denial next to it or pointing back
    /// at it, no question, no heading above that could frame it, no other sentence on the same point.
    fn stands(&self, at: usize, statements: &[Statement]) -> bool {
        let own: Vec<&Token> = statements.iter().flat_map(|s| &s.whole).collect();
        let all = words::tokens(self.answer, 0..self.answer.len(), &self.figures);
        let doubted = all.iter().any(|token| {
            matches!(token, Token::Word(word) if words::is_doubt(word)) && !own.contains(&token)
        });
        if doubted || self.answer.contains(['?', '~', '<', '`', '>']) {
            return false;
        }
        for (other, range) in self.sentences.iter().enumerate() {
            if other == at {
                continue;
            }
            let tokens = words::tokens(self.answer, range.clone(), &self.figures);
            let has = |wanted: fn(&str) -> bool| {
                tokens
                    .iter()
                    .any(|t| matches!(t, Token::Word(word) if wanted(word)))
            };
            let beside = other + 1 == at || other == at + 1;
            if has(words::is_denial) && (beside || has(words::points_back) || tokens.len() < 4) {
                return false;
            }
            // A short sentence of other words after this one may be a comment on it.
            if other == at + 1 && tokens.len() < 4 {
                return false;
            }
            // A heading or an opening line frames what follows.
            let text = self.answer[range.clone()].trim();
            let frames = text.starts_with('#') || text.trim_end_matches(['*', '_']).ends_with(':');
            if frames && other < at && !self.is_neutral_frame(&tokens, &own) {
                return false;
            }
        }
        true
    }

    fn is_neutral_frame(&self, tokens: &[Token], own: &[&Token]) -> bool {
        tokens.iter().all(|token| {
            own.contains(&token)
                || matches!(token, Token::Word(word) if words::is_neutral(word)
                    || matches!(word.as_str(), "answer" | "result" | "summary" | "finding" | "overview"))
        })
    }
}

/// Without the `to` of "came to" and "amounted to", which carry a figure and shape nothing.
fn without_reaching(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens {
        let word = |token: &Token, wanted: &[&str]| matches!(token, Token::Word(word) if wanted.contains(&word.as_str()));
        if word(&token, &["to"]) && out.last().is_some_and(|t| word(t, &["came", "amounted"])) {
            out.pop();
        } else {
            out.push(token);
        }
    }
    out
}
