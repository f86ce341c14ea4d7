//! Conversion of names between cases.

use serde::Deserialize;

/// A case for the names of tools and arguments; see [`Selection::case`](super::Selection::case).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NameCase {
    /// `metricsNewestPoints`
    #[serde(alias = "camelCase")]
    Camel,
    /// `MetricsNewestPoints`
    #[serde(alias = "PascalCase")]
    Pascal,
    /// `metrics_newest_points`
    Snake,
    /// `metrics-newest-points`
    #[serde(alias = "kebab-case")]
    Kebab,
}

impl NameCase {
    /// Converts a name to this case.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        let capital = |word: &String| {
            let mut letters = word.chars();
            letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect::<String>()
        };
        match self {
            Self::Snake => words.join("_"),
            Self::Kebab => words.join("-"),
            Self::Pascal => words.iter().map(capital).collect(),
            Self::Camel => match words.split_first() {
                Some((first, rest)) => first.clone() + &rest.iter().map(capital).collect::<String>(),
                None => String::new(),
            },
        }
    }
}

/// Splits a name into its words, in lower case, at dots, `_`, `-` and changes of case.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let chars: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, &c) in chars.iter().enumerate() {
            let after_lower = index > 0 && c.is_uppercase() && !chars[index - 1].is_uppercase();
            let before_lower =
                index > 0 && c.is_uppercase() && chars.get(index + 1).is_some_and(|next| next.is_lowercase());
            if (after_lower || before_lower) && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            word.extend(c.to_lowercase());
        }
        words.push(word);
    }
    words
}
