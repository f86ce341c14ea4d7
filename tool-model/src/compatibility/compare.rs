//! Walks along two schemas side by side and finds what differs.
//!
//! A schema is a conjunction of rules. Where every rule of the new one follows from a rule of the old one, every value
//! that fitted still fits: so the rules are compared one by one, and what differs is said at its own place.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::{iter, ptr};

use super::difference::{Difference, Direction, Effect};
use super::facts::KnownArguments;
use crate::validate::describe::Describer;
use crate::validate::path::{is_identifier, quote};
use crate::validate::schema::{Definitions, Kinds, Rules, Schema};

/// Nested alternatives multiply the work; manifests need a tiny part of this.
const MOST_STEPS: u32 = 200_000;
/// How many trials may be open inside each other.
const DEEPEST_TRIAL: u32 = 24;

pub(super) static ANYTHING: Schema = Schema::Anything;
static NOTHING: LazyLock<Rules> = LazyLock::new(|| Rules { allowed: Some(Vec::new()), ..Rules::default() });
static FREE: LazyLock<Rules> = LazyLock::new(Rules::default);

/// The definitions of both sides.
#[derive(Clone, Copy)]
pub(super) struct Sides<'s> {
    pub(super) old: &'s Definitions,
    pub(super) new: &'s Definitions,
    pub(super) direction: Direction,
    pub(super) known: &'s KnownArguments,
}

/// Two schemas that stand at the same place.
#[derive(Clone)]
pub(super) struct Pair<'s> {
    pub(super) path: String,
    pub(super) old: &'s Schema,
    pub(super) new: &'s Schema,
    /// Whether other schemas have a say about the same value, so that nothing can be said about what is not named.
    pub(super) composed: bool,
}

pub(super) struct Comparison<'s, 'b> {
    pub(super) sides: Sides<'s>,
    steps: &'b Cell<u32>,
    /// The comparison that this one is a trial of. What it has looked at is not looked at again: a recursive type
    /// comes back to where it was, and what is to be found there is found already.
    parent: Option<&'b Comparison<'s, 'b>>,
    depth: u32,
    /// Whether something was left to a parent.
    relies: Cell<bool>,
    seen: BTreeSet<(*const Schema, *const Schema, bool)>,
    waiting: Vec<Pair<'s>>,
    found: Vec<Difference>,
}

/// Everything that differs between two schemas.
pub(super) fn differences(sides: Sides<'_>, path: &str, old: &Schema, new: &Schema) -> Vec<Difference> {
    let steps = Cell::new(MOST_STEPS);
    let pair = Pair { path: path.to_owned(), old, new, composed: false };
    let found = Comparison::new(sides, &steps, None).run(pair).found;
    if steps.get() > 0 {
        return found;
    }
    let message = "has changed in ways too many to compare".to_owned();
    vec![Difference { path: path.to_owned(), effect: Effect::Unclear, message }]
}

/// What a trial has found.
pub(super) struct Trial {
    pub(super) found: Vec<Difference>,
    /// Whether it was left to the comparison around it to find more.
    pub(super) relies: bool,
}

impl<'s, 'b> Comparison<'s, 'b> {
    fn new(sides: Sides<'s>, steps: &'b Cell<u32>, parent: Option<&'b Self>) -> Self {
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let relies = Cell::new(false);
        Self { sides, steps, parent, depth, relies, seen: BTreeSet::new(), waiting: Vec::new(), found: Vec::new() }
    }

    fn run(mut self, start: Pair<'s>) -> Trial {
        self.waiting.push(start);
        while let Some(pair) = self.waiting.pop() {
            let Some(left) = self.steps.get().checked_sub(1) else { break };
            self.steps.set(left);
            let key = (ptr::from_ref(pair.old), ptr::from_ref(pair.new), pair.composed);
            let left_to_a_parent = iter::successors(self.parent, |parent| parent.parent).any(|p| p.seen.contains(&key));
            if left_to_a_parent {
                self.relies.set(true);
            } else if self.seen.insert(key) {
                self.pair(&pair);
            }
        }
        Trial { found: self.found, relies: self.relies.get() }
    }

    /// What would be found, without finding it.
    pub(super) fn trial(&self, pair: Pair<'s>) -> Trial {
        if self.depth == DEEPEST_TRIAL {
            self.steps.set(0);
            return Trial { found: Vec::new(), relies: true };
        }
        let trial = Comparison::new(self.sides, self.steps, Some(self)).run(pair);
        self.relies.set(self.relies.get() || trial.relies);
        trial
    }

    pub(super) fn is_same(&self, old: &'s Schema, new: &'s Schema) -> bool {
        let trial = self.trial(Pair { path: String::new(), old, new, composed: true });
        trial.found.is_empty() && !trial.relies
    }

    pub(super) fn find(&mut self, path: &str, effect: Effect, message: impl Into<String>) {
        self.found.push(Difference { path: path.to_owned(), effect, message: message.into() });
    }

    pub(super) fn take_over(&mut self, differences: Vec<Difference>) {
        self.found.extend(differences);
    }

    pub(super) fn look_at(&mut self, path: String, old: &'s Schema, new: &'s Schema, composed: bool) {
        self.waiting.push(Pair { path, old, new, composed });
    }

    pub(super) fn describe_old(&self, schema: &Schema) -> String {
        Describer::new(self.sides.old).schema(schema)
    }

    pub(super) fn describe_new(&self, schema: &Schema) -> String {
        Describer::new(self.sides.new).schema(schema)
    }
}

/// The rules of a schema behind references that add nothing but a type, and the type that they add.
pub(super) fn peeled<'s>(mut schema: &'s Schema, definitions: &'s Definitions) -> (&'s Rules, Kinds) {
    let mut kinds = Kinds::ALL;
    // A definition that only refers to itself cannot be validated, and is not compared either.
    for _ in 0..64 {
        let Schema::Rules(rules) = schema else { break };
        kinds = rules.kinds.map_or(kinds, |own| kinds.common(super::kinds::with_whole_numbers(own)));
        match rules.reference.as_ref().filter(|_| rules.is_only_a_reference()) {
            Some(name) => schema = definitions.get(name).unwrap_or(&ANYTHING),
            None => return (rules, kinds),
        }
    }
    match schema {
        Schema::Rules(rules) => (rules, kinds),
        Schema::Anything => (&FREE, kinds),
        Schema::Nothing => (&NOTHING, kinds),
    }
}

/// `arguments.limit`, `arguments["odd name"]`
pub(super) fn property(path: &str, name: &str) -> String {
    if is_identifier(name) { format!("{path}.{name}") } else { format!("{path}[{}]", quote(name)) }
}
