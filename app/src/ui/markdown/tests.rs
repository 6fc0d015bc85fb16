//! The renderer against hostile input: whatever goes in, only tags of ours come out.

use super::{EvidenceKind, Highlight, render, render_located};
use proptest::prelude::*;

fn html(source: &str) -> String {
    render(source, &[]).0
}

fn mark(quote: &str, rubric: &str) -> Highlight {
    Highlight {
        quote: quote.to_owned(),
        kind: EvidenceKind::Satisfied,
        rubric: rubric.to_owned(),
        label: rubric.trim_start_matches('R').to_owned(),
        lit: false,
    }
}

/// Every tag of the output is one that this crate writes, with attributes that it writes; nothing else holds a `<`.
fn check(html: &str) {
    const BARE: [&str; 32] = [
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "blockquote",
        "pre",
        "code",
        "ul",
        "ol",
        "li",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "em",
        "strong",
        "s",
        "a",
        "span",
        "mark",
        "sup",
        "p",
        "p",
        "p",
        "p",
        "p",
    ];
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        assert!(!rest[..at].contains('>'), "a bare > in {html}");
        let end = rest[at..].find('>').expect("every tag ends") + at;
        let tag = &rest[at + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "tags nest in {html}");
            continue;
        }
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        assert!(BARE.contains(&name), "<{tag}> in {html}");
        if !matches!(name, "br" | "hr") {
            open.push(name.to_owned());
        }
        let mut left = attributes;
        while !left.is_empty() {
            let (key, value) = left.split_once("=\"").expect("attributes have values");
            let (value, after) = value.split_once('"').expect("values end");
            match (name, key.trim()) {
                ("a", "href") => assert!(
                    ["http://", "https://", "mailto:"]
                        .iter()
                        .any(|scheme| value.to_lowercase().starts_with(scheme)),
                    "href {value:?}"
                ),
                ("a", "rel") => assert_eq!(value, "noopener noreferrer"),
                ("mark", "data-r") => {}
                (_, "class") => assert!(
                    [
                        "plain", "task", "scroll-x", "al-r", "al-c", "ev s", "ev i", "ev q"
                    ]
                    .contains(&value),
                    "class {value:?}"
                ),
                ("mark" | "pre" | "div", "tabindex") => assert_eq!(value, "0"),
                ("th", "scope") => assert_eq!(value, "col"),
                ("ol", "start") => assert!(value.chars().all(|c| c.is_ascii_digit())),
                (_, other) => panic!("attribute {other:?} in {html}"),
            }
            left = after.trim_start();
        }
    }
    assert!(!rest.contains('>'), "a bare > in {html}");
    assert!(open.is_empty(), "left open: {open:?} in {html}");
}

const PAYLOADS: &[&str] = &[
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<iframe src=javascript:alert(1)></iframe>",
    "<object data=javascript:alert(1)>",
    "<embed src=javascript:alert(1)>",
    "<base href=https://evil.example/>",
    "<meta http-equiv=refresh content=0;url=https://evil.example>",
    "<link rel=stylesheet href=//evil.example>",
    "<style>@import '//evil.example'</style>",
    "<form action=https://evil.example><button>go</button></form>",
    "<input autofocus onfocus=alert(1)>",
    "<body onload=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<video><source onerror=alert(1)></video>",
    "<a href=javascript:alert(1)>x</a>",
    "<a href=\"jav&#x09;ascript:alert(1)\">x</a>",
    "<!-- --><script>alert(1)</script>-->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<?xml version=\"1.0\"?><script>alert(1)</script>",
    "<!DOCTYPE html><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</p></div></main><h1>fake</h1>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](<java\tscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A&#x61lert(1))",
    "[x]( javascript:alert(1))",
    "[x](\u{1}javascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](/sign-out)",
    "[x](?a=b)",
    "[x](#id)",
    "[x](\\\\evil.example\\share)",
    "[x](https:\\\\evil.example)",
    "[x](https://a\"onmouseover=alert(1)//)",
    "[x](https://a 'onmouseover=alert(1)')",
    "[x](https://a \"t\\\" onmouseover=alert(1)\")",
    "[x](https://a'><script>alert(1)</script>)",
    "[x](<https://a><script>alert(1)</script>)",
    "[x](mailto:)",
    "[x](https:)",
    "[x](https:javascript:alert(1))",
    "[x][r]\n\n[r]: javascript:alert(1)",
    "[x][r]\n\n[r]: <data:text/html,x> \"t\"",
    "<javascript:alert(1)>",
    "<https://a.example/\"onclick=alert(1)>",
    "<me@evil.example\"onclick=x>",
    "![x](https://evil.example/pixel.png)",
    "![x](javascript:alert(1))",
    "![\"onerror=alert(1)](x)",
    "![<script>alert(1)</script>](https://a.example/a.png)",
    "[![x](https://a.example/a.png)](https://b.example)",
    "[a [b](https://b.example) c](https://c.example)",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "```\"><script>alert(1)</script>\nx\n```",
    "    <script>alert(1)</script>",
    "| <script> | b |\n|---|---|\n| <img src=x onerror=alert(1)> | [x](javascript:1) |",
    "# <script>alert(1)</script> {#x onclick=alert(1)}",
    "- [ ] <script>alert(1)</script>\n- [x] y",
    "> <script>alert(1)</script>",
    "99999999999999999999. x",
    "1\\. <b>x</b>",
    "a\u{0}b<\u{0}script>",
    "\u{202e}<script>\u{2066}",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;",
    "*a **b* c** <i>",
    "[^1]\n\n[^1]: <script>alert(1)</script>",
    "$$<script>alert(1)</script>$$",
    "---\ntitle: <script>\n---\n",
    "<div\n>x</div\n>",
    "<a/href=\"javascript:alert(1)\">",
    "<%= system('id') %> {{7*7}} ${7*7}",
];

#[test]
fn payloads_come_out_as_text() {
    assert!(PAYLOADS.len() >= 60);
    for payload in PAYLOADS {
        check(&html(payload));
        // Also beside, within and across evidence.
        for quote in [*payload, "script", "alert(1)", "x", "<"] {
            check(&render(payload, &[mark(quote, "R1"), mark("alert", "\"><script>")]).0);
        }
    }
}

#[test]
fn links_keep_only_what_is_allowed() {
    assert_eq!(
        html("[a](https://e.org/?a=b&c=d)"),
        "<p><a href=\"https://e.org/?a=b&amp;c=d\" rel=\"noopener noreferrer\">a</a></p>"
    );
    assert_eq!(
        html("<a@b.org>"),
        "<p><a href=\"mailto:a@b.org\" rel=\"noopener noreferrer\">a@b.org</a></p>"
    );
    assert_eq!(html("[a](javascript:x)"), "<p>a</p>");
    assert_eq!(
        html("![chart](https://e.org/c.png)"),
        "<p><a href=\"https://e.org/c.png\" rel=\"noopener noreferrer\">image: chart</a></p>"
    );
}

#[test]
fn common_markdown_is_rendered() {
    assert_eq!(
        html("a *b* **c** `d`\ne"),
        "<p>a <em>b</em> <strong>c</strong> <code>d</code>\ne</p>"
    );
    assert_eq!(
        html("# t\n\n1. x\n2. y"),
        "<h3>t</h3><ol><li>x</li><li>y</li></ol>"
    );
    assert_eq!(
        html("|a|b|\n|-|-:|\n|1|2|"),
        "<div class=\"scroll-x\" tabindex=\"0\"><table><thead><tr><th scope=\"col\">a</th><th scope=\"col\" class=\"al-r\">b</th>\
         </tr></thead><tbody><tr><td>1</td><td class=\"al-r\">2</td></tr></tbody></table></div>"
    );
}

#[test]
fn evidence_is_marked() {
    assert_eq!(
        render("Debt fell to 412.", &[mark("to 412", "R1")]).0,
        "<p>Debt fell <mark class=\"ev s\" data-r=\"R1\" tabindex=\"0\">to 412<sup>1</sup></mark>.</p>"
    );
}

#[test]
fn evidence_runs_across_emphasis() {
    let (out, found) = render_located(
        "Fell by **about 0.6** turns.",
        &[mark("by about 0.6 TURNS", "R7")],
    );
    assert_eq!(found, [true]);
    assert_eq!(
        out.0,
        "<p>Fell <mark class=\"ev s\" data-r=\"R7\" tabindex=\"0\">by </mark><strong><mark class=\"ev s\" data-r=\"R7\">about 0.6\
         </mark></strong><mark class=\"ev s\" data-r=\"R7\"> turns<sup>7</sup></mark>.</p>"
    );
}

#[test]
fn quotes_with_markdown_signs_are_found() {
    assert_eq!(
        render_located(
            "Fell by **about 0.6** turns.",
            &[mark("by **about 0.6** turns", "R7")]
        )
        .1,
        [true]
    );
    assert_eq!(
        render_located("- one\n- two", &[mark("one\n- two", "R1")]).1,
        [true]
    );
    assert_eq!(
        render_located("one  \n\n two", &[mark("one two", "R1")]).1,
        [true]
    );
    assert_eq!(
        render_located(
            "one",
            &[mark("three", "R1"), mark("", "R2"), mark("  ", "R3")]
        )
        .1,
        [false, false, false]
    );
}

#[test]
fn whole_words_are_preferred() {
    assert_eq!(
        render("15 then 5.", &[mark("5", "R1")]).0,
        "<p>15 then <mark class=\"ev s\" data-r=\"R1\" tabindex=\"0\">5<sup>1</sup></mark>.</p>"
    );
}

#[test]
fn overlaps_nest_with_the_smallest_inside() {
    assert_eq!(
        render("a b c", &[mark("b", "R2"), mark("a b c", "R1")]).0,
        "<p><mark class=\"ev s\" data-r=\"R1\" tabindex=\"0\">a <mark class=\"ev s\" data-r=\"R2\" tabindex=\"0\">b<sup>2</sup></mark> \
         c<sup>1</sup></mark></p>"
    );
    let partial = render("a b c d", &[mark("a b c", "R1"), mark("b c d", "R2")]).0;
    check(&partial);
    assert_eq!(partial.matches("<sup>").count(), 2);
}

#[test]
fn a_link_keeps_the_only_tab_stop() {
    let out = render(
        "see [the report](https://e.org) now",
        &[mark("the report", "R1")],
    )
    .0;
    check(&out);
    assert!(
        out.contains("<mark class=\"ev s\" data-r=\"R1\">the report<sup>1</sup></mark></a>"),
        "{out}"
    );
}

#[test]
fn too_deep_or_too_long_is_shown_as_it_is() {
    for source in [
        ">".repeat(40) + " x",
        ">".repeat(200_000),
        "a ".repeat(200_000),
        "- ".repeat(5_000),
        "*a_".repeat(50_000),
    ] {
        check(&html(&source));
    }
    assert!(html(&(">".repeat(40) + " <b>")).starts_with("<p class=\"plain\">&gt;"));
    assert!(html(&"a ".repeat(200_000)).starts_with("<p class=\"plain\">a a"));
}

proptest! {
    #[test]
    fn any_text_is_safe(source in "(?s).{0,400}", quote in "(?s).{0,12}") {
        check(&render(&source, &[mark(&quote, "R1"), mark(&source, "R2")]).0);
    }

    #[test]
    fn markdown_like_text_is_safe(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "<", ">", "[", "]", "(", ")", "!", "*", "**", "_", "`", "```", "\n", "\n\n", "| ", "|-|-|\n", "- ", "1. ", "> ", "#", "\\",
                "&", "&#x3c;", "https://a.example", "javascript:", "a", "b c", "\"", "'", "<b>", "</b>", "<a@b.c>", "~~", "    ", "[x]",
            ]),
            0..60,
        ),
        start in 0usize..40,
        length in 0usize..40,
    ) {
        let source = parts.concat();
        let quote: String = source.chars().skip(start).take(length).collect();
        check(&render(&source, &[mark(&quote, "R1"), mark("a", "R2"), mark("b c", "R3"), mark("c", "R4")]).0);
    }

    /// What a reader sees is what went in: with marks and without, the text is the same apart from superscripts.
    #[test]
    fn marks_change_no_text(source in "[a-c *_`\n-]{0,80}", quote in "[a-c ]{1,6}") {
        let strip = |html: &str| {
            let mut out = String::new();
            let mut rest = html;
            while let Some(at) = rest.find('<') {
                out.push_str(&rest[..at]);
                let end = rest[at..].find('>').map_or(rest.len(), |end| at + end + 1);
                let skip = if rest[at..].starts_with("<sup>") { rest.find("</sup>").map_or(end, |end| end + 6) } else { end };
                rest = &rest[skip..];
            }
            out.push_str(rest);
            out
        };
        prop_assert_eq!(strip(&html(&source)), strip(&render(&source, &[mark(&quote, "R1")]).0));
    }
}
