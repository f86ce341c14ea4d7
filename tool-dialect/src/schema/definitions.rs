//! The `$defs` of one tool: which are inlined, and which stay behind a `$ref`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use tool_model::reference_target;

use super::keyword::{Keyword, ValueShape};

/// The `$defs` of one tool.
pub(crate) struct ToolDefs<'a> {
    pub(crate) all: &'a BTreeMap<String, Value>,
    /// The definitions kept behind a `$ref`: the recursive ones, or all.
    kept: BTreeSet<&'a str>,
    /// `true` if some definitions are inlined, possibly several times.
    pub(crate) repeat: bool,
}

/// The target of a reference.
pub(crate) enum ReferenceTarget<'a> {
    /// A definition that is inlined.
    Inline(&'a Value),
    /// A definition that stays behind its `$ref`.
    Kept(&'a str, &'a Value),
    /// Not among the tool's `$defs`. Remote references are never followed.
    Unknown,
}

impl<'a> ToolDefs<'a> {
    /// Inlines all definitions except recursive ones.
    pub(crate) fn inlined(all: &'a BTreeMap<String, Value>) -> Self {
        let kept = if all.is_empty() { BTreeSet::new() } else { recursive(all) };
        Self { all, repeat: kept.len() < all.len(), kept }
    }

    /// Keeps every definition behind a `$ref`, because inlining would be too large.
    pub(crate) fn referred(all: &'a BTreeMap<String, Value>) -> Self {
        Self { all, kept: all.keys().map(String::as_str).collect(), repeat: false }
    }

    pub(crate) fn target(&self, reference: &Value) -> ReferenceTarget<'a> {
        let name = reference.as_str().and_then(|text| text.strip_prefix("#/$defs/"));
        let found = match name {
            Some(name) if !name.contains(['%', '~']) => self.all.get_key_value(name),
            Some(_) => {
                let whole = Value::Object([("$ref".to_owned(), reference.clone())].into_iter().collect());
                reference_target(&whole).and_then(|name| self.all.get_key_value(&*name))
            }
            None => None,
        };
        match found {
            Some((name, schema)) if self.kept.contains(name.as_str()) => ReferenceTarget::Kept(name, schema),
            Some((_, schema)) => ReferenceTarget::Inline(schema),
            None => ReferenceTarget::Unknown,
        }
    }
}

/// Returns the recursive definitions, using Tarjan's strongly connected components. Iterative, because a remote tool
/// controls the length of the chains.
fn recursive(all: &BTreeMap<String, Value>) -> BTreeSet<&str> {
    let names: Vec<&str> = all.keys().map(String::as_str).collect();
    let targets: Vec<Vec<usize>> = all.values().map(|schema| references(schema, &names)).collect();
    let mut search = CycleSearch {
        targets: &targets,
        order: vec![usize::MAX; names.len()],
        low: vec![usize::MAX; names.len()],
        open: Vec::new(),
        is_open: vec![false; names.len()],
        next: 0,
        cyclic: Vec::new(),
    };
    for start in 0..names.len() {
        search.from(start);
    }
    search.cyclic.into_iter().map(|at| names[at]).collect()
}

struct CycleSearch<'a> {
    targets: &'a [Vec<usize>],
    order: Vec<usize>,
    low: Vec<usize>,
    open: Vec<usize>,
    is_open: Vec<bool>,
    next: usize,
    cyclic: Vec<usize>,
}

impl CycleSearch<'_> {
    fn from(&mut self, start: usize) {
        if self.order[start] != usize::MAX {
            return;
        }
        let mut path = vec![(start, 0)];
        self.enter(start);
        while let Some((at, edge)) = path.last_mut() {
            let at = *at;
            match self.targets[at].get(*edge) {
                Some(&target) => {
                    *edge += 1;
                    if self.order[target] == usize::MAX {
                        self.enter(target);
                        path.push((target, 0));
                    } else if self.is_open[target] {
                        self.low[at] = self.low[at].min(self.order[target]);
                    }
                }
                None => {
                    path.pop();
                    if let Some((before, _)) = path.last() {
                        self.low[*before] = self.low[*before].min(self.low[at]);
                    }
                    self.leave(at);
                }
            }
        }
    }

    fn enter(&mut self, at: usize) {
        self.order[at] = self.next;
        self.low[at] = self.next;
        self.next += 1;
        self.open.push(at);
        self.is_open[at] = true;
    }

    /// Pops the component that ends here. A single member is recursive only if it refers to itself.
    fn leave(&mut self, at: usize) {
        if self.low[at] != self.order[at] {
            return;
        }
        let begin = self.open.iter().rposition(|&member| member == at).unwrap_or_default();
        let component = self.open.split_off(begin);
        component.iter().for_each(|&member| self.is_open[member] = false);
        if component.len() > 1 || self.targets[at].contains(&at) {
            self.cyclic.extend(component);
        }
    }
}

/// Returns the definitions that a schema refers to. Walks by keyword, because a property may be named `$ref`.
fn references(schema: &Value, names: &[&str]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![schema];
    while let Some(schema) = open.pop() {
        let Value::Object(object) = schema else { continue };
        if let Some(target) = reference_target(schema) {
            found.extend(names.binary_search(&&*target).ok());
        }
        for (key, value) in object {
            match (Keyword::from_name(key).map(Keyword::shape), value) {
                (Some(ValueShape::Schema), Value::Object(_)) => open.push(value),
                (Some(ValueShape::Schemas | ValueShape::Schema), Value::Array(items)) => open.extend(items),
                (Some(ValueShape::Named), Value::Object(map)) => open.extend(map.values()),
                _ => {}
            }
        }
    }
    found
}
