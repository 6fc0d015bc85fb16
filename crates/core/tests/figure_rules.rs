//! `grading.md`, Numbers, clause by clause, and its arithmetic as properties.

use evalkit_core::figures::judge;
use evalkit_core::verdict::FigureResult::{self, Contradicts, Matches, NotFound, Undecided};
use proptest::prelude::*;

fn check(rubric: &str, answer: &str, expected: FigureResult) {
    let opinion = judge(rubric, answer);
    assert_eq!(
        opinion.result, expected,
        "{rubric:?} against {answer:?}: {}",
        opinion.why
    );
}

#[test]
fn the_specification_s_own_examples() {
    let rubric = "States that revenue was 3,172.6 million.";
    check(rubric, "Revenue was 3,173 million.", Matches);
    check(rubric, "Revenue was 3.17 billion.", Matches);
    check(rubric, "Revenue was 3,180 million.", Contradicts);
    let margin = "States that the margin was 28.1%.";
    check(margin, "The margin was 28%.", Undecided);
    check(margin, "The margin was 28.13%.", Undecided);
    check(margin, "The margin was between 28.0% and 28.2%.", Undecided);
    check("Says the margin rose.", "The margin was 28.1%.", Undecided);
}

#[test]
fn units_convert() {
    for (rubric, answer) in [
        (
            "Assets of ₹1,23,450 crore.",
            "Assets of ₹12,34,500 lakh crore.",
        ),
        (
            "A change of 102 bps.",
            "A change of 1.02 percentage points.",
        ),
        ("A dose of 1,500 mg.", "A dose of 1.5 g."),
        ("A route of 12.5 km.", "A route of 12,500 m."),
        ("A run of 90 minutes.", "A run of 1.5 hours."),
        ("An image of 1,240 MB.", "An image of 1.24 GB."),
    ] {
        let opinion = judge(rubric, answer);
        let expected = if rubric.contains("crore") {
            Contradicts
        } else {
            Matches
        };
        assert_eq!(
            opinion.result, expected,
            "{rubric} / {answer}: {}",
            opinion.why
        );
    }
}

#[test]
fn signs_come_from_symbols_parentheses_or_plain_words() {
    let rubric = "States that operating cash flow was -$48.2 million.";
    check(rubric, "Operating cash flow was −$48.2 million.", Matches);
    check(rubric, "Operating cash flow was $(48.2) million.", Matches);
    check(rubric, "Operating cash flow was $48.2 million.", Undecided);
    check(
        "States that sales fell by 3.21%.",
        "Sales fell by 3.21%.",
        Matches,
    );
    check(
        "States that sales fell by 3.21%.",
        "Sales rose by 3.21%.",
        Contradicts,
    );
}

#[test]
fn stated_criteria_replace_the_default() {
    check(
        "The margin is exactly 46.46%.",
        "The margin is 46.5%.",
        Contradicts,
    );
    check(
        "The margin is 46.46% (±0.05pp).",
        "The margin is 46.5%.",
        Matches,
    );
    check(
        "The margin is 46.46% (±0.03pp).",
        "The margin is 46.5%.",
        Contradicts,
    );
    check("The mass is 500 kg ± 2%.", "The mass is 509 kg.", Matches);
    check(
        "The mass is 500 kg ± 2%.",
        "The mass is 511 kg.",
        Contradicts,
    );
    check(
        "The mass is within 10 kg of 500 kg.",
        "The mass is 492 kg.",
        Matches,
    );
    check(
        "The mass is between 490 and 510 kg.",
        "The mass is 492 kg.",
        Matches,
    );
    check(
        "The mass is at least 490 kg.",
        "The mass is 492 kg.",
        Matches,
    );
    check(
        "The mass is more than 492 kg.",
        "The mass is 492 kg.",
        Contradicts,
    );
    check(
        "The mass is either 480 kg or 492 kg.",
        "The mass is 480 kg.",
        Matches,
    );
}

#[test]
fn what_is_no_figure() {
    check(
        "States that the treaty was signed on 1 December 1959.",
        "It was signed on 1 December 1959.",
        Undecided,
    );
    check(
        "States that IFRS 16 applies from Q3 FY2024.",
        "IFRS 16 applies from Q3 FY2024.",
        Undecided,
    );
    check(
        "States that revenue was $3,172.6 million.",
        "See note 21 of 31 March 2025 [3].",
        NotFound,
    );
}

#[test]
fn several_figures_must_all_match() {
    let rubric =
        "States that revenue was $2,994.1 million in FY2023 and $3,522.8 million in FY2024.";
    check(
        rubric,
        "Revenue was $2,994.1 million in FY2023 and $3,522.8 million in FY2024.",
        Matches,
    );
    check(
        rubric,
        "Revenue was $2,994.1 million in FY2023 and $3,600.0 million in FY2024.",
        Contradicts,
    );
    check(
        rubric,
        "Revenue was $3,522.8 million in FY2023 and $2,994.1 million in FY2024.",
        Undecided,
    );
}

fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

proptest! {
    /// A figure written in another scale is the same figure.
    #[test]
    fn scales_round_trip(thousands in 1_001_u64..999_999_999) {
        let plain = grouped(thousands * 1000);
        let thousand = format!("{} thousand", grouped(thousands));
        let million = format!("{}.{:03} million", grouped(thousands / 1000), thousands % 1000);
        for (a, b) in [(&plain, &thousand), (&thousand, &million), (&million, &plain)] {
            let opinion = judge(&format!("States that revenue was ${a}."), &format!("Revenue was ${b}."));
            prop_assert_eq!(opinion.result, Matches, "{} against {}: {}", b, a, opinion.why);
        }
    }

    /// Rounding the rubric's figure half away from zero to three or more digits matches; the next number does not.
    #[test]
    fn rounding_is_of_the_rubric_s_figure(tenths in 10_001_u64..9_999_999) {
        let rubric = format!("States that revenue was {}.{} million.", grouped(tenths / 10), tenths % 10);
        let rounded = (tenths + 5) / 10;
        let right = judge(&rubric, &format!("Revenue was {} million.", grouped(rounded)));
        prop_assert_eq!(right.result, Matches, "{} against {}: {}", rounded, rubric, right.why);
        let off = judge(&rubric, &format!("Revenue was {} million.", grouped(rounded + 1)));
        // A whole number's trailing zeros may be read as rounding: then the neighbour can be one too.
        prop_assert!(off.result != Matches || (rounded + 1) % 10 == 0, "{} against {}: {}", rounded + 1, rubric, off.why);
    }

    /// Points and basis points, grams and milligrams, hours and minutes.
    #[test]
    fn plain_systems_convert(n in 101_u64..9_999) {
        for (a, b) in [
            (format!("{n} bps"), format!("{}.{:02} pp", n / 100, n % 100)),
            (format!("{} mg", grouped(n)), format!("{}.{:03} g", n / 1000, n % 1000)),
            (format!("{} m", grouped(n)), format!("{}.{:03} km", n / 1000, n % 1000)),
            (format!("{} minutes", n * 60), format!("{n} hours")),
        ] {
            let opinion = judge(&format!("The size is {a}."), &format!("The size is {b}."));
            prop_assert!(matches!(opinion.result, Matches | Undecided), "{} against {}: {}", b, a, opinion.why);
            let back = judge(&format!("The size is {b}."), &format!("The size is {a}."));
            prop_assert!(back.result != Contradicts, "{} against {}: {}", a, b, back.why);
        }
    }

    /// Whatever the texts, the answer is one of the four, and quick.
    #[test]
    fn never_panics(rubric in ".{0,120}", answer in ".{0,300}") {
        let _ = judge(&rubric, &answer);
    }
}

/// The work grows with the length of the answer, not with its square: a table of thousands of figures is judged at once.
#[test]
fn a_long_table_is_judged_quickly() {
    use std::fmt::Write as _;
    let mut answer = String::from("| Item | Amount |\n|---|---|\n");
    for i in 0..4_000 {
        let _ = writeln!(answer, "| Item {i} | {}.5 million |", i + 100);
    }
    let start = std::time::Instant::now();
    let _ = judge(
        "States that the total amount was 3,172.6 million in FY2024.",
        &answer,
    );
    assert!(
        start.elapsed() < std::time::Duration::from_secs(5),
        "{:?}",
        start.elapsed()
    );
}
