//! The label set against `core::figures`: every decision is right in at least 99 of 100, and the confusion matrix is
//! printed for the bench (`cargo test -p evalkit-core --test figure_labels -- --nocapture`).

#![expect(
    clippy::print_stdout,
    reason = "the bench reads the confusion matrix from here"
)]

use std::collections::BTreeMap;
use std::path::Path;

use evalkit_core::figures;
use evalkit_core::verdict::FigureResult;
use serde::Deserialize;

#[derive(Deserialize)]
struct Label {
    id: String,
    rubric: String,
    answer: String,
    figures: FigureResult,
    #[serde(default)]
    figures_also: Vec<FigureResult>,
    #[serde(default)]
    undecided_ok: bool,
}

fn labels() -> Vec<Label> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/labels");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the label set")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.extension().is_some_and(|e| e == "jsonl"))
        .collect();
    files.sort();
    files
        .iter()
        .flat_map(|file| {
            let text = std::fs::read_to_string(file).expect("a label file");
            text.lines()
                .filter(|l| !l.trim().is_empty())
                .map(|l| {
                    serde_json::from_str(l)
                        .unwrap_or_else(|e| panic!("{}: {e}: {l}", file.display()))
                })
                .collect::<Vec<Label>>()
        })
        .collect()
}

#[test]
fn decided_figures_are_right_in_99_of_100() {
    let labels = labels();
    assert!(
        labels.len() >= 400,
        "the label set holds {} pairs",
        labels.len()
    );
    let mut matrix: BTreeMap<(&str, &str), u32> = BTreeMap::new();
    let (mut decided, mut wrong, mut lost) = (0_u32, Vec::new(), 0_u32);
    for label in &labels {
        let opinion = figures::judge(&label.rubric, &label.answer);
        *matrix
            .entry((label.figures.as_str(), opinion.result.as_str()))
            .or_default() += 1;
        if opinion.result == FigureResult::Undecided {
            lost += u32::from(label.figures != FigureResult::Undecided && !label.undecided_ok);
            continue;
        }
        decided += 1;
        if opinion.result != label.figures && !label.figures_also.contains(&opinion.result) {
            wrong.push(format!(
                "{}: label {}, got {}: {}\n    rubric: {}\n    answer: {}",
                label.id,
                label.figures.as_str(),
                opinion.result.as_str(),
                opinion.why,
                label.rubric,
                label.answer
            ));
        }
    }
    println!(
        "label set: {} pairs; rows are labels, columns what arithmetic says",
        labels.len()
    );
    let names = ["matches", "contradicts", "not found", "undecided"];
    println!("{:>12} {}", "", names.map(|n| format!("{n:>12}")).join(""));
    for row in names {
        println!(
            "{row:>12} {}",
            names
                .map(|n| format!("{:>12}", matrix.get(&(row, n)).copied().unwrap_or(0)))
                .join("")
        );
    }
    println!(
        "decided {decided}, wrong {}, decisions lost {lost}",
        wrong.len()
    );
    #[expect(
        clippy::disallowed_methods,
        reason = "a switch for people who study the labels"
    )]
    let shown = std::env::var_os("EVALKIT_SHOW_LABELS").is_some();
    if shown {
        for label in &labels {
            let opinion = figures::judge(&label.rubric, &label.answer);
            if opinion.result == FigureResult::Undecided
                && label.figures != FigureResult::Undecided
                && !label.undecided_ok
            {
                println!(
                    "lost {}: label {}: {}\n    rubric: {}\n    answer: {}",
                    label.id,
                    label.figures.as_str(),
                    opinion.why,
                    label.rubric,
                    label.answer
                );
            }
        }
    }
    let allowed = decided / 100;
    assert!(
        u32::try_from(wrong.len()).unwrap_or(u32::MAX) <= allowed,
        "{} wrong of {decided} decided, {allowed} allowed:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
