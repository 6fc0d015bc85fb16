//! What holds for every input: no panic, no hang, spans inside the text, the same answer twice.

use evalkit_lint::{LintFacts, LintReport, SourceFile, lint};
use proptest::prelude::*;

use crate::lint_text;

fn lint_bytes(name: &str, bytes: &[u8]) -> LintReport {
    lint(&[SourceFile::new(name, bytes)], &LintFacts::default())
}

/// Spans lie in the text, on character boundaries, and lines and columns agree with them.
fn sound(report: &LintReport, text: &str) {
    for d in &report.diagnostics {
        let mut places = vec![&d.place];
        places.extend(d.related.iter().map(|related| &related.place));
        for place in places {
            let span = place.byte_start as usize..place.byte_end as usize;
            assert!(
                text.get(span.clone()).is_some(),
                "{span:?} of {text:?}: {d:?}"
            );
            assert!(place.line >= 1 && place.column >= 1);
            assert!((place.line, place.column) <= (place.end_line, place.end_column));
        }
        for edit in d.fix.iter().flat_map(|fix| &fix.edits) {
            assert!(
                text.get(edit.byte_start as usize..edit.byte_end as usize)
                    .is_some()
            );
        }
    }
    let sorted = report.diagnostics.is_sorted_by_key(|d| d.place.byte_start);
    assert!(sorted);
}

const SEEDS: &[&str] = &[
    include_str!("fixtures/spec-case.yaml"),
    include_str!("fixtures/mistakes.yaml"),
    include_str!("fixtures/excerpts.yaml"),
    include_str!("fixtures/overlay-mistakes.yaml"),
];

/// Pieces that YAML reacts to.
const PIECES: &[&str] = &[
    "\"",
    "'",
    "- ",
    "\n",
    "\n  ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    "#",
    "\t",
    "&a ",
    "*a",
    "!x ",
    "|\n",
    ">-\n",
    "---\n",
    "...\n",
    "? ",
    "<<: *a",
    "\r",
    "\u{feff}",
    "\0",
    "😀",
    "%YAML 1.2\n",
    ",",
    "@",
    "\\",
    "~",
    "id: b\n",
    "\u{2028}",
];

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        for name in ["a.yaml", "a.json", "fixtures.yaml"] {
            let report = lint_bytes(name, &bytes);
            if let Ok(text) = std::str::from_utf8(&bytes) {
                sound(&report, text);
            }
        }
    }

    #[test]
    fn any_soup(picks in proptest::collection::vec(0..PIECES.len() + 4, 0..60)) {
        let words = ["a", "cases:", "input: {question: q}", "12"];
        let text: String = picks
            .iter()
            .map(|i| PIECES.get(*i).or_else(|| words.get(*i - PIECES.len().min(*i))).unwrap_or(&"z"))
            .copied()
            .collect();
        for name in ["a.yaml", "a.json", "fixtures.yaml"] {
            sound(&lint_bytes(name, text.as_bytes()), &text);
        }
    }

    #[test]
    fn mutated_files(
        seed in 0..SEEDS.len(),
        edits in proptest::collection::vec((any::<prop::sample::Index>(), 0usize..30, 0..PIECES.len()), 1..6),
    ) {
        let mut text = SEEDS[seed].to_owned();
        for (at, cut, piece) in edits {
            let mut start = at.index(text.len() + 1);
            while !text.is_char_boundary(start) { start -= 1; }
            let mut end = (start + cut).min(text.len());
            while !text.is_char_boundary(end) { end -= 1; }
            text.replace_range(start..end.max(start), PIECES[piece]);
        }
        let report = lint_text(&text);
        sound(&report, &text);
        prop_assert_eq!(&lint_text(&text), &report);
        for parsed in &report.dataset.cases {
            // A comment that YAML refuses breaks no case of its file, but would break the excerpt it is part of.
            if !parsed.case.fixtures.is_empty() || parsed.yaml.contains('\0') { continue; }
            let again = lint_text(&parsed.yaml);
            prop_assert_eq!(again.dataset.cases.len(), 1, "excerpt\n{}\nof\n{}", parsed.yaml, text);
            prop_assert_eq!(
                again.dataset.cases[0].case.content_hash(),
                parsed.case.content_hash(),
                "excerpt\n{}\nof\n{}", parsed.yaml, text
            );
        }
    }
}
