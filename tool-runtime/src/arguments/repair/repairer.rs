//! Repair of one value along its schema.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::Value;
use tool_model::reference_target;
use tool_model::validate::{PathStep, Validator, ValuePath};

use super::choose::takes_anything;
use super::convert::{from_text, in_other_case, whole};
use super::json_node::JsonNode;
use super::repair_log::{RepairLog, RepairReason};

/// The number of values that are examined, repetitions included. A value that takes longer is not repaired.
const MOST: usize = 250_000;

/// The depth to which a schema is followed.
const DEEPEST: usize = 256;

/// Repairs one argument.
pub(super) struct ValueRepairer<'a, 'n> {
    pub(super) defs: &'a BTreeMap<String, Value>,
    pub(super) log: &'a mut RepairLog<'n>,
    /// The number of values that may still be examined.
    pub(super) left: usize,
    /// Validators by the address of their schema, which does not move while an argument is repaired.
    pub(super) validators: HashMap<*const Value, Option<Validator>>,
}

impl<'a, 'n> ValueRepairer<'a, 'n> {
    pub(super) fn new(defs: &'a BTreeMap<String, Value>, log: &'a mut RepairLog<'n>) -> Self {
        Self { defs, log, left: MOST, validators: HashMap::new() }
    }

    pub(super) fn repair_argument(mut self, node: &mut JsonNode, schema: &Value, name: &str) {
        self.repair(node, schema, RepairPath::Argument(name), 0);
    }

    /// Repairs a value in place. A valid value is not changed, nor is one with several possible repairs.
    pub(super) fn repair(&mut self, node: &mut JsonNode, schema: &Value, path: RepairPath<'_>, depth: usize) {
        let size = if matches!(node, JsonNode::Text(_)) { node.size() } else { 1 };
        if !schema.is_object() || depth > DEEPEST || !self.spend(size) {
            return;
        }
        if let Some(def) = reference_target(schema).and_then(|name| self.defs.get(&*name)) {
            self.repair(node, def, path, depth + 1);
        }
        for part in list(schema, "allOf") {
            self.repair(node, part, path, depth + 1);
        }
        for forms in ["anyOf", "oneOf"].map(|keyword| list(schema, keyword)) {
            self.choose(node, forms, path, depth + 1);
        }
        self.convert(node, schema, path);
        match node {
            JsonNode::Object(fields) => self.repair_fields(fields, schema, path, depth),
            JsonNode::Array(items) => self.repair_items(items, schema, path, depth),
            _ => {}
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) && schema.get("prefixItems").is_none() {
            self.drop_repeated_items(node, path);
        }
    }

    /// Counts examined values. Returns `false` after too many.
    pub(super) fn spend(&mut self, values: usize) -> bool {
        self.left = self.left.saturating_sub(values);
        self.left > 0
    }

    fn convert(&mut self, node: &mut JsonNode, schema: &Value, path: RepairPath<'_>) {
        let types = types(schema);
        let (converted, why) = match node {
            JsonNode::Text(_) if types.contains(&"string") => (another_case(node, schema), RepairReason::Case),
            JsonNode::Text(_) => (out_of_quotes(node, &types), RepairReason::Quoted),
            JsonNode::Number(raw) if types.contains(&"integer") && raw.contains(['.', 'e', 'E']) => {
                (whole(raw).map(JsonNode::Number), RepairReason::Fraction)
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

    /// Wraps a single value into the expected array. A string may be a list in another notation, such as `a, b`, unless it
    /// is one of the listed values of an item.
    fn wrap(&mut self, node: &mut JsonNode, schema: &Value, path: RepairPath<'_>) {
        let Some(items) = schema.get("items").filter(|_| schema.get("prefixItems").is_none()) else { return };
        let is_known = match node {
            JsonNode::Array(_) | JsonNode::Null => false,
            JsonNode::Text(_) => !self.takes_any_text(items, 0),
            JsonNode::Bool(_) | JsonNode::Number(_) | JsonNode::Object(_) => !takes_anything(items),
        };
        if !is_known || !self.accepts(items, node) {
            return;
        }
        let wrapped = JsonNode::Array(vec![node.clone()]);
        self.note(path, node, &wrapped, RepairReason::Single);
        *node = wrapped;
    }

    fn repair_fields(
        &mut self,
        fields: &mut Vec<(String, JsonNode)>,
        schema: &Value,
        path: RepairPath<'_>,
        depth: usize,
    ) {
        let properties = schema.get("properties").and_then(Value::as_object);
        let additional = schema.get("additionalProperties");
        let is_required = |key: &str| list(schema, "required").iter().any(|name| name == key);
        fields.retain_mut(|(key, field)| {
            let path = RepairPath::Field(&path, key);
            let property = properties.and_then(|properties| properties.get(key));
            match property {
                Some(property) if *field == JsonNode::Null && !is_required(key) && !self.accepts(property, field) => {
                    self.note_text(path, "null", "", RepairReason::Null);
                    return false;
                }
                Some(property) => self.repair(field, property, path, depth + 1),
                None => additional.into_iter().for_each(|additional| self.repair(field, additional, path, depth + 1)),
            }
            true
        });
    }

    fn repair_items(&mut self, items: &mut [JsonNode], schema: &Value, path: RepairPath<'_>, depth: usize) {
        let first = list(schema, "prefixItems");
        let rest = schema.get("items");
        for (index, item) in items.iter_mut().enumerate() {
            if let Some(schema) = first.get(index).or(rest) {
                self.repair(item, schema, RepairPath::Item(&path, index), depth + 1);
            }
        }
    }

    /// Removes the items of a set that repeat an earlier one. Items with a place of their own (`prefixItems`) would move.
    fn drop_repeated_items(&mut self, node: &mut JsonNode, path: RepairPath<'_>) {
        let JsonNode::Array(items) = &*node else { return };
        if !self.spend(node.size()) {
            return;
        }
        let mut known = HashSet::new();
        let unique: Vec<&JsonNode> = items.iter().filter(|item| known.insert(item.canonical())).collect();
        if unique.len() < items.len() {
            let unique = JsonNode::Array(unique.into_iter().cloned().collect());
            self.note(path, node, &unique, RepairReason::Repeated);
            *node = unique;
        }
    }

    fn note(&mut self, path: RepairPath<'_>, from: &JsonNode, to: &JsonNode, why: RepairReason) {
        self.note_text(path, &from.to_string(), &to.to_string(), why);
    }

    fn note_text(&mut self, path: RepairPath<'_>, from: &str, to: &str, why: RepairReason) {
        self.log.add_inside(path.argument(), path.to_path(), from, to, why);
    }
}

/// Returns the array under a keyword.
pub(super) fn list<'s>(schema: &'s Value, keyword: &str) -> &'s [Value] {
    schema.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the types that a schema names, or `string` if it lists strings. `number` includes `integer`.
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

/// Returns the strings that a schema lists.
fn words(schema: &Value) -> impl Iterator<Item = &str> {
    list(schema, "enum").iter().chain(schema.get("const")).filter_map(Value::as_str)
}

/// Parses a string as a value of one of the types, if only one is possible.
fn out_of_quotes(node: &JsonNode, types: &[&str]) -> Option<JsonNode> {
    let said = node.said()?;
    let mut readings = types.iter().filter_map(|name| from_text(&said, name));
    readings.next().filter(|_| readings.next().is_none())
}

fn another_case(node: &JsonNode, schema: &Value) -> Option<JsonNode> {
    in_other_case(&node.said()?, words(schema)).map(JsonNode::text)
}

/// The path of a value under repair, on the stack: most values need none.
#[derive(Clone, Copy)]
pub(super) enum RepairPath<'a> {
    Argument(&'a str),
    Field(&'a RepairPath<'a>, &'a str),
    Item(&'a RepairPath<'a>, usize),
}

impl<'a> RepairPath<'a> {
    fn argument(&self) -> &'a str {
        match self {
            Self::Argument(name) => name,
            Self::Field(parent, _) | Self::Item(parent, _) => parent.argument(),
        }
    }

    fn to_path(self) -> ValuePath {
        let (parent, step) = match self {
            Self::Argument(name) => return ValuePath::new(name),
            Self::Field(parent, name) => (parent, PathStep::Property(name.to_owned())),
            Self::Item(parent, index) => (parent, PathStep::Item(index)),
        };
        let mut path = parent.to_path();
        path.steps.push(step);
        path
    }
}
