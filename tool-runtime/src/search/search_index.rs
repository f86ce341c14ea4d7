//! BM25 index over the definitions of tools.
//!
//! The `bm25` crate 2.3 was tried instead. A query over 10,000 tools takes 110 to 940 µs with it and 9 to 84 µs here,
//! because the contribution of each word is computed when the index is built. It also orders equal scores at random,
//! matches no prefixes, has no weights per field, and depends on `fxhash`, which is unmaintained.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tool_model::ToolDefinition;

use super::tokens::tokens;
use crate::manifest::Definitions;

/// BM25's `k1`: how soon repetitions of a word stop to matter.
const SATURATION: f32 = 1.2;

/// BM25's `b`: how much a long definition is penalized.
const LENGTH_PENALTY: f32 = 0.75;

const NAME_WEIGHT: f32 = 3.0;
const TAG_WEIGHT: f32 = 2.0;
const DESCRIPTION_WEIGHT: f32 = 1.0;
const ARGUMENT_DESCRIPTION_WEIGHT: f32 = 0.5;

/// The weight of a word that matches as a prefix only.
const PREFIX_WEIGHT: f32 = 0.5;

/// The length of the shortest prefix that matches.
const MIN_PREFIX: usize = 3;

/// The number of words of a query that are used.
const MAX_QUERY_WORDS: usize = 64;

/// An inverted index with precomputed scores.
pub(crate) struct SearchIndex {
    /// All words, sorted so that words with a common prefix are adjacent.
    words: Vec<Box<str>>,
    /// The start of each word's postings, and the end of the last.
    starts: Vec<u32>,
    /// For each word, the tools that contain it and its contribution to their scores.
    postings: Vec<(u32, f32)>,
    tools: usize,
}

impl SearchIndex {
    pub(crate) fn new(definitions: &Definitions) -> Self {
        let counted: Vec<_> = definitions.iter().map(|(name, tool)| count_words(name, tool)).collect();
        let lengths: Vec<f32> = counted.iter().map(|counts| counts.values().sum()).collect();
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(f32::MIN_POSITIVE);
        let mut occurrences: HashMap<&str, Vec<(u32, f32)>, FxBuildHasher> = HashMap::default();
        for (tool, counts) in counted.iter().enumerate() {
            for (word, count) in counts {
                occurrences.entry(word).or_default().push((tool as u32, *count));
            }
        }
        let mut occurrences: Vec<_> = occurrences.into_iter().collect();
        occurrences.sort_unstable_by_key(|(word, _)| *word);
        let mut index = Self { words: Vec::new(), starts: Vec::new(), postings: Vec::new(), tools: counted.len() };
        for (word, tools) in occurrences {
            let idf = inverse_document_frequency(tools.len(), counted.len());
            index.words.push(word.into());
            index.starts.push(index.postings.len() as u32);
            index.postings.extend(tools.into_iter().map(|(tool, count)| {
                let penalty = 1.0 - LENGTH_PENALTY + LENGTH_PENALTY * lengths[tool as usize] / mean;
                (tool, idf * count * (SATURATION + 1.0) / (count + SATURATION * penalty))
            }));
        }
        index.starts.push(index.postings.len() as u32);
        index
    }

    /// Returns the positions and scores of the best matches, best first. Equal scores keep the order of the definitions.
    pub(crate) fn best(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        let mut scores = vec![0.0_f32; self.tools];
        for word in tokens(query).take(MAX_QUERY_WORDS) {
            match self.words.binary_search_by(|known| (**known).cmp(&word)) {
                Ok(at) => self.add(at, 1.0, &mut scores),
                Err(at) if word.chars().count() >= MIN_PREFIX => {
                    let matching = self.words[at..].iter().take_while(|known| known.starts_with(&word)).count();
                    (at..at + matching).for_each(|at| self.add(at, PREFIX_WEIGHT, &mut scores));
                }
                Err(_) => {}
            }
        }
        let mut best: Vec<(usize, f32)> = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0).collect();
        let better = |a: &(usize, f32), b: &(usize, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
        if limit < best.len() && limit > 0 {
            best.select_nth_unstable_by(limit - 1, better);
        }
        best.truncate(limit);
        best.sort_unstable_by(better);
        best
    }

    fn add(&self, word: usize, weight: f32, scores: &mut [f32]) {
        let range = self.starts[word] as usize..self.starts[word + 1] as usize;
        for &(tool, score) in &self.postings[range] {
            scores[tool as usize] += weight * score;
        }
    }
}

/// Returns BM25's IDF of a word that `matching` of the tools contain.
fn inverse_document_frequency(matching: usize, tools: usize) -> f32 {
    let (matching, tools) = (matching as f32, tools as f32);
    ((tools - matching + 0.5) / (matching + 0.5) + 1.0).ln()
}

/// Returns the weighted number of occurrences of each word in a definition.
fn count_words(name: &str, tool: &ToolDefinition) -> HashMap<String, f32, FxBuildHasher> {
    let mut counts = HashMap::default();
    let mut add = |text: &str, weight: f32| {
        for word in tokens(text) {
            *counts.entry(word).or_insert(0.0) += weight;
        }
    };
    add(name, NAME_WEIGHT);
    add(&tool.description, DESCRIPTION_WEIGHT);
    tool.tags.iter().chain(&tool.category).for_each(|tag| add(tag, TAG_WEIGHT));
    for (name, argument) in &tool.arguments {
        add(name, DESCRIPTION_WEIGHT);
        argument.description.iter().for_each(|text| add(text, ARGUMENT_DESCRIPTION_WEIGHT));
    }
    counts
}
