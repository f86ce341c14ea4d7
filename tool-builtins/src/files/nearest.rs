//! Search for the lines of a text that are most similar to given lines.

use std::collections::HashMap;

/// The maximum number of lines compared and shown.
const MAX_LINES: usize = 12;
/// The maximum number of lines compared by edit distance.
const MAX_COMPARED: usize = 20_000;
/// The minimum similarity of a line worth showing.
const MIN_SIMILARITY: f64 = 0.6;
/// The maximum number of characters shown of a line.
const MAX_SHOWN: usize = 400;

/// Lines that are similar to those that were searched for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NearestLines {
    /// The number of the first line, starting at 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// `true` if they differ in white space only.
    pub(super) differs_in_space: bool,
}

/// Finds the position where most of the wanted lines match apart from white space, or else the most similar line.
pub(super) fn nearest(text: &str, wanted: &str) -> Option<NearestLines> {
    // A byte order mark is not part of the first line.
    let text = text.trim_start_matches('\u{feff}');
    let wanted: Vec<&str> = wanted.lines().map(str::trim).take(MAX_LINES).collect();
    let start = most_votes(text, &wanted).or_else(|| most_similar(text, &wanted))?;
    let lines: Vec<&str> = text.lines().skip(start).take(wanted.len()).collect();
    let differs_in_space = lines.iter().map(|line| line.trim()).eq(wanted.iter().copied());
    let shown: Vec<String> = lines.into_iter().map(shorten_line).collect();
    Some(NearestLines { line: start + 1, text: shown.join("\n"), differs_in_space })
}

/// Finds the start for which most wanted lines match: each match votes for where the first line would be.
fn most_votes(text: &str, wanted: &[&str]) -> Option<usize> {
    let mut indices: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.len() > 1) {
        indices.entry(line).or_default().push(index);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        for index in indices.get(line).into_iter().flatten() {
            *votes.entry(number.saturating_sub(*index)).or_default() += line.len();
        }
    }
    votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// Finds the line that is most similar to the longest wanted line.
fn most_similar(text: &str, wanted: &[&str]) -> Option<usize> {
    let (index, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let longest: String = longest.chars().take(MAX_SHOWN).collect();
    let similarity = |line: &str| {
        let line = line.trim();
        // Lines of very different lengths are not similar; computing the distance would take long.
        let (short, long) = (line.len().min(longest.len()), line.len().max(longest.len()));
        if short * 2 < long { 0.0 } else { strsim::normalized_damerau_levenshtein(line, &longest) }
    };
    let similarities = text.lines().take(MAX_COMPARED).map(similarity).enumerate();
    let (number, best) = similarities.max_by(|(at, a), (also_at, b)| a.total_cmp(b).then(also_at.cmp(at)))?;
    (best >= MIN_SIMILARITY).then(|| number.saturating_sub(index))
}

/// Shortens a long line.
pub(super) fn shorten_line(line: &str) -> String {
    match line.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
