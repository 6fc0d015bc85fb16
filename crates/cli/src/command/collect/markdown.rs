//! Results as Markdown, for a pull request or a page of a wiki.

use evalkit_core::results::Results;

use crate::scores;

/// The report: who was measured by whom, counts, scores, what fell.
pub(super) fn report(results: &Results) -> String {
    let mut out = format!("# {}\n\n", cell(&results.dataset));
    if let Some(agent) = &results.agent {
        out += &format!("Agent {}, ", cell(agent));
    }
    out += &format!(
        "{}. {}.\n\n",
        cell(&scores::judge(results)),
        scores::counts(results)
    );
    if results.scores.is_empty() {
        out += "No score: nothing was graded in full.\n";
    } else {
        out += "| score | value | pooled | 95 % interval | over |\n|---|---:|---:|---|---|\n";
        for (name, score) in &results.scores {
            let interval = match (score.low, score.high) {
                (Some(low), Some(high)) => format!("{low:.2} to {high:.2}"),
                _ => "-".to_owned(),
            };
            out += &format!(
                "| {} | {:.3} | {}/{} | {interval} | {} of {} |\n",
                cell(name),
                score.value,
                scores::number(score.num),
                scores::number(score.den),
                score.cases,
                score.of_cases
            );
        }
    }
    let fallen: Vec<_> = results
        .cases
        .iter()
        .filter(|c| c.green != Some(true))
        .collect();
    if !fallen.is_empty() {
        out += "\n| case | trial | what fell |\n|---|---:|---|\n";
    }
    for case in fallen {
        let lines = scores::fall(case);
        let (head, rest) = lines
            .split_first()
            .map_or(("", &lines[..]), |(h, r)| (h.as_str(), r));
        let colour = head.split_whitespace().next().unwrap_or_default();
        let what: Vec<String> = rest.iter().map(|line| cell(line.trim())).collect();
        out += &format!(
            "| {} | {} | **{colour}** {} |\n",
            cell(&case.id),
            case.trial,
            what.join("<br>")
        );
    }
    out
}

/// Text that stays in its cell and is only text.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
