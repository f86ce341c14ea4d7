//! Makes random services.

mod attributes;
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

/// A crate of so many services; the same seed gives the same crate.
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
    /// The types of the service that is being made.
    own: Vec<DefinitionId>,
    /// The names in use, by module.
    taken: HashMap<Vec<String>, HashSet<String>>,
    /// The type that the last one refers to though it was not made yet.
    partner: Option<DefinitionId>,
}

impl Generator {
    fn chance(&mut self, percent: usize) -> bool {
        self.random.chance(percent)
    }

    /// A name for an item, which no other item of the module has.
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

    /// So many different names.
    fn names(&mut self, candidates: &[&'static str], count: usize) -> Vec<&'static str> {
        let mut left = candidates.to_vec();
        (0..count.min(candidates.len())).map(|_| left.swap_remove(self.random.below(left.len()))).collect()
    }

    /// A predicate in so many of a hundred cases, which mostly holds.
    fn cfg(&mut self, percent: usize) -> Option<&'static str> {
        if !self.chance(percent) {
            return None;
        }
        let predicates = if self.chance(60) { words::TRUE } else { words::FALSE };
        Some(self.random.pick(predicates))
    }
}
