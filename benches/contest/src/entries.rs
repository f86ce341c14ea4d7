//! The entries of a contender program, one per way of using its library.

use crate::{Contender, commands};

type Run = fn(&[&str]);

/// The entries of one program: `program ENTRY COMMAND ..`.
#[derive(Default)]
pub struct Entries(Vec<(&'static str, Run)>);

impl Entries {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an entry.
    pub fn enter<C: Contender>(mut self, name: &'static str) -> Self {
        self.0.push((name, commands::run::<C>));
        self
    }

    /// Runs the entry and command on the command line.
    pub fn run(self) {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let Some((name, rest)) = words.split_first() else { panic!("PROGRAM ENTRY COMMAND ..") };
        let Some((_, run)) = self.0.iter().find(|(entry, _)| entry == name) else {
            panic!("no entry {name}; there are {:?}", self.0.iter().map(|(entry, _)| entry).collect::<Vec<_>>());
        };
        run(rest);
    }
}
