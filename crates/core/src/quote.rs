//! Finding a quote in a text (`grading.md`, The judge: "each quote found in the answer … white space and case folded").

use std::ops::Range;

/// A text folded for searching: lower case, every run of white space one blank. Fold once, search often.
#[derive(Debug, Clone)]
pub struct Folded {
    text: String,
    /// For each byte of the folded text: where its character starts and ends in the original.
    origin: Vec<(u32, u32)>,
}

impl Folded {
    /// Folds a text of at most 4 GiB; what lies beyond cannot be found.
    pub fn new(text: &str) -> Self {
        let mut folded = String::with_capacity(text.len());
        let mut origin: Vec<(u32, u32)> = Vec::with_capacity(text.len());
        let mut blank = false;
        for (at, c) in text.char_indices() {
            let (Ok(start), Ok(end)) = (u32::try_from(at), u32::try_from(at + c.len_utf8())) else {
                break;
            };
            if c.is_whitespace() {
                if blank {
                    if let Some(last) = origin.last_mut() {
                        last.1 = end;
                    }
                } else {
                    folded.push(' ');
                    origin.push((start, end));
                }
                blank = true;
                continue;
            }
            blank = false;
            for lower in c.to_lowercase() {
                folded.push(lower);
                origin.extend(std::iter::repeat_n((start, end), lower.len_utf8()));
            }
        }
        Self {
            text: folded,
            origin,
        }
    }

    /// The first place where the quote stands, as a byte range of the original text. A blank quote is nowhere.
    pub fn find(&self, quote: &str) -> Option<Range<usize>> {
        let quote = Self::new(quote.trim());
        if quote.text.is_empty() {
            return None;
        }
        let at = self.text.find(&quote.text)?;
        let (start, _) = self.origin[at];
        let (_, end) = self.origin[at + quote.text.len() - 1];
        Some(start as usize..end as usize)
    }
}

/// A text folded for [`contains`] alone, without the memory that places cost.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !folded.is_empty() || text.starts_with(char::is_whitespace) {
            folded.push(' ');
        }
        folded.extend(word.chars().flat_map(char::to_lowercase));
    }
    folded
}

/// Whether a quote stands in a text that [`fold`] made. A blank quote stands nowhere.
pub fn contains(folded: &str, quote: &str) -> bool {
    let quote = fold(quote.trim());
    !quote.is_empty() && folded.contains(&quote)
}

/// The first place where `quote` stands in `text`, white space and case folded, as a byte range of `text`.
pub fn find(text: &str, quote: &str) -> Option<Range<usize>> {
    Folded::new(text).find(quote)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_and_case_are_folded() {
        let text = "Intro.\n\nRevenue\u{a0} was\t**$3.17 BILLION**, über 5 %.";
        let found = |quote: &str| find(text, quote).map(|r| &text[r]);
        assert_eq!(
            found("revenue was **$3.17 billion**"),
            Some("Revenue\u{a0} was\t**$3.17 BILLION**")
        );
        assert_eq!(found("  ÜBER 5\n%  "), Some("über 5 %"));
        assert_eq!(found("intro. revenue"), Some("Intro.\n\nRevenue"));
        assert_eq!(found("$3.18"), None);
        assert_eq!(found("  \n "), None);
        assert_eq!(found(""), None);
        assert_eq!(find("İstanbul", "i̇stanbul"), Some(0.."İstanbul".len()));
        assert_eq!(find("", "a"), None);
    }

    proptest! {
        #[test]
        fn a_piece_of_a_text_is_found_in_it(text in "\\PC{0,40}", from in 0usize..40, len in 1usize..20) {
            let characters: Vec<char> = text.chars().collect();
            let piece: String = characters.iter().skip(from).take(len).collect();
            if let Some(range) = find(&text, &piece) {
                let again = &text[range];
                prop_assert_eq!(Folded::new(again.trim()).text, Folded::new(piece.trim()).text);
            } else {
                // Only a piece that starts with a mark belonging to the character before it can be lost by folding.
                prop_assert!(piece.trim().is_empty() || !text.contains(&piece) || piece.to_lowercase() != piece);
            }
        }

        #[test]
        fn any_quote_gives_a_valid_range(text in "\\PC{0,60}", quote in "\\PC{0,10}") {
            if let Some(range) = find(&text, &quote) {
                prop_assert!(text.get(range).is_some());
            }
            prop_assert_eq!(contains(&fold(&text), &quote), find(&text, &quote).is_some());
        }
    }
}
