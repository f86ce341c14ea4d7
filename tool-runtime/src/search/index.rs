//! Where words stand, and how much each says of its tool: BM25 with what each word adds worked out beforehand.

use std::collections::HashMap;

use rustc_hash::FxBuildHasher;
use tool_model::ToolDefinition;

use super::words::stems;
use crate::manifest::Definitions;

/// How soon more of the same word stops to matter.
const SATURATION: f32 = 1.2;

/// How much a long description counts against its words.
const LENGTH: f32 = 0.75;

/// How much a word says by where it stands.
const IN_NAME: f32 = 3.0;
const IN_TAGS: f32 = 2.0;
const IN_TEXT: f32 = 1.0;
const IN_ARGUMENT_TEXT: f32 = 0.5;

/// What a word counts that only begins another.
const BEGINNING: f32 = 0.5;

/// The shortest beginning of a word that stands for it.
const SHORTEST_BEGINNING: usize = 3;

/// How many words of a query are looked at.
const MOST_WORDS: usize = 64;

/// The words of a list of tools.
pub(crate) struct Index {
    /// All words, sorted: what begins alike stands together.
    words: Vec<Box<str>>,
    /// For each word, the tools that have it with what it adds to their scores. They stand in one list, one word after
    /// the other; this is where each begins.
    starts: Vec<u32>,
    added: Vec<(u32, f32)>,
    tools: usize,
}

impl Index {
    pub(crate) fn of(definitions: &Definitions) -> Self {
        let counted: Vec<_> = definitions.iter().map(|(name, tool)| count(name, tool)).collect();
        let lengths: Vec<f32> = counted.iter().map(|counts| counts.values().sum()).collect();
        let mean = (lengths.iter().sum::<f32>() / lengths.len().max(1) as f32).max(f32::MIN_POSITIVE);
        let mut places: HashMap<&str, Vec<(u32, f32)>, FxBuildHasher> = HashMap::default();
        for (tool, counts) in counted.iter().enumerate() {
            for (word, count) in counts {
                places.entry(word).or_default().push((tool as u32, *count));
            }
        }
        let mut places: Vec<_> = places.into_iter().collect();
        places.sort_unstable_by_key(|(word, _)| *word);
        let mut index = Self { words: Vec::new(), starts: Vec::new(), added: Vec::new(), tools: counted.len() };
        for (word, tools) in places {
            let rarity = rarity(tools.len(), counted.len());
            index.words.push(word.into());
            index.starts.push(index.added.len() as u32);
            index.added.extend(tools.into_iter().map(|(tool, count)| {
                let long = 1.0 - LENGTH + LENGTH * lengths[tool as usize] / mean;
                (tool, rarity * count * (SATURATION + 1.0) / (count + SATURATION * long))
            }));
        }
        index.starts.push(index.added.len() as u32);
        index
    }

    /// The places of the tools that fit best, the best first; those that fit alike in their order.
    pub(crate) fn best(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        let mut scores = vec![0.0_f32; self.tools];
        for word in stems(query).take(MOST_WORDS) {
            match self.words.binary_search_by(|known| (**known).cmp(&word)) {
                Ok(at) => self.add(at, 1.0, &mut scores),
                Err(at) if word.chars().count() >= SHORTEST_BEGINNING => {
                    let begun = self.words[at..].iter().take_while(|known| known.starts_with(&word)).count();
                    (at..at + begun).for_each(|at| self.add(at, BEGINNING, &mut scores));
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
        let places = self.starts[word] as usize..self.starts[word + 1] as usize;
        for &(tool, added) in &self.added[places] {
            scores[tool as usize] += weight * added;
        }
    }
}

/// How much a word says that so many of the tools have.
fn rarity(having: usize, tools: usize) -> f32 {
    let (having, tools) = (having as f32, tools as f32);
    ((tools - having + 0.5) / (having + 0.5) + 1.0).ln()
}

/// How often a tool says each word, by where it says it.
fn count(name: &str, tool: &ToolDefinition) -> HashMap<String, f32, FxBuildHasher> {
    let mut counts = HashMap::default();
    let mut add = |text: &str, weight: f32| {
        for word in stems(text) {
            *counts.entry(word).or_insert(0.0) += weight;
        }
    };
    add(name, IN_NAME);
    add(&tool.description, IN_TEXT);
    tool.tags.iter().chain(&tool.category).for_each(|tag| add(tag, IN_TAGS));
    for (name, argument) in &tool.arguments {
        add(name, IN_TEXT);
        argument.description.iter().for_each(|text| add(text, IN_ARGUMENT_TEXT));
    }
    counts
}
