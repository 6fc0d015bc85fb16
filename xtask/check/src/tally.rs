//! Counts of what was tried: one table and one line at the end of every test run.

use std::fmt::Write as _;

/// Words with which a skip starts that CI must not let pass: the machine can be given what is missing.
const MUST_RUN_IN_CI: [&str; 2] = ["needs program", "needs root"];

/// What one part came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The part.
    pub part: String,
    /// How many passed.
    pub passed: usize,
    /// What failed, by name.
    pub failed: Vec<String>,
    /// What did not run, with the reason.
    pub skipped: Vec<(String, String)>,
}

impl Tally {
    /// Nothing tried yet.
    pub fn new(part: &str) -> Self {
        Self {
            part: part.to_owned(),
            ..Self::default()
        }
    }

    /// Counts a failure.
    pub fn fail(&mut self, name: impl Into<String>) {
        self.failed.push(name.into());
    }

    /// Counts what did not run.
    pub fn skip(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push((name.into(), reason.into()));
    }

    /// Under CI, a skip for want of a program or of root is a failure.
    pub fn strict(mut self, ci: bool) -> Self {
        if ci {
            let (failed, skipped): (Vec<_>, Vec<_>) =
                self.skipped.into_iter().partition(|(_, reason)| {
                    MUST_RUN_IN_CI.iter().any(|start| reason.starts_with(start))
                });
            self.skipped = skipped;
            self.failed.extend(
                failed
                    .into_iter()
                    .map(|(name, reason)| format!("{name} (not run: {reason})")),
            );
        }
        self
    }
}

/// The table, the names of what failed and of what was skipped, and the one line.
pub fn table(tallies: &[Tally]) -> String {
    let mut text = format!(
        "{:<12} {:>8} {:>8} {:>8}\n",
        "part", "passed", "failed", "skipped"
    );
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for tally in tallies {
        let counts = (tally.passed, tally.failed.len(), tally.skipped.len());
        let _ = writeln!(
            text,
            "{:<12} {:>8} {:>8} {:>8}",
            tally.part, counts.0, counts.1, counts.2
        );
        passed += counts.0;
        failed += counts.1;
        skipped += counts.2;
    }
    for tally in tallies {
        for (name, reason) in &tally.skipped {
            let _ = write!(text, "\nskipped: {name}: {reason}");
        }
    }
    for tally in tallies {
        for name in &tally.failed {
            let _ = write!(text, "\nfailed:  {name}");
        }
    }
    let _ = write!(
        text,
        "\n\n{passed} passed, {failed} failed, {skipped} skipped"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_ends_in_one_line_of_counts() {
        let mut one = Tally::new("rust");
        one.passed = 3;
        one.skip("power cut", "needs program strace");
        let mut two = Tally::new("tidy");
        two.fail("tidy sql");
        let text = table(&[one, two]);
        assert!(text.ends_with("\n3 passed, 1 failed, 1 skipped"), "{text}");
        assert!(text.contains("skipped: power cut: needs program strace"));
        assert!(text.contains("failed:  tidy sql"));
    }

    #[test]
    fn ci_does_not_let_an_absent_program_pass() {
        let skips = || {
            let mut tally = Tally::new("rust");
            tally.skip("power cut", "needs program strace");
            tally.skip("golden files", "the data folder is not here");
            tally
        };
        assert_eq!(skips().strict(false), skips());
        let strict = skips().strict(true);
        assert_eq!(strict.failed, ["power cut (not run: needs program strace)"]);
        assert_eq!(strict.skipped.len(), 1);
    }
}
