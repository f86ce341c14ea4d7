//! Comparison of two schemas, side by side.
//!
//! A schema is a conjunction of rules. If every rule of the new schema follows from a rule of the old one, every valid
//! value stays valid. So the rules are compared one by one, and each difference has its own path.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use std::{iter, ptr};

use super::difference::{DifferenceEffect, SchemaDifference, ValueDirection};
use super::facts::KnownArguments;
use crate::validate::describe::Describer;
use crate::validate::path::{is_identifier, quote};
use crate::validate::schema::{Definitions, JsonTypes, Schema, SchemaRules};

/// The largest number of compared pairs. Nested alternatives multiply the work; manifests need a tiny part of this.
const MOST_STEPS: u32 = 200_000;
/// The deepest nesting of trials.
const DEEPEST_TRIAL: u32 = 24;

pub(super) static ANYTHING: Schema = Schema::Anything;
static NOTHING: LazyLock<SchemaRules> =
    LazyLock::new(|| SchemaRules { allowed: Some(Vec::new()), ..SchemaRules::default() });
static FREE: LazyLock<SchemaRules> = LazyLock::new(SchemaRules::default);

/// The definitions of both sides.
#[derive(Clone, Copy)]
pub(super) struct ComparedSides<'s> {
    pub(super) old: &'s Definitions,
    pub(super) new: &'s Definitions,
    pub(super) direction: ValueDirection,
    pub(super) known: &'s KnownArguments,
}

/// Two schemas at the same path.
#[derive(Clone)]
pub(super) struct SchemaPair<'s> {
    pub(super) path: String,
    pub(super) old: &'s Schema,
    pub(super) new: &'s Schema,
    /// `true` if other schemas apply to the same value, so that nothing is known about properties without a name.
    pub(super) composed: bool,
}

pub(super) struct SchemaComparison<'s, 'b> {
    pub(super) sides: ComparedSides<'s>,
    steps: &'b Cell<u32>,
    /// The comparison that this trial belongs to. Pairs that it has compared are not compared again: a recursive type
    /// returns to them, and their differences are known.
    parent: Option<&'b SchemaComparison<'s, 'b>>,
    depth: u32,
    /// `true` if a pair was left to a parent.
    is_partial: Cell<bool>,
    seen: BTreeSet<(*const Schema, *const Schema, bool)>,
    waiting: Vec<SchemaPair<'s>>,
    found: Vec<SchemaDifference>,
}

/// Returns all differences between two schemas.
pub(super) fn differences(sides: ComparedSides<'_>, path: &str, old: &Schema, new: &Schema) -> Vec<SchemaDifference> {
    let steps = Cell::new(MOST_STEPS);
    let pair = SchemaPair { path: path.to_owned(), old, new, composed: false };
    let found = SchemaComparison::new(sides, &steps, None).run(pair).found;
    if steps.get() > 0 {
        return found;
    }
    let message = "has too many changes to compare".to_owned();
    vec![SchemaDifference { path: path.to_owned(), effect: DifferenceEffect::Unclear, message }]
}

/// The result of a trial.
pub(super) struct ComparisonTrial {
    pub(super) found: Vec<SchemaDifference>,
    /// `true` if the enclosing comparison may find more.
    pub(super) is_partial: bool,
}

impl<'s, 'b> SchemaComparison<'s, 'b> {
    fn new(sides: ComparedSides<'s>, steps: &'b Cell<u32>, parent: Option<&'b Self>) -> Self {
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        let is_partial = Cell::new(false);
        Self { sides, steps, parent, depth, is_partial, seen: BTreeSet::new(), waiting: Vec::new(), found: Vec::new() }
    }

    fn run(mut self, start: SchemaPair<'s>) -> ComparisonTrial {
        self.waiting.push(start);
        while let Some(pair) = self.waiting.pop() {
            let Some(left) = self.steps.get().checked_sub(1) else { break };
            self.steps.set(left);
            let key = (ptr::from_ref(pair.old), ptr::from_ref(pair.new), pair.composed);
            let left_to_a_parent = iter::successors(self.parent, |parent| parent.parent).any(|p| p.seen.contains(&key));
            if left_to_a_parent {
                self.is_partial.set(true);
            } else if self.seen.insert(key) {
                self.pair(&pair);
            }
        }
        ComparisonTrial { found: self.found, is_partial: self.is_partial.get() }
    }

    /// Compares a pair without reporting its differences.
    pub(super) fn trial(&self, pair: SchemaPair<'s>) -> ComparisonTrial {
        if self.depth == DEEPEST_TRIAL {
            self.steps.set(0);
            return ComparisonTrial { found: Vec::new(), is_partial: true };
        }
        let trial = SchemaComparison::new(self.sides, self.steps, Some(self)).run(pair);
        self.is_partial.set(self.is_partial.get() || trial.is_partial);
        trial
    }

    pub(super) fn is_same(&self, old: &'s Schema, new: &'s Schema) -> bool {
        let trial = self.trial(SchemaPair { path: String::new(), old, new, composed: true });
        trial.found.is_empty() && !trial.is_partial
    }

    pub(super) fn report(&mut self, path: &str, effect: DifferenceEffect, message: impl Into<String>) {
        self.found.push(SchemaDifference { path: path.to_owned(), effect, message: message.into() });
    }

    pub(super) fn add_all(&mut self, differences: Vec<SchemaDifference>) {
        self.found.extend(differences);
    }

    pub(super) fn queue(&mut self, path: String, old: &'s Schema, new: &'s Schema, composed: bool) {
        self.waiting.push(SchemaPair { path, old, new, composed });
    }

    pub(super) fn describe_old(&self, schema: &Schema) -> String {
        Describer::new(self.sides.old).schema(schema).to_string()
    }

    pub(super) fn describe_new(&self, schema: &Schema) -> String {
        Describer::new(self.sides.new).schema(schema).to_string()
    }
}

/// Follows references that add nothing but a type. Returns the rules and the type.
pub(super) fn resolved<'s>(mut schema: &'s Schema, definitions: &'s Definitions) -> (&'s SchemaRules, JsonTypes) {
    let mut kinds = JsonTypes::ALL;
    // A definition that only refers to itself cannot be validated, and is not compared.
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
