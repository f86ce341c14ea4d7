//! Detection of definitions that refer to themselves without descending into the value.
//!
//! `A = {"$ref": "#/$defs/A"}` has no meaning, and a check against it would never end.

use std::collections::{BTreeMap, BTreeSet};

use super::SchemaError;
use super::schema::{Definitions, Schema};

/// Returns the first such definition.
pub(super) fn find(definitions: &Definitions) -> Option<SchemaError> {
    let edges: BTreeMap<&str, Vec<&str>> =
        definitions.iter().map(|(name, schema)| (name.as_str(), references_in_place(schema))).collect();
    let mut finished = BTreeSet::new();
    edges.keys().find_map(|start| cycle_from(start, &edges, &mut finished)).map(|name| SchemaError {
        path: format!("#/$defs/{name}"),
        message: format!("`{name}` refers to itself without descending into the value, so checking it would never end"),
    })
}

/// Walks depth first, with its own stack: a chain of definitions may exhaust the thread's.
fn cycle_from<'a>(
    start: &'a str,
    edges: &BTreeMap<&'a str, Vec<&'a str>>,
    finished: &mut BTreeSet<&'a str>,
) -> Option<&'a str> {
    let targets = |name: &str| edges.get(name).into_iter().flatten().copied().collect::<Vec<_>>();
    let mut open = BTreeSet::from([start]);
    let mut stack = vec![(start, targets(start))];
    while let Some((name, remaining)) = stack.last_mut() {
        match remaining.pop() {
            Some(next) if open.contains(next) => return Some(next),
            Some(next) if finished.contains(next) => {}
            Some(next) => {
                open.insert(next);
                stack.push((next, targets(next)));
            }
            None => {
                open.remove(name);
                finished.insert(name);
                stack.pop();
            }
        }
    }
    None
}

fn references_in_place(schema: &Schema) -> Vec<&str> {
    let mut found = Vec::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        if let Schema::Rules(rules) = schema {
            found.extend(rules.reference.as_deref());
            waiting.extend(rules.in_place());
        }
    }
    found
}
