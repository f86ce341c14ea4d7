//! "Did you mean" suggestions.

/// Returns the candidates most similar to `wanted`, best first, at most three; none if nothing is similar.
///
/// ```
/// let names = ["metrics.newest", "metrics.purge", "system.uptime"];
/// assert_eq!(tool_model::nearest("metrics.newset", names), ["metrics.newest"]);
/// assert!(tool_model::nearest("weather", names).is_empty());
/// ```
#[must_use]
pub fn nearest<'a>(wanted: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let folded = fold(wanted);
    let mut scored: Vec<(f64, &str)> = candidates
        .into_iter()
        .map(|candidate| (similarity(&folded, &fold(candidate)), candidate))
        .filter(|(score, _)| *score > 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let best = scored.first().map_or(0.0, |(score, _)| *score);
    scored.into_iter().take_while(|(score, _)| *score > best - 0.15).take(3).map(|(_, candidate)| candidate).collect()
}

/// Ignores case and separators, which models get wrong most often.
fn fold(name: &str) -> String {
    name.chars().take(256).filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn similarity(wanted: &str, candidate: &str) -> f64 {
    if wanted.is_empty() {
        return 0.0;
    }
    // The other common mistake is a missing prefix (`newest` for `metrics.newest`).
    if wanted.len() >= 3 && candidate.ends_with(wanted) {
        return 0.95;
    }
    strsim::normalized_damerau_levenshtein(wanted, candidate)
}
