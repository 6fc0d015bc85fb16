//! Answers questions about a table of planets.

use serde_json::Value;

use crate::trajectory::Trajectory;

/// The table: one row a planet, one named number a column.
#[derive(Debug, Clone)]
pub struct Planets {
    columns: Vec<String>,
    rows: Vec<(String, Vec<f64>)>,
}

impl Planets {
    /// Reads the table, or `None` when the text is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut header = lines.next()?.split(',').map(str::trim);
        if header.next()? != "planet" {
            return None;
        }
        let columns: Vec<String> = header.map(str::to_owned).collect();
        let mut rows = Vec::new();
        for line in lines {
            let mut cells = line.split(',').map(str::trim);
            let name = cells.next()?.to_owned();
            let numbers: Vec<f64> = cells.map(|cell| cell.parse().ok()).collect::<Option<_>>()?;
            if numbers.len() != columns.len() {
                return None;
            }
            rows.push((name, numbers));
        }
        (!rows.is_empty()).then_some(Self { columns, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    fn value(&self, planet: &str, column: &str) -> Option<f64> {
        let at = self.column(column)?;
        let (_, numbers) = self.rows.iter().find(|(name, _)| name == planet)?;
        numbers.get(at).copied()
    }

    /// Works out an answer, or `None` when the question is about something else.
    pub fn answer(&self, question: &str, steps: &mut Trajectory) -> Option<String> {
        let asked = question.to_lowercase();
        if asked.contains("kepler") {
            self.kepler(question, steps)
        } else if asked.contains("dens") {
            self.densities(steps)
        } else if asked.contains("axis") {
            self.turn(question, steps)
        } else {
            None
        }
    }

    fn densities(&self, steps: &mut Trajectory) -> Option<String> {
        let at = self.column("density_kg_m3")?;
        let by_density =
            |a: &&(String, Vec<f64>), b: &&(String, Vec<f64>)| a.1[at].total_cmp(&b.1[at]);
        let (most, most_numbers) = self.rows.iter().max_by(by_density)?;
        let (least, least_numbers) = self.rows.iter().min_by(by_density)?;
        let (high, low) = (most_numbers[at], least_numbers[at]);
        let ratio = divide(
            steps,
            &format!("Density of {most} by density of {least}"),
            high,
            low,
        )?;
        let water = if low < 1000.0 {
            format!("{least} would float because it is less dense than water.")
        } else {
            format!("{least} would sink because it is denser than water.")
        };
        Some(format!(
            "{most} is the densest planet with {} kg per cubic metre. {least} is the least dense planet with {} kg per \
             cubic metre. {most} is {ratio:.2} times denser. {water}",
            grouped(high),
            grouped(low)
        ))
    }

    /// Leaves the sign of the period aside, and with it the direction of the turn.
    fn turn(&self, question: &str, steps: &mut Trajectory) -> Option<String> {
        let planet = self.named(question)?;
        let hours = self.value(planet, "rotation_period_h")?.abs();
        let year = self.value(planet, "orbital_period_d")?;
        let days = divide(steps, &format!("Turn of {planet} in days"), hours, 24.0)?;
        let compared = if days > year { "longer" } else { "shorter" };
        Some(format!(
            "{planet} takes {days:.1} Earth days to turn once around its axis. Its year lasts {year:.1} days, so one \
             turn takes {compared} than its year."
        ))
    }

    fn kepler(&self, question: &str, steps: &mut Trajectory) -> Option<String> {
        let planet = self.named(&question.replace("Earth", ""))?;
        let years = divide(
            steps,
            &format!("Year of {planet} by year of Earth"),
            self.value(planet, "orbital_period_d")?,
            self.value("Earth", "orbital_period_d")?,
        )?;
        let distance = divide(
            steps,
            &format!("Distance of {planet} by distance of Earth"),
            self.value(planet, "distance_from_sun_1e6_km")?,
            self.value("Earth", "distance_from_sun_1e6_km")?,
        )?;
        let (square, cube) = (years.powi(2), distance.powi(3));
        steps.call(
            "raise_to_power",
            [("base", Value::from(years)), ("exponent", Value::from(2))],
            format!("{square:.3}"),
        );
        steps.call(
            "raise_to_power",
            [
                ("base", Value::from(distance)),
                ("exponent", Value::from(3)),
            ],
            format!("{cube:.3}"),
        );
        let apart = (square / cube - 1.0).abs() * 100.0;
        let verdict = if apart < 1.0 {
            "holds"
        } else {
            "does not hold"
        };
        Some(format!(
            "1. Year of {planet} in units of Earth's: {years:.2}\n2. Distance of {planet} in units of Earth's: \
             {distance:.3}\n3. Square of the year: {square:.1}\n4. Cube of the distance: {cube:.1}\n\nThe two results \
             agree within {apart:.1}%, so the law {verdict} for {planet}."
        ))
    }

    fn named(&self, question: &str) -> Option<&str> {
        self.rows
            .iter()
            .map(|(name, _)| name.as_str())
            .find(|name| question.contains(name))
    }
}

/// Divides and records it; `None` for a division by nought.
pub fn divide(
    steps: &mut Trajectory,
    label: &str,
    numerator: f64,
    denominator: f64,
) -> Option<f64> {
    let quotient = numerator / denominator;
    if !quotient.is_finite() {
        return None;
    }
    steps.call(
        "divide_figures",
        [
            ("label", Value::from(label)),
            ("numerator", Value::from(numerator)),
            ("denominator", Value::from(denominator)),
        ],
        format!("{quotient:.6}"),
    );
    Some(quotient)
}

/// A whole number with commas, as people write it.
pub fn grouped(number: f64) -> String {
    let digits = format!("{:.0}", number.abs());
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if number < 0.0 {
        format!("−{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::{Planets, grouped};
    use crate::trajectory::Trajectory;

    const TABLE: &str = include_str!("../../world-facts/fixtures/planets.csv");

    fn answer(question: &str) -> Option<String> {
        let mut steps = Trajectory::begin("t", question);
        Planets::parse(TABLE).unwrap().answer(question, &mut steps)
    }

    #[test]
    fn figures_come_out_of_the_table() {
        let density = answer("Which planet is the densest?").unwrap();
        assert!(
            density.contains("8.03 times") && density.contains("5,514"),
            "{density}"
        );
        let turn = answer("How long does Venus take to turn around its axis?").unwrap();
        assert!(
            turn.contains("243.0 Earth days") && turn.contains("longer"),
            "{turn}"
        );
        let law = answer("Check Kepler's third law for Jupiter in units of Earth's.").unwrap();
        assert!(
            law.contains("Cube of the distance: 140.9") && law.contains("holds"),
            "{law}"
        );
    }

    #[test]
    fn other_questions_and_other_files_are_left_alone() {
        assert_eq!(answer("Who discovered Neptune?"), None);
        assert!(Planets::parse("").is_none());
        assert!(Planets::parse("country,area\nChad,1").is_none());
        assert!(Planets::parse("planet,mass\nMars,heavy").is_none());
        assert!(Planets::parse("planet,mass\nMars,1,2").is_none());
    }

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(5514.0), "5,514");
        assert_eq!(grouped(687.0), "687");
        assert_eq!(grouped(-1234567.0), "−1,234,567");
    }
}
