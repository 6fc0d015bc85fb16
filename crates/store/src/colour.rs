//! Colours as the database spells them.

use evalkit_core::grade::Colour;

/// The stored form.
pub(crate) const fn as_str(colour: Colour) -> &'static str {
    match colour {
        Colour::Green => "green",
        Colour::Red => "red",
        Colour::Flaky => "flaky",
        Colour::Unscored => "unscored",
        Colour::Error => "error",
        Colour::Cancelled => "cancelled",
        Colour::Skipped => "skipped",
        Colour::Open => "open",
    }
}

/// Reads the stored form; what this program did not write counts as open.
pub(crate) fn parse(text: &str) -> Colour {
    match text {
        "green" => Colour::Green,
        "red" => Colour::Red,
        "flaky" => Colour::Flaky,
        "unscored" => Colour::Unscored,
        "error" => Colour::Error,
        "cancelled" => Colour::Cancelled,
        "skipped" => Colour::Skipped,
        _ => Colour::Open,
    }
}
