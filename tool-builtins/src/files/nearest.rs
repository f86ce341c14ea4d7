//! The lines of a text that are most like others.

use std::collections::HashMap;

/// The most lines that are compared and shown.
const MOST_LINES: usize = 12;
/// The most lines of a text that are compared letter by letter.
const MOST_COMPARED: usize = 20_000;
/// Lines that are less alike are not worth showing.
const LEAST_LIKENESS: f64 = 0.6;
/// As much of a line as is shown.
const MOST_SHOWN: usize = 400;

/// Lines that are like what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Near {
    /// The number of the first, the first of all being 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// Whether white space is all that differs.
    pub(super) differs_in_space: bool,
}

/// The place where most lines stand as they were wanted, white space aside; or else the line that is most alike.
pub(super) fn nearest(text: &str, wanted: &str) -> Option<Near> {
    // A byte order mark is no part of the first line.
    let text = text.trim_start_matches('\u{feff}');
    let wanted: Vec<&str> = wanted.lines().map(str::trim).take(MOST_LINES).collect();
    let start = most_votes(text, &wanted).or_else(|| most_alike(text, &wanted))?;
    let lines: Vec<&str> = text.lines().skip(start).take(wanted.len()).collect();
    let differs_in_space = lines.iter().map(|line| line.trim()).eq(wanted.iter().copied());
    let shown: Vec<String> = lines.into_iter().map(cut).collect();
    Some(Near { line: start + 1, text: shown.join("\n"), differs_in_space })
}

/// Every line that is wanted votes, wherever it stands, for the place where the first one would be.
fn most_votes(text: &str, wanted: &[&str]) -> Option<usize> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in wanted.iter().enumerate().filter(|(_, line)| line.len() > 1) {
        places.entry(line).or_default().push(index);
    }
    let mut votes: HashMap<usize, usize> = HashMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        for index in places.get(line).into_iter().flatten() {
            *votes.entry(number.saturating_sub(*index)).or_default() += line.len();
        }
    }
    votes.into_iter().max_by_key(|(start, votes)| (*votes, std::cmp::Reverse(*start))).map(|(start, _)| start)
}

/// Where the line stands that is most like the longest of those wanted.
fn most_alike(text: &str, wanted: &[&str]) -> Option<usize> {
    let (index, longest) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let longest: String = longest.chars().take(MOST_SHOWN).collect();
    let alike = |line: &str| {
        let line = line.trim();
        // Lines of very different lengths are not alike; to find that out letter by letter takes long.
        let (short, long) = (line.len().min(longest.len()), line.len().max(longest.len()));
        if short * 2 < long { 0.0 } else { strsim::normalized_damerau_levenshtein(line, &longest) }
    };
    let likenesses = text.lines().take(MOST_COMPARED).map(alike).enumerate();
    let (number, likeness) = likenesses.max_by(|(at, a), (also_at, b)| a.total_cmp(b).then(also_at.cmp(at)))?;
    (likeness >= LEAST_LIKENESS).then(|| number.saturating_sub(index))
}

/// A line, shortened if it is long.
pub(super) fn cut(line: &str) -> String {
    match line.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
