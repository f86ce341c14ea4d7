//! Documentation that reserves a function for tests.

/// Returns `true` if a documentation says that a function is for tests only. Such a function is rarely meant for a model.
///
/// ```
/// use tool_model::is_for_tests;
///
/// assert!(is_for_tests("Resets the database. Only for use in tests."));
/// assert!(!is_for_tests("The latest only."));
/// ```
#[must_use]
pub fn is_for_tests(documentation: &str) -> bool {
    const PHRASES: [[&str; 2]; 8] = [
        ["test", "only"],
        ["tests", "only"],
        ["testing", "only"],
        ["for", "tests"],
        ["for", "testing"],
        ["in", "tests"],
        ["test", "use"],
        ["testing", "purposes"],
    ];
    let words: Vec<String> = documentation
        .split(|sign: char| !sign.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.windows(2).any(|pair| PHRASES.iter().any(|phrase| pair == phrase))
}
