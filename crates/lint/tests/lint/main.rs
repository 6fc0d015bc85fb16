//! The linter from outside: files in, diagnostics and cases out.

mod catalogue;
mod data;
mod datasets;
mod jargon;
mod pages;
mod properties;
mod recovery;
mod traps;
mod wording;

use evalkit_lint::{LintFacts, LintReport, SourceFile, lint};

/// Lints one file named `cases.yaml`, with nothing known beside it.
fn lint_text(text: &str) -> LintReport {
    lint_files(&[("cases.yaml", text)])
}

/// Lints several files, with nothing known beside them.
fn lint_files(files: &[(&str, &str)]) -> LintReport {
    let files: Vec<SourceFile> = files
        .iter()
        .map(|(path, text)| SourceFile::new(*path, *text))
        .collect();
    lint(&files, &LintFacts::default())
}

/// The codes found, in order.
fn codes(report: &LintReport) -> Vec<&str> {
    report.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

/// Diagnostics as a page of text: place, code, what is underlined, words, fix.
fn page(report: &LintReport, files: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for d in &report.diagnostics {
        let text = files
            .iter()
            .find(|(path, _)| *path == d.file)
            .map_or("", |(_, text)| text);
        let slice = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or("?");
        let place = &d.place;
        out += &format!(
            "{}:{}:{}-{}:{} {} {:?} {}\n  case {:?} document {} path {:?}\n  {}\n  help: {}\n",
            d.file,
            place.line,
            place.column,
            place.end_line,
            place.end_column,
            d.code,
            d.severity,
            format_args!("{:?}", slice(place.byte_start, place.byte_end)),
            d.case_id,
            d.document,
            d.path,
            d.message,
            d.help,
        );
        for related in &d.related {
            out += &format!(
                "  see {}:{}:{} {}\n",
                related.file, related.place.line, related.place.column, related.message
            );
        }
        if let Some(fix) = &d.fix {
            out += &format!("  fix (safe: {}): {}\n", fix.safe, fix.title);
            for edit in &fix.edits {
                out += &format!(
                    "    {:?} -> {:?}\n",
                    slice(edit.byte_start, edit.byte_end),
                    edit.text
                );
            }
        }
    }
    out
}
