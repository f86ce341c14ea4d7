//! Goes through a value along its schema.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::Value;
use tool_model::reference_target;
use tool_model::validate::Validator;

use super::choose::takes_anything;
use super::convert::{from_text, in_other_case, whole};
use super::note::{Notes, RepairReason};
use super::tree::Node;

/// How many values are looked at, each time one is. What takes longer to understand is in doubt.
const MOST: usize = 250_000;

/// How deep a schema is followed.
const DEEPEST: usize = 256;

/// Mends one argument.
pub(super) struct Mender<'a, 'n> {
    pub(super) defs: &'a BTreeMap<String, Value>,
    pub(super) notes: &'a mut Notes<'n>,
    /// How many values may still be looked at.
    pub(super) left: usize,
    /// By the place of the schema, which stays where it is while an argument is mended.
    pub(super) validators: HashMap<*const Value, Option<Validator>>,
}

impl<'a, 'n> Mender<'a, 'n> {
    pub(super) fn new(defs: &'a BTreeMap<String, Value>, notes: &'a mut Notes<'n>) -> Self {
        Self { defs, notes, left: MOST, validators: HashMap::new() }
    }

    pub(super) fn mend_argument(mut self, node: &mut Node, schema: &Value, name: &str) {
        self.mend(node, schema, Path::Argument(name), 0);
    }

    /// Mends a value in place. What the schema accepts, and what it leaves in doubt, stays as it is.
    pub(super) fn mend(&mut self, node: &mut Node, schema: &Value, path: Path<'_>, depth: usize) {
        let size = if matches!(node, Node::Text(_)) { node.size() } else { 1 };
        if !schema.is_object() || depth > DEEPEST || !self.spend(size) {
            return;
        }
        if let Some(def) = reference_target(schema).and_then(|name| self.defs.get(&*name)) {
            self.mend(node, def, path, depth + 1);
        }
        for part in list(schema, "allOf") {
            self.mend(node, part, path, depth + 1);
        }
        for forms in ["anyOf", "oneOf"].map(|keyword| list(schema, keyword)) {
            self.choose(node, forms, path, depth + 1);
        }
        self.convert(node, schema, path);
        match node {
            Node::Object(fields) => self.mend_fields(fields, schema, path, depth),
            Node::Array(items) => self.mend_items(items, schema, path, depth),
            _ => {}
        }
    }

    /// Counts what is looked at; false when it is too much.
    pub(super) fn spend(&mut self, values: usize) -> bool {
        self.left = self.left.saturating_sub(values);
        self.left > 0
    }

    fn convert(&mut self, node: &mut Node, schema: &Value, path: Path<'_>) {
        let types = types(schema);
        let (converted, why) = match node {
            Node::Text(_) if types.contains(&"string") => (another_case(node, schema), RepairReason::Case),
            Node::Text(_) => (out_of_quotes(node, &types), RepairReason::Quoted),
            Node::Number(raw) if types.contains(&"integer") && raw.contains(['.', 'e', 'E']) => {
                (whole(raw).map(Node::Number), RepairReason::Fraction)
            }
            _ => (None, RepairReason::Single),
        };
        let is_list = types.contains(&"array") && types.iter().all(|name| matches!(*name, "array" | "null"));
        match converted {
            Some(converted) => {
                self.note(path, node, &converted, why);
                *node = converted;
            }
            None if is_list => self.wrap(node, schema, path),
            None => {}
        }
    }

    /// One value where a list of such is expected. A text may be a list in some other notation, such as `a, b`, unless
    /// it is one of the words that the list may hold.
    fn wrap(&mut self, node: &mut Node, schema: &Value, path: Path<'_>) {
        let Some(items) = schema.get("items").filter(|_| schema.get("prefixItems").is_none()) else { return };
        let is_known = match node {
            Node::Array(_) | Node::Null => false,
            Node::Text(_) => !self.takes_any_text(items, 0),
            Node::Bool(_) | Node::Number(_) | Node::Object(_) => !takes_anything(items),
        };
        if !is_known || !self.accepts(items, node) {
            return;
        }
        let wrapped = Node::Array(vec![node.clone()]);
        self.note(path, node, &wrapped, RepairReason::Single);
        *node = wrapped;
    }

    fn mend_fields(&mut self, fields: &mut Vec<(String, Node)>, schema: &Value, path: Path<'_>, depth: usize) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let additional = schema.get("additionalProperties");
        let is_required = |key: &str| list(schema, "required").iter().any(|name| name == key);
        fields.retain_mut(|(key, field)| {
            let path = Path::Field(&path, key);
            let property = properties.and_then(|properties| properties.get(key));
            match property {
                Some(property) if *field == Node::Null && !is_required(key) && !self.accepts(property, field) => {
                    self.note_text(path, "null", "", RepairReason::Null);
                    return false;
                }
                Some(property) => self.mend(field, property, path, depth + 1),
                None => additional.into_iter().for_each(|additional| self.mend(field, additional, path, depth + 1)),
            }
            true
        });
    }

    fn mend_items(&mut self, items: &mut [Node], schema: &Value, path: Path<'_>, depth: usize) {
        let first = list(schema, "prefixItems");
        let rest = schema.get("items");
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.mend(item, schema, Path::Item(&path, index), depth + 1);
            }
        }
    }

    fn note(&mut self, path: Path<'_>, from: &Node, to: &Node, why: RepairReason) {
        self.note_text(path, &from.to_string(), &to.to_string(), why);
    }

    fn note_text(&mut self, path: Path<'_>, from: &str, to: &str, why: RepairReason) {
        self.notes.add_inside(path.argument(), path.to_string(), from, to, why);
    }
}

/// What is listed under a keyword.
pub(super) fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The types that a schema names, or those of the values it lists. An integer is a number, too.
pub(super) fn types(schema: &Value) -> Vec<&str> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => words(schema).map(|_| "string").take(1).collect(),
    };
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    types
}

/// The words that a schema lists.
fn words(schema: &Value) -> impl Iterator<Item = &str> {
    list(schema, "enum").iter().chain(schema.get("const")).filter_map(Value::as_str)
}

/// A text whose type is none of these, as the one that it can be.
fn out_of_quotes(node: &Node, types: &[&str]) -> Option<Node> {
    let said = node.said()?;
    let mut readings = types.iter().filter_map(|name| from_text(&said, name));
    readings.next().filter(|_| readings.next().is_none())
}

fn another_case(node: &Node, schema: &Value) -> Option<Node> {
    in_other_case(&node.said()?, words(schema)).map(Node::text)
}

/// Where a value is, written only when something is mended there.
#[derive(Clone, Copy)]
pub(super) enum Path<'a> {
    Argument(&'a str),
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl<'a> Path<'a> {
    fn argument(&self) -> &'a str {
        match self {
            Self::Argument(name) => name,
            Self::Field(parent, _) | Self::Item(parent, _) => parent.argument(),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        match self {
            Self::Argument(name) => f.write_str(name),
            Self::Item(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Field(parent, name) if is_plain(name) => write!(f, "{parent}.{name}"),
            Self::Field(parent, name) => write!(f, "{parent}[{}]", Value::from(*name)),
        }
    }
}
