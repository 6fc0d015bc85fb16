//! Markdown to HTML in two steps: events become our own tags and pieces of plain text; then the pieces are written, escaped,
//! with evidence marked. Every byte of markup in the output comes from a literal in this file.

use std::fmt::Write as _;
use std::ops::Range;

use pulldown_cmark::{
    Alignment, CodeBlockKind, CowStr, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd,
};

use super::locate::Folded;
use super::{Highlight, SafeHtml};

/// Longer texts are shown as they are, in bytes.
const LONGEST: usize = 256 * 1024;
/// Deeper nesting is shown as it stands in the source.
const DEEPEST: usize = 32;
/// Longer addresses are no links, in bytes.
const LONGEST_ADDRESS: usize = 2_048;
/// More passages are not marked.
const MOST_HIGHLIGHTS: usize = 400;

/// A piece of the output.
enum Piece {
    /// Markup of ours.
    Html(String),
    /// A stretch of the plain text.
    Text(Range<usize>),
    /// A link opens (true) or closes: no tab stop is put inside one.
    Link(bool),
}

/// Renders untrusted Markdown, with evidence marked as `<mark class="ev s" data-r="R7" tabindex="0">…<sup>7</sup></mark>`.
/// Quotes that are not found are left out.
pub fn render(source: &str, highlights: &[Highlight]) -> SafeHtml {
    render_located(source, highlights).0
}

/// The same, and which highlights (by index) were found.
pub fn render_located(source: &str, highlights: &[Highlight]) -> (SafeHtml, Vec<bool>) {
    let document = if source.len() > LONGEST {
        None
    } else {
        Document::parse(source)
    };
    let document = document.unwrap_or_else(|| Document::plain(source));
    let folded = Folded::new(&document.text);
    let mut found = Vec::with_capacity(highlights.len());
    let mut spans = Vec::new();
    for (index, highlight) in highlights.iter().enumerate() {
        let place = (index < MOST_HIGHLIGHTS)
            .then(|| locate(&folded, &highlight.quote))
            .flatten();
        found.push(place.is_some());
        if let Some(range) = place {
            spans.push(Span { range, highlight });
        }
    }
    (SafeHtml(document.write(spans)), found)
}

/// On the text as a reader sees it; failing that, the quote may itself hold Markdown signs.
fn locate(folded: &Folded, quote: &str) -> Option<Range<usize>> {
    folded.find(quote).or_else(|| {
        if quote.len() > LONGEST {
            return None;
        }
        folded.find(&Document::parse(quote)?.text)
    })
}

/// A highlight and the bytes of the plain text it covers.
struct Span<'a> {
    range: Range<usize>,
    highlight: &'a Highlight,
}

/// Pieces and the plain text they refer to.
struct Document {
    text: String,
    pieces: Vec<Piece>,
}

impl Document {
    /// The text as it is, white space kept.
    fn plain(source: &str) -> Self {
        Self {
            text: source.to_owned(),
            pieces: vec![
                Piece::Html("<p class=\"plain\">".to_owned()),
                Piece::Text(0..source.len()),
                Piece::Html("</p>".to_owned()),
            ],
        }
    }

    /// `None` when the nesting is too deep.
    fn parse(source: &str) -> Option<Self> {
        let options =
            Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
        let mut builder = Builder::default();
        for event in Parser::new_ext(source, options) {
            builder.event(event)?;
        }
        Some(Self {
            text: builder.text,
            pieces: builder.pieces,
        })
    }

    /// Writes pieces in order. Marks never cross a tag of ours: they close before it and open again after it. Where marks
    /// overlap, the longer one is outside.
    fn write(&self, mut spans: Vec<Span<'_>>) -> String {
        spans.sort_by_key(|span| (span.range.start, std::cmp::Reverse(span.range.end)));
        let mut cuts: Vec<usize> = spans
            .iter()
            .flat_map(|span| [span.range.start, span.range.end])
            .collect();
        cuts.sort_unstable();
        cuts.dedup();
        let mut out = String::with_capacity(self.text.len() * 2);
        let mut marks = Marks {
            open: Vec::new(),
            begun: vec![false; spans.len()],
            links: 0,
        };
        for piece in &self.pieces {
            match piece {
                Piece::Html(html) => {
                    marks.close(0, &spans, None, &mut out);
                    out.push_str(html);
                }
                Piece::Link(opens) => {
                    marks.links = if *opens {
                        marks.links + 1
                    } else {
                        marks.links.saturating_sub(1)
                    }
                }
                Piece::Text(range) => {
                    let mut at = range.start;
                    while at < range.end {
                        let next = cuts
                            .get(cuts.partition_point(|cut| *cut <= at))
                            .map_or(range.end, |cut| (*cut).min(range.end));
                        marks.adjust(at, &spans, &mut out);
                        escape(&self.text[at..next], &mut out);
                        // A mark that ends here closes here, with its superscript, even if another tag follows.
                        if let Some(depth) = marks
                            .open
                            .iter()
                            .position(|index| spans[*index].range.end == next)
                        {
                            marks.close(depth, &spans, Some(next), &mut out);
                        }
                        at = next;
                    }
                }
            }
        }
        marks.close(0, &spans, None, &mut out);
        out
    }
}

/// The marks that are open, outermost first.
struct Marks {
    open: Vec<usize>,
    /// Which spans already have their tab stop.
    begun: Vec<bool>,
    links: usize,
}

impl Marks {
    /// Makes the open marks those that cover byte `at`.
    fn adjust(&mut self, at: usize, spans: &[Span<'_>], out: &mut String) {
        let mut wanted: Vec<usize> = (0..spans.len())
            .filter(|index| spans[*index].range.contains(&at))
            .collect();
        wanted.sort_by_key(|index| (std::cmp::Reverse(spans[*index].range.len()), *index));
        let shared = self
            .open
            .iter()
            .zip(&wanted)
            .take_while(|(open, wanted)| open == wanted)
            .count();
        self.close(shared, spans, None, out);
        for index in wanted.into_iter().skip(shared) {
            let Highlight {
                kind, rubric, lit, ..
            } = spans[index].highlight;
            out.push_str("<mark class=\"ev ");
            out.push_str(kind.class());
            if *lit {
                out.push_str(" on");
            }
            out.push_str("\" data-r=\"");
            escape(rubric, out);
            out.push('"');
            // One tab stop a passage, and none inside a link, which has its own.
            if !self.begun[index] && self.links == 0 {
                out.push_str(" tabindex=\"0\"");
                self.begun[index] = true;
            }
            out.push('>');
            self.open.push(index);
        }
    }

    /// Closes all but the outermost `keep`. Those that end at `end` get their superscript.
    fn close(&mut self, keep: usize, spans: &[Span<'_>], end: Option<usize>, out: &mut String) {
        while self.open.len() > keep {
            let Some(index) = self.open.pop() else { return };
            if end == Some(spans[index].range.end) {
                out.push_str("<sup>");
                escape(&spans[index].highlight.label, out);
                out.push_str("</sup>");
            }
            out.push_str("</mark>");
        }
    }
}

/// Turns events into pieces.
#[derive(Default)]
struct Builder {
    text: String,
    pieces: Vec<Piece>,
    /// What each open tag ends with; `None` for tags that write nothing.
    ends: Vec<Option<&'static str>>,
    columns: Vec<Alignment>,
    column: usize,
    in_head: bool,
    in_link: usize,
}

impl Builder {
    fn html(&mut self, html: &str) {
        self.pieces.push(Piece::Html(html.to_owned()));
    }

    fn words(&mut self, text: &str) {
        let start = self.text.len();
        // NUL and other controls have no place in HTML; line feed and tab have.
        self.text.extend(text.chars().map(|c| {
            if c.is_control() && !matches!(c, '\n' | '\t') {
                '\u{fffd}'
            } else {
                c
            }
        }));
        if self.text.len() > start {
            self.pieces.push(Piece::Text(start..self.text.len()));
        }
    }

    /// Parts words of two blocks for the search, without writing anything.
    fn part(&mut self) {
        if !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// `None` stops: the nesting is too deep.
    fn event(&mut self, event: Event<'_>) -> Option<()> {
        match event {
            Event::Start(tag) => {
                if self.ends.len() >= DEEPEST {
                    return None;
                }
                self.start(tag);
            }
            Event::End(tag) => self.end(tag),
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::FootnoteReference(text) => self.words(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html("<code>");
                self.words(&text);
                self.html("</code>");
            }
            Event::SoftBreak => self.words("\n"),
            Event::HardBreak => {
                self.html("<br>");
                self.part();
            }
            Event::Rule => self.html("<hr>"),
            Event::TaskListMarker(done) => {
                self.html(if done {
                    "<span class=\"task\">done: </span>"
                } else {
                    "<span class=\"task\">open: </span>"
                });
            }
        }
        Some(())
    }

    fn open(&mut self, html: &str, end: &'static str) {
        self.html(html);
        self.ends.push(Some(end));
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>"),
            // The page has its own first and second headings.
            Tag::Heading { level, .. } => match level {
                HeadingLevel::H1 => self.open("<h3>", "</h3>"),
                HeadingLevel::H2 => self.open("<h4>", "</h4>"),
                HeadingLevel::H3 => self.open("<h5>", "</h5>"),
                _ => self.open("<h6>", "</h6>"),
            },
            Tag::BlockQuote(_) => self.open("<blockquote>", "</blockquote>"),
            Tag::CodeBlock(CodeBlockKind::Indented | CodeBlockKind::Fenced(_)) => {
                self.open("<pre tabindex=\"0\"><code>", "</code></pre>");
            }
            Tag::HtmlBlock => self.open("<p class=\"plain\">", "</p>"),
            Tag::List(None) => self.open("<ul>", "</ul>"),
            Tag::List(Some(first)) => {
                let mut html = String::from("<ol");
                if first != 1 {
                    let _ = write!(html, " start=\"{first}\"");
                }
                html.push('>');
                self.open(&html, "</ol>");
            }
            Tag::Item => self.open("<li>", "</li>"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.open(
                    "<div class=\"scroll-x\" tabindex=\"0\"><table>",
                    "</tbody></table></div>",
                );
            }
            Tag::TableHead => {
                self.in_head = true;
                self.column = 0;
                self.open("<thead><tr>", "</tr></thead><tbody>");
            }
            Tag::TableRow => {
                self.column = 0;
                self.open("<tr>", "</tr>");
            }
            Tag::TableCell => {
                let class = match self.columns.get(self.column) {
                    Some(Alignment::Right) => " class=\"al-r\"",
                    Some(Alignment::Center) => " class=\"al-c\"",
                    _ => "",
                };
                self.column += 1;
                if self.in_head {
                    self.open(&format!("<th scope=\"col\"{class}>"), "</th>");
                } else {
                    self.open(&format!("<td{class}>"), "</td>");
                }
            }
            Tag::Emphasis => self.open("<em>", "</em>"),
            Tag::Strong => self.open("<strong>", "</strong>"),
            Tag::Strikethrough => self.open("<s>", "</s>"),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => self.link(link_type, &dest_url),
            // Never loaded: its alternative text, as a link to it.
            Tag::Image {
                link_type,
                dest_url,
                ..
            } => {
                self.link(link_type, &dest_url);
                self.words("image: ");
            }
            // Extensions that are switched off; should one arrive, its text stays.
            _ => self.ends.push(None),
        }
    }

    fn link(&mut self, link_type: LinkType, address: &CowStr<'_>) {
        let address = if link_type == LinkType::Email {
            format!("mailto:{address}")
        } else {
            address.to_string()
        };
        // A link in a link is no HTML; one that leads elsewhere than a web page or a mailbox is none of ours.
        if self.in_link == 0 && is_allowed(&address) {
            let mut html = String::from("<a href=\"");
            escape(&address, &mut html);
            html.push_str("\" rel=\"noopener noreferrer\">");
            self.open(&html, "</a>");
            self.pieces.push(Piece::Link(true));
            self.in_link += 1;
        } else {
            self.ends.push(None);
        }
    }

    fn end(&mut self, tag: TagEnd) {
        if tag == TagEnd::TableHead {
            self.in_head = false;
        }
        match self.ends.pop().flatten() {
            Some("</a>") => {
                self.in_link = self.in_link.saturating_sub(1);
                self.html("</a>");
                self.pieces.push(Piece::Link(false));
            }
            Some(end) => {
                self.html(end);
                if !matches!(end, "</em>" | "</strong>" | "</s>") {
                    self.part();
                }
            }
            None => {}
        }
    }
}

/// `http`, `https` and `mailto` with something behind them, without white space or controls, not too long.
fn is_allowed(address: &str) -> bool {
    let Some((scheme, rest)) = address.split_once(':') else {
        return false;
    };
    let rest = match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" => rest.strip_prefix("//").unwrap_or_default(),
        "mailto" => rest,
        _ => return false,
    };
    !rest.is_empty()
        && address.len() <= LONGEST_ADDRESS
        && !address
            .chars()
            .any(|c| c.is_control() || c.is_whitespace() || matches!(c, '\\' | '<' | '>'))
}

/// For text and for attribute values in double quotes alike.
fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\0' => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
}
