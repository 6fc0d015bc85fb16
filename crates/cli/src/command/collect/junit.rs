//! JUnit XML: a suite a run, a test case a trial.

use evalkit_core::results::{CaseResult, Results};

use crate::scores;

/// The report. Red is a failure; what has no answer or no verdict is an error; what only skipped is skipped.
pub(super) fn report(results: &Results) -> String {
    let c = &results.counts;
    let mut cases = String::new();
    let (mut failures, mut errors, mut skipped) = (0, 0, 0);
    for case in &results.cases {
        let body = match (case.green, case.status.as_str()) {
            (Some(true), _) => String::new(),
            (Some(false), _) => {
                failures += 1;
                element("failure", "red", case)
            }
            (None, "done") if scores::only_skipped(case) => {
                skipped += 1;
                "<skipped/>".to_owned()
            }
            (None, "done") => {
                errors += 1;
                element("error", "unscored", case)
            }
            (None, status) => {
                errors += 1;
                element("error", status, case)
            }
        };
        #[expect(clippy::cast_precision_loss, reason = "milliseconds of one trial")]
        let seconds = case.latency_ms.unwrap_or(0) as f64 / 1000.0;
        let trial = if case.trial > 1 {
            format!(", trial {}", case.trial)
        } else {
            String::new()
        };
        cases += &format!(
            "    <testcase classname=\"{}\" name=\"{}{trial}\" time=\"{seconds:.3}\">{body}</testcase>\n",
            escape(&results.dataset),
            escape(&case.id),
        );
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\">\n{cases}  </testsuite>\n</testsuites>\n",
        escape(&results.dataset),
        c.planned,
    )
}

fn element(name: &str, kind: &str, case: &CaseResult) -> String {
    let lines = scores::fall(case);
    let message = lines.get(1).map_or(kind, |line| line.trim());
    format!(
        "<{name} type=\"{}\" message=\"{}\">{}</{name}>",
        escape(kind),
        escape(message),
        escape(&lines.join("\n"))
    )
}

/// Text for XML; characters that XML cannot hold are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
