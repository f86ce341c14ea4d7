//! The ways of using a library that a program offers, each under its name.

use crate::{Contender, commands};

type Run = fn(&[&str]);

/// The entries of one program: `program ENTRY COMMAND ..`.
#[derive(Default)]
pub struct Entries(Vec<(&'static str, Run)>);

impl Entries {
    /// None yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more.
    pub fn enter<C: Contender>(mut self, name: &'static str) -> Self {
        self.0.push((name, commands::run::<C>));
        self
    }

    /// Does what the command line says.
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
