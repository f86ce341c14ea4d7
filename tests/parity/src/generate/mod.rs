//! Generates random services.

mod attributes;
mod conversions;
mod definitions;
mod enums;
mod rules;
mod services;
mod structs;
mod tools;
mod types;

use std::collections::{HashMap, HashSet};

use crate::model::{DefinitionId, Project};
use crate::{Random, words};

/// Generates a crate of this many services; the same seed gives the same crate.
#[must_use]
pub fn project(seed: u64, services: usize) -> Project {
    let mut generator = Generator {
        random: Random::new(seed),
        project: Project::default(),
        own: Vec::new(),
        taken: HashMap::new(),
        partner: None,
    };
    for number in 0..services {
        generator.service(number);
    }
    generator.project
}

struct Generator {
    random: Random,
    project: Project,
    /// The types of the current service.
    own: Vec<DefinitionId>,
    /// The names in use, by module.
    taken: HashMap<Vec<String>, HashSet<String>>,
    /// A type that the previous one refers to although it does not exist yet.
    partner: Option<DefinitionId>,
}

impl Generator {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    /// Returns a name for an item that is unique in its module.
    fn name_in(&mut self, module: &[String], candidates: &[&str]) -> String {
        let taken = self.taken.entry(module.to_vec()).or_default();
        let mut name = self.random.pick(candidates).to_owned();
        let mut number = 1;
        while taken.contains(&name) {
            number += 1;
            name = format!("{}{number}", self.random.pick(candidates));
        }
        taken.insert(name.clone());
        name
    }

    /// Returns this many distinct names.
    fn names(&mut self, candidates: &[&'static str], count: usize) -> Vec<&'static str> {
        let mut left = candidates.to_vec();
        (0..count.min(candidates.len())).map(|_| left.swap_remove(self.random.below(left.len()))).collect()
    }

    /// Returns a predicate in this percentage of cases, which mostly holds.
    fn cfg(&mut self, percent: usize) -> Option<&'static str> {
        if !self.chance(percent) {
            return None;
        }
        let predicates = if self.chance(60) { words::TRUE } else { words::FALSE };
        Some(self.random.pick(predicates))
    }
}
