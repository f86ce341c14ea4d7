//! Documentation that reserves a function for tests.

/// Returns `true` if a documentation says that a function is for tests only. Such a function is rarely meant for a model.
///
/// ```
/// use tool_model::is_for_tests;
///
/// assert!(is_for_tests("Resets the database. Only for use in tests."));
/// assert!(!is_for_tests("A ping, for testing a connection."));
/// ```
#[must_use]
pub fn is_for_tests(documentation: &str) -> bool {
    let paragraphs = documentation.split("\n\n");
    paragraphs.flat_map(|text| text.split(['.', '!', '?', ';', ':', ',', '(', ')'])).any(reserves_for_tests)
}

/// Returns `true` for a clause such as "for unit tests only", "exposed for testing" or "test-only helper".
fn reserves_for_tests(clause: &str) -> bool {
    // Words that stand between "for" and "tests".
    const KINDS: [&str; 5] = ["unit", "integration", "internal", "automated", "use"];
    const STARTS: [&str; 12] =
        ["for", "in", "use", "used", "only", "just", "solely", "intended", "meant", "reserved", "exposed", "helper"];
    const LIMITS: [&str; 4] = ["only", "solely", "purely", "exclusively"];
    let words: Vec<String> = clause
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .filter(|word| !KINDS.contains(&word.as_str()))
        .collect();
    let word = |index: usize| words.get(index).map(String::as_str);
    let is_limited = words.iter().any(|word| LIMITS.contains(&word.as_str()))
        || word(0).is_some_and(|first| STARTS.contains(&first));
    (0..words.len()).filter(|&index| matches!(word(index), Some("test" | "tests" | "testing"))).any(|index| {
        let is_purpose = index > 0 && matches!(word(index - 1), Some("for" | "in"));
        match word(index + 1) {
            Some("only") => is_purpose || index == 0,
            Some("purposes") => is_purpose,
            None => is_purpose && is_limited,
            Some(_) => false,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::is_for_tests;

    #[test]
    fn recognizes_functions_that_are_reserved_for_tests() {
        for documentation in [
            "Resets the database. Only for use in tests.",
            "Deletes everything (for tests only).",
            "Deletes everything\n\nTest-only helper.",
            "This is only used for testing!",
            "Exposed for integration tests.",
            "Should be used in unit tests only",
            "Fills the store, for testing purposes.",
            "For test use.",
            "Used in tests.",
        ] {
            assert!(is_for_tests(documentation), "{documentation}");
        }
    }

    #[test]
    fn accepts_functions_that_do_something_with_tests() {
        for documentation in [
            "A ping, for testing a connection.",
            "Sends a message for testing a webhook.",
            "Searches for tests.",
            "Counts the failures in tests of a crate.",
            "Runs the latest test only.",
            "Lists the names that occur in tests.",
            "Starts the test, use it with care.",
            "The latest only.",
        ] {
            assert!(!is_for_tests(documentation), "{documentation}");
        }
    }
}
