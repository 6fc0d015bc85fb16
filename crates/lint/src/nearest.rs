//! "Did you mean": the nearest of several names.

use strsim::osa_distance;

/// The nearest candidate, when it is near enough to be what was meant: one slip for every three letters, at least one.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = plain(word);
    let allowed = (plain.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&plain, &self::plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Case and word separators do not count.
fn plain(word: &str) -> String {
    word.chars()
        .take(64)
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["expected", "evaluators", "tags", "max_response_time"];
        assert_eq!(nearest("expcted", names), Some("expected"));
        assert_eq!(nearest("maxResponseTime", names), Some("max_response_time"));
        assert_eq!(nearest("tag", names), Some("tags"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(nearest("", names), None);
    }
}
