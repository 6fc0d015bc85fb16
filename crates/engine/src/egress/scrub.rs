//! What may be shown of URLs and of other people's error texts (D12).

use std::sync::LazyLock;

use regex::{Captures, Regex};
use url::Url;

/// The longest error text that is stored or shown, characters (`core::run::RunError`).
pub const MAX_SHOWN_CHARS: usize = 2_000;

/// `scheme://host:port/path`: user name, password, query and fragment dropped.
pub fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    // Both fail only for URLs without a host, which have neither.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    let text = shown.to_string();
    match shown.path() {
        "/" => text.trim_end_matches('/').to_owned(),
        _ => text,
    }
}

static SCHEME_AND_TOKEN: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{6,}").ok());
static KEY_SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"\b(?:sk|pk|rk|evk|ghp|gho|ghs|glpat|xox[a-z]|AIza|AKIA|hf|eyJ)[A-Za-z0-9_.-]{12,}")
        .ok()
});
static NAMED_VALUE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)\b([a-z0-9_-]*(?:api[-_]?key|token|secret|passw(?:or)?d|authorization|cookie)["']?\s*[:=]\s*["']?)([^\s"',;&}]+)"#,
    )
    .ok()
});
static URL_PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?i)\b(https?://)(?:[^\s/"'@]*@)?([^\s?#"'<>]*)(?:[?#][^\s"'<>]*)?"#).ok()
});

/// An error text of an endpoint, fit to store and to show: known secrets and what looks like one replaced, URLs without
/// credentials and query, control characters dropped, at most [`MAX_SHOWN_CHARS`] characters.
pub fn scrub(text: &str, secrets: &[&str]) -> String {
    // Cut generously first: the patterns then see at most this much.
    let mut out: String = text
        .chars()
        .filter(|c| !c.is_control() || matches!(c, '\n' | '\t'))
        .take(MAX_SHOWN_CHARS * 2)
        .collect();
    for secret in secrets {
        if secret.len() >= 4 {
            out = out.replace(secret, "[secret]");
        }
    }
    let replace =
        |pattern: &Option<Regex>, text: String, with: &dyn Fn(&Captures<'_>) -> String| {
            match pattern {
                Some(pattern) => pattern
                    .replace_all(&text, |c: &Captures<'_>| with(c))
                    .into_owned(),
                None => text,
            }
        };
    let part = |c: &Captures<'_>, n: usize| c.get(n).map_or("", |m| m.as_str()).to_owned();
    out = replace(&URL_PARTS, out, &|c| part(c, 1) + &part(c, 2));
    out = replace(&SCHEME_AND_TOKEN, out, &|c| part(c, 1) + " [secret]");
    out = replace(&KEY_SHAPE, out, &|_| "[secret]".to_owned());
    out = replace(&NAMED_VALUE, out, &|c| part(c, 1) + "[secret]");
    shorten(&out, MAX_SHOWN_CHARS)
}

/// The first `longest` characters, with "…" when something was cut.
pub fn shorten(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        None => text.to_owned(),
        Some(_) => {
            let mut out: String = text.chars().take(longest.saturating_sub(1)).collect();
            out.push('…');
            out
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for pattern in [&SCHEME_AND_TOKEN, &KEY_SHAPE, &NAMED_VALUE, &URL_PARTS] {
            assert!(pattern.is_some());
        }
    }

    #[test]
    fn urls_lose_credentials_and_query() {
        let url = Url::parse("https://u:p@h.example:8443/run?key=abc#x").unwrap();
        assert_eq!(shown_url(&url), "https://h.example:8443/run");
        assert_eq!(
            shown_url(&Url::parse("http://h.example").unwrap()),
            "http://h.example"
        );
    }

    #[test]
    fn secrets_do_not_survive() {
        let text = "got hunter2-correct-horse; Authorization: Bearer abcdef123456; key sk-proj-ABCDEFGHIJKLMNOP \
                    at https://user:pw@api.example/v1?api_key=zzz and {\"api_key\": \"qqqq\"} password=geheim";
        let shown = scrub(text, &["hunter2-correct-horse"]);
        for leak in [
            "hunter2",
            "abcdef123456",
            "ABCDEFGHIJ",
            "user:pw",
            "zzz",
            "qqqq",
            "geheim",
        ] {
            assert!(!shown.contains(leak), "{leak} in {shown}");
        }
        assert!(shown.contains("https://api.example/v1"), "{shown}");
    }

    #[test]
    fn long_and_hostile_text_is_cut_and_plain() {
        let shown = scrub(&"\u{1b}[31mé".repeat(5_000), &[]);
        assert_eq!(shown.chars().count(), MAX_SHOWN_CHARS);
        assert!(!shown.contains('\u{1b}'));
    }
}
