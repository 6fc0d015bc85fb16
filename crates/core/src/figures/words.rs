//! The words that tell whether a figure is plainly stated. Lists only; the reading of them is in `context`.

/// Words that say nothing of a point.
#[rustfmt::skip]
pub const STOP: &[&str] = &[
    "the", "and", "that", "was", "were", "for", "from", "with", "this", "its", "their", "has", "had", "have", "are", "is", "as", "at", "by", "in",
    "of", "on", "to", "a", "an", "or", "it", "be", "been", "which", "than", "then", "states", "state", "stated", "says", "calculates", "computes",
    "gives", "reports", "reported", "identifies", "notes", "mentions", "about", "approximately", "around", "roughly", "exactly", "within", "between",
    "either", "least", "most", "more", "less", "over", "under", "total", "value", "figure", "amount", "number", "year", "years", "million", "billion",
    "thousand", "trillion", "percent", "percentage", "points", "point", "bps", "concludes", "derives", "retrieves", "names", "answer", "will",
    "there", "also", "fell", "rose", "grew", "declined", "increased", "decreased", "dropped", "climbed", "lowered", "raised",
    "reduced", "improved", "decline", "increase", "decrease", "rise", "fall", "drop", "into", "per", "actual", "company", "usual", "works", "get",
    "stands", "booked", "handled", "comes", "calculated", "during", "using", "based", "when", "where", "who", "whose", "what", "how", "each", "both",
    "all", "any", "these", "those", "came", "come", "stood", "amounted", "equals", "equal",
];

/// Words in a sentence that may turn the meaning of a figure in it, unless the rubric has them too.
#[rustfmt::skip]
pub const TURNING: &[&str] = &[
    "not", "never", "no", "neither", "nor", "cannot", "without", "instead", "incorrect", "incorrectly", "wrong", "wrongly", "false", "falsely",
    "mistaken", "mistakenly", "misreported", "misprint", "typo", "error", "claims", "claim", "claimed", "claiming", "alleged", "allegedly", "rumour",
    "rumor", "rumours", "rumors", "rumoured", "rumored", "supposedly", "purported", "purportedly", "if", "would", "could", "might", "perhaps",
    "possibly", "hypothetical", "hypothetically", "assume", "assuming", "assumed", "suppose", "supposing", "unless", "unverified", "unconfirmed",
    "unable", "verify", "confirm", "unclear", "uncertain", "doubt", "doubtful", "unsure", "guess", "guessing", "expected", "expects", "expect",
    "forecast", "forecasts", "forecasted", "projected", "projection", "projections", "projects", "guidance", "guided", "target", "targets",
    "targeted", "consensus", "analysts", "previously", "originally", "initially", "formerly", "earlier", "preliminary", "provisional", "draft",
    "rather", "whereas", "although", "but", "however", "nevertheless", "dispute", "disputed", "denied", "denies", "deny", "reject", "rejected",
    "rejects", "refuted", "believe", "believed", "think", "thought", "probably", "likely", "maybe", "may", "should", "can't", "isn't", "wasn't",
    "aren't", "weren't", "didn't", "doesn't", "don't", "won't", "couldn't", "wouldn't", "hasn't", "haven't", "fictional", "imagine", "pretend",
    "scenario", "example", "e.g", "versus", "excluding", "including", "except", "unlike", "missed", "planned", "plan", "budget", "budgeted", "aims",
    "aimed", "hoped", "corrected", "correction", "revised", "restated", "range", "ranges", "ranged", "ranging", "old", "older", "former", "prior",
    "now", "vary", "varies", "varied", "superseded", "whether", "question", "asked", "asks", "check", "rubric", "grader", "satisfied",
];

/// Words that bound, split or double a figure where they stand close to it.
#[rustfmt::skip]
pub const BOUNDING: &[&str] = &[
    "until", "before", "almost", "nearly", "under", "over", "least", "most", "exceed", "exceeded", "exceeds", "short", "excess", "more", "less",
    "fewer", "above", "below", "minimum", "maximum", "beyond", "approaching", "close", "somewhere", "either", "or", "double", "twice", "third",
];

/// Groups of words of which a point holds one: another one of the group is another point.
#[rustfmt::skip]
pub const QUALIFIERS: &[&[&str]] = &[
    &["gaap", "non-gaap", "ifrs"],
    &["basic", "diluted"],
    &["annual", "quarterly", "monthly", "weekly", "daily", "yearly", "hourly"],
    &["domestic", "international", "foreign", "overseas", "global", "worldwide", "national", "regional"],
    &["minimum", "maximum", "average", "mean", "median", "peak", "lowest", "highest"],
    &["import", "imports", "export", "exports", "inbound", "outbound", "imported", "exported"],
    &["standalone", "consolidated", "segment", "group"],
    &["upload", "download", "read", "write", "reads", "writes"],
    &["fiscal", "calendar"],
    &["north", "south", "east", "west", "northern", "southern", "eastern", "western"],
    &["male", "female", "men", "women", "men's", "women's", "boys", "girls"],
    &["home", "away"],
    &["adult", "adults", "child", "children", "paediatric", "pediatric", "infant", "infants"],
    &["oral", "intravenous", "iv", "subcutaneous", "topical", "inhaled"],
    &["first", "second", "third", "fourth", "final", "last"],
    &["before", "after"],
    &["including", "excluding", "ex", "without"],
    &["p50", "p90", "p95", "p99"],
    &["treatment", "placebo", "control"],
    &["loading", "maintenance"],
    &["budgeted", "actual", "planned"],
    &["opening", "closing"],
    &["senior", "junior", "subordinated", "secured", "unsecured"],
    &["parent", "subsidiary"],
    &["urban", "rural"],
    &["installed", "generated"],
    &["surface", "bottom"],
];

/// The same, where one of the group in a figure's clause names its measure even when the rubric names none of them.
#[rustfmt::skip]
pub const MEASURES: &[&[&str]] = &[
    &["gross", "net", "operating", "pretax", "pre-tax", "adjusted", "reported", "ebitda", "ebit", "underlying", "core", "headline", "contribution"],
    &["systolic", "diastolic"],
    &["revenue", "revenues", "sales", "profit", "income", "earnings", "cost", "costs", "expense", "expenses", "cash", "debt", "assets", "liabilities", "equity", "turnover", "dividend", "dividends", "capex"],
    &["length", "width", "height", "depth", "area", "volume", "mass", "weight", "diameter", "radius", "circumference", "perimeter"],
    &["temperature", "rainfall", "precipitation", "humidity", "wind", "pressure", "snowfall"],
    &["latency", "throughput", "memory", "uptime", "bandwidth"],
    &["goals", "assists", "rebounds", "draws", "titles", "tries", "wickets"],
    &["votes", "seats", "turnout"],
    &["sensitivity", "specificity"],
    &["incidence", "prevalence", "mortality"],
];

/// Text that addresses a grader, holds a template or a verdict: no figure in it is vouched for.
#[rustfmt::skip]
pub const HOSTILE: &[&str] = &[
    "\"verdict\"", "'verdict'", "verdict:", "mark all", "mark every", "mark this", "as satisfied", "ignore the rubric", "ignore previous",
    "ignore all", "ignore any", "disregard", "grader", "grading", "the judge", "evaluator", "rubric", "{{", "}}", "$&", "<answer", "</answer",
    "system prompt", "you are an", "begin data", "end data", "\"satisfied\"", "score:", "\"score\"", "instruction",
];

/// Number words, which arithmetic does not read.
#[rustfmt::skip]
pub const NUMBERS: &[&str] = &[
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "dozen", "half",
    "quarter", "double", "doubled", "twice", "triple", "tripled", "zero", "thousand", "million", "billion",
];

/// Before a figure: it is negative.
#[rustfmt::skip]
pub const MINUS_BEFORE: &[&str] = &[
    "loss of", "losses of", "deficit of", "decline of", "decrease of", "drop of", "fall of", "reduction of", "shortfall of", "contraction of",
    "fell by", "fell", "declined by", "declined", "decreased by", "decreased", "dropped by", "dropped", "down by", "down", "shrank by", "shrank",
    "contracted by", "contracted", "lost", "reduced by", "minus", "negative", "slipped by", "slipped", "slid by", "net loss was", "cut by",
    "outflow of", "lower by",
];

/// Before a figure: it is positive.
#[rustfmt::skip]
pub const PLUS_BEFORE: &[&str] = &[
    "gain of", "gains of", "increase of", "rise of", "growth of", "surplus of", "profit of", "rose by", "rose", "grew by", "grew", "increased by",
    "increased", "gained", "up by", "up", "climbed by", "climbed", "jumped by", "jumped", "expanded by", "expanded", "improved by", "improved",
    "plus", "positive", "higher by", "inflow of",
];

/// Straight after a figure: it is negative.
#[rustfmt::skip]
pub const MINUS_AFTER: &[&str] = &[
    "decline", "decrease", "drop", "fall", "lower", "loss", "reduction", "less", "below", "fewer", "contraction", "deficit",
];

/// Straight after a figure: it is positive.
#[rustfmt::skip]
pub const PLUS_AFTER: &[&str] = &[
    "increase", "rise", "higher", "gain", "growth", "more", "above", "surplus", "jump",
];

/// Verbs with an object and "by": the change is negative.
#[rustfmt::skip]
pub const MINUS_VERBS: &[&str] = &[
    "lowered", "reduced", "cut", "decreased", "fell", "declined", "dropped", "shrank", "narrowed", "trimmed", "slipped", "lowers", "reduces", "cuts",
    "lost",
];

/// Verbs with an object and "by": the change is positive.
#[rustfmt::skip]
pub const PLUS_VERBS: &[&str] = &[
    "raised", "lifted", "increased", "rose", "grew", "climbed", "widened", "gained", "improved", "boosted", "expanded", "raises", "increases",
];

/// Before a number: it is the name of a thing, not a figure.
#[rustfmt::skip]
pub const REFERENCES: &[&str] = &[
    "section", "sections", "sec.", "§", "article", "articles", "art.", "note", "notes", "page", "pages", "p.", "pp.", "figure", "fig.", "table",
    "tables", "chapter", "no.", "nos.", "number", "item", "items", "rule", "rfc", "ifrs", "ias", "iso", "en", "ieee", "din", "line", "lines", "step",
    "version", "v", "v.", "form", "exhibit", "clause", "act", "amendment", "title", "part", "appendix", "annex", "paragraph", "para.", "phase",
    "type", "stage", "grade", "apollo", "room", "flight", "route", "highway", "interstate", "schedule", "regulation", "directive", "resolution",
    "case", "docket", "footnote", "ref.", "reference", "refs.", "week", "day", "level", "tier", "class", "category", "port", "error", "status",
    "code", "group", "lane", "gate", "unit", "block", "question", "q", "pep", "cve", "jis", "asc", "asu", "topic", "sku", "id", "isbn", "lap",
    "round", "game", "matchday", "stint", "windows", "python", "java", "postgresql", "http", "tls", "utf", "sha", "base", "pier", "berth", "dose",
    "cycle", "cohort", "arm", "model", "boeing", "airbus",
];

/// Months and their short forms.
#[rustfmt::skip]
pub const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan", "feb", "mar",
    "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
];
