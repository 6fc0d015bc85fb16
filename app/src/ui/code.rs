//! Code: JSON and YAML coloured by a small reader that never fails; what it does not know stays as it is.

use leptos::prelude::*;

/// How a text is coloured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Syntax {
    /// JSON, or something like it.
    #[default]
    Json,
    /// YAML.
    Yaml,
    /// Not at all.
    Plain,
}

/// Longer texts stay uncoloured, in bytes.
const LONGEST: usize = 256 * 1024;

/// A block of code that scrolls in its own focusable region.
#[component]
pub fn Code(
    /// Untrusted.
    #[prop(into)]
    text: String,
    /// How to colour it.
    #[prop(optional)]
    syntax: Syntax,
    /// What it is, for assistive technology.
    #[prop(optional, into)]
    label: String,
) -> impl IntoView {
    let label = (!label.is_empty()).then_some(label);
    view! { <pre class="code px-3.5 py-2.5" tabindex="0" role="group" aria-label=label inner_html=colour(&text, syntax)></pre> }
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
}

fn span(class: &str, text: &str, out: &mut String) {
    out.push_str("<span class=\"");
    out.push_str(class);
    out.push_str("\">");
    escape(text, out);
    out.push_str("</span>");
}

/// Escaped HTML with `<span class="k|s|n|c">` around keys, strings, figures and comments.
fn colour(text: &str, syntax: Syntax) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 2);
    // HTML drops one line feed after <pre>.
    if text.starts_with('\n') {
        out.push('\n');
    }
    match syntax {
        _ if text.len() > LONGEST => escape(text, &mut out),
        Syntax::Plain => escape(text, &mut out),
        Syntax::Json => json(text, &mut out),
        Syntax::Yaml => yaml(text, &mut out),
    }
    out
}

fn json(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let end = string_end(rest);
            let (string, after) = rest.split_at(end);
            let class = if after.trim_start().starts_with(':') {
                "k"
            } else {
                "s"
            };
            span(class, string, out);
            rest = after;
        } else if first.is_ascii_alphanumeric() || first == '-' {
            let end = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_')))
                .unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if is_scalar(word) {
                span("n", word, out);
            } else {
                escape(word, out);
            }
            rest = after;
        } else {
            escape(&rest[..first.len_utf8()], out);
            rest = &rest[first.len_utf8()..];
        }
    }
}

fn is_scalar(word: &str) -> bool {
    matches!(word, "true" | "false" | "null" | "~")
        || (word.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.')
            && word.parse::<f64>().is_ok())
}

/// The byte after the closing quote of the JSON string at the start, or the end.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (index, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return index + 1,
            _ => {}
        }
    }
    text.len()
}

fn yaml(text: &str, out: &mut String) {
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let indent = body.len() - body.trim_start_matches([' ', '-']).len();
        let (lead, content) = body.split_at(indent);
        escape(lead, out);
        match content.split_once(':') {
            _ if content.starts_with('#') => span("c", content, out),
            Some((key, value))
                if !key.is_empty()
                    && key.chars().all(|c| {
                        c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '\'')
                    })
                    && (value.is_empty() || value.starts_with(' ')) =>
            {
                span("k", key, out);
                out.push(':');
                yaml_value(value, out);
            }
            _ => yaml_value(content, out),
        }
        escape(&line[body.len()..], out);
    }
}

fn yaml_value(value: &str, out: &mut String) {
    let trimmed = value.trim_start();
    escape(&value[..value.len() - trimmed.len()], out);
    if trimmed.starts_with(['"', '\'']) {
        span("s", trimmed, out);
        return;
    }
    let (scalar, comment) = match trimmed.find(" #") {
        Some(at) => trimmed.split_at(at),
        None => (trimmed, ""),
    };
    if is_scalar(scalar.trim_end()) {
        span("n", scalar, out);
    } else {
        escape(scalar, out);
    }
    if !comment.is_empty() {
        span("c", comment, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_coloured_and_escaped() {
        assert_eq!(
            colour(r#"{"a": "<b>", "n": -1.5e3, "ok": true}"#, Syntax::Json),
            "{<span class=\"k\">&quot;a&quot;</span>: <span class=\"s\">&quot;&lt;b&gt;&quot;</span>, \
             <span class=\"k\">&quot;n&quot;</span>: <span class=\"n\">-1.5e3</span>, \
             <span class=\"k\">&quot;ok&quot;</span>: <span class=\"n\">true</span>}"
        );
        assert_eq!(
            colour("\"open\\", Syntax::Json),
            "<span class=\"s\">&quot;open\\</span>"
        );
    }

    #[test]
    fn yaml_is_coloured_and_escaped() {
        assert_eq!(
            colour(
                "- type: fact # why\n  n: 3\n  q: \"</pre>\"\n",
                Syntax::Yaml
            ),
            "- <span class=\"k\">type</span>: fact<span class=\"c\"> # why</span>\n  <span class=\"k\">n</span>: \
             <span class=\"n\">3</span>\n  <span class=\"k\">q</span>: <span class=\"s\">&quot;&lt;/pre&gt;&quot;</span>\n"
        );
    }

    #[test]
    fn hostile_text_never_opens_a_tag() {
        for text in [
            "<script>",
            "\"<script>",
            "a: <script>",
            "# <script>",
            "'\"><img src=x onerror=alert(1)>",
            "\u{0}<",
        ] {
            for syntax in [Syntax::Json, Syntax::Yaml, Syntax::Plain] {
                let html = colour(text, syntax);
                let bare = html
                    .replace("<span class=\"k\">", "")
                    .replace("<span class=\"s\">", "");
                let bare = bare
                    .replace("<span class=\"n\">", "")
                    .replace("<span class=\"c\">", "")
                    .replace("</span>", "");
                assert!(!bare.contains('<'), "{html}");
            }
        }
    }
}
