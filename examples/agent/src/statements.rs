//! Answers questions about a text with a company's statements: headed sections, labelled rows, one column a fiscal year.

use serde_json::Value;

use crate::planets::{divide, grouped};
use crate::trajectory::Trajectory;

/// The statements, row by row, and the note on income taxes as prose.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    rows: Vec<Row>,
    tax_note: String,
}

#[derive(Debug, Clone)]
struct Row {
    section: String,
    /// The line above that ends in a colon, when the row is indented under it.
    group: String,
    label: String,
    /// The newest year first.
    values: Vec<f64>,
}

const CATEGORIES: &str = "NET SALES BY CATEGORY";
const OPERATIONS: &str = "CONSOLIDATED STATEMENTS OF OPERATIONS";

impl Statements {
    /// Reads the text, or `None` when it holds no statement of operations.
    pub fn parse(text: &str) -> Option<Self> {
        let mut read = Self::default();
        let (mut section, mut group) = (String::new(), String::new());
        for line in text.lines() {
            let plain = line.trim();
            if plain.is_empty() || plain.starts_with('(') && plain.ends_with(')') {
                continue;
            }
            if !plain.chars().any(char::is_lowercase) && !plain.chars().any(|c| c.is_ascii_digit())
            {
                section = plain.to_owned();
                group.clear();
            } else if section == "NOTE ON INCOME TAXES" {
                read.tax_note.push_str(plain);
                read.tax_note.push(' ');
            } else if let Some(head) = plain.strip_suffix(':') {
                group = head.to_owned();
            } else if let Some((label, values)) = cells(plain) {
                if !line.starts_with(' ') {
                    group.clear();
                }
                read.rows.push(Row {
                    section: section.clone(),
                    group: group.clone(),
                    label,
                    values,
                });
            }
        }
        read.rows
            .iter()
            .any(|row| row.section == OPERATIONS)
            .then_some(read)
    }

    /// A figure of the statement of operations; `years_back` 0 is the newest year.
    fn figure(&self, group: &str, label: &str, years_back: usize) -> Option<f64> {
        self.rows
            .iter()
            .find(|row| row.section == OPERATIONS && row.group == group && row.label == label)
            .and_then(|row| row.values.get(years_back).copied())
    }

    /// Works out an answer, or `None` when the question is about something else.
    pub fn answer(&self, question: &str, steps: &mut Trajectory) -> Option<String> {
        let asked = question.to_lowercase();
        if asked.contains("gross margin") {
            self.margins(steps)
        } else if asked.contains("tax rate") {
            self.tax_rate(steps)
        } else if asked.contains("categories") {
            self.categories(steps)
        } else if asked.contains("how many iphones") {
            self.units(steps)
        } else {
            None
        }
    }

    /// Takes the change from the rounded margins and says nothing about its cause.
    fn margins(&self, steps: &mut Trajectory) -> Option<String> {
        let sales = [0, 1].map(|back| self.figure("Net sales", "Services", back));
        let costs = [0, 1].map(|back| self.figure("Cost of sales", "Services", back));
        let ([Some(sales_new), Some(sales_old)], [Some(cost_new), Some(cost_old)]) = (sales, costs)
        else {
            return None;
        };
        let goods = self.figure("Net sales", "Products", 0)?;
        let goods_cost = self.figure("Cost of sales", "Products", 0)?;
        let total = self.figure("Net sales", "Total net sales", 0)?;
        let mut margin = |label: &str, sales: f64, cost: f64| {
            divide(steps, label, sales - cost, sales).map(|share| (share * 1000.0).round() / 10.0)
        };
        let old = margin("Services gross margin FY2023", sales_old, cost_old)?;
        let new = margin("Services gross margin FY2024", sales_new, cost_new)?;
        let products = margin("Products gross margin FY2024", goods, goods_cost)?;
        let growth = divide(
            steps,
            "Growth of Services net sales",
            sales_new - sales_old,
            sales_old,
        )? * 100.0;
        let change = new - old;
        steps.call(
            "subtract_figures",
            [("from", Value::from(new)), ("amount", Value::from(old))],
            format!("{change:.1}"),
        );
        Some(format!(
            "According to Apple's annual report for fiscal 2024:\n\n- Services net sales were ${} million in fiscal 2023 \
             and ${} million in fiscal 2024, growth of {growth:.1}%.\n- Services cost of sales was ${} million in fiscal \
             2023 and ${} million in fiscal 2024.\n- Apple's total net sales were ${} million in fiscal 2024.\n\nThe \
             Services gross margin went from {old:.1}% to {new:.1}%, a rise of {:.0} basis points. The Products gross \
             margin was {products:.1}% in fiscal 2024.",
            grouped(sales_old),
            grouped(sales_new),
            grouped(cost_old),
            grouped(cost_new),
            grouped(total),
            change * 100.0,
        ))
    }

    /// Hands the note to a second reader, then subtracts billions from millions.
    fn tax_rate(&self, steps: &mut Trajectory) -> Option<String> {
        let pretax = "Income before provision for taxes";
        let provision = "Provision for income taxes";
        let rate = |steps: &mut Trajectory, back: usize, label: &str| {
            divide(
                steps,
                label,
                self.figure("", provision, back)?,
                self.figure("", pretax, back)?,
            )
        };
        let old = rate(steps, 1, "Effective tax rate FY2023")? * 100.0;
        let new = rate(steps, 0, "Effective tax rate FY2024")? * 100.0;
        let Some(charge) = amount_in(&self.tax_note) else {
            return Some(format!(
                "The effective tax rate was {old:.1}% in fiscal 2023 and {new:.1}% in fiscal 2024. The file says nothing \
                 about a one-time charge."
            ));
        };
        let task = "Read the note on income taxes and report the one-time charge.";
        let mut reader = Trajectory::begin("note-reader", task);
        reader.call(
            "read_section",
            [("section", Value::from("NOTE ON INCOME TAXES"))],
            self.tax_note.trim(),
        );
        let found = format!(
            "The note names a one-time charge of ${charge} billion, related to the State Aid Decision."
        );
        reader.finish(&found);
        steps.delegate(task, reader, &found);
        let without = divide(
            steps,
            "Effective tax rate FY2024 without the charge",
            self.figure("", provision, 0)? - charge,
            self.figure("", pretax, 0)?,
        )? * 100.0;
        Some(format!(
            "The effective tax rate was {old:.1}% in fiscal 2023 and {new:.1}% in fiscal 2024. The fiscal 2024 provision \
             includes a one-time charge of ${charge} billion, related to the State Aid Decision. Without the charge the \
             rate would have been {without:.1}%, so the charge explains little of the rise."
        ))
    }

    fn categories(&self, steps: &mut Trajectory) -> Option<String> {
        let mut changes = Vec::new();
        let rows = self.rows.iter().filter(|row| row.section == CATEGORIES);
        for row in rows.clone().filter(|row| !row.label.starts_with("Total")) {
            let (new, old) = (*row.values.first()?, *row.values.get(1)?);
            let change =
                divide(steps, &format!("Change of {}", row.label), new - old, old)? * 100.0;
            changes.push((row.label.as_str(), change));
        }
        let (best, up) = changes.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        let (worst, down) = changes.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let newest = |label: &str| {
            let row = rows.clone().find(|row| row.label == label)?;
            row.values.first().copied()
        };
        let share = divide(
            steps,
            "Share of iPhone FY2024",
            newest("iPhone")?,
            newest("Total net sales")?,
        )? * 100.0;
        Some(format!(
            "{best} grew fastest, by {up:.1}%. {worst} fell most, by {:.1}%. iPhone made up {share:.1}% of total net sales \
             in fiscal 2024.",
            down.abs()
        ))
    }

    /// Says only that it found no number, which is less than saying that there is none.
    fn units(&self, steps: &mut Trajectory) -> Option<String> {
        steps.think("I look for a row with units. The rows only hold dollars.");
        let row = self
            .rows
            .iter()
            .find(|row| row.section == CATEGORIES && row.label == "iPhone")?;
        Some(format!(
            "I could not find the number of iPhones in the attached file. iPhone net sales were ${} million in fiscal 2024.",
            grouped(*row.values.first()?)
        ))
    }
}

/// Splits a line into its label and its numbers; `None` when it has no numbers.
fn cells(line: &str) -> Option<(String, Vec<f64>)> {
    let mut parts = line
        .split("  ")
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let label = parts.next()?.to_owned();
    let values: Vec<f64> = parts.map(number).collect::<Option<_>>()?;
    (!values.is_empty()).then_some((label, values))
}

/// Reads `1,234.5`, or `(565)` for a negative.
fn number(text: &str) -> Option<f64> {
    let (digits, sign) = match text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        Some(inner) => (inner, -1.0),
        None => (text, 1.0),
    };
    digits
        .replace(',', "")
        .parse::<f64>()
        .ok()
        .map(|value| sign * value)
}

/// The first amount written as `$… billion`.
fn amount_in(note: &str) -> Option<f64> {
    let (before, _) = note.split_once(" billion")?;
    let (_, amount) = before.rsplit_once('$')?;
    amount.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Statements, amount_in, number};
    use crate::trajectory::Trajectory;

    const TEXT: &str = include_str!("../../world-facts/fixtures/apple-fy2024-statements.txt");

    fn answer(question: &str) -> String {
        let mut steps = Trajectory::begin("t", question);
        let read = Statements::parse(TEXT).unwrap();
        read.answer(question, &mut steps).unwrap()
    }

    #[test]
    fn every_column_of_the_file_adds_up() {
        let read = Statements::parse(TEXT).unwrap();
        let figure = |group: &str, label: &str, back| read.figure(group, label, back).unwrap();
        for back in 0..3 {
            let sales =
                figure("Net sales", "Products", back) + figure("Net sales", "Services", back);
            assert_eq!(sales, figure("Net sales", "Total net sales", back));
            let cost = figure("Cost of sales", "Products", back)
                + figure("Cost of sales", "Services", back);
            assert_eq!(cost, figure("Cost of sales", "Total cost of sales", back));
            assert_eq!(sales - cost, figure("", "Gross margin", back));
            let pretax = figure("", "Operating income", back)
                + figure("", "Other income/(expense), net", back);
            assert_eq!(
                pretax,
                figure("", "Income before provision for taxes", back)
            );
            assert_eq!(
                pretax - figure("", "Provision for income taxes", back),
                figure("", "Net income", back)
            );
        }
    }

    #[test]
    fn figures_come_out_of_the_file() {
        let margins = answer("How did the gross margin of Services move?");
        for part in [
            "$85,200 million",
            "$25,119 million",
            "70.8% to 73.9%",
            "37.2%",
            "12.9%",
            "$391,035 million",
        ] {
            assert!(margins.contains(part), "{part}: {margins}");
        }
        let tax = answer("What was the effective tax rate?");
        assert!(
            tax.contains("14.7%") && tax.contains("$10.2 billion"),
            "{tax}"
        );
        let lines = answer("Which of the five categories grew fastest?");
        assert!(lines.contains("Services grew fastest, by 12.9%"), "{lines}");
        assert!(
            lines.contains("Wearables, Home and Accessories fell most, by 7.1%"),
            "{lines}"
        );
        assert!(answer("How many iPhones did Apple sell?").contains("$201,183 million"));
    }

    #[test]
    fn numbers_and_amounts_are_read_strictly() {
        assert_eq!(number("(565)"), Some(-565.0));
        assert_eq!(number("1,234.5"), Some(1234.5));
        assert_eq!(number("FY2024"), None);
        assert_eq!(amount_in("a charge of $10.2 billion, net"), Some(10.2));
        assert_eq!(amount_in("a charge"), None);
        assert!(Statements::parse("planet,mass\nMars,1").is_none());
    }
}
