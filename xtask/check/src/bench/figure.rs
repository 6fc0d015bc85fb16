//! One measured figure and its limit.

use std::fmt::Write as _;

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The value, in `unit`.
    pub value: f64,
    /// `ms`, `KB` (1,000 bytes), `%`, `1`.
    pub unit: String,
    /// What it must not exceed, where something is promised.
    pub at_most: Option<f64>,
    /// What it must reach, where something is promised.
    pub at_least: Option<f64>,
}

impl Figure {
    /// A figure without a limit.
    pub fn new(name: impl Into<String>, value: f64, unit: &str) -> Self {
        Self {
            name: name.into(),
            value,
            unit: unit.to_owned(),
            at_most: None,
            at_least: None,
        }
    }

    /// Sets what it must not exceed.
    pub fn at_most(mut self, limit: f64) -> Self {
        self.at_most = Some(limit);
        self
    }

    /// Whether its limits hold.
    pub fn holds(&self) -> bool {
        self.at_most.is_none_or(|limit| self.value <= limit)
            && self.at_least.is_none_or(|limit| self.value >= limit)
    }
}

impl Figure {
    /// The value: two digits after the point for ratios and what is below 1, else one.
    pub fn shown(&self) -> String {
        if self.unit == "times" || self.value.abs() < 1.0 {
            format!("{:.2}", self.value)
        } else {
            format!("{:.1}", self.value)
        }
    }

    /// Its limit in words; empty when nothing is promised.
    pub fn promised(&self) -> String {
        match (self.at_most, self.at_least) {
            (Some(limit), _) => format!("at most {limit}"),
            (None, Some(limit)) => format!("at least {limit}"),
            (None, None) => String::new(),
        }
    }
}

/// The table, one line a figure.
pub fn table(figures: &[Figure]) -> String {
    let mut text = format!(
        "{:<76} {:>10} {:<5} {:<14} {}\n",
        "figure", "value", "unit", "promised", "holds"
    );
    for figure in figures {
        let promised = figure.promised();
        let holds = match (promised.is_empty(), figure.holds()) {
            (true, _) => "",
            (false, true) => "yes",
            (false, false) => "NO",
        };
        let _ = writeln!(
            text,
            "{:<76} {:>10} {:<5} {promised:<14} {holds}",
            figure.name,
            figure.shown(),
            figure.unit
        );
    }
    text
}

/// The middle of a set of times, and its 99th percentile. Both are 0 for an empty set.
pub fn median_and_p99(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let last = times.len().saturating_sub(1);
        let index = (share * last as f64).round() as usize;
        times.get(index).copied().unwrap_or_default()
    };
    (at(0.5), at(0.99))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_is_shown() {
        let kept = Figure::new("page", 12.0, "ms").at_most(20.0);
        let broken = Figure::new("load", 400.0, "KB").at_most(350.0);
        assert!(kept.holds() && !broken.holds());
        let text = table(&[kept, broken, Figure::new("free", 1.0, "ms")]);
        assert!(text.contains("yes") && text.contains("NO"));
    }

    #[test]
    fn the_middle_is_found() {
        assert_eq!(median_and_p99(vec![3.0, 1.0, 2.0]), (2.0, 3.0));
        assert_eq!(median_and_p99(Vec::new()), (0.0, 0.0));
    }
}
